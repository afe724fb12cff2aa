package monitor

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/verify"
)

// verify asks the gates about a call while other events may write to the session, then judges the
// call again with their answers. That the call waits for gates is durable before a gate is asked.
func (m *Monitor) verify(ctx context.Context, s journal.Session, ev hook.Event, asking kernel.Asking, h kernel.Hearing) (written, error) {
	h.Asked, h.Answers = asking, m.gather(ctx, s, asking)
	return m.write(ctx, job{session: s, event: ev, judge: func(st *kernel.State, r kernel.Rules, in kernel.Input) (kernel.Output, error) {
		return kernel.Verify(st, r, in, h)
	}})
}

// gather asks all gates at once and returns their answers in order. It leaves time to record them
// before ctx ends, so that the agent's hook still gets an answer.
func (m *Monitor) gather(ctx context.Context, s journal.Session, asking kernel.Asking) []kernel.GateAnswer {
	began := m.cfg.Now()
	wait := ctx
	if until, ok := ctx.Deadline(); ok {
		left := time.Until(until)
		var cancel context.CancelFunc
		wait, cancel = context.WithTimeout(ctx, left-min(left/4, timeToWrite))
		defer cancel()
	}
	if m.cfg.NewRequest != nil {
		asking.Request.ID = m.cfg.NewRequest()
	}
	list := make([]*flight, len(asking.Gates))
	for i, g := range asking.Gates {
		list[i] = m.fly(s, g, asking.Request)
	}
	answers := make([]kernel.GateAnswer, len(list))
	for i, f := range list {
		select {
		case <-f.done:
			answers[i] = f.answer
		case <-wait.Done():
			answers[i] = kernel.GateAnswer{Gate: f.key.gate, Request: f.request.ID, Failure: &verify.Failure{
				Kind: verify.Deadline,
				Text: fmt.Sprintf("it had not answered after %s, when the agent had to be told; its answer will count for the same call if it is tried again", short(m.cfg.Now().Sub(began))),
			}}
			m.flights.leave(f, m.cfg.Now())
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
func (m *Monitor) fly(s journal.Session, g verify.Gate, r verify.Request) *flight {
	key := flightKey{session: s, gate: g.Name, tool: r.Tool, args: r.Digest}
	if f := m.flights.take(key, r, m.cfg.Now()); f != nil {
		return f
	}
	f := &flight{key: key, request: r, done: make(chan struct{}), answer: kernel.GateAnswer{Gate: g.Name, Request: r.ID}}
	at := slices.IndexFunc(m.cfg.Verifiers, func(v verify.Verifier) bool { return v.Name() == g.Name })
	if at < 0 {
		f.answer.Request = ""
		f.fail(&verify.Failure{Kind: verify.Unconfigured, Text: "service.yaml does not say how to reach it, or has it switched off"})
		return f
	}
	if !m.flights.begin(key) {
		f.answer.Request = ""
		f.fail(&verify.Failure{Kind: verify.Crowded, Text: fmt.Sprintf("%d calls of this session wait for it already", maxGateAtOnce)})
		return f
	}
	if err := m.join(); err != nil {
		m.flights.end(key)
		f.fail(stopped())
		return f
	}
	if g.Timeout <= 0 {
		g.Timeout = kernel.GateTime
	}
	ctx, stop := context.WithTimeout(m.life, g.Timeout)
	f.stop = stop
	go func() {
		defer m.work.Done()
		defer m.flights.end(key)
		defer stop()
		f.ask(ctx, m.life, m.cfg.Verifiers[at], g.Timeout)
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
