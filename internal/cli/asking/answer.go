// Package asking contains the commands that answer questions and withdraw answers.
package asking

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/cli/records"
	"github.com/floodmark/floodmark/wire"
)

// NewApprove is the command «floodmark approve».
func NewApprove(c *cli.Console) *cobra.Command {
	var p cli.Place
	var tool, picked, session string
	var offer int32
	var during time.Duration
	cmd := &cobra.Command{
		Use:   "approve [TICKET|CODE]",
		Short: "List the questions that wait for you, and say yes to one",
		Long: `Without a TICKET, list what your agents may not do until you say yes: what an agent
waits for comes first, the newest at the top. A question that is not answered in time
is a no.

With a TICKET, show all of that call, and approve it after you have typed yes at
your terminal. The approval covers exactly what was shown, once or until the agent's
turn ends, as the question says. The agent then tries the same call again. With a
CODE that a chat has shown you, the call is approved without asking again.

--offer gives one of the wider approvals that the question lists, exactly as it is
written there. --for makes the approval valid for that time, and for the pattern
that the question printed, if it printed one. The approval ends earlier if new
content lowers the session's mark.

If only a stranger's text named where the call goes, type that address or domain
yourself with --to: a yes alone is too easily given to the wrong place.

With --fleet the questions are those of that fleet.`,
		Example: `  floodmark approve
  floodmark approve t-0199aabb-ccdd
  floodmark approve t-0199aabb-ccdd --offer 2
  floodmark approve t-0199aabb-ccdd --to shop.example
  floodmark approve t-0199aabb-ccdd --for 30m
  floodmark approve t-0199aabb-ccdd --always
  floodmark approve 0123abcd
  floodmark approve t-0199aabb-ccdd --fleet floodmark.firm.example`,
		Annotations: cli.Exits("it is approved, or they are listed", "it is not approved: the code is wrong, or the question has expired"),
		Args:        cobra.MaximumNArgs(1),
		RunE: cli.Guard(func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return records.Waiting(c, cmd, p, session)
			}
			minutes, err := wholeMinutes(during)
			if err != nil {
				return err
			}
			return approve(c, cmd, p, &wire.AnswerRequest{Verb: "approve", Code: args[0], Tool: tool, Minutes: minutes, Offer: offer, Picked: picked})
		}),
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	cli.AddPlace(cmd, &p)
	c.AddFleet(cmd, &p)
	cmd.Flags().DurationVar(&during, "for", 0, "how long the approval is valid, such as `30m`; at most 24h (default: until the turn ends)")
	cmd.Flags().Int32Var(&offer, "offer", 0, "choose the offer with this `NUMBER`, from 1 (default: the narrowest)")
	cmd.Flags().Bool("always", false, "also in later sessions of this repository, for 30 days, if the question offers that")
	cmd.Flags().StringVar(&picked, "to", "", "the `ADDRESS` or domain the call goes to, if the question asks you to type it")
	cmd.Flags().StringVar(&session, "session", "", "list only questions of this `SESSION`")
	c.CompleteSession(cmd, &p)
	cmd.Flags().StringVar(&tool, "tool", "", "only calls of this `TOOL` among those shown")
	return cmd
}

// approve approves by a ticket, or by a code that was shown in a chat.
func approve(c *cli.Console, cmd *cobra.Command, p cli.Place, q *wire.AnswerRequest) error {
	if always, _ := cmd.Flags().GetBool("always"); always {
		a, err := cli.Ask(cmd.Context(), c, p, (*cli.Desk).Pending, &wire.PendingRequest{})
		named := func(code, ticket string) bool {
			return approval.SameWord(ticket, q.GetCode()) || approval.SameWord(code, q.GetCode())
		}
		if q.Offer = wire.AlwaysNamed(a.GetQuestions(), named); err != nil || q.GetOffer() == 0 {
			return cmp.Or(err, cli.Refuse("choose one of its offers: «floodmark approve» shows them", "this question offers no approval for the whole repository"))
		}
	}
	if p.Fleet != "" || !approval.IsCode(q.GetCode()) {
		q.Code, q.Ticket = "", q.GetCode()
		return approveTicket(cmd.Context(), c, p, q, cli.Format(cmd))
	}
	return answer(cmd.Context(), c, p, q, cli.Format(cmd))
}

