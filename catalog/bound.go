package catalog

import (
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/shellscan"
)

// bound reports whether all code that a line runs is run by commands whose
// words only choose among what the files they load do: tests, builds, checks.
func bound(r *shellscan.Report) bool {
	if !r.Understood || r.NetworkIntoInterpreter || r.InteractiveShell {
		return false
	}
	var names []string
	for i := range r.Parts {
		p := &r.Parts[i]
		if !slices.Contains(p.Effects, floodmark.Run) {
			continue
		}
		if len(p.Words) == 0 || !slices.Equal(p.Effects, []floodmark.Effect{floodmark.Run}) || !allBound(p.Entries) {
			return false
		}
		names = append(names, p.Words[0])
	}
	for i := range r.Effects {
		e := &r.Effects[i]
		if e.Kind <= shellscan.Execute && (e.Path == "" || !slices.Contains(names, e.Command)) {
			return false
		}
	}
	return len(names) > 0
}

func allBound(entries []*shellscan.Entry) bool {
	return len(entries) > 0 && !slices.ContainsFunc(entries, func(e *shellscan.Entry) bool { return !e.Bound })
}
