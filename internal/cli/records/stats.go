package records

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/reports/rejudge"
	"github.com/floodmark/floodmark/internal/reports/spare"
	"github.com/floodmark/floodmark/internal/reports/tally"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/kernel/replay"
	"github.com/floodmark/floodmark/monitor"
)

// JournalFlags say which part of a journal a command reads.
type JournalFlags struct {
	cli.Place
	from, Session, since string
}

// AddJournal gives a command the flags that choose a part of a journal.
func AddJournal(c *cli.Console, cmd *cobra.Command, f *JournalFlags, since string) {
	cli.AddPlace(cmd, &f.Place)
	cmd.Flags().StringVar(&f.from, "from", "", "read this `FILE`, written by «floodmark journal export», instead of asking the monitor")
	cmd.Flags().StringVar(&f.Session, "session", "", "only this `SESSION`")
	cmd.Flags().StringVar(&f.since, "since", since, "only what was asked in this `TIME`, such as 7d or 12h; 0 means from the beginning")
	c.CompleteSession(cmd, &f.Place)
}

// Time returns the time from which to read; zero means from the beginning.
func (f JournalFlags) Time(now time.Time) (time.Time, error) {
	if f.since == "0" {
		return time.Time{}, nil
	}
	return sinceTime(f.since, now)
}

func newStats(c *cli.Console) *cobra.Command {
	var f JournalFlags
	var with string
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Count how often you were asked, and show what would spare questions",
		Long: `Count what the journal says of the last week: tasks, questions for each, calls that
came again, who resolved what needed an answer, how fast you answered, how often
faster than people read, and which tools an auditor refused. Then the five rules
behind most questions, each with the one trusted source, approval or policy line
that would have spared most of them, judged by the recorded sessions; nothing is changed.

With --policy it says what that policy would have cost in the same time, as
«floodmark policy replay» does.

A task is a turn in which something was decided. A question is a call put before
a person: while it is open, the same call is not counted again. No person reads more
than 50 letters a second; an answer that came faster, for the length of the line
shown, counts as not read.`,
		Example: `  floodmark journal stats
  floodmark journal stats --since 30d --output json
  floodmark journal stats --policy new.yaml`,
		Annotations: cli.Exits("the figures are shown", "no monitor runs"),
		Args:        cobra.NoArgs,
		RunE: cli.Guard(func(cmd *cobra.Command, _ []string) error {
			return stats(cmd.Context(), c, f, with, cli.Format(cmd))
		}),
	}
	AddJournal(c, cmd, &f, "7d")
	cmd.Flags().StringVar(&with, "policy", "", "also say what this policy `FILE` would have cost")
	return cmd
}

// A StatsReport is the answer for programs: fields are only added.
type StatsReport struct {
	tally.Figures
	Rules []ruleReport `json:"rules"`
	// Policy is what the compared policy would have cost.
	Policy *policyCost `json:"policy,omitempty"`
}

// A ruleReport is a rule with the line that would have spared its questions.
type ruleReport struct {
	Rule      string `json:"rule"`
	Questions int    `json:"questions"`
	Sessions  int    `json:"sessions"`
	// Line would have spared the questions. If there is no such line, Why gives the reason.
	Line *lineReport `json:"line,omitempty"`
	Why  string      `json:"why,omitempty"`
	// Ends says what would end the questions then.
	Ends string `json:"ends,omitempty"`
}

// A lineReport is one endorsement, grant or line.
type lineReport struct {
	Kind  string `json:"kind"`
	Text  string `json:"text"`
	Key   string `json:"key,omitempty"` // the section of the policy
	Saves int    `json:"saves"`
	// Behind names whose text it would trust, or whose text was in the context.
	Behind []string `json:"behind,omitempty"`
}

// A policyCost is what another policy would have cost.
type policyCost struct {
	File       string `json:"file"`
	Was        int    `json:"questionsWas"`
	Would      int    `json:"questionsWould"`
	Changed    int    `json:"changed"`
	CannotTell int    `json:"cannotTell"`
	Looser     int    `json:"looser"` // decisions that would have been looser than they were
}

// topRules is how many rules are listed.
const topRules = 5

func stats(ctx context.Context, c *cli.Console, f JournalFlags, with, form string) error {
	since, err := f.Time(c.Clock())
	if err != nil {
		return err
	}
	j, err := NewJudge(c, f.Place, since)
	if err != nil {
		return err
	}
	sessions, err := SessionsIn(ctx, c, f)
	if err != nil {
		return err
	}
	a, err := tally.Count(sessions, since, c.Clock())
	if err != nil {
		return cli.Refuse("check the journal with «floodmark journal verify»", "%s", err)
	}
	report := StatsReport{Figures: a.Figures(), Rules: []ruleReport{}}
	j.Sessions = sessions
	for _, behind := range a.Rules(topRules) {
		one, err := j.rule(behind)
		if err != nil {
			return err
		}
		report.Rules = append(report.Rules, one)
	}
	if with != "" {
		if report.Policy, err = j.cost(with); err != nil {
			return err
		}
	}
	if form == cli.AsJSON {
		return c.JSON(report)
	}
	return statsText(c, &report)
}

