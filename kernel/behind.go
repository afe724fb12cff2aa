package kernel

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
)

// behind looks where the links lead through which a call writes. The catalog
// knows names only, and a link that somebody put into a checkout may lead from a
// harmless one to the settings of an agent.
func (st *step) behind(j *judged) {
	if st.in.Disk == nil || j.use.Profile == nil || j.use.SelfProtected || !writes(j.action.Effects) && !j.use.Commands() {
		return
	}
	t := st.touchedByTool(j)
	if j.use.Commands() {
		t = st.touchedByCommand(j)
	}
	for _, p := range t.writes {
		name, tree := strings.CutSuffix(p, "/**")
		if strings.ContainsAny(name, "*?[") {
			continue
		}
		there := st.in.Disk.Resolve(name)
		if there == name {
			continue
		}
		instructs, protected := st.r.Catalog.Guards(there, tree, st.places())
		if protected {
			j.use.SelfProtected, j.use.Instructs = true, false
		} else if instructs && !slices.Contains(j.use.Effects, floodmark.Admin) {
			j.use.Instructs = true
		}
	}
	if (j.use.SelfProtected || j.use.Instructs) && !slices.Contains(j.use.Effects, floodmark.Admin) {
		j.use.Effects = append(slices.Clip(j.use.Effects), floodmark.Admin)
	}
	j.action.Effects = j.use.Effects
}
