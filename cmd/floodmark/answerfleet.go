package main

import (
	"context"
	"fmt"

	"github.com/floodmark/floodmark/wire"
)

// fleetTries is how often a fleet is asked for the words of a question. Every node has
// them, but one of an older version, beside which newer ones may run.
const fleetTries = 8

// approveAtFleet shows a question once more and approves what is shown, if a person
// at a terminal says so. There are no codes at a distance: who says it is proved by
// the login.
func (c *console) approveAtFleet(ctx context.Context, p place, r *wire.AnswerRequest, form string) error {
	if !c.stdinTerminal {
		return refuse("use a terminal that no agent was started from", "a person at a terminal must say yes")
	}
	q, err := c.questionAt(ctx, p, r.GetTicket())
	if err != nil {
		return err
	}
	if !worded(q) {
		return &failure{
			code: exitNo, text: "the fleet does not say what " + q.GetTicket() + " is about, and nobody should approve what is not shown",
			hint: "try again when all its nodes have the same version, or wait until the agent asks again; you can deny it",
		}
	}
	out := &sheet{st: c.errStyle()}
	cardText(out, q, c.clock())
	fmt.Fprint(c.stderr, out)
	if err := c.confirm("Type yes to approve it: "); err != nil {
		return err
	}
	r.Session, r.Ticket, r.Calls, r.Seen = q.GetSession(), q.GetTicket(), int32(len(q.GetCalls())), q.GetSeen()
	return c.answer(ctx, p, r, form)
}

// denyAtFleet says no to a question of any node.
func (c *console) denyAtFleet(ctx context.Context, p place, r *wire.AnswerRequest, form string) error {
	q, err := c.questionAt(ctx, p, r.GetTicket())
	if err != nil {
		return err
	}
	r.Session = q.GetSession()
	return c.answer(ctx, p, r, form)
}

// questionAt finds an open question of a fleet, with its words if they can be had.
func (c *console) questionAt(ctx context.Context, p place, ticket string) (found *wire.Question, err error) {
	for range fleetTries {
		a, err := ask(ctx, c, p, (*desk).Pending, &wire.PendingRequest{})
		if err != nil {
			return nil, err
		}
		for _, q := range a.GetQuestions() {
			if q.GetTicket() == ticket {
				found = q
			}
		}
		if found == nil {
			c.passedOver(a.GetUnread())
			return nil, noQuestion(ticket, p)
		}
		if worded(found) {
			break
		}
	}
	return found, nil
}

// worded reports whether a question came with all its words.
func worded(q *wire.Question) bool {
	for _, call := range q.GetCalls() {
		if len(call.GetCard()) == 0 {
			return false
		}
	}
	return len(q.GetCalls()) > 0
}

// confirm wants to hear yes.
func (c *console) confirm(prompt string) error {
	line, err := c.typed(prompt)
	if err != nil {
		return err
	}
	if line != "yes" {
		return &failure{code: exitNo, text: "nothing was approved"}
	}
	return nil
}
