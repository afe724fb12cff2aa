// Package mirrordesk fetches the packages that a project has pinned before a box starts in which
// they are installed. It does not decide whether a box may have them.
package mirrordesk

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"github.com/floodmark/floodmark/internal/box"
	"github.com/floodmark/floodmark/internal/box/mirrorfetch"
	"github.com/floodmark/floodmark/internal/format/lockfile"
	"github.com/floodmark/floodmark/internal/store/wholefile"
)

// A Desk fetches packages for boxes. It is safe for concurrent use.
type Desk struct {
	Fetcher *mirrorfetch.Fetcher
	// Home is the owner's home, with the module cache that boxes see.
	Home string
	Host lockfile.Host
	Now  func() time.Time
	// Wait is how long a call waits for its packages.
	Wait time.Duration

	mu   sync.Mutex // guards runs
	runs map[[sha256.Size]byte]*run
}

// A run is the fetching of the packages of one lock file.
type run struct {
	done chan struct{}
	set  string
	err  error
	at   time.Time // when it ended
}

// The limits of a desk.
const (
	// Wait is the usual Desk.Wait. It is shorter than the time that agents give a hook.
	Wait      = 8 * time.Second
	fetchTime = 10 * time.Minute
	// failedFor is how long a lock file is not tried again after a failure.
	failedFor = 10 * time.Minute
	maxRuns   = 256
	maxUnder  = 2 // fetches at the same time
)

// A Want is what a command line needs from a mirror.
type Want struct {
	// Lock is the path of the lock file.
	Lock string
	// Fetches is set if the command can do nothing without the packages.
	Fetches bool

	key  [sha256.Size]byte
	list []lockfile.Package
	// there is set if all packages are in the cache that boxes see.
	there bool
}

// ErrLater means that packages are still being fetched.
var ErrLater = errors.New("the mirror still fetches what the lock file pins")

// Wants returns what a command line in a project needs. It returns false if that is not known
// exactly, if fetching it has failed recently, or if everything is in the cache and the command
// does not fetch.
func (d *Desk) Wants(project, line string) (Want, bool) {
	i, ok := lockfile.Installs(line)
	if d == nil || !ok {
		return Want{}, false
	}
	for _, name := range i.Locks {
		at := filepath.Join(project, name)
		if there, err := filepath.EvalSymlinks(at); err != nil || there != at {
			continue
		}
		data, err := read(at)
		if err != nil {
			return Want{}, false
		}
		l, err := lockfile.Read(i.Ecosystem, data, d.Host)
		if err != nil || len(l.Packages) == 0 || l.LeftOut > 0 && i.Ecosystem != lockfile.Go {
			return Want{}, false
		}
		w := Want{Lock: at, Fetches: i.Fetches, key: sha256.Sum256(append([]byte(i.Ecosystem+"\x00"), data...)), list: l.Packages}
		w.there = i.Ecosystem == lockfile.Go && d.cached(filepath.Dir(at), l.Packages)
		return w, !d.failed(w.key) && (w.Fetches || !w.there)
	}
	return Want{}, false
}

// read reads a regular file, up to one byte more than a lock file may have.
func read(at string) ([]byte, error) {
	f, err := wholefile.OpenSelf(at)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.New("it is no file")
	}
	return io.ReadAll(io.LimitReader(f, lockfile.MaxBytes+1))
}

// cached reports whether all modules that are in both go.mod and go.sum are in the owner's module
// cache.
func (d *Desk) cached(folder string, list []lockfile.Package) bool {
	data, err := read(filepath.Join(folder, "go.mod"))
	if err != nil {
		return false
	}
	mod, err := modfile.ParseLax("go.mod", data, nil)
	if err != nil {
		return false
	}
	needs := map[module.Version]bool{}
	for _, r := range mod.Require {
		needs[r.Mod] = true
	}
	for _, p := range list {
		if !needs[module.Version{Path: p.Name, Version: p.Version}] {
			continue
		}
		name, err := module.EscapePath(p.Name)
		version, bad := module.EscapeVersion(p.Version)
		if err != nil || bad != nil {
			return false
		}
		if _, err := os.Lstat(filepath.Join(d.Home, "go/pkg/mod/cache/download", name, "@v", version+".ziphash")); err != nil {
			return false
		}
	}
	return true
}

// failed reports whether fetching a lock file has failed recently.
func (d *Desk) failed(key [sha256.Size]byte) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.runs[key]
	return r != nil && r.ended() && r.err != nil && d.Now().Sub(r.at).Abs() < failedFor
}

// ended reports whether a run has ended.
func (r *run) ended() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// Ready returns the mirror for a box. If the fetching takes longer than Desk.Wait, it returns
// ErrLater, and the fetching goes on.
func (d *Desk) Ready(ctx context.Context, w Want) (box.Mirror, error) {
	if w.there || len(w.list) == 0 {
		return box.Mirror{}, nil
	}
	r := d.start(ctx, w)
	if r == nil {
		return box.Mirror{}, ErrLater
	}
	timer := time.NewTimer(d.Wait)
	defer timer.Stop()
	select {
	case <-r.done:
	case <-timer.C:
		return box.Mirror{}, ErrLater
	case <-ctx.Done():
		return box.Mirror{}, ErrLater
	}
	return box.Mirror{Folder: d.Fetcher.Store.Folder, Set: r.set}, r.err
}

// start begins to fetch, unless that is under way already. It returns nil if there are too many
// other fetches.
func (d *Desk) start(ctx context.Context, w Want) *run {
	d.mu.Lock()
	defer d.mu.Unlock()
	if r := d.runs[w.key]; r != nil && !r.ended() {
		return r
	}
	under := 0
	for _, r := range d.runs {
		if !r.ended() {
			under++
		}
	}
	if under >= maxUnder {
		return nil
	}
	if d.runs == nil {
		d.runs = map[[sha256.Size]byte]*run{}
	}
	if len(d.runs) >= maxRuns {
		maps.DeleteFunc(d.runs, func(_ [sha256.Size]byte, r *run) bool { return r.ended() })
	}
	r := &run{done: make(chan struct{})}
	d.runs[w.key] = r
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTime)
	go func() {
		defer cancel()
		defer close(r.done)
		r.set, r.err = d.Fetcher.Fetch(ctx, w.list)
		r.at = d.Now()
	}()
	return r
}

// Private returns the patterns of modules that the go command asks no proxy for, from the owner's
// settings file and the environment.
func Private(home string, getenv func(string) string) (list []string) {
	data, _ := read(filepath.Join(home, ".config/go/env")) // most owners have no such file
	lines := strings.Split(string(data), "\n")
	for _, name := range []string{"GOPRIVATE", "GONOPROXY"} {
		lines = append(lines, name+"="+getenv(name))
	}
	for _, line := range lines {
		if name, value, _ := strings.Cut(strings.TrimSpace(line), "="); name == "GOPRIVATE" || name == "GONOPROXY" {
			for p := range strings.SplitSeq(value, ",") {
				if p != "" && p != "none" {
					list = append(list, p)
				}
			}
		}
	}
	return list
}
