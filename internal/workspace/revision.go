package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/checkout"
	"github.com/floodmark/floodmark/internal/gitwords"
	"github.com/floodmark/floodmark/kernel"
)

// The limits of resolving a revision.
const (
	maxRefs    = 50_000 // names of commits; beyond it their authors are unknown
	maxHistory = 5_000  // commits read to decide whether one is part of the checkout
	maxPending = 16     // commits in one of git's small files, or judged one by one
	minShort   = 4      // shortest prefix of a commit's id that git accepts
)

// Revisions implements [kernel.Disk]: a word names a revision as git would resolve it, and has the
// trust of a checkout of it.
func (d *Disk) Revisions(path string, words []string) []kernel.Checkout {
	root, gitDir, ok := locate(path)
	if !ok || len(words) == 0 {
		return nil
	}
	r := open(root, gitDir)
	head, _ := r.head() // before the first commit it has no parts
	v := &revisions{r: r, from: path, objects: newObjects(r.common), owner: d.identities()}
	defer v.objects.close()
	var ids []string
	for _, w := range words {
		ids = append(ids, v.word(w)...)
	}
	slices.Sort(ids)
	ids = slices.DeleteFunc(slices.Compact(ids), func(id string) bool { return id == head })
	if len(ids) == 0 {
		return nil
	}
	return v.judged(d, head, ids)
}

// judged are the checkouts of commits that are neither the owner's nor part of what is checked out.
// Those beyond maxPending become one, which cannot be endorsed by a commit.
func (v *revisions) judged(d *Disk, head string, ids []string) (list []kernel.Checkout) {
	owner := d.identities()
	for _, id := range ids[:min(len(ids), maxPending)] {
		if c := v.r.whose([]string{id}, owner, d.opts.Teams); !c.Own && (c.Team || !v.partOf(head, []string{id})) {
			list = append(list, c)
		}
	}
	if len(ids) <= maxPending {
		return list
	}
	if c := v.r.whose(ids[maxPending:], owner, d.opts.Teams); !c.Own {
		if !c.Team {
			c.Commit = floodmark.DigestOf(strings.Join(ids, " ")).String()
		}
		list = append(list, c)
	}
	return list
}

// headless is what lies in a tree without a current commit: none was made yet, or a new checkout
// left the files behind. They may be of any named commit.
func (d *Disk) headless(r repository) (kernel.Checkout, bool) {
	v := &revisions{r: r, from: r.root, objects: newObjects(r.common)}
	defer v.objects.close()
	ids := v.everything()
	slices.Sort(ids)
	for _, c := range v.judged(d, "", slices.Compact(ids)) {
		if !c.Team {
			return c, true
		}
	}
	return kernel.Checkout{}, false
}

// revisions resolves words in one repository.
type revisions struct {
	r       repository
	from    string   // the folder that paths are relative to
	owner   []string // the owner's identities
	objects *objects
	names   []ref
	known   map[string]string // the same by name; nil before they are read
	all     bool              // names is complete
}

// A ref is a name of a commit, without «refs/».
type ref struct{ name, id string }

// word returns the commits that a word means to git.
func (v *revisions) word(w string) (ids []string) {
	if w == gitwords.All || strings.HasPrefix(w, ":/") {
		return v.everything()
	}
	left, right, between := strings.Cut(w, "..")
	if !between {
		return v.side(w)
	}
	return append(v.side(left), v.side(strings.TrimPrefix(right, "."))...)
}

// side is one revision, without suffixes that lead to its past or into its files.
func (v *revisions) side(w string) []string {
	w = strings.TrimPrefix(w, "^")
	if tag, itself := strings.CutSuffix(w, gitwords.TagItself); itself {
		return append(v.tags(tag), v.side(tag)...)
	}
	if v.ofStash(w) {
		return v.stashes()
	}
	if at := strings.Index(w, "@{"); at >= 0 {
		return v.logged(w[:at], strings.ToLower(w[at:]))
	}
	name := w
	if i := strings.IndexAny(w, "^~:"); i >= 0 {
		name = w[:i]
	}
	if name == "" || name == "HEAD" || name == "@" || name == "." || strings.ContainsAny(name, " \t\n\\?[") {
		return nil
	}
	if ids := v.named(name); len(ids) > 0 {
		return ids
	}
	for _, at := range []string{v.from, v.r.root} {
		if _, err := os.Lstat(filepath.Join(at, filepath.FromSlash(w))); err == nil {
			return nil
		}
	}
	if ids := v.short(name); len(ids) > 0 {
		return ids
	}
	if ids := v.ending(name); v.all || len(ids) > 0 {
		return ids
	}
	return []string{v.unknown()}
}

