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
	"github.com/floodmark/floodmark/internal/project/checkout"
	"github.com/floodmark/floodmark/internal/shell/gitwords"
	"github.com/floodmark/floodmark/kernel/artifact"
)

// The limits of resolving a revision.
const (
	maxRefs    = 50_000 // names of commits; if there are more, the list is incomplete
	maxHistory = 5_000  // commits read to decide whether one is part of the checkout
	maxPending = 16     // commits in one of git's small files, or judged one by one
	minShort   = 4      // shortest prefix of a commit's id that git accepts
)

// Revisions implements [artifact.Disk]: it resolves each word to commits as git would, and judges
// each commit like a checkout of it.
func (d *Disk) Revisions(path string, words []string) []artifact.Checkout {
	root, gitDir, ok := locate(path)
	if !ok || len(words) == 0 {
		return nil
	}
	r := open(root, gitDir)
	head, _ := r.head() // "" before the first commit, which then contains no other commit
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

// judged returns the checkouts of the commits that are neither the owner's nor part of the
// checked-out commit. The commits beyond maxPending become one checkout, whose Commit is a digest,
// so that the endorsement of a single commit does not cover it.
func (v *revisions) judged(d *Disk, head string, ids []string) (list []artifact.Checkout) {
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

// headless returns the origin of a working tree without a current commit: none was made yet, or an
// orphan checkout left the files behind. The files may come from any commit that has a name.
func (d *Disk) headless(r repository) (artifact.Checkout, bool) {
	v := &revisions{r: r, from: r.root, objects: newObjects(r.common)}
	defer v.objects.close()
	ids := v.everything()
	slices.Sort(ids)
	for _, c := range v.judged(d, "", slices.Compact(ids)) {
		if !c.Team {
			return c, true
		}
	}
	return artifact.Checkout{}, false
}

// revisions resolves words in one repository.
type revisions struct {
	r       repository
	from    string   // the folder that paths are relative to
	owner   []string // the owner's identities
	objects *objects
	names   []ref
	known   map[string]string // the ids of names by their name; nil before they are read
	all     bool              // names is complete
}

// A ref is a name of a commit, without the prefix "refs/".
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

// side returns the commits of one revision. It ignores suffixes such as ~2 or :FILE, which lead to
// ancestors or files of the revision.
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

// logged returns the commits of a revision with @{...}, which git finds in its logs or settings. If
// it is not an upstream that is known, these are all commits with a name.
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

// named returns the commits of a name by git's rules. For a stash it is the commit that the stash
// was made on, because the stash itself contains the local tree.
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

// tags returns the tag objects that a word may name and that were not made by the owner. Their text
// is not part of any commit.
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

// ending returns the commits of names that end in a word, because git makes a branch from a remote
// branch with such a name. If only the beginning of the word is known (it contains a *), these are
// all names with a part that begins like it.
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

// everything returns the commits of all names, and those last fetched.
func (v *revisions) everything() (ids []string) {
	for _, f := range v.refs() {
		ids = append(ids, v.commits(f)...)
	}
	if !v.all {
		ids = append(ids, v.unknown())
	}
	return append(ids, pending(filepath.Join(v.r.dir, "FETCH_HEAD"))...)
}

// unknown returns an id for a commit that cannot be read. It is a digest of all names, so no real
// commit has it.
func (v *revisions) unknown() string {
	var all strings.Builder
	for _, f := range v.refs() {
		all.WriteString(f.name + f.id)
	}
	return floodmark.DigestOf(all.String()).String()
}

// commits returns the commit of a name: for a tag its target, and for a stash the commit that it
// was made on.
func (v *revisions) commits(f ref) []string {
	if f.name == "stash" && v.stashed() {
		if c, ok := v.objects.commit(f.id); ok && len(c.parents) > 1 {
			return c.parents[:1]
		}
	}
	return []string{v.peeled(f.id)}
}

// ofStash reports whether a word names a whole stash, which is the local tree on top of a commit.
func (v *revisions) ofStash(w string) bool {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(w, "refs/"), "stash")
	return ok && (rest == "" || strings.HasPrefix(rest, "@{") && strings.Trim(rest, "@{0123456789}") == "") && v.stashed()
}

// stashes returns the commits that the stashes were made on, because a stash contains their whole
// tree.
func (v *revisions) stashes() (ids []string) {
	log, _ := readSmall(filepath.Join(v.r.common, "logs", "refs", "stash")) // stashed has just read it
	for line := range strings.Lines(log) {
		if c, ok := v.objects.commit(strings.Fields(line)[1]); ok && len(c.parents) > 1 {
			ids = append(ids, c.parents[0])
		}
	}
	return ids
}

// stashed reports whether all stashes were made in this checkout, by git's log.
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

// peeled returns the object that a tag points to, and any other id unchanged.
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

// short returns the commits whose id begins with a word, or with the end of a name from "git
// describe".
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
		if _, ok := v.objects.commit(id); !ok { // a file or folder, which may be of any commit
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
		v.all = false // names in this form are not read
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

// loose adds the names that have a file each, and records aliases of names.
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

// pending returns the commits in one of git's small files, such as FETCH_HEAD or MERGE_HEAD.
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

// underWay returns the commits of an unfinished merge, cherry-pick or rebase.
func (r repository) underWay() (ids []string) {
	for _, name := range []string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REBASE_HEAD"} {
		ids = append(ids, pending(filepath.Join(r.dir, name))...)
	}
	return ids
}

// partOf reports whether all ids are in the history of head. Beyond its limits it returns false.
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
