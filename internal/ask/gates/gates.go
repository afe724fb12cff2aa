// Package gates asks gates, which are outside of the monitor, about a call. The answer of a gate
// that comes too late for the agent can be used once, when the agent tries the same call again.
package gates

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/verify"
)

// The limits on what is asked and remembered.
const (
	maxFlights    = 1024 // requests whose caller could not wait for the answer
	maxGateAtOnce = 8    // requests to one gate by one session: an agent has a few calls at once
)

// Options are what gates are asked with. All of them are required, unless there are no Verifiers.
type Options struct {
	// Verifiers are the gates that can be reached. If the rules name another gate, it fails.
	Verifiers []verify.Verifier
	Now       func() time.Time
	// Life ends all requests when it ends.
	Life context.Context
	// Join registers a request, or returns an error if the monitor is closed. Done ends the request.
	Join func() (done func(), err error)
}

// Gates asks gates. It is safe for concurrent use.
type Gates struct {
	opts    Options
	flights *flights
}

// New returns Gates that have asked nothing yet.
func New(o Options) *Gates { return &Gates{opts: o, flights: newFlights()} }

// Ask asks all gates at once and returns their answers in order. It leaves time to record them
// before ctx ends, so that the agent's hook still gets an answer.
func (g *Gates) Ask(ctx context.Context, s journal.Session, all []verify.Gate, r verify.Request) []kernel.GateAnswer {
	began := g.opts.Now()
	wait := ctx
	if until, ok := ctx.Deadline(); ok {
		left := time.Until(until)
		var cancel context.CancelFunc
		wait, cancel = context.WithTimeout(ctx, left-min(left/4, timeToWrite))
		defer cancel()
	}
	list := make([]*flight, len(all))
	for i, gate := range all {
		list[i] = g.fly(s, gate, r)
	}
	answers := make([]kernel.GateAnswer, len(list))
	for i, f := range list {
		select {
		case <-f.done:
			answers[i] = f.answer
		case <-wait.Done():
			answers[i] = kernel.GateAnswer{Gate: f.key.gate, Request: f.request.ID, Failure: &verify.Failure{
				Kind: verify.Deadline,
				Text: fmt.Sprintf("it had not answered after %s, when the agent had to be told; its answer will count for the same call if it is tried again", short(g.opts.Now().Sub(began))),
			}}
			g.flights.leave(f, g.opts.Now())
		}
	}
	return answers
}

// timeToWrite is the part of an agent's time that is kept for recording the answers.
const timeToWrite = time.Second

// short returns a duration as people write it.
func short(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}

// A flight is one request to a gate. It continues after its caller ran out of time; its answer can
// then be used once, by a retry of the same call.
type flight struct {
	key     flightKey
	request verify.Request
	done    chan struct{} // closed when answer is there
	answer  kernel.GateAnswer
	stop    context.CancelFunc
	left    time.Time // when the last waiter left
}

// A flightKey identifies the calls that an answer of a gate is valid for: calls of one session with
// the same tool and exactly the same arguments.
type flightKey struct {
	session journal.Session
	gate    string
	tool    string
	args    floodmark.Digest
}

// fly asks a gate, or joins an abandoned request about the same call.
func (g *Gates) fly(s journal.Session, gate verify.Gate, r verify.Request) *flight {
	key := flightKey{session: s, gate: gate.Name, tool: r.Tool, args: r.Digest}
	if f := g.flights.take(key, r, g.opts.Now()); f != nil {
		return f
	}
	f := &flight{key: key, request: r, done: make(chan struct{}), answer: kernel.GateAnswer{Gate: gate.Name, Request: r.ID}}
	at := slices.IndexFunc(g.opts.Verifiers, func(v verify.Verifier) bool { return v.Name() == gate.Name })
	if at < 0 {
		f.answer.Request = ""
		f.fail(&verify.Failure{Kind: verify.Unconfigured, Text: "service.yaml does not say how to reach it, or has it switched off"})
		return f
	}
	if !g.flights.begin(key) {
		f.answer.Request = ""
		f.fail(&verify.Failure{Kind: verify.Crowded, Text: fmt.Sprintf("%d calls of this session wait for it already", maxGateAtOnce)})
		return f
	}
	done, err := g.opts.Join()
	if err != nil {
		g.flights.end(key)
		f.fail(stopped())
		return f
	}
	if gate.Timeout <= 0 {
		gate.Timeout = kernel.GateTime
	}
	ctx, stop := context.WithTimeout(g.opts.Life, gate.Timeout)
	f.stop = stop
	go func() {
		defer done()
		defer g.flights.end(key)
		defer stop()
		f.ask(ctx, g.opts.Life, g.opts.Verifiers[at], gate.Timeout)
	}()
	return f
}

