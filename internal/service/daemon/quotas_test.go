package daemon

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/fleet/quota"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/setup/config"
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

// Over quota is a refusal that says so, to the agent, to the tenant's people and to the operator of
// the monitor; other tenants are not affected.
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

// Of so many flooders so many may wait at once, as quota.UsualTurns has it.
const (
	flooders = 512
	waiting  = 256
)

// One tenant has all the places that it can have, and floods the monitor with more than
// may wait: another's events are answered all the same.
func TestAFloodOfOneTenant(t *testing.T) {
	f := quotaed(t, config.Quota{Events: 1 << 30, Bytes: 1 << 40})
	door := f.d.speakers
	event := func(tenant string, s, i int) error {
		id := floodmark.SessionID(fmt.Sprintf("%s-%d", tenant, s))
		ev := hook.Event{Point: hook.BeforeToolCall, Agent: "openclaw", Session: id, Call: hook.Call{ID: floodmark.CallID(fmt.Sprint(i)), Name: "web_fetch", Args: []byte(`{"url":"https://news.example/"}`)}}
		if i == 0 {
			ev = hook.Event{Point: hook.SessionStart, Agent: "openclaw", Session: id}
		}
		_, err := door.Handle(t.Context(), tenant, ev)
		return err
	}
	leave := f.occupy("acme")
	judged := make(chan error, flooders)
	for s := range flooders {
		go func() { judged <- event("acme", s, 0) }()
	}
	over := 0
	for ; over < flooders-waiting; over++ { // then all others wait
		if known := (*monitor.Refusal)(nil); !errors.As(<-judged, &known) || !errors.Is(known, quota.ErrOver) {
			t.Fatalf("one of the flood: %v", known)
		}
	}
	for i := range 100 {
		if err := event("beta", 0, i); err != nil {
			t.Fatal(err)
		}
	}
	if len(judged) > 0 {
		t.Errorf("one of the flood did not wait: %v", <-judged)
	}
	leave()
	for range flooders - over {
		if err := <-judged; err != nil {
			t.Errorf("one that waited: %v", err)
		}
	}
}

// occupy takes all the places that a tenant can have, until leave is called.
func (f *fleet) occupy(tenant string) (leave func()) {
	f.t.Helper()
	gone, cancel := context.WithCancel(f.t.Context())
	cancel() // takes a place that is free, and waits for none
	var places []func()
	for {
		place, err := f.d.enter(gone, tenant, hook.Event{Session: "s"})
		if err == nil {
			places = append(places, place)
			continue
		}
		if !errors.Is(err, context.Canceled) || len(places) == 0 {
			f.t.Fatalf("after %d places: %v", len(places), err)
		}
		return func() {
			for _, place := range places {
				place()
			}
		}
	}
}
