package kernel

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/internal/meaning"
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
		if a.Whence == floodmark.Seen && len(a.Spans) > 0 {
			n.From = st.originOf(a.Spans[0].Node)
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

// led is what led to a question: what the argument to look at was seen in, or
// else what lowered the mark.
func (st *step) led(j *judged) approval.Origin {
	a, _ := culprit(j.action.Arguments)
	nodes := slices.Clone(j.decision.Blame)
	if a.Whence == floodmark.Seen && len(a.Spans) > 0 {
		nodes = append([]floodmark.NodeID{a.Spans[0].Node}, nodes...)
	}
	for _, n := range nodes {
		if o := st.originOf(n); o != (approval.Origin{}) {
			return o
		}
	}
	for _, src := range loadedFrom(&j.basis) {
		return origin(src, src.Label.Trust)
	}
	return approval.Origin{}
}

func (st *step) originOf(n floodmark.NodeID) approval.Origin {
	src, ok := st.s.Ledger.Source(n)
	if !ok {
		return approval.Origin{}
	}
	return origin(src, st.s.Ledger.Effective(n).Trust)
}

// origin names a source as a card does.
func origin(s floodmark.Source, t floodmark.Trust) approval.Origin {
	name := s.Origin.Name
	if s.Origin.Kind == floodmark.FromModel { // what it read before is named there
		return approval.Origin{}
	}
	if s.Origin.Kind != floodmark.FromTool {
		s.Origin.Place = ""
		name, _, _ = strings.Cut(meaning.Source(s, t), " ("+t.String()+")")
	}
	o := approval.Origin{Name: visible(name), Place: visible(s.Origin.Place), Trust: t}
	if !strings.Contains(s.Origin.Place, ".") || strings.HasPrefix(s.Origin.Place, "~") || strings.HasPrefix(s.Origin.Place, "/") {
		o.Said = visible(s.Said) // a folder does not say what was read in it
	}
	return o
}

// maxSaid bounds what is kept of a command line: enough to know it again.
const maxSaid = 40

// said is how the command line of a call begins; empty for other tools.
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

// lastWords is how the owner's last message begins, without what he would not
// want to read on a phone.
func (st *step) lastWords() string {
	if len(st.s.Owner) == 0 {
		return ""
	}
	r := st.reading(st.s.Owner[len(st.s.Owner)-1])
	if !r.veiled {
		r.shown, r.veiled = floodmark.Inert(strings.Join(strings.Fields(st.veiled(r.text)), " "), maxLastWords), true
	}
	return r.shown
}