// ask waits for the answer, and drops an answer that comes after ctx ended.
func (f *flight) ask(ctx, life context.Context, v verify.Verifier, limit time.Duration) {
	defer func() {
		if recover() != nil {
			f.fail(&verify.Failure{Kind: verify.Broken, Text: "asking it went wrong inside the monitor"})
		}
	}()
	answer, err := v.Verify(ctx, f.request)
	switch {
	case life.Err() != nil:
		f.fail(stopped())
	case err != nil && ctx.Err() == nil:
		f.fail(verify.AsFailure(err))
	case ctx.Err() != nil:
		f.fail(&verify.Failure{Kind: verify.TimedOut, Text: "it did not answer within " + short(limit)})
	default:
		f.answer.Answer = answer
		close(f.done)
	}
}

// stopped returns a failure that failMode cannot excuse, because otherwise any call would pass while
// the monitor stops.
func stopped() *verify.Failure {
	return &verify.Failure{Kind: verify.Stopped, Text: "the monitor is being stopped"}
}

func (f *flight) fail(why *verify.Failure) {
	f.answer.Answer, f.answer.Failure = verify.Answer{}, why
	close(f.done)
}

// flights are the abandoned requests, and the number of requests under way per session and gate.
type flights struct {
	mu   sync.Mutex // guards the maps
	open map[flightKey]*flight
	busy map[flightKey]int // by session and gate
}

func newFlights() *flights {
	return &flights{open: map[flightKey]*flight{}, busy: map[flightKey]int{}}
}

// begin reserves room for one more request to a gate, and reports whether there was any. The limit
// is per session, so that one session cannot block a gate by flooding it.
func (fs *flights) begin(key flightKey) bool {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	of := flightKey{session: key.session, gate: key.gate}
	if fs.busy[of] >= maxGateAtOnce {
		return false
	}
	fs.busy[of]++
	return true
}

// end frees the room that begin reserved.
func (fs *flights) end(key flightKey) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	of := flightKey{session: key.session, gate: key.gate}
	if fs.busy[of]--; fs.busy[of] == 0 {
		delete(fs.busy, of)
	}
}

// lateFor is how long a late answer may be used by a retry of the refused call.
const lateFor = 10 * time.Minute

// take removes and returns the abandoned request about exactly the same call; nil if there is none.
func (fs *flights) take(key flightKey, r verify.Request, now time.Time) *flight {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f := fs.open[key]
	if f == nil {
		return nil
	}
	delete(fs.open, key)
	if !f.request.Same(r) || now.Sub(f.left) > lateFor {
		f.stop()
		return nil
	}
	return f
}

// leave keeps an abandoned request for a retry, one per key and at most maxFlights in all. It
// cancels any further request.
func (fs *flights) leave(f *flight, now time.Time) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.left = now
	if len(fs.open) >= maxFlights {
		for key, old := range fs.open {
			if now.Sub(old.left) > lateFor {
				old.stop()
				delete(fs.open, key)
			}
		}
	}
	if _, taken := fs.open[f.key]; taken || len(fs.open) >= maxFlights {
		f.stop()
		return
	}
	fs.open[f.key] = f
}
