package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/tally"
)

func newReport(c *console) *cobra.Command {
	var f journalFlags
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
		Annotations: exits("it is shown", "no monitor runs"),
		Args:        cobra.NoArgs,
		RunE: guard(func(cmd *cobra.Command, _ []string) error {
			return c.recap(cmd.Context(), f, format(cmd))
		}),
	}
	c.addJournal(cmd, &f, "24h")
	return cmd
}

func (c *console) recap(ctx context.Context, f journalFlags, form string) error {
	since, err := f.time(c.clock())
	if err != nil {
		return err
	}
	sessions, err := c.sessionsIn(ctx, f)
	if err != nil {
		return err
	}
	r, err := tally.Recall(sessions, since)
	if err != nil {
		return refuse("check the journal with «floodmark journal verify»", "%s", err)
	}
	if form == asJSON {
		return c.json(r)
	}
	p := &sheet{st: c.outStyle()}
	p.line(0, r.Head()+".")
	for _, part := range r.Parts() {
		p.title(part.Title)
		for _, l := range part.Lines {
			p.line(2, l)
		}
	}
	fmt.Fprint(c.stdout, p)
	return nil
}

// statsText is the report for people.
func (c *console) statsText(r *statsReport) error {
	p := &sheet{st: c.outStyle()}
	since := "From the beginning"
	if !r.Since.IsZero() {
		since = "Since " + r.Since.Local().Format("2006-01-02 15:04")
	}
	p.title(since)
	p.table(2, [][]cell{
		cells("sessions", fmt.Sprint(r.Sessions)),
		cells("tasks", fmt.Sprint(r.Tasks)),
		cells("questions", fmt.Sprintf("%d, %.2f for each task", r.Questions, r.QuestionsPerTask)),
		cells("again", fmt.Sprintf("%d about a call that was asked about before, %d while it still was", r.Repeats.Asked, r.Repeats.Joined)),
		cells("in a box", fmt.Sprintf("%s without a question, %d failed there", count(r.Boxed, "command ran", "commands ran"), r.BoxFailed)),
		cells("refused", count(r.Refused, "call", "calls")+" without a question"),
		cells("in a pause", fmt.Sprintf("%s let through that needed a yes", count(r.Paused, "call was", "calls were"))),
		cells("answers", answersText(r)),
		cells("not read", fmt.Sprintf("%d, faster than 50 letters a second", r.Answers.Unread)),
	})
	p.title("Who resolved what needed an answer")
	var rows [][]cell
	for _, s := range r.Resolved {
		rows = append(rows, cells(s.By, fmt.Sprint(s.Count), fmt.Sprintf("%.0f %%", 100*s.Share)))
	}
	p.table(2, rows)
	p.list(0, "What the auditor answered", r.Auditor.Lines(topRules))
	if len(r.Rules) > 0 {
		p.title("The rules behind most questions")
	}
	for _, one := range r.Rules {
		ruleText(p, one)
	}
	if r.Policy != nil {
		p.title("What " + r.Policy.File + " would have cost")
		p.line(2, fmt.Sprintf("questions: %d -> %d; %s would have been different, %d of them looser; of %d it cannot be told",
			r.Policy.Was, r.Policy.Would, count(r.Policy.Changed, "decision", "decisions"), r.Policy.Looser, r.Policy.CannotTell))
	}
	fmt.Fprint(c.stdout, p)
	return nil
}

func answersText(r *statsReport) string {
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
func ruleText(p *sheet, r ruleReport) {
	p.line(2, fmt.Sprintf("%s: %s in %s", r.Rule, count(r.Questions, "question", "questions"), count(r.Sessions, "session", "sessions")))
	if r.Line == nil {
		p.line(4, r.Why)
		p.line(4, "what would end them: "+r.Ends)
	} else {
		what := r.Line.Text
		if r.Line.Key != "" {
			what = r.Line.Key + ": " + what
		}
		p.line(4, fmt.Sprintf("would have spared %d (%s): %s", r.Line.Saves, r.Line.Kind, what))
		if len(r.Line.Behind) > 0 {
			p.line(4, "whose text it was about: "+strings.Join(r.Line.Behind, "; "))
		}
	}
}
