package did

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/console/past"
	"github.com/floodmark/floodmark/internal/reports/rejudge"
	"github.com/floodmark/floodmark/internal/reports/spare"
	"github.com/floodmark/floodmark/internal/reports/tally"
	"github.com/floodmark/floodmark/internal/text/meaning"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/wire"
)

// The limits of looking for lines, each of which takes judging sessions again.
const (
	shownCosts   = 5
	triedLines   = 3
	judgedAgain  = 30 // sessions for each line
	lineTime     = 10 * time.Second
	tooLongToSay = "there was no time to look for a line"
	notOffered   = "no line is offered: something that this source was behind was stopped or contained, so read it first"
	notAllRead   = "no line is offered: not all sessions could be read, and in one of them its source may have been stopped"
)

// A bill says what cost questions, and what would spare them.
type bill struct {
	desk   *Desk
	tenant string
	fold   *fold
	until  time.Time // when no more lines are tried
	judge  *spare.Judge
	trials map[string]*spare.Trial // by line: each loads rules once
}

// An item is one thing that cost questions.
type item struct {
	name      string
	questions []*tally.Question
	sessions  []string // of the questions, each once
	lines     []tally.Line
	saved     []int // by line
	withheld  bool  // there are lines that are not offered
}

// fill fills in the costs of an answer.
func (b *bill) fill(ctx context.Context, out *wire.DidResponse) (err error) {
	if len(b.fold.questions) == 0 {
		return nil
	}
	if b.judge, err = b.rules(); err != nil {
		return err
	}
	sources := b.items(behind)
	tools := b.items(b.toolNames())
	projects := b.items(func(q *tally.Question) []string { return []string{q.Project} })
	if err := b.weigh(ctx, slices.Concat(sources, tools, projects)); err != nil {
		return err
	}
	out.Sources, out.Tools, out.Projects = b.costs(sources), b.costs(tools), b.costs(projects)
	return nil
}

// rules returns the judge of lines beside the policy in force. All its rules have the same catalog,
// as those of «floodmark journal stats».
func (b *bill) rules() (*spare.Judge, error) {
	shipped, err := b.desk.opts.Shipped()
	if err != nil {
		return nil, err
	}
	held := b.desk.opts.Rules(b.tenant)
	rules, problems := rejudge.Rules(b.desk.opts.File, held.Text, shipped)
	if problems.Failed() || held.Bundle != "" {
		rules = held.Rules.Rules
	}
	return &spare.Judge{Name: b.desk.opts.File, Text: string(held.Text), Shipped: shipped, Rules: rules, Since: b.fold.since}, nil
}

// toolNames returns what names the tool of a question. Two names that differ only in their case are
// tools of two agents, so the agent is named, too.
func (b *bill) toolNames() func(*tally.Question) []string {
	spelled := map[string]map[string]bool{}
	for _, q := range b.fold.questions {
		name := q.Fact.Action.Tool.String()
		if low := strings.ToLower(name); spelled[low] == nil {
			spelled[low] = map[string]bool{name: true}
		} else {
			spelled[low][name] = true
		}
	}
	return func(q *tally.Question) []string {
		tool := q.Fact.Action.Tool
		name := tool.String()
		if len(spelled[strings.ToLower(name)]) > 1 && tool.Agent != "" {
			return []string{name + " of " + tool.Agent}
		}
		return []string{name}
	}
}

