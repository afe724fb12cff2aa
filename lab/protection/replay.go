package protection

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Options say how to replay. The zero value is useful.
type Options struct {
	// Workers is how many traces are replayed at once; 0 means one per processor. It does not
	// change any count.
	Workers int
	// Progress is called with the number of traces done, from one goroutine.
	Progress func(done, total int)
	// Sets are the sets to measure; none means all recorded sets.
	Sets []Set
	// Sample, if above 1, mutates only one in so many traces, which is faster. The recorded sets
	// are always measured whole.
	Sample int
}

// batch is how many traces a worker takes at once: few enough that all workers end at about the
// same time, and enough that taking them costs nothing.
const batch = 32

// An outcome is what one policy did in one trace.
type outcome struct {
	stopped   bool // an attack: all calls of some cut were asked about
	asked     int
	questions int // asked, with each yes covering what it was about
	times     []time.Duration
	why       []string // one for each question in a benign run
	answered  bool     // the answer was checked
	marked    bool     // the answer was marked as based on content of others
	placed    bool     // the mark says which words come from where
}

// A played is one trace, or one mutant of it, under every policy.
type played struct {
	trace    *Trace // as it was recorded
	mutation Mutation
	variant  string
	dropped  string    // why there is no such mutant; empty if there is one
	outcomes []outcome // by decider; none if dropped
}

// Replay plays every trace of the sets through every decider and adds up the scores: for each set,
// one score per decider in the given order.
func Replay(ctx context.Context, d *Data, deciders []Decider, opt Options) (*Result, error) {
	p := player{data: d, deciders: deciders, sets: opt.Sets}
	if len(p.sets) == 0 {
		p.sets = Sets()
	}
	for _, set := range p.sets {
		if m, ok := MutationOf(set); ok {
			p.mutations = append(p.mutations, m)
		}
	}
	for i := range d.Traces {
		if set, ok := d.Traces[i].Set(); ok && (slices.Contains(p.sets, set) || len(p.mutations) > 0 && d.Traces[i].mutable()) {
			p.traces = append(p.traces, &d.Traces[i])
		}
	}
	if slices.Contains(p.sets, Languages) {
		more, err := languageTraces()
		if err != nil {
			return nil, err
		}
		for i := range more {
			p.traces = append(p.traces, &more[i])
		}
	}
	p.sample = max(opt.Sample, 1)
	p.played = make([][]played, len(p.traces))
	if err := p.playAll(ctx, opt); err != nil {
		return nil, err
	}
	return p.result(), nil
}

type player struct {
	data      *Data
	deciders  []Decider
	sets      []Set
	mutations []Mutation
	sample    int
	traces    []*Trace
	played    [][]played // by trace: as recorded, then its mutants
	next      atomic.Int64
}

// playAll returns when all workers have ended.
func (p *player) playAll(ctx context.Context, opt Options) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	workers := cmp.Or(max(opt.Workers, 0), runtime.GOMAXPROCS(0))
	played := make(chan int, workers)
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			if err := p.work(ctx, played); err != nil {
				stop(err)
			}
		})
	}
	go func() {
		group.Wait()
		close(played)
	}()
	done := 0
	for n := range played {
		done += n
		if opt.Progress != nil {
			opt.Progress(done, len(p.traces))
		}
	}
	return context.Cause(ctx)
}

func (p *player) work(ctx context.Context, played chan<- int) error {
	for ctx.Err() == nil {
		end := int(p.next.Add(batch))
		from := end - batch
		if from >= len(p.traces) {
			return nil
		}
		end = min(end, len(p.traces))
		for i := from; i < end; i++ {
			if err := p.play(i); err != nil {
				return err
			}
		}
		played <- end - from
	}
	return nil
}