// logged is a revision found in git's logs or settings.
func (v *revisions) logged(name, which string) []string {
	kind, _, _ := strings.Cut(which, "}")
	if kind == "@{u" || kind == "@{upstream" || kind == "@{push" {
		if name == "" || name == "HEAD" {
			text, _ := readSmall(filepath.Join(v.r.dir, "HEAD"))
			name = strings.TrimPrefix(strings.TrimSpace(text), "ref: refs/heads/")
		}
		text, _ := readSmall(filepath.Join(v.r.common, "config"))
		section := `branch "` + name + `"`
		branch, ok := strings.CutPrefix(setting(text, section, "merge"), "refs/heads/")
		if ids := v.named("refs/remotes/" + setting(text, section, "remote") + "/" + branch); ok && len(ids) > 0 {
			return ids
		}
	}
	return v.everything()
}

// named returns the commits of a name by git's rules. For a stash it is the commit below: the stash
// itself holds the local tree.
func (v *revisions) named(name string) (ids []string) {
	if !strings.Contains(name, "/") || strings.HasPrefix(name, "worktrees/") || strings.HasPrefix(name, "main-worktree/") {
		for _, dir := range []string{v.r.dir, v.r.common} {
			at := filepath.Join(dir, filepath.FromSlash(name))
			ids = append(ids, pending(at)...)
			text, _ := readSmall(at)
			if to, other := strings.CutPrefix(strings.TrimSpace(text), "ref: refs/"); other {
				ids = append(ids, v.named("refs/"+to)...)
			}
		}
	}
	for _, f := range v.refs() {
		if f.called(name) {
			ids = append(ids, v.commits(f)...)
		}
	}
	return ids
}

// called reports whether git resolves a name to f.
func (f ref) called(name string) bool {
	for _, rule := range [...]string{"", "tags/", "heads/", "remotes/"} {
		if strings.EqualFold(f.name, rule+name) || strings.EqualFold("refs/"+f.name, name) || rule == "remotes/" && strings.EqualFold(f.name, rule+name+"/HEAD") {
			return true
		}
	}
	return false
}

// tags are other people's tag objects that a word may name: their text is part of no commit.
func (v *revisions) tags(word string) (ids []string) {
	for _, f := range v.refs() {
		if f.called(word) {
			ids = append(ids, f.id)
		}
	}
	if low := strings.ToLower(word); len(low) >= minShort && strings.Trim(low, "0123456789abcdef") == "" {
		ids = append(ids, v.objects.beginning(low)...)
	}
	return slices.DeleteFunc(ids, func(id string) bool {
		body, ok := v.objects.exactly(id, tagObject)
		head, _, _ := strings.Cut(string(body), "\n\n")
		_, tagger, _ := strings.Cut(head, "\ntagger ")
		tagger, _, _ = strings.Cut(tagger, "\n")
		return !ok || by(mailOf(tagger), v.owner)
	})
}

// ending returns the commits of names that end in a word: git makes a branch from such a remote
// one. For a word with only a known beginning they are all names with that beginning.
func (v *revisions) ending(word string) (ids []string) {
	word = strings.ToLower(word)
	begin, _, open := strings.Cut(word, "*")
	for _, f := range v.refs() {
		name := "/refs/" + strings.ToLower(f.name)
		if strings.HasSuffix(name, "/"+word) || open && strings.Contains(name, "/"+begin) {
			ids = append(ids, v.commits(f)...)
		}
	}
	return ids
}

// everything are the commits of all names.
func (v *revisions) everything() (ids []string) {
	for _, f := range v.refs() {
		ids = append(ids, v.commits(f)...)
	}
	if !v.all {
		ids = append(ids, v.unknown())
	}
	return append(ids, pending(filepath.Join(v.r.dir, "FETCH_HEAD"))...)
}

// unknown stands for a commit that cannot be read: no other has this name.
func (v *revisions) unknown() string {
	var all strings.Builder
	for _, f := range v.refs() {
		all.WriteString(f.name + f.id)
	}
	return floodmark.DigestOf(all.String()).String()
}

// commits are those that a name leads to: for a tag its target, for a stash the commit below the
// owner's work.
func (v *revisions) commits(f ref) []string {
	if f.name == "stash" && v.stashed() {
		if c, ok := v.objects.commit(f.id); ok && len(c.parents) > 1 {
			return c.parents[:1]
		}
	}
	return []string{v.peeled(f.id)}
}

// ofStash reports a stash as a whole: the local tree on top of a commit.
func (v *revisions) ofStash(w string) bool {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(w, "refs/"), "stash")
	return ok && (rest == "" || strings.HasPrefix(rest, "@{") && strings.Trim(rest, "@{0123456789}") == "") && v.stashed()
}

// stashes are the commits that stashes were made on: each holds its whole tree.
func (v *revisions) stashes() (ids []string) {
	log, _ := readSmall(filepath.Join(v.r.common, "logs", "refs", "stash")) // it was readable just now
	for line := range strings.Lines(log) {
		if c, ok := v.objects.commit(strings.Fields(line)[1]); ok && len(c.parents) > 1 {
			ids = append(ids, c.parents[0])
		}
	}
	return ids
}

