package workspace

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/secret/redact"
	"github.com/floodmark/floodmark/internal/shell/looks"
	"github.com/floodmark/floodmark/kernel/artifact"
)

// The limits of a search for secrets. If one is reached, the result is reported as incomplete.
const (
	MaxSecretFolders = 2_000
	MaxSecretDepth   = 16
	MaxSecretNames   = 10_000 // in one folder
	MaxSecretFiles   = 64     // files whose content is read in one search
	maxSecretBytes   = 64 << 10
	maxHoards        = 32      // remembered
	maxRemembered    = 100_000 // folders of all remembered searches: some 40 MB
)

// The limits of a search by name alone, which reads no file. A folder takes some 60 microseconds
// the first time, and three if it has not changed.
const (
	MaxNamedFolders = 20_000
	MaxNamedDepth   = 64
	MaxNamedNames   = 50_000          // in one folder
	MaxNamedTime    = 2 * time.Second // for folders that changed; the next search continues there
)

// bounds are the limits of one search.
type bounds struct{ folders, depth, names int }

// settled is how old a file's time must be to prove that the file has not changed since, because
// file systems round times.
const settled = 2 * time.Second

// A found is the content of one folder at its last change.
type found struct {
	at      time.Time
	folders []string
	files   []string // files that may contain secrets
	whole   bool
}

// A read is the content of one file at its last change.
type read struct {
	at     time.Time
	size   int64
	prints []floodmark.SecretSpan
}

// A memory is the result of one search. Of the files' content it has only the prints of secrets.
type memory struct {
	folders map[string]found
	files   map[string]read
}

// A look is one search of a folder. It uses the memory of the last search for folders and files
// that have not changed.
type look struct {
	artifact.Search
	bounds
	was, is memory
	now     time.Time
	hoard   artifact.Hoard
}

// bounds returns the limits of a search.
func (d *Disk) bounds(s artifact.Search) bounds {
	if s.Prints == nil {
		return d.named
	}
	return bounds{MaxSecretFolders, MaxSecretDepth, MaxSecretNames}
}

// Secrets implements [artifact.Disk]. Known files and folders are read again if their time has
// changed.
func (d *Disk) Secrets(s artifact.Search) artifact.Hoard {
	name := s.Under + "\x00" + s.Folder
	d.mu.Lock()
	was := d.hoards[name]
	d.mu.Unlock()
	l := &look{Search: s, bounds: d.bounds(s), was: was, now: time.Now(), is: memory{folders: map[string]found{}, files: map[string]read{}}}
	l.hoard.Whole = true
	if info, err := os.Stat(s.Folder); err != nil {
		l.hoard.Whole = false
	} else if info.IsDir() {
		l.folder(s.Folder, 0)
	} else {
		l.file(s.Folder)
	}
	l.beside()
	d.mu.Lock()
	defer d.mu.Unlock()
	remembered := len(l.is.folders)
	for _, m := range d.hoards {
		remembered += len(m.folders)
	}
	if len(d.hoards) >= maxHoards || remembered > maxRemembered {
		clear(d.hoards)
	}
	d.hoards[name] = l.is
	return l.hoard
}

// folder searches a folder and those below it.
func (l *look) folder(dir string, depth int) {
	info, err := os.Lstat(dir)
	if err != nil || depth > l.depth || len(l.is.folders) >= l.folders {
		l.hoard.Whole = false
		return
	}
	f, ok := l.was.folders[dir]
	if !ok || !f.at.Equal(info.ModTime()) {
		if l.Prints == nil && time.Since(l.now) > MaxNamedTime {
			l.hoard.Whole = false
			return
		}
		f = l.list(dir)
	}
	if f.at = info.ModTime(); l.now.Sub(f.at) < settled {
		f.at = time.Time{}
	}
	l.is.folders[dir] = f
	l.hoard.Whole = l.hoard.Whole && f.whole
	for _, path := range f.files {
		l.file(path)
	}
	for _, sub := range f.folders {
		l.folder(sub, depth+1)
	}
}

