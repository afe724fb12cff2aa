package did

import (
	"cmp"
	"context"
	"regexp"
	"slices"
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
)

// A bill says what cost questions, and what would spare them.
type bill struct {
	desk   *Desk
	tenant string
	fold   *fold
	until  time.Time // when no more lines are tried
	judge  *spare.Judge
}

// fill fills in the costs of an answer.
func (b *bill) fill(ctx context.Context, out *wire.DidResponse) (err error) {
	if len(b.fold.questions) == 0 {
		return nil
	}
	if b.judge, err = b.rules(); err != nil {
		return err
	}
	if out.Sources, err = b.costs(ctx, behind); err != nil {
		return err
	}
	if out.Tools, err = b.costs(ctx, func(q *tally.Question) []string { return []string{q.Fact.Action.Tool.String()} }); err != nil {
		return err
	}
	out.Projects, err = b.costs(ctx, func(q *tally.Question) []string { return []string{q.Project} })
	return err
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

// behind names the sources that were blamed for a question.
func behind(q *tally.Question) (names []string) {
	for _, s := range q.Blamed {
		if name := meaning.Source(s, s.Label.Trust); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// costs returns what cost most questions, by the names that of returns for each.
func (b *bill) costs(ctx context.Context, of func(*tally.Question) []string) ([]*wire.DidCost, error) {
	by := map[string][]*tally.Question{}
	var names []string
	for _, q := range b.fold.questions {
		for _, name := range of(q) {
			if name == "" {
				continue
			}
			if by[name] == nil {
				names = append(names, name)
			}
			by[name] = append(by[name], q)
		}
	}
	slices.SortStableFunc(names, func(x, y string) int { return cmp.Or(cmp.Compare(len(by[y]), len(by[x])), cmp.Compare(x, y)) })
	var list []*wire.DidCost
	for _, name := range names[:min(shownCosts, len(names))] {
		one, err := b.cost(ctx, by[name])
		if err != nil {
			return nil, err
		}
		one.Name = foreign(name)
		list = append(list, one)
	}
	return list, nil
}

// cost finds the line that would have spared most of some questions.
func (b *bill) cost(ctx context.Context, list []*tally.Question) (*wire.DidCost, error) {
	var sessions []string
	for _, q := range list {
		if !slices.Contains(sessions, q.Session) {
			sessions = append(sessions, q.Session)
		}
	}
	out := &wire.DidCost{Questions: int64(len(list)), Sessions: int64(len(sessions))}
	all := tally.Lines(list, b.judge.Rules.Policy)
	lines := slices.DeleteFunc(slices.Clone(all), b.trustsCaught)
	withheld := len(lines) < len(all)
	lines = lines[:min(triedLines, len(lines))]
	saves, err := b.saves(ctx, lines, sessions)
	if err != nil {
		return nil, err
	}
	for i, l := range lines {
		if n := int64(saves[i]); n > out.GetSaves() {
			out.Line, out.Key, out.Kind, out.Saves = foreign(said(l)), l.Key, l.Kind, n
		}
	}
	if out.GetLine() != "" {
		return out, nil
	}
	if b.over() && len(lines) > 0 {
		out.Why = tooLongToSay
		return out, nil
	}
	if withheld {
		out.Why = notOffered
		return out, nil
	}
	q := list[0] // the newest session's
	out.Why = "no single line spares them"
	if why := tally.Why(q, b.judge.Rules.Policy.Findings()); why != "" {
		out.Why += ": " + why
	}
	out.Why = foreign(out.GetWhy() + ". " + tally.Ending(q.Fact, q.Blamed, b.judge.Rules.Policy.Findings()))
	return out, nil
}

// trustsCaught reports whether a line trusts a source that is behind a call which was stopped or
// contained in the same span. Such a source may be an attack, so the line is not offered.
func (b *bill) trustsCaught(l tally.Line) bool {
	return slices.ContainsFunc(b.fold.caught, l.Trusts)
}

func (b *bill) over() bool { return b.desk.opts.Now().After(b.until) }

// saves returns how many questions each line would have spared in some sessions, which are read
// again one by one.
func (b *bill) saves(ctx context.Context, lines []tally.Line, sessions []string) ([]int, error) {
	saved := make([]int, len(lines))
	for i, l := range lines {
		if l.Kind == tally.Grant {
			saved[i] = l.Saves
		}
	}
	for _, name := range sessions[:min(judgedAgain, len(sessions))] {
		if b.over() {
			break
		}
		s, err := past.Read(ctx, b.desk.opts.Journal, journal.Session{Tenant: b.tenant, ID: floodmark.SessionID(name)})
		if err != nil {
			return nil, err
		}
		for i, l := range lines {
			if l.Kind == tally.Grant {
				continue
			}
			n, err := b.judge.Saves(l, []tally.Session{s.Session})
			if err != nil {
				return nil, err
			}
			saved[i] += n
		}
	}
	return saved, nil
}

// plainWord says which names can stand in a command line as they are.
var plainWord = regexp.MustCompile(`^[\w.:@+-][\w./:@+-]*$`)

// said returns a line as the owner types or writes it.
func said(l tally.Line) string {
	if l.Kind == tally.Endorsement && plainWord.MatchString(l.Session) {
		return "floodmark trust " + l.Session + " " + l.Digest.Short()
	}
	return l.Text
}
