package pushreview

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

// A Review is what a person is shown of a push.
type Review struct {
	Plan Plan
	// Head says in our own words what is sent. It begins with a count of what is not shown.
	Head []string
	// Body is the rest: the commits and what they change. Text of others follows after two spaces
	// and a sign.
	Body []string
	// Rest is what is sent but not shown in Body, up to [MaxRest] bytes. It is checked by the
	// monitor.
	Rest []string
	// Sent is a short form of the review, for a card.
	Sent hook.Sent
	// Names are the hosts that files name after the push and did not name before.
	Names []Named
	// Set is the objects that the push needs.
	Set Set
}

// Digest identifies a whole review, so that the approval of one review covers no other.
func (r *Review) Digest() floodmark.Digest {
	p := r.Plan
	parts := slices.Concat([]string{"push", p.Address, p.Branch, p.Commit, p.Old, p.Base}, r.Set.Send, r.Head, r.Body)
	for i, part := range parts {
		parts[i] = fmt.Sprintf("%d %s", len(part), part)
	}
	return floodmark.DigestOf(strings.Join(parts, "\n"))
}

// Make reviews a push.
func Make(objects Objects, p Plan) (*Review, error) {
	w := newWalker(objects)
	list, err := w.history(p)
	if err != nil {
		return nil, err
	}
	s := &shower{walker: w, stats: &stats{}}
	base := ""
	if p.Base != "" {
		c, err := w.commit(p.Base)
		if err != nil {
			return nil, err
		}
		base = c.tree
	}
	whole, err := w.compare(w.commits[p.Commit].tree, []string{base}, false)
	if err != nil {
		return nil, err
	}
	shown := map[change]bool{}
	for _, c := range whole {
		shown[change{path: c.path, now: c.now}] = true
	}
	edges := map[string]bool{}
	between := make([][]change, len(list))
	total := len(whole)
	for i, c := range list {
		if between[i], err = w.sent(c, edges, shown); err != nil {
			return nil, err
		}
		if total += len(between[i]); total > MaxEntries {
			return nil, fmt.Errorf("%w: more than %d files", ErrTooMuch, MaxEntries)
		}
	}
	if err := w.follows(p, edges); err != nil {
		return nil, err
	}
	r := &Review{Plan: p}
	if r.Body, err = s.body(list, whole, between); err != nil {
		return nil, err
	}
	r.Rest, r.Head, r.Sent, r.Names = s.rest, s.head(p, list, whole), s.inShort(p, list, whole), s.names
	r.Set = Set{Send: slices.Sorted(maps.Keys(w.send)), Edges: slices.Sorted(maps.Keys(edges))}
	for id := range edges {
		w.have[id] = true
	}
	maps.DeleteFunc(w.have, func(id string, _ bool) bool { return w.send[id] })
	r.Set.Have = slices.Sorted(maps.Keys(w.have))
	return r, nil
}

// sent records the objects that a commit adds to a push. It returns the files of the commit that
// the comparison of the whole does not show, because they are sent, too, and stay in the history.
func (w *walker) sent(c commit, edges map[string]bool, shown map[change]bool) ([]change, error) {
	w.send[c.id] = true
	var trees []string
	for _, id := range c.parents {
		parent, err := w.commit(id)
		if err != nil {
			return nil, err
		}
		if !w.isNew[id] {
			edges[id] = true
			w.have[parent.tree] = true
		}
		trees = append(trees, parent.tree)
	}
	if len(trees) == 0 {
		trees = []string{""}
	}
	list, err := w.compare(c.tree, trees, true)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list, func(ch change) bool {
		return ch.now == (entry{}) || shown[change{path: ch.path, now: ch.now}]
	}), nil
}

// maxBack bounds how far behind the new commits the remote's commit is searched for.
const maxBack = 2000

// follows returns an error unless the push only adds commits: the commit that the branch has on the
// remote must come before the pushed commit.
func (w *walker) follows(p Plan, edges map[string]bool) error {
	if p.Old == "" || edges[p.Old] {
		return nil
	}
	next, seen := slices.Sorted(maps.Keys(edges)), map[string]bool{}
	for len(next) > 0 && len(seen) < maxBack {
		id := next[0]
		next = next[1:]
		if id == p.Old {
			return nil
		}
		if seen[id] {
			continue
		}
		seen[id] = true
		c, err := w.commit(id)
		if err != nil {
			return err
		}
		next = append(next, c.parents...)
	}
	return ErrNotForward
}

// ErrNotForward says that a push would remove commits that the remote has, or that it is unknown
// whether it would.
var ErrNotForward = errors.New("the remote has commits that this branch does not follow: it would have to be forced")
