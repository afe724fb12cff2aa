package boxgit

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// commits refuses new history for one of three reasons: an object is missing; a commit contains a
// file that the project would not keep; or a new commit at the end of a branch has files that are
// not in the project, because only files in the project are inspected and labelled.
func (r *Repository) commits(g *scratch, before, after *refs, tips []string) error {
	var lines []string
	for name := range before.names() {
		if id := before.at(name); isID(id) {
			lines = append(lines, "^"+id)
		}
	}
	if id := before.commit(); isID(id) {
		lines = append(lines, "^"+id)
	}
	var pairs, ends []string
	for name := range after.names() {
		was, is := before.at(name), after.at(name)
		if !isID(is) || is == was {
			continue
		}
		tips, ends = append(tips, is), append(ends, is)
		if isID(was) && name != "refs/stash" {
			pairs = append(pairs, is+" "+was)
		}
	}
	if was, is := before.commit(), after.commit(); isID(is) && is != was {
		tips, ends = append(tips, is), append(ends, is)
		if isID(was) {
			pairs = append(pairs, is+" "+was)
		}
	}
	if len(tips) == 0 {
		return nil
	}
	lines = append(lines, tips...)
	if _, err := g.run(lines, nil, "rev-list", "--objects", "--quiet", "--stdin"); err != nil {
		return err
	}
	list, err := g.run(lines, nil, "rev-list", "--stdin")
	if err != nil {
		return err
	}
	if err := r.lie(g, before.commit(), ends, strings.Fields(string(list))); err != nil {
		return err
	}
	// Compare each new commit with all its parents, and the new commit of each ref that moved with
	// the old one.
	pairs = append(pairs, strings.Fields(string(list))...)
	out, err := g.run(pairs, nil, "diff-tree", "--stdin", "-r", "-c", "--root", "--raw", "--no-abbrev", "--no-renames", "--no-commit-id", "-z")
	if err != nil {
		return err
	}
	return differences(out, r.carries)
}

// lie refuses new commits at the ends of branches if they differ from the old HEAD by files that
// are not in the project in the same form.
func (r *Repository) lie(g *scratch, head string, ends, fresh []string) error {
	var pairs []string
	for _, id := range ends {
		switch {
		case !slices.Contains(fresh, id):
		case isID(head):
			pairs = append(pairs, id+" "+head)
		default:
			pairs = append(pairs, id)
		}
	}
	if len(pairs) == 0 {
		return nil
	}
	out, err := g.run(pairs, nil, "diff-tree", "--stdin", "-r", "--root", "--raw", "--no-abbrev", "--no-renames", "--no-commit-id", "-z")
	if err != nil {
		return err
	}
	return differences(out, r.lies)
}

// lies returns an error if the project does not have this file of a commit or of the index in the
// same form.
func (r *Repository) lies(name, mode, id string) error {
	if mode == "000000" {
		mode, id = "", ""
	}
	if r.Lies(name, mode, id) {
		return nil
	}
	return fmt.Errorf("it holds %s otherwise than the project does: commit all of it, on the branch that is checked out", oneLine(name))
}

// differences calls about for every file in the output of diff-tree. An entry is «:mode mode id id
// status», with one more colon, mode and id for each parent beyond the first, and then the path.
func differences(out []byte, about func(name, mode, id string) error) error {
	for len(out) > 0 {
		entry, rest, _ := bytes.Cut(out, []byte{0})
		if len(entry) == 0 {
			out = rest
			continue
		}
		name, rest, _ := bytes.Cut(rest, []byte{0})
		out = rest
		parents := len(entry) - len(bytes.TrimLeft(entry, ":"))
		f := strings.Fields(strings.TrimLeft(string(entry), ":"))
		if parents == 0 || len(f) != 2*parents+3 || len(name) == 0 {
			return errors.New("git's answer cannot be read")
		}
		if err := about(string(name), f[parents], f[2*parents+1]); err != nil {
			return err
		}
	}
	return nil
}

// carries returns an error if the project would not keep this file of a commit or of the index from
// a box and does not have it already.
func (r *Repository) carries(name, mode, id string) error {
	if mode == "000000" {
		mode, id = "", ""
	}
	plain := mode == "" || mode == "100644" || mode == "100755"
	if plain && !r.Guards(name) || r.Has(name, mode, id) {
		return nil
	}
	return fmt.Errorf("it carries %s, which the project does not keep from a box", oneLine(name))
}

// oneLine returns a foreign name on one line, with escapes.
func oneLine(name string) string {
	quoted := strconv.Quote(name)
	return quoted[1 : len(quoted)-1]
}

// entries refuses an index that contains a file which a commit must not contain, or that hides
// changes.
func (r *Repository) entries(g *scratch, file string) error {
	was, err := g.index(r.Git + "/index")
	if err != nil {
		return err
	}
	is, err := g.index(file)
	if err != nil {
		return err
	}
	for key, entry := range is {
		if was[key] == entry {
			continue
		}
		if entry.tag != "H" && entry.tag != "M" {
			return fmt.Errorf("the index hides changes of %s", oneLine(key.name))
		}
		if err := r.carries(key.name, entry.mode, entry.id); err != nil {
			return err
		}
		if key.stage == "0" {
			if err := r.lies(key.name, entry.mode, entry.id); err != nil {
				return err
			}
		}
	}
	for key := range was {
		if _, there := is[key]; !there && key.stage == "0" {
			if err := r.carries(key.name, "", ""); err != nil {
				return err
			}
		}
	}
	return nil
}

type place struct{ name, stage string }

type entry struct{ tag, mode, id string }

// index reads an index. One that does not exist is empty.
func (g *scratch) index(file string) (map[place]entry, error) {
	all := map[place]entry{}
	if !exists(file) {
		return all, nil
	}
	out, err := g.run(nil, []string{"GIT_INDEX_FILE=" + file}, "ls-files", "-s", "-v", "-z")
	if err != nil {
		return nil, err
	}
	for line := range bytes.SplitSeq(out, []byte{0}) {
		facts, name, _ := strings.Cut(string(line), "\t")
		f := strings.Fields(facts)
		if len(line) == 0 {
			continue
		}
		const facets = 4 // tag, mode, id, stage
		if len(f) != facets {
			return nil, errors.New("git's answer cannot be read")
		}
		all[place{name, f[3]}] = entry{f[0], f[1], f[2]}
	}
	return all, nil
}
