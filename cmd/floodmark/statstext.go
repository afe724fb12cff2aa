package main

import (
	"fmt"
	"strings"
	"time"
)

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
		cells("refused", count(r.Refused, "call", "calls")+" that nobody was asked about"),
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
	} else {
		what := r.Line.Text
		if r.Line.Key != "" {
			what = r.Line.Key + ": " + what
		}
		p.line(4, fmt.Sprintf("would have spared %d (%s): %s", r.Line.Saves, r.Line.Kind, what))
		if len(r.Line.Behind) > 0 {
			p.line(4, "whose text it was about: "+strings.Join(r.Line.Behind, "; "))
		}
		p.line(4, "in the benchmark: "+benchText(r.Line.Benchmark))
	}
	if r.Off != nil {
		p.line(4, "the whole rule off, in the benchmark: "+benchText(r.Off))
	}
}
