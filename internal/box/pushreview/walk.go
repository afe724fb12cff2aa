package pushreview

import (
	"fmt"
	"maps"
	"slices"
)

// A Plan is what a push would do according to the references.
type Plan struct {
	Address, Branch string
	// Commit is what the branch would be on the remote. Old is what it is there now; empty if it
	// does not exist. Base is what Commit is compared with: Old, or else another commit that the
	// remote has; if it is empty, all files are new.
	Commit, Old, Base string
	// New are the commits that the remote is said not to have.
	New []string
}

// A Set is what the push of a review needs. Send are the objects that are sent; all of them are in
// the review. Have are the objects from which git knows what the remote has already. Edges are the
// commits that the remote has and that sent commits follow.
type Set struct{ Send, Have, Edges []string }

// A walker reads a history.
type walker struct {
	objects Objects
	isNew   map[string]bool
	commits map[string]commit
	trees   map[string][]entry
	send    map[string]bool
	have    map[string]bool
}

func newWalker(objects Objects) *walker {
	return &walker{
		objects: objects, isNew: map[string]bool{}, commits: map[string]commit{}, trees: map[string][]entry{},
		send: map[string]bool{}, have: map[string]bool{},
	}
}

func (w *walker) commit(id string) (commit, error) {
	if c, ok := w.commits[id]; ok {
		return c, nil
	}
	o, err := w.read(id, Commit)
	if err != nil {
		return commit{}, err
	}
	c, err := parseCommit(id, o.Body)
	if err == nil {
		w.commits[id] = c
	}
	return c, err
}

// tree reads a tree. An empty name is an empty tree.
func (w *walker) tree(id string) ([]entry, error) {
	if id == "" {
		return nil, nil
	}
	if t, ok := w.trees[id]; ok {
		return t, nil
	}
	o, err := w.read(id, Tree)
	if err != nil {
		return nil, err
	}
	t, err := parseTree(id, o.Body)
	if err == nil {
		w.trees[id] = t
	}
	return t, err
}

func (w *walker) read(id, kind string) (Object, error) {
	o, err := w.objects.Read(id)
	switch {
	case err != nil:
		return Object{}, err
	case o.Kind != kind:
		return Object{}, fmt.Errorf("%w: %.12s is no %s", ErrMalformed, id, kind)
	case o.Body == nil && o.Size > 0 && kind != Blob:
		return Object{}, fmt.Errorf("%w: %.12s has %d bytes", ErrTooMuch, id, o.Size)
	}
	return o, nil
}

// history orders the new commits, parents first, and refuses a list that is not the
// history of the commit that is pushed.
func (w *walker) history(p Plan) ([]commit, error) {
	if len(p.New) > MaxCommits {
		return nil, fmt.Errorf("%w: %d commits", ErrTooMuch, len(p.New))
	}
	for _, id := range p.New {
		w.isNew[id] = true
	}
	var list []commit
	var path []string // from the pushed commit, depth first
	done, entered := map[string]bool{}, map[string]bool{}
	for path = append(path, p.Commit); len(path) > 0; {
		id := path[len(path)-1]
		if done[id] || !w.isNew[id] {
			path = path[:len(path)-1]
			continue
		}
		c, err := w.commit(id)
		if err != nil {
			return nil, err
		}
		if entered[id] {
			done[id] = true
			list = append(list, c)
			continue
		}
		entered[id] = true
		for _, parent := range slices.Backward(c.parents) {
			path = append(path, parent)
		}
	}
	if len(list) != len(w.isNew) || !w.isNew[p.Commit] {
		return nil, fmt.Errorf("%w: the commits do not belong together", ErrMalformed)
	}
	return list, nil
}

// A change is one file that differs. An empty was means that it is new, an empty now that it was
// deleted.
type change struct {
	path     string
	was, now entry
}

// compare returns the files of a tree that differ from the file of the same name in each of the
// other trees. A change is relative to the first of the others. With send, it also records the
// trees and files that are sent.
func (w *walker) compare(now string, others []string, send bool) ([]change, error) {
	return w.below("", now, others, send, 0)
}

func (w *walker) below(at, now string, others []string, send bool, depth int) ([]change, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("%w: folders too deep", ErrTooMuch)
	}
	if now != "" && slices.Contains(others, now) {
		return nil, nil
	}
	mine, err := w.tree(now)
	if err != nil {
		return nil, err
	}
	if send && now != "" {
		w.send[now] = true
	}
	theirs := make([]map[string]entry, len(others))
	names := map[string]bool{}
	for i, id := range others {
		list, err := w.tree(id)
		if err != nil {
			return nil, err
		}
		if send && id != "" {
			w.have[id] = true
		}
		theirs[i] = map[string]entry{}
		for _, e := range list {
			theirs[i][e.name], names[e.name] = e, true
		}
	}
	own := map[string]entry{}
	for _, e := range mine {
		own[e.name], names[e.name] = e, true
	}
	var all []change
	for _, name := range slices.Sorted(maps.Keys(names)) {
		list, err := w.one(at+name, own[name], name, theirs, send, depth)
		if err != nil {
			return nil, err
		}
		if all = append(all, list...); len(all) > MaxEntries {
			return nil, fmt.Errorf("%w: more than %d files", ErrTooMuch, MaxEntries)
		}
	}
	return all, nil
}

// one compares the entries of one name.
func (w *walker) one(path string, now entry, name string, theirs []map[string]entry, send bool, depth int) ([]change, error) {
	for _, t := range theirs {
		if t[name] == now {
			return nil, nil
		}
	}
	folders := make([]string, len(theirs))
	for i, t := range theirs {
		if t[name].mode == modeFolder {
			folders[i] = t[name].id
		}
	}
	var was entry
	if len(theirs) > 0 {
		was = theirs[0][name]
	}
	var list []change
	file := func(e entry) entry {
		if e.mode == modeFolder {
			return entry{}
		}
		return e
	}
	if a, b := file(was), file(now); a != b {
		list = append(list, change{path, a, b})
		if send && (b.mode == modeFile || b.mode == modeProgram || b.mode == modeLink || b.mode == "100664") {
			w.send[b.id] = true
		}
	}
	below := ""
	if now.mode == modeFolder {
		below = now.id
	} else if was.mode != modeFolder {
		return list, nil
	}
	if len(folders) == 0 && below == "" {
		return list, nil
	}
	more, err := w.below(path+"/", below, folders, send, depth+1)
	return append(list, more...), err
}