// list reads the names in a folder.
func (l *look) list(dir string) found {
	open, err := os.Open(dir)
	if err != nil {
		return found{}
	}
	defer func() { _ = open.Close() }()
	entries, err := open.ReadDir(l.names)
	f := found{whole: (err == nil || errors.Is(err, io.EOF)) && len(entries) < l.names}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.IsDir() {
			if !ofGit(path) && !Filled(path) {
				f.folders = append(f.folders, path)
			}
		} else if l.Keeps(filepath.ToSlash(path)) != redact.KeepsNone {
			f.files = append(f.files, path)
		}
	}
	slices.Sort(f.folders)
	slices.Sort(f.files)
	return f
}

// file looks into a file. A file with the name of a secret file is reported even if no secret is
// found in it. If any other cannot be read, the result is incomplete.
func (l *look) file(path string) {
	k := l.Keeps(filepath.ToSlash(path))
	if k == redact.KeepsNone {
		return
	}
	prints, ok := l.prints(path)
	if k == redact.KeepsSecrets || len(prints) > 0 {
		l.hoard.Files = append(l.hoard.Files, artifact.Keeper{Path: filepath.ToSlash(path), Prints: prints})
		return
	}
	l.hoard.Whole = l.hoard.Whole && ok
}

// prints returns the prints of the secrets in a file, read or remembered, and whether they are
// known.
func (l *look) prints(path string) ([]floodmark.SecretSpan, bool) {
	if l.Prints == nil {
		return nil, false
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil, false
	}
	r, ok := l.was.files[path]
	if !ok || !r.at.Equal(info.ModTime()) || r.size != info.Size() {
		if len(l.is.files) >= MaxSecretFiles {
			return nil, false
		}
		text, err := readUpTo(path, maxSecretBytes)
		if err != nil {
			return nil, false
		}
		r = read{size: info.Size(), prints: l.Prints(filepath.ToSlash(path), text)}
	}
	if r.at = info.ModTime(); l.now.Sub(r.at) < settled {
		r.at = time.Time{}
	}
	l.is.files[path] = r
	return r.prints, true
}

// beside searches the files outside the folder that the search names, as far as the limit of files
// allows.
func (l *look) beside() {
	for _, place := range l.Beside {
		info, err := os.Stat(place)
		if err != nil {
			continue
		}
		paths := []string{place}
		if info.IsDir() {
			entries, _ := os.ReadDir(place)
			paths = nil
			for _, e := range entries[:min(len(entries), MaxSecretFiles)] {
				paths = append(paths, filepath.Join(place, e.Name()))
			}
		}
		for _, path := range paths {
			if l.Keeps(filepath.ToSlash(path)) != redact.KeepsSecrets {
				continue
			}
			if prints, ok := l.prints(path); ok {
				l.hoard.Beside = append(l.hoard.Beside, artifact.Keeper{Path: filepath.ToSlash(path), Prints: prints})
			}
		}
	}
}

// Databases implements [artifact.Disk]: it returns the databases in the owner's .pgpass. It ignores a
// file that others may read, as psql does, and a link, because it may lead to a file that others
// can write. It returns nil if there is a .psqlrc- file, the settings for one version of psql,
// because they may run commands.
func (*Disk) Databases(home string) []string {
	name := filepath.Join(home, ".pgpass")
	info, err := os.Lstat(name)
	if home == "" || err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 {
		return nil
	}
	files, err := os.ReadDir(home)
	if err != nil || slices.ContainsFunc(files, func(f os.DirEntry) bool { return strings.HasPrefix(strings.ToLower(f.Name()), ".psqlrc-") }) {
		return nil
	}
	text, err := readSmall(name)
	if err != nil {
		return nil
	}
	return looks.Databases(text)
}

// Composes implements [artifact.Disk]. It does not follow links, because they may lead to a file that
// others can write.
func (*Disk) Composes(folder string) bool {
	return filepath.IsAbs(folder) && looks.Composed(func(name string) (text string, there, ok bool) {
		at := filepath.Join(folder, name)
		info, err := os.Lstat(at)
		if err != nil || !info.Mode().IsRegular() {
			return "", false, errors.Is(err, fs.ErrNotExist)
		}
		text, err = readSmall(at)
		return text, true, err == nil
	})
}
