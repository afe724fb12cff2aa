package rules

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/cli/asking"
	"github.com/floodmark/floodmark/internal/cli/records"
	"github.com/floodmark/floodmark/internal/reports/tally"
	"github.com/floodmark/floodmark/policy"
)

func newGrantsAdd(c *cli.Console) *cobra.Command {
	var p cli.Place
	var until, name string
	cmd := &cobra.Command{
		Use:   "add SESSION TICKET",
		Short: "Write down what a scheduled job may do without asking",
		Long: `Print the lines for your policy that would allow a scheduled job in advance what it
asked in this question, until a day you name. Nothing is changed: read them, put
them into your policy, and load it with «floodmark policy reload».

They apply only to that agent, that job and that sort of call, exactly as the
question offered it, and only while the session has read nothing less trusted or
more guarded than then. A call that runs code, changes the agent, could reveal a
secret, or goes to a place that only others named is never allowed in advance.`,
		Example:     `  floodmark policy grants add openclaw:cron t-0199aabb-ccdd --until 2026-12-31`,
		Annotations: cli.Exits("the lines are printed", "the question cannot be allowed in advance, or no monitor runs"),
		Args:        asking.NeedsTwo("SESSION", "TICKET"),
		RunE: cli.Guard(func(cmd *cobra.Command, args []string) error {
			day, err := time.Parse(time.DateOnly, until)
			if err != nil {
				return cli.Refuse("write its last day: --until 2026-12-31", "%q is not a day", until)
			}
			s, err := standingFrom(cmd.Context(), c, p, args[0], floodmark.TicketID(args[1]), day)
			if err != nil {
				return err
			}
			if s.Name = name; name == "" {
				s.Name = s.Trigger + "-" + args[1]
			}
			fmt.Fprint(c.Stdout, standingLines(s))
			return nil
		}),
		ValidArgsFunction: c.OfferSessions(&p),
	}
	cli.AddPlace(cmd, &p)
	cmd.Flags().StringVar(&until, "until", "", "the last `DAY` on which it is valid, such as 2026-12-31; at most 90 days from now")
	cmd.Flags().StringVar(&name, "name", "", "what it is `CALLED` in the journal")
	return cmd
}

// standingFrom makes a standing approval out of a question.
func standingFrom(ctx context.Context, c *cli.Console, p cli.Place, session string, ticket floodmark.TicketID, until time.Time) (policy.Standing, error) {
	sessions, err := records.SessionsIn(ctx, c, records.JournalFlags{Place: p, Session: session})
	if err != nil {
		return policy.Standing{}, err
	}
	s := policy.Standing{From: c.Clock().UTC().Truncate(24 * time.Hour), Until: until}
	if left := policy.MaxStanding - 24*time.Hour; until.Before(s.From) || until.Sub(s.From) > left {
		return s, cli.Refuse("name a day from today to "+s.From.Add(left).Format(time.DateOnly), "a standing approval is valid for at most %d days", int(policy.MaxStanding.Hours()/24))
	}
	for _, one := range sessions {
		if standingAsked(one, ticket, &s) {
			switch {
			case s.Trigger == "":
				return s, cli.Refuse("approve it when it asks, or for a time with «floodmark approve --for»", "session %s was not begun by a schedule: no agent's door said so", one.Name)
			case s.Call == "":
				return s, cli.Refuse("approve it each time", "that question offers no sort of call that could be allowed in advance")
			}
			return s, nil
		}
	}
	return s, cli.Refuse("«floodmark approve» and «floodmark journal show SESSION» list questions", "session %s has asked no question %s", session, ticket)
}

// standingAsked finds a question in a session. It reports whether the question is there, and
// records in s which job made the call and which calls its pattern covers.
func standingAsked(one tally.Session, ticket floodmark.TicketID, s *policy.Standing) bool {
	found := false
	for _, f := range one.Facts {
		var shown []floodmark.Shown
		switch f := f.Fact.(type) {
		case floodmark.SessionOpened:
			s.Agent = f.Agent
		case floodmark.ContentSeen:
			if f.Origin.Kind == floodmark.FromSystem && f.Kind == floodmark.NodeInput && !found {
				s.Trigger, s.Job = f.Origin.Name, f.Origin.Place
			}
		case floodmark.TicketOpened:
			if f.Ticket == ticket {
				found, shown = true, f.Shown
			}
		case floodmark.TicketExtended:
			if f.Ticket == ticket {
				shown = []floodmark.Shown{f.Shown}
			}
		default:
		}
		for _, one := range shown {
			if one.Pattern != "" && one.Others.IsZero() && one.Mark.Secrecy > floodmark.Secret {
				s.Call, s.Mark = one.Pattern, one.Mark
			}
		}
	}
	return found
}

// standingLines returns the lines for a policy.
func standingLines(s policy.Standing) string {
	var b strings.Builder
	b.WriteString("standing:\n")
	line := func(before, key, value string) { fmt.Fprintf(&b, "%s%s: %s\n", before, key, value) }
	line("  - ", "name", strconv.Quote(s.Name))
	line("    ", "agent", strconv.Quote(s.Agent))
	line("    ", "trigger", strconv.Quote(s.Trigger))
	if s.Job != "" {
		line("    ", "job", strconv.Quote(s.Job))
	}
	line("    ", "call", strconv.Quote(s.Call))
	line("    ", "trust", s.Mark.Trust.String())
	line("    ", "secrecy", s.Mark.Secrecy.String())
	line("    ", "from", strconv.Quote(s.From.Format(time.DateOnly)))
	line("    ", "until", strconv.Quote(s.Until.Format(time.DateOnly)))
	return b.String()
}
