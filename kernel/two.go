package kernel

import (
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
)

// Where the policy wants it, what changes the agent or the monitor takes two
// people. Who they are is not what they say but what a channel has proved, and
// the policy says which of these names are one person.

// takesTwo reports whether two people must approve a call.
func (st *step) takesTwo(j *judged) bool {
	return st.settings().AdminTwo && (j.basis.SelfProtected || len(j.action.Effects) == 0 || slices.Contains(j.action.Effects, floodmark.Admin))
}

// counted reports whether enough people have approved a question with this one. The
// command is then given in the name of both.
func (st *step) counted(cmd *approval.Command, open approval.Open) bool {
	if !open.Two() {
		return true
	}
	person, known := st.settings().Person(cmd.Channel, cmd.By)
	switch {
	case cmd.Typed:
		st.out.Reply.Notice = "It takes two people, each at a channel of their own: a terminal, Telegram, a token. Here it cannot be approved."
		return false
	case !known:
		st.out.Reply.Notice = "It takes two people whom the policy names (approvals.people). You are not among them here, so this does not count."
		return false
	case open.First == person:
		st.out.Reply.Notice = "One of two: you have approved it already, and another person has to."
		return false
	case open.First == "":
		st.keep(floodmark.TicketCounted{Ticket: open.ID, Person: person, By: cmd.By, Channel: cmd.Channel})
		st.out.Reply.Notice = "One of two: another person has to approve it, too. Nothing is allowed yet."
		return false
	}
	cmd.By = open.First + " and " + person
	return true
}
