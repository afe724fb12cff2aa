package protection

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Options say how to replay. The zero value is a good choice.
type Options struct {
	// Workers is how many traces are replayed at once; 0 means one for each
	// processor. It does not change any count.
	Workers int
	// Progress is told how many traces are done, from one goroutine, now and then.
	Progress func(done, total int)
}

// batch is how many traces a worker takes at once: few enough that all
// workers end together, enough that taking them costs nothing.
const batch = 32

// An outcome is what one policy did in one trace.
type outcome struct {
	stopped   bool // an attack: some cut was asked about as a whole
	asked     int
	questions int // asked, with each yes covering what it was about
	times     []time.Duration
	why       []string // of each question in a benign run
}

// Replay plays every trace that belongs to a set through every decider and
// adds up the scores: for each set, one per decider in the given order.
func Replay(ctx context.Context, d *Data, deciders []Decider, opt Options) (*Result, error) {
	var traces []*Trace
	for i := range d.Traces {
		if _, ok := d.Traces[i].Set(); ok {
			traces = append(traces, &d.Traces[i])
		}
	}
	p := player{data: d, deciders: deciders, traces: traces, outcomes: make([][]outcome, len(traces))}
	if err := p.playAll(ctx, opt); err != nil {
		return nil, err
	}
	return p.result(), nil
}

type player struct {
	data     *Data
	deciders []Decider
	traces   []*Trace
	outcomes [][]outcome // by trace, then decider
	next     atomic.Int64
}

// playAll returns when every worker has ended.
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

func (p *player) play(i int) error {
	t := p.traces[i]
	p.outcomes[i] = make([]outcome, len(p.deciders))
	for j, d := range p.deciders {
		o, err := play(p.data.Cards, t, d)
		if err != nil {
			return fmt.Errorf("replay %s under %s: %w", t.ID, d.Name(), err)
		}
		p.outcomes[i][j] = o
	}
	return nil
}

// play replays one trace. All calls of a step are judged before any result of
// that step is fed, because the model had seen none of them. A person asked
// about a call denies it in an attack and approves it in a benign run.
func play(cards Cards, t *Trace, d Decider) (outcome, error) {
	run, err := d.Begin(t)
	if err != nil {
		return outcome{}, err
	}
	var o outcome
	var asked []bool // by the call's index
	for i := range t.Steps {
		s := &t.Steps[i]
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
	if t.Kind == Attack {
		o.stopped = stops(t.Cuts, asked)
	} else if o.asked > 0 {
		o.questions = questions(cards, t, asked)
	}
	return o, nil
}

// ask notes a question.
func (o *outcome) ask(run Run, t *Trace, c *Call) {
	o.asked++
	if e, ok := run.(Explainer); ok && t.Kind == Benign && t.Utility {
		o.why = append(o.why, t.Suite+"/"+c.Tool+": "+e.Why())
	}
}

// stops reports whether some cut was asked about as a whole.
func stops(cuts [][]int, asked []bool) bool {
	for _, cut := range cuts {
		all := true
		for _, i := range cut {
			all = all && asked[i]
		}
		if all {
			return true
		}
	}
	return false
}
