package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/floodmark/floodmark/internal/project/checkout"
	"github.com/floodmark/floodmark/kernel/artifact"
)

// maxCommits bounds the commits read to decide who wrote a checkout.
const maxCommits = 500

// A repository locates git's files of one checkout.
type repository struct {
	root   string // the folder of the working tree
	dir    string // git's files of this working tree
	common string // git's files all working trees share
	// borrowed is set if the working tree points to git's files elsewhere, and they do not point
	// back. Such a pointer can be forged.
	borrowed bool
}

func open(root, dir string) repository {
	r := repository{root: root, dir: dir, common: commonDir(dir)}
	if dir != filepath.Join(root, ".git") {
		back, err := readSmall(filepath.Join(dir, "gitdir"))
		r.borrowed = err != nil || filepath.Clean(strings.TrimSpace(back)) != filepath.Join(root, ".git")
	}
	return r
}

// Shared returns git's folder that a working tree shares with others, or "" if it has its own. The
// file in the working tree that names the folder can be forged, so the folder itself must list this
// working tree.
func Shared(root string) string {
	dir, ok := pointer(root)
	if !ok {
		return ""
	}
	if there, err := filepath.EvalSymlinks(dir); err != nil || there != dir {
		return ""
	}
	r := open(root, dir)
	own := filepath.Join(r.common, "worktrees", filepath.Base(dir))
	info, err := os.Lstat(filepath.Join(r.common, "objects"))
	if r.borrowed || own != dir || err != nil || !info.IsDir() || within(r.common, root) || within(root, r.common) {
		return ""
	}
	return r.common
}

// within reports whether a path is the folder or is in it.
func within(p, folder string) bool { return p == folder || strings.HasPrefix(p, folder+"/") }

// locate finds the checkout around a path: the nearest folder with git's files.
func locate(path string) (root, dir string, ok bool) {
	for at, n := path, 0; n < maxFolders; n++ {
		git := filepath.Join(at, ".git")
		if info, err := os.Lstat(git); err == nil {
			if info.IsDir() {
				return at, git, true
			}
			if to, ok := pointer(at); ok {
				return at, to, true
			}
		}
		up := filepath.Dir(at)
		if up == at {
			break
		}
		at = up
	}
	return "", "", false
}

// Repository implements [artifact.Disk]. It takes any folder with a HEAD for a git folder, whatever
// its name, because git itself would use it if the other files are there.
func (d *Disk) Repository(path string) (dir, common string) {
	for at, n := path, 0; n < maxFolders; n++ {
		git := filepath.Join(at, ".git")
		if to, ok := pointer(at); ok {
			git = to
		}
		for _, folder := range []string{git, at} {
			if _, err := os.Lstat(filepath.Join(folder, "HEAD")); err != nil {
				continue
			}
			folder = d.Resolve(filepath.Clean(folder))
			return folder, filepath.ToSlash(commonDir(folder))
		}
		up := filepath.Dir(at)
		if up == at {
			break
		}
		at = up
	}
	return "", ""
}

// Nested implements [artifact.Disk].
func (d *Disk) Nested(folder string) (folders []string, all bool) {
	until, files := time.Now().Add(MaxTime), 0
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if files++; err != nil || files > MaxFiles || time.Now().After(until) || len(folders) > MaxChanged {
			return fs.ErrInvalid
		}
		if !strings.EqualFold(e.Name(), ".git") {
			return nil
		}
		if at := filepath.Dir(path); at != folder {
			folders = append(folders, filepath.ToSlash(at))
		}
		if e.IsDir() {
			return filepath.SkipDir
		}
		return nil
	})
	return folders, err == nil
}

// pointer returns the git folder that a file called .git names.
func pointer(at string) (string, bool) {
	text, err := readSmall(filepath.Join(at, ".git"))
	to, ok := strings.CutPrefix(strings.TrimSpace(text), "gitdir: ")
	if err == nil && ok && !filepath.IsAbs(to) {
		to = filepath.Join(at, to)
	}
	return to, err == nil && ok
}

// commonDir returns the git folder shared by all working trees.
func commonDir(dir string) string {
	text, err := readSmall(filepath.Join(dir, "commondir"))
	to := strings.TrimSpace(text)
	switch {
	case err != nil || to == "":
		return dir
	case filepath.IsAbs(to):
		return to
	}
	return filepath.Join(dir, to)
}

