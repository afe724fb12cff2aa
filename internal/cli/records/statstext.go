package records

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/reports/tally"
)

func newReport(c *cli.Console) *cobra.Command {
	var f JournalFlags
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Say what was stopped, asked and contained, or would have been",
		Long: `Say in words what was stopped, what was asked about and what ran in a box in the last
day, and, while you only observed («floodmark pause --observe») or had paused, what
would have been: the real command, why, what had been read before, how often and
where. The gravest comes first, and it is at most one screen; --output json has all.`,
		Example: `  floodmark journal report
  floodmark journal report --since 7d
  floodmark journal report --since 24h --output json`,
		Annotations: cli.Exits("it is shown", "no monitor runs"),
		Args:        cobra.NoArgs,
		RunE: cli.Guard(func(cmd *cobra.Command, _ []string) error {
			return recap(cmd.Context(), c, f, cli.Format(cmd))
		}),
	}
	AddJournal(c, cmd, &f, "24h")
	return cmd
}

func recap(ctx context.Context, c *cli.Console, f JournalFlags, form string) error {
	since, err := f.Time(c.Clock())
	if err != nil {
		return err
	}
	sessions, err := SessionsIn(ctx, c, f)
	if err != nil {
		return err
	}
	r, err := tally.Recall(sessions, since)
	if err != nil {
		return cli.Refuse("check the journal with «floodmark journal verify»", "%s", err)
	}
	if form == cli.AsJSON {
		return c.JSON(r)
	}
	p := &cli.Sheet{St: c.OutStyle()}
	p.Line(0, r.Head()+".")
	for _, part := range r.Parts() {
		p.Title(part.Title)
		for _, l := range part.Lines {
			p.Line(2, l)
		}
	}
	fmt.Fprint(c.Stdout, p)
	return nil
}

// statsText prints the report for people.
func statsText(c *cli.Console, r *StatsReport) error {
	p := &cli.Sheet{St: c.OutStyle()}
	since := "From the beginning"
	if !r.Since.IsZero() {
		since = "Since " + r.Since.Local().Format("2006-01-02 15:04")
	}
	p.Title(since)
	p.Table(2, [][]cli.Cell{
		cli.Cells("sessions", fmt.Sprint(r.Sessions)),
		cli.Cells("tasks", fmt.Sprint(r.Tasks)),
		cli.Cells("questions", fmt.Sprintf("%d, %.2f for each task", r.Questions, r.QuestionsPerTask)),
		cli.Cells("again", fmt.Sprintf("%d about a call that was asked about before, %d while it still was", r.Repeats.Asked, r.Repeats.Joined)),
		cli.Cells("in a box", fmt.Sprintf("%s without a question, %d failed there", cli.Count(r.Boxed, "command ran", "commands ran"), r.BoxFailed)),
		cli.Cells("refused", cli.Count(r.Refused, "call", "calls")+" without a question"),
		cli.Cells("in a pause", fmt.Sprintf("%s let through that needed a yes", cli.Count(r.Paused, "call was", "calls were"))),
		cli.Cells("answers", answersText(r)),
		cli.Cells("not read", fmt.Sprintf("%d, faster than 50 letters a second", r.Answers.Unread)),
	})
	p.Title("Who resolved what needed an answer")
	var rows [][]cli.Cell
	for _, s := range r.Resolved {
		rows = append(rows, cli.Cells(s.By, fmt.Sprint(s.Count), fmt.Sprintf("%.0f %%", 100*s.Share)))
	}
	p.Table(2, rows)
	p.List(0, "What the auditor answered", r.Auditor.Lines(topRules))
	if len(r.Rules) > 0 {
		p.Title("The rules behind most questions")
	}
	for _, one := range r.Rules {
		ruleText(p, one)
	}
	if r.Policy != nil {
		p.Title("What " + r.Policy.File + " would have cost")
		p.Line(2, fmt.Sprintf("questions: %d -> %d; %s would have been different, %d of them looser; of %d it cannot be told",
			r.Policy.Was, r.Policy.Would, cli.Count(r.Policy.Changed, "decision", "decisions"), r.Policy.Looser, r.Policy.CannotTell))
	}
	fmt.Fprint(c.Stdout, p)
	return nil
}

func answersText(r *StatsReport) string {
	a := r.Answers
	if a.Count == 0 {
		return "none"
	}
	of := func(seconds float64) string {
		return time.Duration(seconds * float64(time.Second)).Round(100 * time.Millisecond).String()
	}
	return fmt.Sprintf("%d yes, %d no; half within %s, nine in ten within %s", a.Yes, a.No, of(a.MedianSeconds), of(a.P90Seconds))
}

// ruleText shows one rule.
func ruleText(p *cli.Sheet, r ruleReport) {
	p.Line(2, fmt.Sprintf("%s: %s in %s", r.Rule, cli.Count(r.Questions, "question", "questions"), cli.Count(r.Sessions, "session", "sessions")))
	if r.Line == nil {
		p.Line(4, r.Why)
		p.Line(4, "what would end them: "+r.Ends)
	} else {
		what := r.Line.Text
		if r.Line.Key != "" {
			what = r.Line.Key + ": " + what
		}
		p.Line(4, fmt.Sprintf("would have spared %d (%s): %s", r.Line.Saves, r.Line.Kind, what))
		if len(r.Line.Behind) > 0 {
			p.Line(4, "whose text it was about: "+strings.Join(r.Line.Behind, "; "))
		}
	}
}
