package main

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/wire"
)

func newApprove(c *console) *cobra.Command {
	var p place
	var tool, picked, session string
	var offer int32
	var during time.Duration
	cmd := &cobra.Command{
		Use:   "approve [TICKET|CODE]",
		Short: "List the questions that wait for you, and say yes to one",
		Long: `Without a TICKET, list what your agents may not do until you say yes: what an agent
waits for comes first, the newest at the top. A question that is not answered in time
is a no.

With a TICKET, show all of that call, and approve it after you have typed yes at your
terminal. The approval covers exactly what was shown, once or until the agent's turn
ends, as the question says. The agent then tries the same call again. A CODE is what a
chat has shown to you; it needs no yes besides.

With --offer it is one of the wider approvals that the question lists, exactly as
it is written there. With --for it holds so long, and for the pattern that the
question printed, if it printed one. It ends earlier if new content lowers the
session's mark.

If only a stranger's text named where the call goes, type that address or domain
yourself with --to: a yes alone is too easily given to the wrong place.

With --fleet it is a question of that fleet.`,
		Example: `  floodmark approve
  floodmark approve t-0199aabb-ccdd
  floodmark approve t-0199aabb-ccdd --offer 2
  floodmark approve t-0199aabb-ccdd --to shop.example
  floodmark approve t-0199aabb-ccdd --for 30m
  floodmark approve t-0199aabb-ccdd --always
  floodmark approve 0123abcd
  floodmark approve t-0199aabb-ccdd --fleet floodmark.firm.example`,
		Annotations: exits("it is approved, or they are listed", "it is not approved: the code is wrong, or the question has ended"),
		Args:        cobra.MaximumNArgs(1),
		RunE: guard(func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return c.waiting(cmd, p, session)
			}
			minutes, err := wholeMinutes(during)
			if err != nil {
				return err
			}
			return c.approve(cmd, p, &wire.AnswerRequest{Verb: "approve", Code: args[0], Tool: tool, Minutes: minutes, Offer: offer, Picked: picked})
		}),
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	addPlace(cmd, &p)
	c.addFleet(cmd, &p)
	cmd.Flags().DurationVar(&during, "for", 0, "how long it holds, such as `30m`; at most 24h (default: until the turn ends)")
	cmd.Flags().Int32Var(&offer, "offer", 0, "take the offer with this `NUMBER`, from 1 (default: the narrowest)")
	cmd.Flags().Bool("always", false, "also in later sessions of this repository, for 30 days, if the question offers that")
	cmd.Flags().StringVar(&picked, "to", "", "the `ADDRESS` or domain it goes to, typed by you, where the question asks for it")
	cmd.Flags().StringVar(&session, "session", "", "list only questions of this `SESSION`")
	c.completeSession(cmd, &p)
	cmd.Flags().StringVar(&tool, "tool", "", "only the shown calls of this `TOOL`")
	return cmd
}

// approve approves by a ticket, or by a code that a chat has shown.
func (c *console) approve(cmd *cobra.Command, p place, q *wire.AnswerRequest) error {
	if always, _ := cmd.Flags().GetBool("always"); always {
		a, err := ask(cmd.Context(), c, p, (*desk).Pending, &wire.PendingRequest{})
		named := func(code, ticket string) bool {
			return approval.SameWord(ticket, q.GetCode()) || approval.SameWord(code, q.GetCode())
		}
		if q.Offer = wire.AlwaysNamed(a.GetQuestions(), named); err != nil || q.GetOffer() == 0 {
			return cmp.Or(err, refuse("take one of its offers: «floodmark approve» shows them", "this question offers nothing that holds for the whole repository"))
		}
	}
	if p.fleet != "" || !approval.IsCode(q.GetCode()) {
		q.Code, q.Ticket = "", q.GetCode()
		return c.approveTicket(cmd.Context(), p, q, format(cmd))
	}
	return c.answer(cmd.Context(), p, q, format(cmd))
}

func newDeny(c *console) *cobra.Command {
	var p place
	cmd := &cobra.Command{
		Use:   "deny CODE|TICKET",
		Short: "Say no to what a question asks",
		Long: `Deny what a question asks, by its code or by its ticket; «floodmark approve» shows
both. A no needs no code. It beats a yes that was given before the call ran.`,
		Example: `  floodmark deny t-0199aabb-ccdd
  floodmark deny 0123abcd`,
		Annotations: exits("it is denied", "nothing was denied: the question has ended"),
		Args:        needs("CODE or TICKET"),
		RunE: guard(func(cmd *cobra.Command, args []string) error {
			q := &wire.AnswerRequest{Verb: "deny", Ticket: args[0]}
			if p.fleet != "" {
				return c.denyAtFleet(cmd.Context(), p, q, format(cmd))
			}
			if approval.IsCode(args[0]) {
				q = &wire.AnswerRequest{Verb: "deny", Code: args[0]}
			}
			return c.answer(cmd.Context(), p, q, format(cmd))
		}),
		ValidArgsFunction: c.offerTickets(&p),
	}
	addPlace(cmd, &p)
	c.addFleet(cmd, &p)
	return cmd
}

// wholeMinutes returns a duration as the monitor takes it.
func wholeMinutes(d time.Duration) (int32, error) {
	switch {
	case d < 0 || d%time.Minute != 0:
		return 0, refuse("write 30m or 2h", "--for takes whole minutes, not %s", d)
	case d > approval.MaxFor:
		return 0, refuse("change the policy if it should always be allowed", "--for takes at most %d hours", int(approval.MaxFor.Hours()))
	}
	return int32(d / time.Minute), nil
}

func (c *console) answer(ctx context.Context, p place, q *wire.AnswerRequest, form string) error {
	a, err := ask(ctx, c, p, (*desk).Answer, q)
	if f, ok := errors.AsType[*failure](err); ok && f.code == exitUsage {
		// The request was well formed, so the question it names is gone.
		return noQuestion(q.GetTicket()+q.GetCode(), p)
	}
	if err != nil {
		return err
	}
	return c.outcome(form, a.GetAnswered(), a.GetNotice()+whatFollows(q, a.GetAnswered()), func() error { return c.message(a) })
}

// noQuestion says that there is no question of that name.
func noQuestion(name string, p place) error {
	return &failure{
		code: exitNo, text: "no open question is called " + shorten(name) + ": it is answered, has ended, or never was",
		hint: "«floodmark approve" + p.flags() + "» lists those that wait",
	}
}

// whatFollows says that an approval by itself runs nothing yet.
func whatFollows(q *wire.AnswerRequest, answered bool) string {
	if !answered || q.GetVerb() != "approve" {
		return ""
	}
	return " Nothing has run yet: it does when the agent tries the call again, so tell it to go on if it has ended. «floodmark policy grants» says how long it may."
}

// offerTickets completes the tickets of open questions.
func (c *console) offerTickets(p *place) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		d, err := c.deskFor(cmd.Context(), *p)
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer d.end()
		ctx, cancel := context.WithTimeout(cmd.Context(), offerTime)
		defer cancel()
		var names []string
		if a, err := d.Pending(ctx, &wire.PendingRequest{}); err == nil {
			for _, q := range a.GetQuestions() {
				names = append(names, plain(q.GetTicket())+"\t"+plain(q.GetSession()))
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