// head returns the checked-out commit.
func (r repository) head() (string, bool) {
	text, err := readSmall(filepath.Join(r.dir, "HEAD"))
	if err != nil {
		return "", false
	}
	text = strings.TrimSpace(text)
	ref, symbolic := strings.CutPrefix(text, "ref: ")
	if !symbolic {
		return text, checkout.IsID(text)
	}
	if !strings.HasPrefix(ref, "refs/") || strings.Contains(ref, "..") {
		return "", false
	}
	if text, err := readSmall(filepath.Join(r.common, filepath.FromSlash(ref))); err == nil {
		id := strings.TrimSpace(text)
		return id, checkout.IsID(id)
	}
	packed, err := readUpTo(filepath.Join(r.common, "packed-refs"), maxListed) // it can be long, because it contains the remote's tags
	if err != nil {
		return "", false
	}
	for line := range strings.Lines(packed) {
		if id, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == ref && checkout.IsID(id) {
			return id, true
		}
	}
	return "", false
}

// whose returns the origin of a checkout at some heads. It is the owner's if it was not cloned and
// every commit is by one of the owner's identities. Author names can be forged, so a clone needs
// the owner's endorsement even if all its authors are the owner. A team's checkout is judged by
// teamwork.
func (r repository) whose(heads, owner []string, teams Teams) artifact.Checkout {
	c := artifact.Checkout{Root: filepath.ToSlash(r.root), Remote: r.remote()}
	if r.borrowed || len(heads) > maxHistory {
		c.Commit = heads[0]
		return c
	}
	log, _ := readSmall(filepath.Join(r.dir, "logs", "HEAD"))
	if has := r.team(teams); has != nil {
		return r.teamwork(c, heads, owner, log, has)
	}
	base := clonedAt(log)
	objects := newObjects(r.common)
	defer objects.close()
	seen := map[string]bool{}
	next := slices.Clone(heads)
	for len(next) > 0 && len(seen) < maxCommits+len(heads) {
		id := next[0]
		next = next[1:]
		if seen[id] || id == base {
			continue
		}
		seen[id] = true
		commit, ok := objects.commit(id)
		if !ok || !by(commit.author, owner) || !by(commit.committer, owner) {
			c.Commit = id
			return c
		}
		next = append(next, commit.parents...)
	}
	if base != "" {
		c.Commit = base
		return c
	}
	c.Own = true
	return c
}

func by(mail string, owner []string) bool {
	return mail != "" && slices.ContainsFunc(owner, func(o string) bool { return strings.EqualFold(o, mail) })
}

// clonedAt returns the commit at which a checkout was cloned, by git's log of its head, or "" if it
// was not. The log never comes from the remote.
func clonedAt(log string) string {
	for line := range strings.Lines(log) {
		who, what, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		ids := strings.Fields(who)
		if ok && len(ids) > 1 && strings.HasPrefix(what, "clone:") && checkout.IsID(ids[1]) {
			return ids[1]
		}
	}
	return ""
}

// remote returns the address that the checkout was cloned from, without a password.
func (r repository) remote() string {
	text, err := readSmall(filepath.Join(r.common, "config"))
	if err != nil {
		return ""
	}
	url := setting(text, `remote "origin"`, "url")
	if scheme, rest, ok := strings.Cut(url, "://"); ok {
		if i := strings.LastIndexByte(strings.SplitN(rest, "/", 2)[0], '@'); i >= 0 {
			rest = rest[i+1:]
		}
		url = scheme + "://" + rest
	}
	if len(url) > maxRemote {
		url = url[:maxRemote]
	}
	return strings.ToValidUTF8(url, "?")
}

// maxRemote bounds an address that is shown to a person, in bytes.
const maxRemote = 200

// setting returns the value of one of git's settings. If there are several, the last one applies.
func setting(text, section, name string) string {
	in, found := false, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if head, ok := strings.CutPrefix(line, "["); ok {
			head, _, _ = strings.Cut(head, "]")
			in = sameSection(strings.TrimSpace(head), section)
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if in && ok && strings.EqualFold(strings.TrimSpace(key), name) {
			found = strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return found
}
