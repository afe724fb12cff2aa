// Package workspace reads the disk of the machine that agents run on: who wrote a checkout, where a
// link leads, what a run has changed, where secrets are kept. It runs nothing, changes nothing, and
// stops at its limits. If it could not read something, it reports that, and never that nothing was
// found.
package workspace

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/kernel/artifact"
	"github.com/floodmark/floodmark/monitor"
)

// The limits of one search.
const (
	MaxFiles   = 50_000                 // visited in a folder after a run
	MaxTime    = 400 * time.Millisecond // for a folder after a run
	MaxChanged = 64                     // paths listed; if there are more, the list is reported as incomplete
	maxFolders = 40                     // folders visited on the way up from a path
	maxRoots   = 256                    // checkouts remembered
	maxSmall   = 1 << 20                // bytes of one of git's small files
)

// Options name the owner and the team.
type Options struct {
	// Home is the owner's home, whose git settings contain their mail address.
	Home string
	// Identities are further mail addresses of the owner.
	Identities []string
	// Teams knows the commits of the owner's team; nil knows none.
	Teams Teams
}

// Teams knows the team's repositories. If the owner has declared the checkout at a path to be the
// team's, Of returns the address it is fetched from, and a function that reports whether a commit
// is on its default branch. For any other path the address is empty.
type Teams interface {
	Of(path string) (address string, has func(commit string) bool)
}

// A Disk reads one machine's disk. It is safe for concurrent use.
type Disk struct {
	opts  Options
	named bounds // the limits of searches by name alone

	mu     sync.Mutex // guards roots and hoards
	roots  map[string]known
	hoards map[string]memory
}

// known is the cached result of Around for a checkout at this head.
type known struct {
	head     string
	checkout artifact.Checkout
	ok       bool
	underWay bool // whether a merge was unfinished then
}

var _ monitor.Disk = (*Disk)(nil)

// New returns a Disk.
func New(o Options) *Disk {
	return &Disk{opts: o, named: bounds{MaxNamedFolders, MaxNamedDepth, MaxNamedNames}, roots: map[string]known{}, hoards: map[string]memory{}}
}

// Resolve implements [artifact.Disk]: for a file that does not exist yet, its folder is resolved.
func (d *Disk) Resolve(path string) string {
	rest := ""
	for at, n := path, 0; n < maxFolders; n++ {
		if target, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.ToSlash(filepath.Join(target, rest))
		}
		up := filepath.Dir(at)
		if up == at {
			break
		}
		rest, at = filepath.Join(filepath.Base(at), rest), up
	}
	return path
}

// Content implements [artifact.Disk]: a large file is identified by its size and time of change.
func (d *Disk) Content(path string) floodmark.Digest {
	if text, err := readSmall(path); err == nil {
		return floodmark.DigestOf(text)
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return floodmark.Digest{}
	}
	return floodmark.DigestOf(fmt.Sprintf("%d bytes of %d", info.Size(), info.ModTime().UnixNano()))
}

// Exactly implements [artifact.Disk].
func (d *Disk) Exactly(path string) floodmark.Digest {
	spelled, all := spellings(path)
	if !all || len(spelled) != 1 {
		return floodmark.Digest{}
	}
	if info, err := os.Lstat(spelled[0]); err != nil || !info.Mode().IsRegular() {
		return floodmark.Digest{}
	}
	text, err := readSmall(spelled[0])
	if err != nil {
		return floodmark.Digest{}
	}
	return floodmark.DigestOf(text)
}

// Head implements [artifact.Disk].
func (d *Disk) Head(path string) string {
	root, gitDir, ok := locate(path)
	if !ok {
		return ""
	}
	id, _ := open(root, gitDir).head()
	return id
}

// Around implements [artifact.Disk].
func (d *Disk) Around(path string) (artifact.Checkout, bool) {
	root, gitDir, ok := locate(path)
	if !ok {
		return artifact.Checkout{}, false
	}
	r := open(root, gitDir)
	head, ok := r.head()
	if !ok {
		return d.headless(r)
	}
	under := r.underWay()
	d.mu.Lock()
	k, seen := d.roots[root]
	d.mu.Unlock()
	if seen && len(under) == 0 && !k.underWay && k.head == head && !k.checkout.Team && r.team(d.opts.Teams) == nil { // the known commits of a team may change while the head stays
		return k.checkout, k.ok
	}
	k = known{head: head, ok: true, underWay: len(under) > 0, checkout: d.whose(r, head, under)}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.roots) >= maxRoots {
		clear(d.roots)
	}
	d.roots[root] = k
	return k.checkout, k.ok
}

// whose returns the origin of a checkout. The commits of an unfinished merge or pick are judged,
// too, because they add to the working tree.
func (d *Disk) whose(r repository, head string, under []string) artifact.Checkout {
	c := r.whose([]string{head}, d.identities(), d.opts.Teams)
	if len(under) == 0 {
		return c
	}
	v := &revisions{r: r, from: r.root, objects: newObjects(r.common)}
	defer v.objects.close()
	for _, other := range v.judged(d, head, under) {
		if !other.Team {
			return other
		}
	}
	return c
}

// identities returns the owner's mail addresses: the given ones, and the one in the git settings of
// the owner's home. A repository's own settings are not used, because anyone may have written them.
func (d *Disk) identities() []string {
	list := slices.Clone(d.opts.Identities)
	if d.opts.Home != "" {
		for _, name := range []string{".gitconfig", ".config/git/config"} {
			if text, err := readSmall(filepath.Join(d.opts.Home, name)); err == nil {
				if mail := setting(text, "user", "email"); mail != "" {
					list = append(list, mail)
				}
			}
		}
	}
	return list
}

// Author returns the name and mail address in the git settings of an owner's home, or empty strings
// if they have none. A repository's settings are not used.
func Author(home string) (name, mail string) {
	for _, file := range []string{".config/git/config", ".gitconfig"} { // as git does, the later one wins
		text, err := readSmall(filepath.Join(home, file))
		if home == "" || err != nil {
			continue
		}
		if n := setting(text, "user", "name"); n != "" {
			name = n
		}
		if m := setting(text, "user", "email"); m != "" {
			mail = m
		}
	}
	return name, mail
}

// readSmall reads a file of limited size.
func readSmall(path string) (string, error) { return readUpTo(path, maxSmall) }

// readUpTo reads a file of at most that many bytes.
func readUpTo(path string, most int64) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > most {
		return "", fs.ErrInvalid
	}
	data, err := io.ReadAll(io.LimitReader(f, most))
	return string(data), err
}