// stashed reports that all stashes were made here, by git's log.
func (v *revisions) stashed() bool {
	log, err := readSmall(filepath.Join(v.r.common, "logs", "refs", "stash"))
	last := ""
	for line := range strings.Lines(log) {
		who, what, _ := strings.Cut(line, "\t")
		ids := strings.Fields(who)
		if len(ids) < 2 || !strings.HasPrefix(what, "WIP on ") && !strings.HasPrefix(what, "On ") {
			return false
		}
		last = ids[1]
	}
	v.refs()
	return err == nil && last != "" && v.known["stash"] == last
}

// peeled is the commit that a tag points to.
func (v *revisions) peeled(id string) string {
	for range maxPending {
		body, ok := v.objects.exactly(id, tagObject)
		to, _, _ := strings.Cut(strings.TrimPrefix(string(body), "object "), "\n")
		if !ok || !checkout.IsID(to) {
			return id
		}
		id = to
	}
	return v.unknown()
}

// short returns the commits with a word as the prefix of their id, or as their «git describe» name.
func (v *revisions) short(word string) (ids []string) {
	word = strings.ToLower(word)
	if i := strings.LastIndex(word, "-g"); i >= 0 {
		word = word[i+2:]
	}
	if len(word) < minShort || strings.Trim(word, "0123456789abcdef") != "" {
		return nil
	}
	found := []string{word}
	if !checkout.IsID(word) {
		found = v.objects.beginning(word)
		if _, err := os.Lstat(filepath.Join(v.r.common, "objects", "info", "alternates")); err == nil {
			return v.everything()
		}
	}
	for _, id := range found {
		id = v.peeled(id)
		if _, ok := v.objects.commit(id); !ok { // a file of any commit
			return v.everything()
		}
		ids = append(ids, id)
	}
	return ids
}

// refs returns the repository's names, reading them once.
func (v *revisions) refs() []ref {
	if v.known != nil {
		return v.names
	}
	v.all, v.known = true, map[string]string{}
	if _, err := os.Lstat(filepath.Join(v.r.common, "reftable")); err == nil {
		v.all = false // an unknown form of storing names
	}
	alias := map[string]string{}
	for _, dir := range slices.Compact([]string{v.r.common, v.r.dir}) {
		v.loose(filepath.Join(dir, "refs"), alias)
	}
	packed, err := readUpTo(filepath.Join(v.r.common, "packed-refs"), maxListed)
	v.all = v.all && (err == nil || errors.Is(err, fs.ErrNotExist))
	for line := range strings.Lines(packed) {
		id, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name, ok := strings.CutPrefix(name, "refs/"); ok && checkout.IsID(id) {
			v.add(name, id)
		}
	}
	for name, to := range alias {
		if id, ok := v.known[to]; ok {
			v.add(name, id)
		}
	}
	return v.names
}

// add adds a name, unless it is known already or there are too many.
func (v *revisions) add(name, id string) {
	if v.known[name] != "" {
		return
	}
	if len(v.names) >= maxRefs {
		v.all = false
		return
	}
	v.known[name], v.names = id, append(v.names, ref{name, id})
}

// loose adds the names with a file each, and aliases of names.
func (v *revisions) loose(top string, alias map[string]string) {
	if _, err := os.Lstat(top); errors.Is(err, fs.ErrNotExist) {
		return
	}
	err := filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(top, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		text, _ := readSmall(path)
		text = strings.TrimSpace(text)
		if to, ok := strings.CutPrefix(text, "ref: refs/"); ok {
			alias[name] = to
		} else if checkout.IsID(text) {
			v.add(name, text)
		}
		return nil
	})
	v.all = v.all && err == nil
}

// pending are the commits in one of git's small files: FETCH_HEAD, MERGE_HEAD.
func pending(path string) (ids []string) {
	text, err := readSmall(path)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(text) {
		if id, _, _ := strings.Cut(strings.TrimSpace(line), "\t"); checkout.IsID(id) && len(ids) < maxPending {
			ids = append(ids, id)
		}
	}
	return ids
}

// underWay are the commits of an unfinished merge or pick.
func (r repository) underWay() (ids []string) {
	for _, name := range []string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REBASE_HEAD"} {
		ids = append(ids, pending(filepath.Join(r.dir, name))...)
	}
	return ids
}

// partOf reports whether commits are part of the history of another.
func (v *revisions) partOf(head string, ids []string) bool {
	seen, next := map[string]bool{}, []string{head}
	left := map[string]bool{}
	for _, id := range ids {
		left[id] = true
	}
	for until := time.Now().Add(MaxTime); len(next) > 0 && len(seen) < maxHistory && time.Now().Before(until); {
		id := next[0]
		next = next[1:]
		if seen[id] {
			continue
		}
		seen[id] = true
		if delete(left, id); len(left) == 0 {
			return true
		}
		if c, ok := v.objects.commit(id); ok {
			next = append(next, c.parents...)
		}
	}
	return false
}