// NewDeny is the command «floodmark deny».
func NewDeny(c *cli.Console) *cobra.Command {
	var p cli.Place
	cmd := &cobra.Command{
		Use:   "deny CODE|TICKET",
		Short: "Say no to what a question asks",
		Long: `Deny what a question asks, by its code or by its ticket; «floodmark approve» shows
both. A no needs no code. It beats a yes that was given before the call ran.`,
		Example: `  floodmark deny t-0199aabb-ccdd
  floodmark deny 0123abcd`,
		Annotations: cli.Exits("it is denied", "nothing was denied: the question has expired"),
		Args:        cli.Needs("CODE or TICKET"),
		RunE: cli.Guard(func(cmd *cobra.Command, args []string) error {
			q := &wire.AnswerRequest{Verb: "deny", Ticket: args[0]}
			if p.Fleet != "" {
				return denyAtFleet(cmd.Context(), c, p, q, cli.Format(cmd))
			}
			if approval.IsCode(args[0]) {
				q = &wire.AnswerRequest{Verb: "deny", Code: args[0]}
			}
			return answer(cmd.Context(), c, p, q, cli.Format(cmd))
		}),
		ValidArgsFunction: offerTickets(c, &p),
	}
	cli.AddPlace(cmd, &p)
	c.AddFleet(cmd, &p)
	return cmd
}

// wholeMinutes returns a duration in the minutes that the monitor expects.
func wholeMinutes(d time.Duration) (int32, error) {
	switch {
	case d < 0 || d%time.Minute != 0:
		return 0, cli.Refuse("write 30m or 2h", "--for takes a time in whole minutes, not %s", d)
	case d > approval.MaxFor:
		return 0, cli.Refuse("change the policy if it should always be allowed", "--for takes at most %d hours", int(approval.MaxFor.Hours()))
	}
	return int32(d / time.Minute), nil
}

func answer(ctx context.Context, c *cli.Console, p cli.Place, q *wire.AnswerRequest, form string) error {
	a, err := cli.Ask(ctx, c, p, (*cli.Desk).Answer, q)
	if f, ok := errors.AsType[*cli.Failure](err); ok && f.Code == cli.ExitUsage {
		// The request was well formed, so the question it names no longer exists.
		return noQuestion(q.GetTicket()+q.GetCode(), p)
	}
	if err != nil {
		return err
	}
	return c.Outcome(form, a.GetAnswered(), a.GetNotice()+WhatFollows(q, a.GetAnswered()), func() error { return c.Message(a) })
}

// noQuestion returns the failure for a question that does not exist.
func noQuestion(name string, p cli.Place) error {
	return &cli.Failure{
		Code: cli.ExitNo, Text: "no open question is called " + cli.Shorten(name) + ": it was answered, has expired, or never existed",
		Hint: "«floodmark approve" + p.Flags() + "» lists those that wait",
	}
}

// WhatFollows says that an approval by itself does not run anything.
func WhatFollows(q *wire.AnswerRequest, answered bool) string {
	if !answered || q.GetVerb() != "approve" {
		return ""
	}
	return " Nothing has run yet: it does when the agent tries the call again, so tell it to go on if it has ended. «floodmark policy grants» says how long it may."
}

// offerTickets completes the tickets of open questions.
func offerTickets(c *cli.Console, p *cli.Place) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		d, err := c.DeskFor(cmd.Context(), *p)
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer d.End()
		ctx, cancel := context.WithTimeout(cmd.Context(), cli.OfferTime)
		defer cancel()
		var names []string
		if a, err := d.Pending(ctx, &wire.PendingRequest{}); err == nil {
			for _, q := range a.GetQuestions() {
				names = append(names, cli.Plain(q.GetTicket())+"\t"+cli.Plain(q.GetSession()))
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
