package hookframe_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/floodmark/floodmark/internal/agents/hookframe"
)

// asked asks a handler over a pipe. It returns the result, and a function that waits for the
// handler.
func asked(t *testing.T, personMS int64, h hookframe.Handler) (resp hookframe.Response, ended func(), err error) {
	t.Helper()
	near, far := net.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = hookframe.Serve(ctx, far, h) // an asker that has gone is no error here
	}()
	resp, err = hookframe.Ask(near, hookframe.Request{
		V: hookframe.Version, Agent: "codex", Event: "PreToolUse", Raw: []byte(`{}`), DeadlineMS: 10_000, PersonMS: personMS,
	})
	_ = near.Close()
	stop()
	return resp, func() { <-served }, err
}

var yes = hookframe.Response{V: hookframe.Version, Stdout: "{}"}

// still reports once a second that the daemon still waits for a person.
func still(ctx context.Context, long time.Duration) {
	synctest.Wait() // it is in a bubble
	for end := time.Now().Add(long); time.Now().Before(end) && ctx.Err() == nil; {
		hookframe.Still(ctx)
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
}

// waiters returns handlers that wait for a person, by outcome.
func waiters(t *testing.T) map[string]hookframe.Handler {
	synctest.Wait() // it is in a bubble
	return map[string]hookframe.Handler{
		"answered": func(ctx context.Context, _ hookframe.Request) hookframe.Response {
			waiting, judge := hookframe.Waiting(ctx)
			still(waiting, 8*time.Minute)
			ctx, done := judge()
			defer done()
			if until, _ := ctx.Deadline(); ctx.Err() != nil || time.Until(until) != 9750*time.Millisecond {
				t.Errorf("judged under %v, ends in %v", ctx.Err(), time.Until(until))
			}
			time.Sleep(9 * time.Second)
			return yes
		},
		"hangs while it waits": func(ctx context.Context, _ hookframe.Request) hookframe.Response {
			waiting, _ := hookframe.Waiting(ctx)
			still(waiting, time.Minute)
			<-waiting.Done()
			return yes
		},
		"hangs after the yes": func(ctx context.Context, _ hookframe.Request) hookframe.Response {
			waiting, judge := hookframe.Waiting(ctx)
			still(waiting, time.Minute)
			ctx, done := judge()
			defer done()
			for range 1000 { // has no effect after the answer
				hookframe.Still(waiting)
				hookframe.Still(ctx)
				time.Sleep(time.Second)
			}
			return yes
		},
		"hangs before": func(ctx context.Context, _ hookframe.Request) hookframe.Response {
			hookframe.Still(ctx)
			time.Sleep(time.Hour)
			return yes
		},
		"speaks without end": func(ctx context.Context, _ hookframe.Request) hookframe.Response {
			waiting, _ := hookframe.Waiting(ctx)
			still(waiting, time.Hour)
			time.Sleep(time.Hour)
			return yes
		},
		"nobody may be waited for": func(ctx context.Context, _ hookframe.Request) hookframe.Response {
			waiting, judge := hookframe.Waiting(ctx)
			still(waiting, time.Minute)
			ctx, done := judge()
			defer done()
			if ctx.Err() == nil {
				t.Error("it has more time than the asker gave")
			}
			return hookframe.Refuse("nobody answered")
		},
	}
}

// A person may take longer than the deadline, and judging after that has the ordinary time. A
// monitor that hangs in any step sends nothing, and no frame for as long as the deadline is a
// denial.
func TestAPersonIsWaitedFor(t *testing.T) {
	for name, c := range map[string]struct {
		person time.Duration
		lets   bool
		took   time.Duration
	}{
		"answered":                 {29 * time.Minute, true, 8*time.Minute + 9*time.Second},
		"hangs while it waits":     {29 * time.Minute, false, time.Minute + 9*time.Second},
		"hangs after the yes":      {29 * time.Minute, false, time.Minute + 10*time.Second},
		"hangs before":             {29 * time.Minute, false, 10 * time.Second},
		"speaks without end":       {29 * time.Minute, false, 29*time.Minute + 9*time.Second},
		"nobody may be waited for": {0, false, 9750 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := waiters(t)[name]
			began := time.Now()
			resp, ended, err := asked(t, c.person.Milliseconds(), h)
			took := time.Since(began)
			ended()
			if lets := err == nil && resp == yes; lets != c.lets || took < c.took-time.Second || took > c.took+time.Second {
				t.Errorf("%s: %+v after %v, %v", name, resp, took, err)
			}
		})
	}
}

// An asker that goes away ends the waiting.
func TestTheAskerOfAPersonGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		ended := make(chan time.Duration, 2)
		go func() {
			began := time.Now()
			_ = hookframe.Serve(t.Context(), far, func(ctx context.Context, _ hookframe.Request) hookframe.Response {
				waiting, judge := hookframe.Waiting(ctx)
				<-waiting.Done()
				ended <- time.Since(began)
				ctx, done := judge()
				defer done()
				<-ctx.Done()
				ended <- time.Since(began)
				return yes
			})
		}()
		if err := hookframe.WriteRequest(near, hookframe.Request{V: hookframe.Version, Agent: "pi", Event: "e", Raw: []byte(`{}`), DeadlineMS: 10_000, PersonMS: 60_000}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Second)
		_ = near.Close()
		for range 2 {
			if took := <-ended; took != 30*time.Second {
				t.Errorf("it waited %v", took)
			}
		}
	})
}

// Only the exact frame extends an asker's deadline.
func TestWhatIsNoWordOfWaiting(t *testing.T) {
	for _, said := range []string{
		`{"v":2,"still":true}`, `{"v":1,"still":false}`, `{"v":1}`, `{"still":true}`, `{"v":1,"still":true,"exit":0}`, `{"v":1,"still":true}{}`, `null`, ``,
	} {
		synctest.Test(t, func(t *testing.T) {
			near, far := net.Pipe()
			go func() {
				_, _ = hookframe.ReadRequest(far)
				_, _ = far.Write(append([]byte{0, 0, 0, byte(len(said))}, said...))
				_ = hookframe.WriteResponse(far, yes)
			}()
			began := time.Now()
			_, err := hookframe.Ask(near, hookframe.Request{V: hookframe.Version, Agent: "pi", Event: "e", Raw: []byte(`{}`), DeadlineMS: 10_000, PersonMS: 60_000})
			_ = near.Close()
			_ = far.Close()
			if err == nil || time.Since(began) != 0 {
				t.Errorf("%s: %v after %v", said, err, time.Since(began))
			}
		})
	}
}

func TestTheTimeOfAPersonIsBounded(t *testing.T) {
	r := hookframe.Request{V: hookframe.Version, Agent: "pi", Event: "e", Raw: []byte(`{}`), PersonMS: hookframe.MaxPerson.Milliseconds()}
	if err := r.Check(); err != nil {
		t.Error(err)
	}
	for _, ms := range []int64{-1, r.PersonMS + 1} {
		if r.PersonMS = ms; r.Check() == nil || !strings.Contains(r.Check().Error(), "person") {
			t.Errorf("%d ms: %v", ms, r.Check())
		}
	}
}
