package rules

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/cli/records"
	"github.com/floodmark/floodmark/internal/reports/tally"
	"github.com/floodmark/floodmark/internal/text/linetext"
	"github.com/floodmark/floodmark/kernel/replay"
	"github.com/floodmark/floodmark/policy"
)

func newSuggest(c *cli.Console) *cobra.Command {
	var f records.JournalFlags
	cmd := &cobra.Command{
		Use:   "suggest",
		Short: "Propose lines for your policy, from what you were asked",
		Long: `Propose lines for your policy and for your own tools that would have spared
questions, each with the evidence, as a patch. Nothing is changed: read it, take
out what you do not want, and apply it yourself with «patch» or «git apply».

A line is proposed only after three calls that you read and approved, in two
sessions. The same call in one session counts once, and an answer that came faster
than people read does not count. A line is not proposed if you ever denied a call
that it covers, or if text of others had steered one of the calls.

Each line is shown with the calls that it would have let through in the last seven
days. If a question came more than once and no line is proposed, the command says
why, and which answer would end the questions.

Nothing is ever proposed for what changes an agent or the monitor, runs code,
touches secrets, or was asked because data could leave; for values seen only in
text of others; with wildcards; or for hosts where strangers write.`,
		Example: `  floodmark policy suggest
  floodmark policy suggest --since 30d > lines.patch
  patch -p1 -d ~/.config/floodmark < lines.patch
  floodmark policy reload`,
		Annotations: cli.Exits("something is proposed", "nothing is, or no monitor runs"),
		Args:        cobra.NoArgs,
		RunE: cli.Guard(func(cmd *cobra.Command, _ []string) error {
			return suggest(cmd.Context(), c, f, cli.Format(cmd))
		}),
	}
	records.AddJournal(c, cmd, &f, "30d")
	return cmd
}

// A SuggestReport is the answer for programs: fields are only added.
type SuggestReport struct {
	File        string          `json:"file"`
	Suggestions []suggestedLine `json:"suggestions"`
	Not         []notSuggested  `json:"notSuggested"`
	Patch       string          `json:"patch"`
	// Repeats are the questions that were asked more than once and for which no line is proposed.
	Repeats []tally.Repeat `json:"repeats"`
}

// A suggestedLine is a line with its evidence.
type suggestedLine struct {
	Key      string    `json:"key"`
	Line     string    `json:"line"`
	Saves    int       `json:"saves"`
	Asked    int       `json:"asked"`
	Yes      int       `json:"yes"`
	Unread   int       `json:"notRead"`
	Sessions []string  `json:"sessions"`
	First    time.Time `json:"first"`
	Last     time.Time `json:"last"`
	Behind   []string  `json:"behind"` // whose text was in the context
	// Lets are the calls of the last week that the line would have allowed.
	Lets []string `json:"lets"`
}

// A notSuggested is a line that is not proposed, and why.
type notSuggested struct {
	Key  string `json:"key"`
	Line string `json:"line"`
	Why  string `json:"why"`
}

func suggest(ctx context.Context, c *cli.Console, f records.JournalFlags, form string) error {
	since, err := f.Time(c.Clock())
	if err != nil {
		return err
	}
	j, err := records.NewJudge(c, f.Place, since)
	if err != nil {
		return err
	}
	if j.Sessions, err = records.SessionsIn(ctx, c, f); err != nil {
		return err
	}
	// Count the whole journal: a denial matters however old it is.
	a, err := tally.Count(j.Sessions, time.Time{}, c.Clock())
	if err != nil {
		return cli.Refuse("check the journal with «floodmark journal verify»", "%s", err)
	}
	lately, err := tally.Count(j.Sessions, since, c.Clock())
	if err != nil {
		return cli.Refuse("check the journal with «floodmark journal verify»", "%s", err)
	}
	report, err := propose(j, a, lately)
	if err != nil {
		return err
	}
	if form == cli.AsJSON {
		if err := c.JSON(report); err != nil {
			return err
		}
	} else {
		fmt.Fprint(c.Stdout, suggestText(c.OutStyle(), report))
	}
	if len(report.Suggestions) == 0 {
		return cli.ErrNo
	}
	return nil
}

// propose returns the lines that load, would have spared a question, and loosen nothing that they
// may not.
func propose(j *records.Judge, a, lately *tally.Account) (*SuggestReport, error) {
	out := &SuggestReport{File: j.Policy.Path, Suggestions: []suggestedLine{}, Not: []notSuggested{}, Repeats: []tally.Repeat{}}
	var spared []*tally.Question
	good, not := a.Suggestions(j.Rules.Policy, j.Since)
	for _, d := range not {
		out.Not = append(out.Not, notSuggested{d.Key, d.Text, d.Why})
	}
	text := j.Policy.Text
	for _, s := range good {
		why, saves, lets, err := checkLine(j, s.Line)
		if err != nil {
			return nil, err
		}
		next, ok := linetext.WithLine(text, s.Key, s.Text, comment(s))
		switch {
		case why != "":
		case !ok:
			why = "your policy writes " + s.Key + " on one line: add it yourself"
		default:
			why = faulty(j, next)
		}
		if why != "" {
			out.Not = append(out.Not, notSuggested{s.Key, s.Text, why})
			continue
		}
		text, spared = next, append(spared, s.About...)
		out.Suggestions = append(out.Suggestions, suggestedLine{
			Key: s.Key, Line: s.Text, Saves: saves, Asked: s.Asked, Yes: s.Yes, Unread: s.Unread, Sessions: s.Sessions,
			First: s.First, Last: s.Last, Behind: s.Behind, Lets: lets,
		})
	}
	out.Repeats = append(out.Repeats, lately.Repeats(spared, j.Rules.Policy.Findings())...)
	out.Patch = linetext.Patch(j.Policy.Name, j.Policy.Text, text, j.Policy.There)
	return out, nil
}

