package wire

import (
	"fmt"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

// FromReply puts a reply on the wire.
func FromReply(r hook.Reply) *Reply {
	return &Reply{
		Decision: FromDecision(r.Decision), Calls: list(r.Calls, FromDecision),
		Line: text(r.Line), Warning: text(r.Warning), SystemPrompt: text(r.SystemPrompt), Text: text(r.Text), Footer: text(r.Footer),
		Ticket: text(string(r.Ticket)), Consumed: r.Consumed, Notice: text(r.Notice), BlockTurn: r.BlockTurn,
		Label: fromLabel(r.Label), Mark: fromLabel(r.Mark), Ask: fromAsk(r.Ask), Command: text(r.Command),
	}
}

func fromAsk(a *hook.Ask) *Ask {
	if a == nil {
		return nil
	}
	return &Ask{Text: text(a.Text), Pick: text(a.Pick), Among: list(a.Among, text)}
}

func (x *Ask) hook() *hook.Ask {
	if x == nil {
		return nil
	}
	return &hook.Ask{Text: x.GetText(), Pick: x.GetPick(), Among: x.GetAmong()}
}

func fromLabel(l *floodmark.Label) *Label {
	if l == nil {
		return nil
	}
	return &Label{Trust: l.Trust.String(), Secrecy: l.Secrecy.String()}
}

// label converts a label; nil if it is missing. An unknown word is read as the lowest value.
func (x *Label) label() *floodmark.Label {
	if x == nil {
		return nil
	}
	var l floodmark.Label
	l.Trust, _ = floodmark.ParseTrust(x.GetTrust())
	l.Secrecy, _ = floodmark.ParseSecrecy(x.GetSecrecy())
	return &l
}

// Hook converts a reply from the wire. With an error it returns the zero reply, which restricts, so
// that an answer which is not understood allows nothing.
func (x *Reply) Hook() (hook.Reply, error) {
	r := hook.Reply{
		Line: x.GetLine(), Warning: x.GetWarning(), SystemPrompt: x.GetSystemPrompt(), Text: x.GetText(), Footer: x.GetFooter(),
		Ticket: floodmark.TicketID(x.GetTicket()), Consumed: x.GetConsumed(), Notice: x.GetNotice(), BlockTurn: x.GetBlockTurn(),
		Label: x.GetLabel().label(), Mark: x.GetMark().label(), Ask: x.GetAsk().hook(), Command: x.GetCommand(),
	}
	var err error
	if r.Decision, err = x.GetDecision().floodmark(); err != nil {
		return hook.Reply{}, fmt.Errorf("read reply: %w", err)
	}
	if len(x.GetCalls()) > 0 {
		r.Calls = make([]floodmark.Decision, len(x.GetCalls()))
	}
	for i, w := range x.GetCalls() {
		if r.Calls[i], err = w.floodmark(); err != nil {
			return hook.Reply{}, fmt.Errorf("read reply: call %d: %w", i, err)
		}
	}
	return r, nil
}

// FromDecision puts a decision on the wire.
func FromDecision(d floodmark.Decision) *Decision {
	w := &Decision{
		Verdict: d.Verdict.String(), Reach: d.Reach.String(), Hidden: list(d.Hidden, text), Blame: list(d.Blame, number[floodmark.NodeID]),
		Verifiers: list(d.Verifiers, text), Would: text(d.Would),
		Reasons: list(d.Reasons, func(r floodmark.Reason) *Reason {
			return &Reason{Code: text(string(r.Code)), Rule: text(r.Rule), Text: text(r.Text), Verdict: r.Verdict.String()}
		}),
	}
	if d.Remedy != (floodmark.Remedy{}) {
		w.Remedy = &Remedy{Agent: text(d.Remedy.Agent), Person: text(d.Remedy.Person)}
	}
	return w
}

// floodmark converts a decision. A missing verdict restricts. A missing reach is free, because it
// comes from a monitor without boxes; a monitor with boxes always sends the reach. An unknown word
// is an error, because it may restrict.
func (x *Decision) floodmark() (floodmark.Decision, error) {
	d := floodmark.Decision{
		Hidden: x.GetHidden(), Verifiers: x.GetVerifiers(), Would: x.GetWould(),
		Blame:  list(x.GetBlame(), func(n int32) floodmark.NodeID { return floodmark.NodeID(n) }),
		Remedy: floodmark.Remedy{Agent: x.GetRemedy().GetAgent(), Person: x.GetRemedy().GetPerson()},
	}
	var err error
	if d.Verdict, err = verdict(x.GetVerdict()); err != nil {
		return floodmark.Decision{}, err
	}
	switch word := x.GetReach(); {
	case x == nil: // a missing decision allows nothing
	case word == "":
		d.Reach = floodmark.Free
	default:
		if d.Reach, err = floodmark.ParseReach(word); err != nil {
			return floodmark.Decision{}, err
		}
	}
	for _, w := range x.GetReasons() {
		r := floodmark.Reason{Code: floodmark.Code(w.GetCode()), Rule: w.GetRule(), Text: w.GetText()}
		if r.Verdict, err = verdict(w.GetVerdict()); err != nil {
			return floodmark.Decision{}, err
		}
		d.Reasons = append(d.Reasons, r)
	}
	return d, nil
}

func verdict(word string) (floodmark.Verdict, error) {
	if word == "" {
		return floodmark.Restrict, nil
	}
	return floodmark.ParseVerdict(word)
}
