package asking

import (
	"context"
	"fmt"

	"github.com/floodmark/floodmark/internal/ask/cardscreen"
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/cli/records"
	"github.com/floodmark/floodmark/internal/text/linetext"
	"github.com/floodmark/floodmark/wire"
)

// fleetTries is how often a fleet is asked for the text of a question. Every node has the text,
// except one of an older version that may run beside newer ones.
const fleetTries = 8

// approveTicket shows the whole question once more and approves it if a person at a terminal
// confirms. The monitor of this machine requires the code, which it shows only at a terminal. A
// fleet identifies the person by the login.
func approveTicket(ctx context.Context, c *cli.Console, p cli.Place, r *wire.AnswerRequest, form string) error {
	if !c.StdinTerminal {
		return cli.Refuse("use a terminal that no agent started", "only a person at a terminal can say yes")
	}
	q, err := questionAt(ctx, c, p, r.GetTicket())
	if err != nil {
		return err
	}
	if !cardscreen.Worded(q) {
		return &cli.Failure{
			Code: cli.ExitNo, Text: "this node cannot show " + q.GetTicket() + ", and a question that cannot be shown cannot be approved",
			Hint: "try again when all nodes have the same version, or wait until the agent asks again; you can deny it",
		}
	}
	if lost := q.GetCalls()[0].GetLost(); lost > 0 {
		return &cli.Failure{
			Code: cli.ExitNo, Text: fmt.Sprintf("%d characters of what %s would do cannot be shown", lost, q.GetTicket()),
			Hint: "deny it, and tell the agent to use smaller steps",
		}
	}
	out := &cli.Sheet{St: c.ErrStyle()}
	for _, line := range cardscreen.Details(q) {
		for _, row := range linetext.Marked(line, records.ListWidth) {
			out.Line(2, row)
		}
	}
	fmt.Fprint(c.Stderr, out)
	if r.GetPicked() == "" || p.Fleet != "" { // otherwise the person has typed the destination
		if err := confirm(c, "Type yes to approve it: "); err != nil {
			return err
		}
	}
	r.Session, r.Ticket, r.Calls, r.Seen = q.GetSession(), q.GetTicket(), int32(len(q.GetCalls())), q.GetSeen()
	if r.GetOffer() == 0 && r.GetMinutes() == 0 && len(q.GetCalls()[0].GetOffers()) > 0 {
		r.Offer = 1 // a code without an offer would be valid for the turn
	}
	if p.Fleet == "" {
		r.Ticket, r.Code = "", q.GetCode()
	}
	return answer(ctx, c, p, r, form)
}

// denyAtFleet denies a question that any node may have asked.
func denyAtFleet(ctx context.Context, c *cli.Console, p cli.Place, r *wire.AnswerRequest, form string) error {
	q, err := questionAt(ctx, c, p, r.GetTicket())
	if err != nil {
		return err
	}
	r.Session = q.GetSession()
	return answer(ctx, c, p, r, form)
}

// questionAt finds an open question of a fleet, with its text if a node has it.
func questionAt(ctx context.Context, c *cli.Console, p cli.Place, ticket string) (found *wire.Question, err error) {
	for range fleetTries {
		a, err := cli.Ask(ctx, c, p, (*cli.Desk).Pending, &wire.PendingRequest{})
		if err != nil {
			return nil, err
		}
		for _, q := range a.GetQuestions() {
			if q.GetTicket() == ticket {
				found = q
			}
		}
		if found == nil {
			records.PassedOver(c, a.GetUnread())
			return nil, noQuestion(ticket, p)
		}
		if cardscreen.Worded(found) {
			break
		}
	}
	return found, nil
}

// confirm asks the person to type yes.
func confirm(c *cli.Console, prompt string) error {
	line, err := typed(c, prompt)
	if err != nil {
		return err
	}
	if line != "yes" {
		return &cli.Failure{Code: cli.ExitNo, Text: "nothing was approved"}
	}
	return nil
}
