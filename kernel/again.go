package kernel

import (
	"errors"
	"fmt"
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/report"
)

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
		return st.vouchAgain(shown)
	}
	if f == nil || !Leads(f, shown) {
		return approval.Question{}, ErrUndecided
	}
	j := judged{action: f.Action, decision: f.Decision, mark: f.Mark}
	if f.Basis != nil && sound(f.Basis, len(f.Action.Arguments)) {
		j.basis = *f.Basis
	}
	j.leaves, _ = keptLeaves(&j)
	q := approval.Question{
		Action: f.Action, Line: report.Line(&st.s.Ledger, j.decided()), Sources: st.blamed(report.LoadedFrom(&j.basis), f.Decision),
		Pattern: shown.Pattern, Offers: shown.Offers, Two: shown.Two, Whole: shown.Whole,
	}
	if !shown.Pick.IsZero() {
		_, _, q.Pick = st.pick(&j)
	}
	return st.worded(q, &j), nil
}
