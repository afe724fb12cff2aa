package kernel

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/intent"
	"github.com/floodmark/floodmark/report"
)

// worded fills in what a card says of a call besides the call itself. The words
// are of the catalog as it is now: they are for people and decide nothing.
func (st *step) worded(q approval.Question, j *judged) approval.Question {
	p, known := st.r.Catalog.Lookup(j.action.Tool)
	q.Unknown = !known && j.action.Kind == floodmark.CallTool
	if known {
		q.About, q.Pays = p.About(), p.Pays()
	}
	q.Notes = make([]approval.Note, len(j.action.Arguments))
	for i, a := range j.action.Arguments {
		n := approval.Note{
			Goes: slices.Contains(j.basis.Destinations, i), Cut: slices.Contains(j.basis.Cut, i),
			Empty: j.basis.Kind(i) == floodmark.NoText || j.basis.Kind(i) == floodmark.NullValue,
		}
		if known {
			top, _, _ := strings.Cut(a.Path, "[")
			about, _ := p.Arg(strings.Split(top, ".")[0])
			n.Is = about.Is
		}
		if a.Whence == floodmark.Seen {
			n.From = st.seenIn(a)
		}
		q.Notes[i] = n
	}
	q.Reasons = j.decision.Reasons
	q.Led, q.Beware, q.Box = st.led(j), approval.Beware(j.decision.Reasons), approval.BoxWords(&j.decision, j.basis.Hosts)
	if q.Two {
		q.Beware = append(q.Beware, "It takes two people to allow it.")
	}
	q.Source, q.Consequence = q.SourceWords(), q.ConsequenceWords()
	return q
}

// maxLooked bounds the sources that are looked at for a cause.
const maxLooked = 4096

// led returns where the cause of a question came from: where the argument to blame was seen, or
// else what lowered the mark.
func (st *step) led(j *judged) approval.Origin {
	var c approval.Cause
	if a, _ := report.Culprit(j.action.Arguments); a.Whence == floodmark.Seen && approval.Telling(a.Shown) {
		if o := st.seenIn(a); o != (approval.Origin{}) {
			return o
		}
	}
	for i, n := range j.decision.Blame {
		least := st.s.Ledger.Effective(n).Trust
		for k := st.s.Ledger.Len() - 1; i == 0 && k >= max(0, st.s.Ledger.Len()-maxLooked) && !c.Found(); k-- {
			src, _ := st.s.Ledger.Source(floodmark.NodeID(k))
			if st.s.Ledger.Live(src.Node) && src.Label.Trust <= least && st.s.Ledger.Effective(src.Node).Trust <= least {
				c.Take(src, least)
			}
		}
		src, _ := st.s.Ledger.Source(n)
		c.Take(src, least)
	}
	for _, src := range report.LoadedFrom(&j.basis) {
		c.Take(src, src.Label.Trust)
	}
	return c.Origin
}

// seenIn returns where a value was seen; if in several sources, the one that tells a person most.
func (st *step) seenIn(a floodmark.Argument) approval.Origin {
	var c approval.Cause
	for _, sp := range slices.Backward(a.Spans) {
		if src, ok := st.s.Ledger.Source(sp.Node); ok && st.s.Ledger.Effective(sp.Node).Trust == a.Trust {
			c.Take(src, a.Trust)
		}
	}
	return c.Origin
}

// maxSaid bounds what is kept of a command line: enough to know it again.
const maxSaid = 40

// said returns how the command line of a call begins; empty for other tools.
func said(j *judged) string {
	if j.use.Commands() {
		for _, a := range j.action.Arguments {
			if a.Shown != "" {
				return floodmark.OneLine(a.Shown, maxSaid)
			}
		}
	}
	return ""
}

// maxLastWords bounds what a question repeats of the owner's own message: some
// lines on a phone.
const maxLastWords = 600

// lastWords returns the beginning of the owner's last message, on one line and
// with its secrets hidden.
func (st *step) lastWords() string {
	if len(st.s.Owner) == 0 {
		return ""
	}
	text, rs := st.s.Owner[len(st.s.Owner)-1], st.in.Readings
	if rs != nil && rs.shownBy == st.r.words && rs.shownOf == text {
		return rs.shown
	}
	shown := floodmark.Inert(strings.Join(strings.Fields(st.r.secrets.Veil(text)), " "), maxLastWords)
	if rs != nil && len(text) <= intent.MaxRead {
		rs.shown, rs.shownOf, rs.shownBy = shown, text, st.r.words
	}
	return shown
}

// remedy fills in what can be done instead, and which sources are to blame for the trust.
func (st *step) remedy(d *floodmark.Decision, trust floodmark.Trust) {
	if trust < floodmark.Owner {
		d.Blame = st.s.Ledger.Blame(trust)
	}
	asked, refused := "Approve it, deny it, or trust the source («floodmark trust») if you vouch for it.", "Trust the source («floodmark trust») if you vouch for it, or change the policy."
	if len(d.Blame) == 0 && !st.loading {
		asked, refused = "Approve it or deny it.", "Change the policy if you want it."
	}
	switch d.Verdict {
	case floodmark.Confirm:
		d.Remedy.Agent = "Tell the owner what you want to do and why, go on with what needs no approval, and try the same call again once it is approved."
		d.Remedy.Person = asked
	case floodmark.Restrict:
		d.Remedy.Agent = "Do not try this again; finish the task without it and say what was left out."
		d.Remedy.Person = "It cannot be approved here. " + refused
	case floodmark.Audit, floodmark.Allow:
	}
}

// blamed adds the sources that a decision blames to a list.
func (st *step) blamed(list []floodmark.Source, d floodmark.Decision) []floodmark.Source {
	list = slices.Grow(list, len(d.Blame))
	for _, n := range d.Blame {
		if src, ok := st.s.Ledger.Source(n); ok {
			list = append(list, src)
		}
	}
	return list
}
