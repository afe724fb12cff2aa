package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/config"
	"github.com/floodmark/floodmark/internal/httpapi"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/wire"
)

// quotaed runs a daemon where acme has a quota.
func quotaed(t *testing.T, q config.Quota) *fleet {
	t.Helper()
	return newFleet(t, func(o *Options) {
		o.Service.Tenants = map[string]config.Tenant{"acme": {Quota: q}, "beta": {}}
	})
}

// Over quota is a no that says so, to the agent, to the tenant's people and to
// whoever runs the monitor; other tenants notice nothing.
func TestOverQuota(t *testing.T) {
	f := quotaed(t, config.Quota{Events: 1, Sessions: 2})
	c := f.agent("acme")
	var refused hook.Reply
	for range 60 { // 20 at once, then one a second
		if r := tell(t, c, hook.Event{Point: hook.SessionStart, Session: "s"}); r.Decision.Verdict != floodmark.Allow {
			refused = r
			break
		}
	}
	if !strings.Contains(refused.Line, "your tenant is over quota: more than 1 events a second") {
		t.Errorf("%+v", refused)
	}
	if r := tell(t, f.agent("beta"), hook.Event{Point: hook.SessionStart, Session: "s"}); r.Decision.Verdict != floodmark.Allow {
		t.Errorf("another tenant: %+v", r)
	}
	for tenant, want := range map[string]string{"acme": "over-quota: over quota: more than 1 events", "": "over-quota: tenant acme: over quota", "beta": ""} {
		s, err := f.by(f.token(tenant, "p", httpapi.MayView)).Owner().Status(t.Context(), &wire.StatusRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Join(s.GetWarnings(), "\n"); want == "" && strings.Contains(said, "quota") || !strings.Contains(said, want) {
			t.Errorf("%q: %s", tenant, said)
		}
	}
}

// A call that would ask one question too many is refused; one that is allowed
// without asking is not, and an answer makes room.
func TestOpenQuestionsHaveAQuota(t *testing.T) {
	f := quotaed(t, config.Quota{Questions: 2})
	c := f.agent("acme")
	ask := func(s floodmark.SessionID) hook.Reply {
		poison(t, c, s)
		return tell(t, c, wants(s, "x"))
	}
	first := ask("s1")
	if first.Ticket == "" || ask("s2").Ticket == "" {
		t.Fatalf("no question: %+v", first)
	}
	third := ask("s3")
	if third.Ticket != "" || third.Decision.Verdict != floodmark.Restrict || !strings.Contains(third.Line, "as many questions as this tenant may have wait") {
		t.Errorf("the third: %+v", third)
	}
	tell(t, c, hook.Event{Point: hook.SessionStart, Session: "s4"})
	if r := tell(t, c, hook.Event{Point: hook.BeforeToolCall, Session: "s4", Call: hook.Call{ID: "c3", Name: "web_fetch", Args: []byte(`{"url":"https://news.example/"}`)}}); r.Decision.Verdict != floodmark.Allow {
		t.Errorf("what needs no question: %+v", r)
	}
	approver := f.by(f.token("acme", "anna", httpapi.MayView|httpapi.MayApprove)).Owner()
	if _, err := approver.Answer(t.Context(), &wire.AnswerRequest{Verb: "deny", Session: "s1", Ticket: string(first.Ticket)}); err != nil {
		t.Fatal(err)
	}
	if r := tell(t, c, wants("s3", "x")); r.Ticket == "" {
		t.Errorf("after an answer: %+v", r)
	}
}

// quotaFactor is what a flood of one tenant may do to another's slowest answers,
// with quotaGrace for a machine that is busy anyway. Without turns it is some
// hundred times.
const (
	quotaFactor = 10
	quotaGrace  = 250 * time.Millisecond
)

// flooders are more than can be judged at once. With the race detector a few are.
func flooders() int {
	if testing.Short() {
		return 32
	}
	return 512
}

// One tenant floods the monitor with more than it can judge; the answers to
// another take at most quotaFactor times as long as without the flood.
func TestAFloodOfOneTenant(t *testing.T) {
	f := quotaed(t, config.Quota{Events: 1 << 30, Bytes: 1 << 40})
	door := f.d.hooksDoor()
	event := func(tenant string, s, i int) (time.Duration, error) {
		id := floodmark.SessionID(fmt.Sprintf("%s-%d", tenant, s))
		ev := hook.Event{Point: hook.BeforeToolCall, Agent: "openclaw", Session: id, Call: hook.Call{ID: floodmark.CallID(fmt.Sprint(i)), Name: "web_fetch", Args: []byte(`{"url":"https://news.example/"}`)}}
		if i == 0 {
			ev = hook.Event{Point: hook.SessionStart, Agent: "openclaw", Session: id}
		}
		begin := time.Now()
		_, err := door.Handle(t.Context(), tenant, ev)
		return time.Since(begin), err
	}
	slowest := func(s int) time.Duration {
		var took []time.Duration
		for i := range 100 {
			d, err := event("beta", s, i)
			if err != nil {
				t.Fatal(err)
			}
			took = append(took, d)
		}
		slices.Sort(took)
		return took[len(took)*99/100]
	}
	alone := slowest(0)
	stop, cancel := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	var judged, over atomic.Int64
	for s := range flooders() {
		wait.Go(func() {
			for i := 0; stop.Err() == nil; i++ {
				_, err := event("acme", s, i)
				known := (*monitor.Refusal)(nil)
				switch {
				case err == nil:
					judged.Add(1)
				case errors.As(err, &known):
					over.Add(1)
					time.Sleep(10 * time.Millisecond)
				default:
					t.Error(err)
				}
			}
		})
	}
	for judged.Load() < int64(flooders()) && !t.Failed() {
		time.Sleep(time.Millisecond)
	}
	beside := slowest(1)
	for s := 2; s < 5 && beside > quotaFactor*alone+quotaGrace; s++ { // the machine may have stood still
		beside = min(beside, slowest(s))
	}
	cancel()
	wait.Wait()
	t.Logf("p99 alone %v, beside a flood %v (%.1f times); %d of the flood were judged, %d refused", alone, beside, float64(beside)/float64(alone), judged.Load(), over.Load())
	if beside > quotaFactor*alone+quotaGrace {
		t.Errorf("p99 %v alone, %v beside a flood", alone, beside)
	}
}
