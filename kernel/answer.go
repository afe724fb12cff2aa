package kernel

import (
	"errors"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/kernel/answer"
)

// Answer takes in an owner's command from a channel that has proved who
// speaks. Commands typed into a conversation come through [Step].
func Answer(s *State, r Rules, in Input, cmd approval.Command) (Output, error) {
	if !s.Opened {
		return Output{}, errors.New("no such session")
	}
	st := newStep(s, r, in)
	st.out.Reply.Decision.Verdict, st.out.Reply.Decision.Reach = floodmark.Allow, floodmark.Free
	st.out.Reply.Consumed = true
	err := st.heed()
	if err == nil {
		err = st.command(cmd)
	}
	if err != nil {
		return Output{}, err
	}
	return st.out, nil
}

// command takes in a command of the owner's.
func (st *step) command(cmd approval.Command) error {
	out, err := answer.Take(st.answering(), cmd)
	if err != nil {
		return err
	}
	for _, f := range out.Facts {
		st.keep(f)
	}
	for _, v := range out.Vouched {
		st.leave(st.left().Say(v.Digest, v.Trust, v.By, st.in.At.UnixNano()))
	}
	st.out.Reply.Notice, st.out.Late, st.out.Ask = out.Notice, out.Late, out.Ask
	return nil
}

// answering returns what an answer needs of the session.
func (st *step) answering() answer.Session {
	return answer.Session{
		Name: st.ev.Session, Agent: st.ev.Agent, Book: &st.s.Book, Ledger: &st.s.Ledger, Settings: st.settings(), Turn: st.turn(), Pause: st.pause,
		At: st.in.At, Key: st.in.Key[:], Code: st.in.Code, Ticket: st.in.Ticket,
		Mark: st.mark, Node: st.node, Contents: st.endorsable(), Offered: st.s.Offered,
	}
}

// void closes a question without an answer: the call still needs one.
func (st *step) void(t floodmark.TicketID, why string) { st.keep(answer.Void(t, why)) }

// burn voids every question whose code is found in text that did not come from the owner's channel,
// because the model may have read the code.
func (st *step) burn(text string) bool {
	if len(st.s.Book.Tickets) == 0 {
		return false
	}
	burnt := false
	for _, code := range approval.Codes(text) {
		if o, ok := st.s.Book.ByCode(st.in.Key[:], st.ev.Session, code, st.in.At); ok {
			st.void(o.ID, "its code was seen outside the owner's channel")
			burnt = true
		}
	}
	return burnt
}
