package kernel

import (
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/text/address"
	"github.com/floodmark/floodmark/internal/text/hostnames"
	"github.com/floodmark/floodmark/internal/text/inert"
	"github.com/floodmark/floodmark/internal/text/openhost"
	"github.com/floodmark/floodmark/provenance"
	"github.com/floodmark/floodmark/report"
)

// plants returns a host that a call writes into a file or gives to code, and that text from outside
// named first. It leaves out hosts that the owner named or lists, that an agent read in the
// project, or that serve documentation.
func (st *step) plants(j *judged, tr *provenance.Tracer) string {
	puts := slices.ContainsFunc(j.action.Effects, func(e floodmark.Effect) bool { return e == floodmark.Write || e == floodmark.Run })
	if st.mark.Trust > floodmark.External || j.use.Profile == nil || !puts {
		return ""
	}
	for _, leaf := range j.leaves {
		about := argument(j.use, leaf)
		if leaf.Kind != hook.String || leaf.Top == floodmark.CommandAddress || about.Role != floodmark.Content && about.Is != catalog.IsCommand && about.Is != catalog.IsPatch {
			continue
		}
		for host := range hostnames.In(leaf.Value) {
			if host == hostnames.TooLong || st.foreignHost(tr, host) && !st.left().OwnPackages(leaf.Value, host) {
				return report.Visible(host)
			}
		}
	}
	return ""
}

// foreignHost reports whether text from outside was the first to name a host, or a host above it.
// The upper host learns all names below its own, so they are judged like its name.
func (st *step) foreignHost(tr *provenance.Tracer, host string) bool {
	a := tr.Trace(hook.Leaf{Value: host}, floodmark.Content, "")
	if above := hostnames.Above(host); a.Whence == floodmark.Nowhere && above != "" && !st.r.Policy.ListsHost(host) {
		return st.foreignHost(tr, above)
	}
	if a.Whence != floodmark.Seen || a.Trust > floodmark.External || address.Loopback(host) || st.s.stated.HasHost(host) && !openhost.Is(host) || st.r.Policy.ListsHost(host) || st.r.Catalog.Documents("https://"+host+"/") || len(a.Spans) == 0 {
		return false
	}
	src, ok := st.s.Ledger.Source(a.Spans[0].Node)
	p, known := st.r.Catalog.Lookup(st.ref(src.Origin.Server, src.Origin.Name))
	kind, _ := st.r.Catalog.Where(src.Origin.Place, st.places())
	return !ok || !known || !p.OnlyReads() || kind != catalog.InProject || src.Origin.Place == ""
}

// inert rewrites links that a reader's program would load by itself, unless the owner stated them: a picture's
// address can carry away what the model has read. It reports whether there was something to rewrite.
func (st *step) inert(text string) (string, bool) {
	if st.mark.Trust >= floodmark.Local {
		return "", false
	}
	out := inert.Text(text, func(link string) bool { return st.s.stated.Has(link, hook.String, "url") })
	return out, out != text
}
