package kernel

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/intent"
	"github.com/floodmark/floodmark/internal/text/meaning"
	"github.com/floodmark/floodmark/kernel/answer"
	"github.com/floodmark/floodmark/kernel/lists"
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

// seenIn returns where a value was seen. Of several sources, it returns the one that is most useful
// to a person.
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

// The result of an undescribed tool has the zero label, so it is treated as secret. The functions
// below distinguish such results from secrets that were found or declared. A call of such a tool,
// or one that could leak its result, is not allowed. But where a real secret is refused, a person
// is asked and told what is missing.

// unknown returns [floodmark.Undescribed] if the result of a call will count as secret only
// because its tool is not described.
func unknown(c hook.Call, j *judged) floodmark.Code {
	said := c.Hints != nil && c.Hints.Secrecy == floodmark.Secret.String()
	if j == nil || j.use.Profile != nil || j.use.PathKind == catalog.Secret || len(j.kept) > 0 || said {
		return ""
	}
	return floodmark.Undescribed
}

// judgedOf classifies a call again as its result tells it; nil if that cannot be read.
func (st *step) judgedOf(c hook.Call) *judged {
	leaves, err := c.Leaves()
	if err != nil {
		return nil
	}
	j := st.classified(c, leaves)
	return &j
}

// nameUndescribed says in the reasons against a call which tools are not described: those
// whose results count as secret, and the one that is called.
func nameUndescribed(j *judged) {
	reasons := slices.Clone(j.ruling.Reasons)
	for i, r := range reasons {
		if r.Code == floodmark.Undescribed {
			reasons[i].Text += " (" + report.Visible(strings.Join(j.question.Reach.Undescribed, ", ")) + ")"
		}
	}
	if j.basis.Undescribed && len(reasons) > 0 && reasons[0].Code == floodmark.TaintEscalation {
		reasons[0].Text = report.Visible(j.action.Tool.String()) + " is not described, so it counts as a program that may do anything, and " + reasons[0].Text
	}
	j.ruling.Reasons = reasons
}

// describing says what the owner can do if a call is held because tools are not described.
func (j *judged) describing() string {
	var tools []string
	for _, r := range j.decision.Reasons {
		if r.Code == floodmark.Undescribed {
			tools = slices.Clone(j.question.Reach.Undescribed)
		}
	}
	if j.basis.Undescribed && j.action.Kind == floodmark.CallTool {
		tools = lists.AddNew(tools, j.action.Tool.String())
	}
	return meaning.Describe(tools)
}

// ErrUndecided says that the given decisions do not contain the one that led to a question.
var ErrUndecided = errors.New("the decision that led to it was not found")

// Again asks an open question once more, with a new code: the old one was known
// only to a monitor that has ended. The decisions are those of the session that
// led to questions, in order. It returns one ticket for each call of the question.
// If it returns none, the question has ended.
func Again(s *State, r Rules, in Input, id floodmark.TicketID, decided []floodmark.ActionDecided) (Output, []approval.Ticket, error) {
	if !s.Opened {
		return Output{}, nil, errors.New("no such session")
	}
	st := newStep(s, r, in)
	st.out.Reply.Decision.Verdict, st.out.Reply.Decision.Reach = floodmark.Allow, floodmark.Free
	open, ok := s.Book.ByID(id, in.At)
	if !ok || open.Approved {
		return st.out, nil, nil
	}
	var asked []approval.Ticket
	for _, shown := range open.Shown {
		st.keep(floodmark.TicketExtended{Ticket: id, Shown: shown, CodeMAC: st.codeMAC(id)})
		q, err := st.shownAgain(shown, ledTo(shown, decided))
		if err != nil {
			return Output{}, nil, fmt.Errorf("ask %s again: %w", id, err)
		}
		asked = append(asked, approval.Ticket{
			ID: id, Session: in.Event.Session, Code: in.Code, Call: q, Calls: len(open.Shown), Seen: open.Seen(), Expires: open.Expires, Held: open.Held, Again: true,
		})
	}
	return st.out, asked, nil
}

// Words returns a call of a question as a person saw it when it was asked. It is made
// only from what was written down: the fact that shows it, and the decision that
// [Leads] to it. The state must be the one just before that fact. Words asks nothing
// and holds no code, so any reader of a session can show its questions.
func Words(s *State, r Rules, in Input, shown floodmark.Shown, f *floodmark.ActionDecided) (approval.Question, error) {
	st := newStep(s, r, in)
	q, err := st.shownAgain(shown, f)
	if err == nil && shown.Vouch.IsZero() {
		q.Asked = st.lastWords()
	}
	return q, err
}

// Leads reports whether a decision led to showing a call.
func Leads(f *floodmark.ActionDecided, shown floodmark.Shown) bool {
	return f.Action.Tool == shown.Tool && f.Action.ArgsDigest == shown.ArgsDigest && f.Decision.Verdict == floodmark.Confirm
}

// ledTo returns the last decision that led to showing a call; nil if none did.
func ledTo(shown floodmark.Shown, decided []floodmark.ActionDecided) *floodmark.ActionDecided {
	for i := range slices.Backward(decided) {
		if Leads(&decided[i], shown) {
			return &decided[i]
		}
	}
	return nil
}

// shownAgain returns a call as it was shown before, from what was written down.
func (st *step) shownAgain(shown floodmark.Shown, f *floodmark.ActionDecided) (approval.Question, error) {
	if !shown.Vouch.IsZero() {
		return answer.Vouch(st.answering(), shown)
	}
	if f == nil || !Leads(f, shown) {
		return approval.Question{}, ErrUndecided
	}
	j := judged{action: f.Action, decision: f.Decision, mark: f.Mark}
	if (&Record{ActionDecided: *f}).Sound() {
		j.basis = *f.Basis
	}
	j.leaves, _ = keptLeaves(&j)
	q := approval.Question{
		Action: f.Action, Line: report.Line(&st.s.Ledger, j.decided()), Sources: st.blamed(report.LoadedFrom(&j.basis), f.Decision),
		Pattern: shown.Pattern, Offers: shown.Offers, Two: shown.Two, Whole: shown.Whole,
	}
	if !shown.Pick.IsZero() {
		_, _, q.Pick = j.subject().Pick(st.prover())
	}
	return st.worded(q, &j), nil
}
