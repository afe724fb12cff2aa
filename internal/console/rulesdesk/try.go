package rulesdesk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/console/past"
	"github.com/floodmark/floodmark/internal/reports/rejudge"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/kernel/replay"
	"github.com/floodmark/floodmark/wire"
)

// The limits of a trial.
const (
	usualDays = 7
	maxDays   = 365
	// tryTime is how long a trial may take. A person waits for it.
	tryTime = 2 * time.Minute
	// keptDifferences bounds the differences in memory, some megabytes. Those that are told are
	// chosen among them.
	keptDifferences  = 10_000
	usualDifferences = 200
	maxDifferences   = 1_000
	// often is how often a trial says how far it is.
	often = 250 * time.Millisecond
)

// TryRules implements [httpapi.RulesPage].
func (d *Desk) TryRules(ctx context.Context, who httpapi.Identity, r *wire.TryRulesRequest, send func(*wire.TryRulesResponse) error) error {
	days, limit := int(r.GetDays()), int(r.GetLimit())
	if days == 0 {
		days = usualDays
	}
	if limit == 0 {
		limit = usualDifferences
	}
	if days < 0 || days > maxDays || limit < 0 || limit > maxDifferences {
		return fmt.Errorf("%w: want 1 to %d days, and a limit of 1 to %d", httpapi.ErrInvalid, maxDays, maxDifferences)
	}
	if err := bounded(r.GetText()); err != nil {
		return err
	}
	now, then, wrong, err := d.both(who, r.GetText())
	if err != nil {
		return err
	}
	if wrong.Failed() {
		return send(&wire.TryRulesResponse{Done: true, Problems: problems(wrong)})
	}
	t := &trial{
		desk: d, sum: rejudge.Sum{Keep: keptDifferences},
		by: replay.Retrial{Now: now, Then: then, Since: d.opts.Now().Add(-time.Duration(days) * 24 * time.Hour)},
	}
	if err := t.alone(ctx, who.Tenant, send); err != nil {
		return err
	}
	return send(&wire.TryRulesResponse{Done: true, Trial: t.result(limit)})
}

// alone runs a trial while no other one runs. The trial waits for no page: what one that reads slowly
// misses, the next figures tell.
func (t *trial) alone(ctx context.Context, tenant string, send func(*wire.TryRulesResponse) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	select {
	case t.desk.trying <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	t.far = make(chan *wire.RulesTrial, 1)
	var sending sync.WaitGroup
	var failed error
	sending.Go(func() {
		for far := range t.far {
			if failed == nil {
				failed = send(&wire.TryRulesResponse{Trial: far})
			}
			if failed != nil {
				cancel()
			}
		}
	})
	err := t.run(ctx, tenant)
	sending.Wait()
	return errors.Join(failed, err)
}

// both returns the rules of a text and the rules that sessions were recorded under, both made with
// the same catalog, as «floodmark policy replay» makes them.
func (d *Desk) both(who httpapi.Identity, text string) (now kernel.Rules, then *kernel.Rules, wrong floodmark.Problems, err error) {
	shipped, err := d.opts.Shipped()
	if err != nil {
		return now, nil, nil, err
	}
	var own []*catalog.File
	if d.opts.Own != nil {
		if file, err := d.opts.Own(); err == nil { // without it less can be told
			own = append(own, file)
		}
	}
	if now, wrong = rejudge.Rules(d.name(who), []byte(text), shipped, own...); wrong.Failed() {
		return now, nil, wrong, nil
	}
	held := d.opts.Rules(who.Tenant)
	if held.Bundle != "" || d.opts.Fleet != nil && d.opts.Fleet() != "" {
		return now, &held.Rules.Rules, nil, nil
	}
	was, err := config.ReadPolicy(d.opts.File)
	if err != nil {
		return now, nil, nil, err
	}
	old, broken := rejudge.Rules(d.opts.File, was, shipped, own...)
	if broken.Failed() { // what is on the disk is not in force
		old, broken = rejudge.Rules(d.opts.File, held.Text, shipped, own...)
	}
	if broken.Failed() {
		return now, nil, nil, fmt.Errorf("read the rules in force: %w", broken)
	}
	return now, &old, nil, nil
}

// A trial is one policy being tried.
type trial struct {
	desk        *Desk
	far         chan *wire.RulesTrial // how far it is
	by          replay.Retrial
	sum         rejudge.Sum
	began, told time.Time
	reached     time.Time
	unread      int64
	stopped     string
}

// run judges all sessions again, the last written first. At its end, which may be a panic, there is room
// for the next trial.
func (t *trial) run(ctx context.Context, tenant string) error {
	defer func() {
		<-t.desk.trying
		close(t.far)
	}()
	t.began = t.desk.opts.Now()
	t.told = t.began
	for s, err := range past.Since(ctx, t.desk.opts.Journal, tenant, t.by.Since, nil) {
		if err != nil {
			return err
		}
		if s.Wrong == nil {
			s.Wrong = t.sum.Session(t.by, s.Session, s.First)
		}
		if s.Wrong != nil {
			t.unread++
		}
		t.reached = s.Written
		now := t.desk.opts.Now()
		if now.Sub(t.began) > tryTime {
			t.stopped = fmt.Sprintf("it took longer than %s; try fewer days", tryTime)
			return nil
		}
		if now.Sub(t.told) < often {
			continue
		}
		t.told = now
		select {
		case t.far <- t.figures():
		default:
		}
	}
	return nil
}

// figures returns the numbers so far.
func (t *trial) figures() *wire.RulesTrial {
	s := &t.sum
	out := &wire.RulesTrial{
		Sessions: int64(s.Sessions), Decisions: int64(s.Decisions), Same: int64(s.Same), Changed: int64(s.Changed), CannotTell: int64(s.CannotTell),
		Tasks: int64(s.Tasks), QuestionsWas: int64(s.Questions.Was), QuestionsWould: int64(s.Questions.Would),
		Looser: int64(s.Looser), Stricter: int64(s.Stricter), Unread: t.unread, Stopped: t.stopped, Since: timestamppb.New(t.by.Since),
	}
	if !t.reached.IsZero() {
		out.Reached = timestamppb.New(t.reached)
	}
	return out
}

// result returns the numbers with some differences, those that let more through first.
func (t *trial) result(limit int) *wire.RulesTrial {
	slices.SortStableFunc(t.sum.Differences, func(a, b rejudge.Difference) int { return rank(a) - rank(b) })
	t.sum.Cut(limit)
	out := t.figures()
	out.More = int64(t.sum.More)
	for _, one := range t.sum.Differences {
		out.Differences = append(out.Differences, &wire.RulesDifference{
			Decision: past.Foreign(one.Decision), Session: past.Foreign(string(one.Session)), At: timestamppb.New(one.At), What: past.Foreign(one.What),
			Was: one.Was, Would: one.Would, Line: past.Foreign(one.Line), Rule: past.Foreign(one.Rule), Text: past.Foreign(one.Text), Looser: one.Looser, Why: past.Foreign(one.Why),
		})
	}
	return out
}

// rank orders differences: those that let more through, other changes, and what cannot be told.
func rank(d rejudge.Difference) int {
	switch {
	case d.Looser:
		return 0
	case d.Outcome == string(replay.Changed):
		return 1
	}
	return 2
}
