package kernel

import (
	"slices"

	"github.com/floodmark/floodmark"
)

// home is the server that a call stays with: one of the owner's own, which shows
// nobody else what it is told. A call that reaches others has none.
func (st *step) home(j *judged) string {
	if !j.use.Own || slices.Contains(j.action.Effects, floodmark.Send) || slices.Contains(j.action.Effects, floodmark.Run) {
		return ""
	}
	return j.action.Tool.Server
}

// toldBy reports whether a value was seen in nothing but what the tools of one
// server of the owner's gave.
func (st *step) toldBy(a floodmark.Argument, server string) bool {
	return server != "" && len(a.Spans) > 0 && !slices.ContainsFunc(a.Spans, func(sp floodmark.Span) bool {
		src, ok := st.s.Ledger.Source(sp.Node)
		return !ok || !st.ownTool(src, server)
	})
}

// ownTool reports whether content is what a tool of the owner's own service gave,
// on one server.
func (st *step) ownTool(src floodmark.Source, server string) bool {
	if src.Origin.Kind != floodmark.FromTool || src.Origin.Server != server {
		return false
	}
	p, ok := st.r.Catalog.Lookup(st.ref(src.Origin.Server, src.Origin.Name))
	return ok && p.Own()
}