// behind names the sources that were blamed for a question.
func behind(q *tally.Question) (names []string) {
	for _, s := range q.Blamed {
		if name := meaning.Source(s, s.Label.Trust); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// items returns what cost most questions, by the names that of returns for each.
func (b *bill) items(of func(*tally.Question) []string) []*item {
	by := map[string]*item{}
	var all []*item
	for _, q := range b.fold.questions {
		for _, name := range of(q) {
			if name == "" {
				continue
			}
			one := by[name]
			if one == nil {
				one = &item{name: name}
				by[name], all = one, append(all, one)
			}
			one.questions = append(one.questions, q)
		}
	}
	slices.SortStableFunc(all, func(x, y *item) int {
		return cmp.Or(cmp.Compare(len(y.questions), len(x.questions)), cmp.Compare(x.name, y.name))
	})
	all = all[:min(shownCosts, len(all))]
	for _, one := range all {
		b.offer(one)
	}
	return all
}

// offer finds the lines that could spare the questions of an item.
func (b *bill) offer(one *item) {
	seen := map[string]bool{}
	for _, q := range one.questions {
		if !seen[q.Session] {
			seen[q.Session] = true
			one.sessions = append(one.sessions, q.Session)
		}
	}
	lines := tally.Lines(one.questions, b.judge.Rules.Policy)
	one.lines = slices.DeleteFunc(slices.Clone(lines), b.trustsCaught)
	one.withheld = len(one.lines) < len(lines)
	one.lines = one.lines[:min(triedLines, len(one.lines))]
	one.saved = make([]int, len(one.lines))
	for i, l := range one.lines {
		if l.Kind == tally.Grant {
			one.saved[i] = l.Saves
		}
	}
}

// trustsCaught reports whether a line trusts a source that is behind a call which was stopped or
// contained in the same span. Such a source may be an attack, so the line is not offered. Where not
// everything was read, any source may be one.
func (b *bill) trustsCaught(l tally.Line) bool {
	if l.Kind == tally.Grant {
		return false
	}
	out := b.fold.out
	return out.GetStoppedEarly() != "" || out.GetUnread() > 0 || len(b.fold.caught) >= maxCaught || slices.ContainsFunc(b.fold.caught, l.Trusts)
}

func (b *bill) over() bool { return b.desk.opts.Now().After(b.until) }

// weigh finds how many questions each line would have spared. Each session is read once, and judged once
// by each line.
func (b *bill) weigh(ctx context.Context, all []*item) error {
	var order []string
	by := map[string][]*item{}
	for _, one := range all {
		if len(one.lines) == 0 {
			continue
		}
		for _, name := range one.sessions[:min(judgedAgain, len(one.sessions))] {
			if by[name] == nil {
				order = append(order, name)
			}
			by[name] = append(by[name], one)
		}
	}
	for _, name := range order {
		if b.over() {
			return nil
		}
		s, err := past.Read(ctx, b.desk.opts.Journal, journal.Session{Tenant: b.tenant, ID: floodmark.SessionID(name)})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			continue // it has grown too long or was erased since
		}
		if err := b.judgeAgain(s, by[name]); err != nil {
			return err
		}
	}
	return nil
}

// judgeAgain judges a session by the lines of some items.
func (b *bill) judgeAgain(s past.Session, items []*item) error {
	saves := map[string]int{}
	for _, one := range items {
		for i, l := range one.lines {
			if l.Kind == tally.Grant {
				continue
			}
			name := nameOf(l)
			n, known := saves[name]
			if !known {
				var err error
				if n, err = b.trial(name, l).Saves(s.Session); err != nil {
					return err
				}
				saves[name] = n
			}
			one.saved[i] += n
		}
	}
	return nil
}

// nameOf identifies a line.
func nameOf(l tally.Line) string {
	return strings.Join([]string{l.Kind, l.Key, l.Text, l.Session, l.Digest.String()}, "\x00")
}

func (b *bill) trial(name string, l tally.Line) *spare.Trial {
	if b.trials[name] == nil {
		b.trials[name] = b.judge.Trial(l)
	}
	return b.trials[name]
}

// costs puts items on the wire, each with the line that would have spared most of its questions.
func (b *bill) costs(items []*item) (list []*wire.DidCost) {
	for _, one := range items {
		out := &wire.DidCost{Name: past.Foreign(one.name), Questions: int64(len(one.questions)), Sessions: int64(len(one.sessions))}
		for i, l := range one.lines {
			if n := int64(one.saved[i]); n > out.GetSaves() {
				out.Line, out.Key, out.Kind, out.Saves = past.Foreign(said(l)), l.Key, l.Kind, n
			}
		}
		if out.GetLine() == "" {
			out.Why = b.why(one)
		}
		list = append(list, out)
	}
	return list
}

// why says why there is no line for an item.
func (b *bill) why(one *item) string {
	switch {
	case b.over() && len(one.lines) > 0:
		return tooLongToSay
	case one.withheld && (b.fold.out.GetStoppedEarly() != "" || b.fold.out.GetUnread() > 0):
		return notAllRead
	case one.withheld:
		return notOffered
	}
	findings := b.judge.Rules.Policy.Findings()
	q, why := one.questions[0], "no single line spares them" // a question of the newest session
	if because := tally.Why(q, findings); because != "" {
		why += ": " + because
	}
	return past.Foreign(why + ". " + tally.Ending(q.Fact, q.Blamed, findings))
}

// plainWord says which names can stand in a command line as they are. Agents choose the names of their
// sessions, and one must not be an option.
var plainWord = regexp.MustCompile(`^[\w.:@+][\w./:@+-]*$`)

// said returns a line as the owner types or writes it.
func said(l tally.Line) string {
	if l.Kind == tally.Endorsement && plainWord.MatchString(l.Session) {
		return "floodmark trust " + l.Session + " " + l.Digest.Short()
	}
	return l.Text
}
