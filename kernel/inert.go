package kernel

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
)

// inert reports whether all that a call writes into a file can only compute when
// that is run. Whoever shaped it can make it wrong, not make it act.
func inert(j *judged, p string) bool {
	if j.use.Commands() {
		return slices.Contains(j.use.Inert, p)
	}
	news := 0
	var old string
	for _, leaf := range j.leaves {
		name := leaf.Path[strings.LastIndexAny(leaf.Path, ".]")+1:]
		switch {
		case leaf.Kind != hook.String || j.use.Arg(leaf.Top).Is == catalog.IsPath:
		case strings.HasPrefix(strings.ToLower(name), "old"):
			old = leaf.Value
		case j.use.Arg(leaf.Top).Role == floodmark.Content && namesWhole(name):
			if news++; !catalog.Inert(p, leaf.Value) {
				return false
			}
		case j.use.Arg(leaf.Top).Role == floodmark.Content && strings.HasPrefix(strings.ToLower(name), "new"):
			if news++; !catalog.InertEdit(p, old, leaf.Value) {
				return false
			}
		default:
			return false // something nobody knows the part of
		}
	}
	return news > 0
}
