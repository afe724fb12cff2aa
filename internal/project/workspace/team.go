package workspace

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/floodmark/floodmark/kernel/artifact"
)

// address returns the address of origin in the repository's settings.
func (r repository) address() string {
	text, err := readSmall(filepath.Join(r.common, "config"))
	if err != nil {
		return ""
	}
	return setting(text, `remote "origin"`, "url")
}

// team returns a function that reports whether a commit is the team's. It is nil unless the owner
// has declared the checkout to be the team's and its address is still the same.
func (r repository) team(t Teams) func(commit string) bool {
	if t == nil || r.borrowed {
		return nil
	}
	address, has := t.Of(r.root)
	if address == "" || address != r.address() {
		return nil
	}
	return has
}

// teamwork returns the origin of a checkout of a team's repository. It is the team's if each commit
// is on the default branch as the monitor fetched it, or was made in this checkout in the owner's
// name. An author's name alone is not enough, because it may have come with a stranger's branch.
func (r repository) teamwork(c artifact.Checkout, heads, owner []string, log string, has func(commit string) bool) artifact.Checkout {
	made := madeHere(log)
	objects := newObjects(r.common)
	defer objects.close()
	seen := map[string]bool{}
	next := slices.Clone(heads)
	for len(next) > 0 {
		id := next[0]
		next = next[1:]
		if seen[id] {
			continue
		}
		seen[id] = true
		if has(id) {
			continue
		}
		commit, ok := objects.commit(id)
		if !ok || made[id] == nil || len(seen) > maxCommits+len(heads) || !by(commit.author, owner) || !by(commit.committer, owner) {
			c.Commit = id
			return c
		}
		next = append(append(next, commit.parents...), made[id]...)
	}
	c.Commit, c.Team = heads[0], true
	return c
}

// madeHere returns the commits that were made in a checkout by commit or merge, by git's log of its
// head, each with the commits that it amended and so contains. Commits of a rebase, a cherry-pick
// or a patch are left out, because their content has an unknown author. Commits that a box wrote
// are left out, too; the log marks them.
func madeHere(log string) map[string][]string {
	made := map[string][]string{}
	for line := range strings.Lines(log) {
		who, what, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		ids := strings.Fields(who)
		verb, _, _ := strings.Cut(what, ":")
		verb, how, _ := strings.Cut(verb, " ")
		end := what[strings.LastIndexByte(what, ':')+1:]                                           // the command's arguments come before the last colon
		merged := (verb == "merge" || verb == "pull") && strings.HasPrefix(end, " Merge made by ") // its parents are judged one by one
		typed := verb == "commit" && slices.Contains([]string{"", "(initial)", "(merge)", "(amend)"}, how)
		if !ok || len(ids) < 2 || !typed && !merged {
			continue
		}
		if made[ids[1]] == nil {
			made[ids[1]] = []string{}
		}
		if typed && how == "(amend)" {
			made[ids[1]] = append(made[ids[1]], ids[0])
		}
	}
	return made
}

// Behind reports whether a path is in a checkout of a team's repository that is not at the team's
// state as far as known. The team may have its commits by now, so the caller should fetch. It
// returns the checkout's folder.
func (d *Disk) Behind(path string) (root string, behind bool) {
	at, gitDir, ok := locate(path)
	if !ok {
		return "", false
	}
	if open(at, gitDir).team(d.opts.Teams) == nil {
		return "", false
	}
	c, ok := d.Around(path)
	return at, ok && !c.Team
}

// Origin returns the folder of the checkout around a path and its remote's address.
func Origin(path string) (root, address string, ok bool) {
	root, dir, ok := locate(path)
	if !ok {
		return "", "", false
	}
	r := open(root, dir)
	address = r.address()
	return root, address, !r.borrowed && address != ""
}