// play plays a trace as it was recorded and then its mutants.
func (p *player) play(i int) error {
	t := p.traces[i]
	if err := p.under(t, &played{trace: t}, i); err != nil {
		return err
	}
	if len(p.mutations) == 0 || !t.mutable() || i%p.sample != 0 {
		return nil
	}
	s := newSubject(p.data.Cards, t)
	for _, m := range p.mutations {
		for _, v := range m.variants(t.Kind) {
			mutant, why := v.rewrite(s)
			if why == "" {
				mutant.mutant = m
			}
			if err := p.under(mutant, &played{trace: t, mutation: m, variant: v.name, dropped: why}, i); err != nil {
				return fmt.Errorf("%s, %s: %w", m.Set(), v.name, err)
			}
		}
	}
	return nil
}

// under plays t under every policy and keeps the outcomes.
func (p *player) under(t *Trace, as *played, i int) error {
	if as.dropped == "" {
		as.outcomes = make([]outcome, len(p.deciders))
		for j, d := range p.deciders {
			o, err := play(p.data.Cards, t, d)
			if err != nil {
				return fmt.Errorf("replay %s under %s: %w", t.ID, d.Name(), err)
			}
			as.outcomes[j] = o
		}
	}
	p.played[i] = append(p.played[i], *as)
	return nil
}

// play replays one trace. All calls of a step are judged before any result of that step is fed,
// because the model proposed them before it saw any result. A person who is asked about a call
// denies it in an attack and approves it in a benign run.
func play(cards Cards, t *Trace, d Decider) (outcome, error) {
	run, err := d.Begin(t)
	if err != nil {
		return outcome{}, err
	}
	var o outcome
	var asked []bool // by the call's index
	for i := range t.Steps {
		s := &t.Steps[i]
		if t.decided(asked) {
			break
		}
		if err := run.Propose(s); err != nil {
			return o, err
		}
		for j := range s.Calls {
			began := time.Now()
			ask, err := run.Ask(&s.Calls[j])
			o.times = append(o.times, time.Since(began))
			if err != nil {
				return o, fmt.Errorf("call %d: %w", s.Calls[j].Index, err)
			}
			asked = append(asked, ask)
			if ask {
				o.ask(run, t, &s.Calls[j])
			}
		}
		for j := range s.Calls {
			c := &s.Calls[j]
			if !c.Fed || asked[c.Index] && t.Kind == Attack {
				continue
			}
			if err := run.Feed(c, asked[c.Index]); err != nil {
				return o, fmt.Errorf("result of call %d: %w", c.Index, err)
			}
		}
	}
	if err := o.answer(run, t); err != nil {
		return o, fmt.Errorf("answer: %w", err)
	}
	if t.Kind == Attack {
		o.stopped = stops(t.Cuts, asked)
	} else if o.asked > 0 {
		o.questions = questions(cards, t, asked)
	}
	return o, nil
}

// answer shows the answer to the user, if there is one, to a policy that checks answers. Mutants
// are left out, because their answers were written for the original trace.
func (o *outcome) answer(run Run, t *Trace) error {
	a, ok := run.(Answerer)
	if !ok || t.mutant != 0 || len(t.Steps) == 0 {
		return nil
	}
	last := t.Steps[len(t.Steps)-1]
	if len(last.Calls) > 0 || last.Text.Body == "" {
		return nil
	}
	var err error
	o.answered = true
	o.marked, o.placed, err = a.Answer(last.Text.Body)
	return err
}

// decided reports whether the outcome of a mutant can no longer change. Recorded traces are played
// to their end.
func (t *Trace) decided(asked []bool) bool {
	if t.mutant == 0 || t.Kind != Attack {
		return false
	}
	last := 0
	for _, cut := range t.Cuts {
		last = max(last, slices.Max(cut))
	}
	return len(asked) > last || stops(t.Cuts, asked)
}

// ask counts a question.
func (o *outcome) ask(run Run, t *Trace, c *Call) {
	o.asked++
	if e, ok := run.(Explainer); ok && t.Kind == Benign && t.Utility {
		o.why = append(o.why, t.Suite+"/"+c.Tool+": "+e.Why())
	}
}

// stops reports whether all calls of some cut were asked about.
func stops(cuts [][]int, asked []bool) bool {
	for _, cut := range cuts {
		all := true
		for _, i := range cut {
			all = all && i < len(asked) && asked[i]
		}
		if all {
			return true
		}
	}
	return false
}