// SessionsIn reads whole sessions of a journal. Entries that are too old to be counted are
// included, because they still describe their session.
func SessionsIn(ctx context.Context, c *cli.Console, f JournalFlags) ([]tally.Session, error) {
	var list []tally.Session
	r := &replayer{session: f.Session, keep: func(s tally.Session) error {
		if s.Name != string(monitor.Incidents) && s.Name != string(monitor.Pauses) {
			list = append(list, s)
		}
		return nil
	}}
	var err error
	if f.from != "" {
		err = replayFile(c, r, f.from)
	} else {
		err = replayLive(ctx, c, r, replayFlags{Place: f.Place, session: f.Session})
	}
	return list, errors.Join(err, r.end())
}

// policyFile returns the owner's own policy: its path and text.
func policyFile(c *cli.Console, p cli.Place) ownPolicy {
	paths, err := c.Paths(p)
	if err != nil {
		return ownPolicy{}
	}
	own := ownPolicy{Path: paths.Policy, Name: filepath.Base(paths.Policy)}
	text, err := os.ReadFile(paths.Policy)
	own.There = err == nil
	own.unread = err != nil && !errors.Is(err, fs.ErrNotExist)
	own.Text = string(text)
	return own
}

// A Judge computes how many questions a line of policy would have spared.
type Judge struct {
	C        *cli.Console
	Sessions []tally.Session
	Since    time.Time
	shipped  *catalog.Catalog // shared by all rules, so that tools which no line describes compare as equal
	Rules    kernel.Rules
	Policy   ownPolicy
}

// NewJudge returns a judge that uses an installation's own rules, for questions since a time.
func NewJudge(c *cli.Console, p cli.Place, since time.Time) (*Judge, error) {
	shipped, err := c.ShippedCatalog()
	if err != nil {
		return nil, err
	}
	j := &Judge{C: c, Since: since, shipped: shipped, Policy: policyFile(c, p)}
	if j.Policy.unread {
		return nil, cli.Refuse("check who may read it", "the policy %s cannot be read", j.Policy.Path)
	}
	name := ""
	if j.Policy.There {
		name = j.Policy.Path
	}
	j.Rules, err = rulesIn(c, name, shipped)
	return j, err
}

// triedLines bounds the lines that are tried for a rule, because each takes a replay.
const triedLines = 4

// rule finds the line that would have spared the most questions of a rule.
func (j *Judge) rule(b tally.Behind) (ruleReport, error) {
	out := ruleReport{Rule: b.Rule, Questions: len(b.Questions)}
	names := map[string]bool{}
	for _, q := range b.Questions {
		names[q.Session] = true
	}
	out.Sessions = len(names)
	lines := tally.Lines(b.Questions, j.Rules.Policy)
	for _, l := range lines[:min(triedLines, len(lines))] {
		saves, err := j.saves(l)
		if err != nil {
			return out, err
		}
		if saves <= 0 || out.Line != nil && out.Line.Saves >= saves {
			continue
		}
		if l.Kind == tally.Endorsement {
			l.Text = "floodmark trust " + cli.ShellWord(l.Session) + " " + l.Digest.Short()
		}
		out.Line = &lineReport{Kind: l.Kind, Text: l.Text, Key: l.Key, Saves: saves, Behind: tally.Whose(l.About)}
	}
	if out.Line == nil {
		out.Why = "no single line spares them"
		if why := tally.Why(b.Questions[0], j.Rules.Policy.Findings()); why != "" {
			out.Why += ": " + why
		}
		q := b.Questions[len(b.Questions)-1]
		out.Ends = tally.Ending(q.Fact, q.Blamed, j.Rules.Policy.Findings())
	}
	return out, nil
}

// saves returns how many questions a line would have spared.
func (j *Judge) saves(l tally.Line) (int, error) {
	n, err := j.spare().Saves(l, j.Sessions)
	if err != nil {
		return 0, cli.Refuse("check the journal with «floodmark journal verify»", "%s", err)
	}
	return n, nil
}

// With loads the owner's policy with some lines added.
func (j *Judge) With(lines []tally.Line) (kernel.Rules, string, error) { return j.spare().With(lines) }

func (j *Judge) spare() *spare.Judge {
	return &spare.Judge{Name: j.Policy.Name, Text: j.Policy.Text, Shipped: j.shipped, Rules: j.Rules, Since: j.Since}
}

// cost returns what another policy would have cost.
func (j *Judge) cost(file string) (*policyCost, error) {
	rules, err := rulesIn(j.C, file, j.shipped)
	if err != nil {
		return nil, err
	}
	trial := replay.Retrial{Now: rules, Then: &j.Rules, Since: j.Since}
	out := &policyCost{File: file}
	for _, s := range j.Sessions {
		a, err := trial.Session(s.Facts, s.Erased)
		if err != nil {
			return nil, cli.Refuse("check the journal with «floodmark journal verify»", "judge %s again: %s", s.Name, err)
		}
		out.Was, out.Would = out.Was+a.Asked, out.Would+a.WouldAsk
		for _, d := range a.Decisions {
			switch d.Outcome {
			case replay.Changed:
				if out.Changed++; rejudge.Looser(d) {
					out.Looser++
				}
			case replay.Untold:
				out.CannotTell++
			case replay.Unchanged:
			}
		}
	}
	return out, nil
}

// An ownPolicy is the owner's policy file as it is on disk.
type ownPolicy struct {
	Path, Name, Text string
	There, unread    bool
}