// comment returns the comment above a line in the file. It contains no foreign names, because they
// could end the comment or the patch.
func comment(s tally.Suggestion) string {
	return fmt.Sprintf("# %d questions in %d sessions, read and approved, never denied (%s to %s)",
		s.Yes, len(s.Sessions), s.First.UTC().Format(time.DateOnly), s.Last.UTC().Format(time.DateOnly))
}

// faulty loads the changed policy and says what is wrong with it; empty if nothing is. The change
// may not even add warnings.
func faulty(j *records.Judge, text string) string {
	_, before := policy.Load(policy.Layer{Name: j.Policy.Name, Data: []byte(j.Policy.Text)})
	if !j.Policy.There {
		before = nil
	}
	_, after := policy.Load(policy.Layer{Name: j.Policy.Name, Data: []byte(text)})
	if after.Failed() || len(after) > len(before) {
		return "your policy would not be sound with it: " + after.Error()
	}
	return ""
}

// week is how far back the calls are listed that a line would have allowed.
const week = 7 * 24 * time.Hour

// checkLine judges the whole journal again as if a line had been in the policy. why is the reason
// against the line: it spares no question, or it loosens what no line may. lets are the calls of
// the last week that the line would have allowed.
func checkLine(j *records.Judge, l tally.Line) (why string, saves int, lets []string, err error) {
	rules, _, failed := j.With([]tally.Line{l})
	if failed != nil {
		return "it cannot be loaded: " + failed.Error(), 0, nil, nil //nolint:nilerr // why has the error
	}
	trial := replay.Retrial{Now: rules, Then: &j.Rules}
	for _, s := range j.Sessions {
		a, err := trial.Session(s.Facts, s.Erased)
		if err != nil {
			return "", 0, nil, cli.Refuse("check the journal with «floodmark journal verify»", "judge %s again: %s", s.Name, err)
		}
		saves += a.Asked - a.WouldAsk
		for _, d := range a.Decisions {
			if d.Outcome != replay.Changed || d.Would.Verdict <= d.Was.Verdict {
				continue
			}
			if guarded(d, &l) {
				return "it would also have loosened what no line may, in " + s.Name, 0, nil, nil
			}
			if what := tally.What(&d.Action); j.C.Clock().Sub(d.At) <= week && !slices.Contains(lets, what) {
				lets = append(lets, what)
			}
		}
	}
	if saves <= 0 {
		return "it would have spared nothing", 0, nil, nil
	}
	return "", saves, lets, nil
}

// guarded reports whether a proposed line may not loosen a decision.
func guarded(d replay.Rejudged, l *tally.Line) bool {
	if d.Was.Verdict == floodmark.Restrict || slices.Contains(d.Action.Effects, floodmark.Admin) {
		return true
	}
	if slices.Contains(d.Action.Effects, floodmark.Run) && !l.Describes(d.Action.Tool) {
		return true
	}
	return slices.ContainsFunc(d.Was.Reasons, func(r floodmark.Reason) bool {
		switch r.Code {
		case floodmark.FlowSecret, floodmark.Undescribed, floodmark.FlowPrivate, floodmark.FlowFetch, floodmark.ActiveContent, floodmark.SelfProtection, floodmark.Interactive, floodmark.RuleMatched:
			return true
		default:
			return false
		}
	})
}

// suggestText formats the evidence, followed by the patch.
func suggestText(st cli.Style, r *SuggestReport) string {
	p := &cli.Sheet{St: st}
	for _, s := range r.Suggestions {
		p.Line(0, fmt.Sprintf("Proposed for %s: %s", s.Key, s.Line))
		p.Line(2, fmt.Sprintf("it would have spared %d of %s; %d read and approved, %d not read, none denied, from %s to %s",
			s.Saves, cli.Count(s.Asked, "question", "questions"), s.Yes, s.Unread, s.First.Local().Format(time.DateOnly), s.Last.Local().Format(time.DateOnly)))
		p.Line(2, "sessions: "+strings.Join(s.Sessions, ", "))
		p.Line(2, "in the last 7 days it would have let through: "+tally.Few(s.Lets))
		whose := strings.Join(s.Behind, "; ")
		if whose == "" {
			whose = "no one else's"
		}
		p.Line(2, "whose text stood in the context: "+whose)
	}
	for _, n := range r.Not {
		p.Line(0, fmt.Sprintf("Not proposed for %s: %s, because: %s", n.Key, n.Line, n.Why))
	}
	for _, one := range r.Repeats {
		p.Line(0, fmt.Sprintf("Asked %d times in %s (%s), such as: %s", one.Questions, cli.Count(one.Sessions, "session", "sessions"), one.Rule, one.Such))
		p.Line(2, "no line is proposed: "+one.Why)
		p.Line(2, "what would end it: "+one.Ends)
	}
	if len(r.Suggestions) == 0 {
		if len(r.Repeats) == 0 {
			p.Line(0, "Nothing is proposed: nothing was asked more than once.")
		}
		return remarks(p.String())
	}
	p.Line(0, "Read it, then apply it yourself, in the folder of "+r.File+": patch -p1")
	return remarks(p.String()) + r.Patch
}

// remarks comments out every line. This is needed because «patch» also applies indented text, and
// foreign names may be anything.
func remarks(text string) string {
	var b strings.Builder
	for l := range strings.Lines(text) {
		b.WriteString("# " + l)
	}
	return b.String()
}
