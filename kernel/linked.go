package kernel

import (
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/address"
	"github.com/floodmark/floodmark/internal/hostnames"
	"github.com/floodmark/floodmark/internal/inert"
	"github.com/floodmark/floodmark/internal/openhost"
	"github.com/floodmark/floodmark/provenance"
	"github.com/floodmark/floodmark/report"
)

// follows notes that a call only reads a link which the owner asked to follow. Such a link is whole as somebody put
// it there, before the agent knew anything, so that it carries nothing away but that it was followed; what comes
// back is believed as little as any page. With private data in the context it is asked about all the same: which of
// several links is followed can tell something.
func (st *step) follows(j *judged, tr *provenance.Tracer) {
	if !slices.Equal(j.action.Effects, []floodmark.Effect{floodmark.Fetch}) {
		return
	}
	at := -1
	for i, leaf := range j.leaves {
		switch {
		case leaf.Value == "":
		case at >= 0 || argument(j.use, leaf).Is != catalog.IsURL:
			return
		default:
			at = i
		}
	}
	if at >= 0 && st.pointedAt(tr, j.leaves[at].Value, j.action.Arguments[at], false) {
		j.basis.Grounds = append(j.basis.Grounds, floodmark.Ground{Argument: at, By: string(byLinked)})
	}
}

// pointedAt reports whether a URL is one of the links that the owner asked to read: it stands, whole, in a record
// of a service of his own that has every name he called it by. If he spoke of one link and there are two, nobody
// can tell which he meant, and somebody may have put the other one there. With one set only a link of which he
// spoke as one counts: «all the links posted here» asks to read what anybody put there, not to pass it on.
func (st *step) pointedAt(tr *provenance.Tracer, url string, a floodmark.Argument, one bool) bool {
	if a.Whence != floodmark.Seen || a.Pieced || tr.Index == nil {
		return false
	}
	spans := tr.Whole(url)
	if len(spans) == 0 {
		return false
	}
	for _, text := range st.thisTurn() {
		for _, r := range st.requests(text) {
			reading, ok := r.Reads()
			if ok && (reading.One || !one) && st.linksTo(tr, spans, reading) {
				return true
			}
		}
	}
	return false
}

// linksTo reports whether a reading is about a URL that was seen at these places. The first of them must be a link
// it speaks of: whoever brought it in earlier, elsewhere, must not have it read by posting it again.
func (st *step) linksTo(tr *provenance.Tracer, spans []floodmark.Span, reading provenance.Reading) bool {
	links := st.linksOf(tr, reading.Names)
	if !slices.ContainsFunc(links, func(l provenance.Link) bool { return l.At == spans[0] }) {
		return false
	}
	return !reading.One || !slices.ContainsFunc(links, func(l provenance.Link) bool { return !slices.Contains(spans, l.At) })
}

// linksOf returns the links in records of the owner's services that have all of
// these names, of which there must be one.
func (st *step) linksOf(tr *provenance.Tracer, names []string) []provenance.Link {
	l := licence{st: st, tr: tr, turn: &provenance.Stated{}}
	links := tr.Links()
	named := false
	for _, name := range names {
		var have []provenance.Record
		for _, field := range slices.Concat(st.r.words.Listed(), st.r.words.Writers()) {
			have = append(have, l.own(tr.Records(field, name))...)
		}
		if len(have) == 0 {
			continue // not what a record is called by
		}
		named = true
		links = slices.DeleteFunc(links, func(l provenance.Link) bool { return !slices.Contains(have, l.Record) })
	}
	if !named {
		return nil
	}
	return links
}

// plants returns an address that a call writes into a file or gives to code, and that text from outside named
// first. What the owner named or lists, an agent read in the project, or is documentation, is none.
func (st *step) plants(j *judged, tr *provenance.Tracer) string {
	puts := slices.ContainsFunc(j.action.Effects, func(e floodmark.Effect) bool { return e == floodmark.Write || e == floodmark.Run })
	if st.mark.Trust > floodmark.External || j.use.Profile == nil || !puts {
		return ""
	}
	for _, leaf := range j.leaves {
		about := argument(j.use, leaf)
		if leaf.Kind != hook.String || leaf.Top == urlOfCommand || about.Role != floodmark.Content && about.Is != catalog.IsCommand && about.Is != catalog.IsPatch {
			continue
		}
		for host := range hostnames.In(leaf.Value) {
			if host == hostnames.TooLong || st.foreignHost(tr, host) && (st.in.Disk == nil || !st.ownPackages(leaf.Value, host)) {
				return report.Visible(host)
			}
		}
	}
	return ""
}

// foreignHost reports a host that text from outside was the first to name, or one below such a host: what stands
// before its name is told to it.
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

// ownPackages reports that a text names a host for packages alone that lie in the project: below the repository that
// the owner's or the team's checkout came from, while nobody below Local had a hand in what says so.
func (st *step) ownPackages(text, host string) bool {
	c, ok := st.in.Disk.Around(st.s.Project)
	paths, below := hostnames.Below(text, host, c.Remote)
	return ok && below && (c.Own || c.Team) && st.weigh(st.onSettings(c.Root+"/.git/**")).label().Trust >= floodmark.Local &&
		!slices.ContainsFunc(paths, func(p string) bool { return st.in.Disk.Missing(catalog.FoldPath(c.Root + "/" + p)) })
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
