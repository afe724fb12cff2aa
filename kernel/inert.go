package kernel

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
)

// computes reports whether all that a call writes into a file can only compute when
// that is run. Whoever shaped it can make it wrong, not make it act.
func (st *step) computes(j *judged, p string) bool {
	inside, ok := strings.CutPrefix(p, strings.TrimSuffix(st.s.Project, "/")+"/")
	for _, leaf := range j.leaves {
		if ok = ok && catalog.Climbs(leaf.Value) <= strings.Count(inside, "/"); !ok {
			return false // it may load what lies elsewhere, or be loaded there
		}
	}
	if j.use.Commands() && strings.HasSuffix(p, catalog.CommitsOf) {
		return st.committed(p)
	}
	if j.use.Commands() {
		return slices.Contains(j.use.Inert, p)
	}
	news := 0
	olds := map[string]string{} // what is replaced, by what it stands in
	for _, leaf := range j.leaves {
		at := strings.LastIndexAny(leaf.Path, ".]") + 1
		name := leaf.Path[at:]
		if leaf.Kind == hook.String && strings.HasPrefix(strings.ToLower(name), "old") {
			olds[leaf.Path[:at]] = leaf.Value
		}
	}
	for _, leaf := range j.leaves {
		at := strings.LastIndexAny(leaf.Path, ".]") + 1
		name := leaf.Path[at:]
		switch {
		case leaf.Kind != hook.String || j.use.Arg(leaf.Top).Is == catalog.IsPath:
		case strings.HasPrefix(strings.ToLower(name), "old"):
		case j.use.Arg(leaf.Top).Role == floodmark.Content && namesWhole(name):
			if news++; !catalog.Inert(p, leaf.Value) {
				return false
			}
		case j.use.Arg(leaf.Top).Role == floodmark.Content && strings.HasPrefix(strings.ToLower(name), "new"):
			if news++; !catalog.InertEdit(p, olds[leaf.Path[:at]], leaf.Value) {
				return false
			}
		default:
			return false // something nobody knows the part of
		}
	}
	return news > 0
}
