package asking

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/cli/records"
	"github.com/floodmark/floodmark/internal/text/meaning"
	"github.com/floodmark/floodmark/wire"
)

// NewWhy is the command «floodmark why».
func NewWhy(c *cli.Console) *cobra.Command {
	var p cli.Place
	cmd := &cobra.Command{
		Use:   "why [DECISION|SESSION]",
		Short: "Explain a decision in plain words",
		Long: `Explain why something was refused or asked about: what came in, where each
argument came from, what the agent wanted, what decided, and what you can do.

Without an argument it is the newest question or refusal in the project of the folder
you are in, or else anywhere.

If you approved it, you also see what followed: the calls that the approval let
through, where they went and what they wrote.

DECISION is a session and a number, SESSION#7; «floodmark journal show SESSION» lists
them. With a SESSION alone, all that was not allowed is explained, the newest first,
and then it is counted, with the commands that ran in a box. A session may be written
short: codex:0199aabb-… as codex:0199 or 0199.`,
		Example: `  floodmark why
  floodmark why codex:0199#7
  floodmark why codex:0199
  floodmark why codex:0199 --output json`,
		Annotations: cli.Exits("it is explained", "no monitor runs"),
		Args:        cobra.MaximumNArgs(1),
		RunE: cli.Guard(func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				newest, err := newest(cmd.Context(), c, p)
				if newest == "" && err == nil {
					c.Say("nothing was refused or asked about lately")
				}
				if newest == "" {
					return err
				}
				args = []string{newest}
			}
			a, err := cli.Ask(cmd.Context(), c, p, (*cli.Desk).Why, &wire.WhyRequest{Of: args[0]})
			if err != nil {
				return err
			}
			if cli.Format(cmd) == cli.AsJSON {
				return c.Message(a)
			}
			if len(a.GetExplanations()) == 0 {
				c.Say("nothing was refused or asked about in %s", args[0])
			}
			fmt.Fprint(c.Stdout, WhyText(c.OutStyle(), a, !strings.Contains(args[0], "#")))
			return nil
		}),
		ValidArgsFunction: c.OfferSessions(&p),
	}
	cli.AddPlace(cmd, &p)
	c.AddFleet(cmd, &p)
	return cmd
}

// maxLooked bounds the sessions searched for the newest decision.
const maxLooked = 10

// newest returns the newest decision that refused or asked in a session of this folder's project,
// or else in any session; empty if there is none.
func newest(ctx context.Context, c *cli.Console, p cli.Place) (string, error) {
	all, err := cli.Ask(ctx, c, p, (*cli.Desk).Sessions, &wire.SessionsRequest{Limit: 200})
	if err != nil {
		return "", err
	}
	stopped := slices.DeleteFunc(all.GetSessions(), func(s *wire.Session) bool { return s.GetStopped() == 0 })
	here := slices.DeleteFunc(slices.Clone(stopped), func(s *wire.Session) bool { return s.GetProject() == "" || !cli.Below(c.Dir, s.GetProject()) })
	if len(here) > 0 {
		stopped = here
	}
	var last *wire.Explanation
	for _, s := range stopped[:min(len(stopped), maxLooked)] {
		a, err := cli.Ask(ctx, c, p, (*cli.Desk).Why, &wire.WhyRequest{Of: s.GetId()})
		if err != nil {
			return "", err
		}
		if list := a.GetExplanations(); len(list) > 0 && (last == nil || list[0].GetAt().AsTime().After(last.GetAt().AsTime())) {
			last = list[0]
		}
	}
	return last.GetDecision(), nil
}

// WhyText explains each decision from its source to the remedy. With whole it adds the counts of
// the session.
func WhyText(st cli.Style, a *wire.WhyResponse, whole bool) string {
	p := &cli.Sheet{St: st}
	for i, e := range a.GetExplanations() {
		if i > 0 {
			p.B.WriteByte('\n')
		}
		p.Title(e.GetDecision() + ", " + cli.Stamp(e.GetAt()))
		verdict := verdictSentence(e.GetVerdict())
		if e.GetBox() != nil {
			verdict += ", in a box"
		}
		p.Painted(2, verdict, func(s string) string { return cli.VerdictStyle(st, s) })
		p.List(2, "What came in", e.GetSources())
		p.List(2, "Where the arguments came from", e.GetArguments())
		p.List(2, "What the agent wanted", e.GetActions())
		p.List(2, "What decided", e.GetReasons())
		if b := e.GetBox(); b != nil {
			p.List(2, "What ran in a box", []string{b.GetCommand() + ": " + b.GetLine()})
		}
		p.List(2, "What can be done", remedies(e.GetRemedies()))
		p.List(2, "What followed from the approval", e.GetFollowed())
	}
	if s := a.GetSession(); whole && s != nil {
		p.Title("In all")
		p.Line(2, fmt.Sprintf("%s: %d asked about, %d refused, %s", cli.Count(int(s.GetDecisions()), "decision", "decisions"), s.GetAsked(), s.GetStopped()-s.GetAsked(), records.BoxedText(int(s.GetBoxed()), int(s.GetBoxFailed()))))
	}
	return p.String()
}

// verdictSentence explains a verdict.
func verdictSentence(word string) string {
	verdicts := []floodmark.Verdict{floodmark.Restrict, floodmark.Confirm, floodmark.Audit, floodmark.Allow}
	i := slices.IndexFunc(verdicts, func(v floodmark.Verdict) bool { return v.String() == word })
	if i < 0 {
		return word + ": a word this program does not know, so take it for a no"
	}
	return word + ": " + meaning.Verdict(verdicts[i])
}

// remedies says who can do what. If there are two, the first is for the person and the second for
// the agent.
func remedies(list []string) []string {
	if len(list) != 2 {
		return list
	}
	return []string{"you: " + list[0], "the agent: " + list[1]}
}
