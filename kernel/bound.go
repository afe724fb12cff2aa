package kernel

import (
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/provenance"
)

// A test run after a page was read runs what lies in the project, not what the
// page says: whoever wrote the page can at most make it run. So a call whose
// code all lies in files counts as those files, not as the session. It needs:
//
//   - the catalog says that its words only choose among what its files do;
//   - every file it loads is the owner's own work, as far as anybody knows. What
//     this session wrote after the page is not, unless it can only compute.

// settled reports such a call.
func (st *step) settled(b *floodmark.Basis) bool {
	return b.Bound && st.settings().ChecksAsFiles && loaded(b).Trust >= floodmark.Local
}

// raise says which effects of a call something else than the conversation
// decides about.
func (st *step) raise(q *policy.Question, b *floodmark.Basis) {
	if b.Tidies { // who may overwrite a file may as well remove it
		q.Effects = slices.Clone(q.Effects)
		for i, e := range q.Effects {
			if e == floodmark.Change {
				q.Effects[i] = floodmark.Write
			}
		}
	}
	if b.Pushed && st.settings().Relax {
		q.Raised = append(q.Raised, policy.Raised{Effect: floodmark.Send, Trust: floodmark.Owner})
	}
	if st.settled(b) {
		q.Raised = append(q.Raised, policy.Raised{Effect: floodmark.Run, Trust: floodmark.Local})
		q.Reach.Network = slices.ContainsFunc(q.Effects, leaves)
	}
}

// leaves reports whether an effect goes out by itself.
func leaves(e floodmark.Effect) bool { return e == floodmark.Send || e == floodmark.Fetch }

// tidies reports a command that deletes nothing but what this session wrote.
func (st *step) tidies(use *catalog.Use) bool {
	return use.Tidies && !slices.ContainsFunc(st.resolved(use.Removes), func(p string) bool {
		return !st.made(fileRef(p))
	})
}

// made reports whether this session had a hand in one of some artifacts.
func (st *step) made(refs ...floodmark.ArtifactRef) bool {
	return slices.ContainsFunc(st.find(refs...), func(k Kept) bool { return k.Version.Session == st.ev.Session })
}

// fromFiles are the sources of what lies in files, without what can only compute.
func (st *step) fromFiles(paths []string) []floodmark.Source {
	var kept []Kept
	for _, p := range paths {
		kept = append(kept, st.acting(p)...)
	}
	return provenance.MergeSets(st.weigh(kept).sources())
}

// acting are the words on a path whose sources may act when it is run.
func (st *step) acting(p string) []Kept {
	return slices.DeleteFunc(st.onPath(p), func(k Kept) bool { return k.Inert || ofGit(k.Ref) })
}
