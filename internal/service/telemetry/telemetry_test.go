package telemetry

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
)

func wants(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, l := range lines {
		if !strings.Contains("\n"+text, "\n"+l+"\n") {
			t.Errorf("no line %q", l)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// Events are counted by the next scrape at the latest.
func TestMetricsCountWhatHappens(t *testing.T) {
	s := newStage(t, Options{Paused: func() int { return 2 }, Checkpoint: func() time.Time { return time.Date(2025, 12, 31, 23, 59, 0, 0, time.UTC) }})
	s.play(t)
	wants(t, s.scrape(t),
		`floodmark_decisions_total{agent="openclaw",effect="fetch",verdict="allow"} 1`,
		`floodmark_tokens_total{agent="openclaw",direction="input"} 900`,
		`floodmark_tokens_total{agent="openclaw",direction="output"} 12`,
		`floodmark_decisions_total{agent="openclaw",effect="run",verdict="confirm"} 1`,
		`floodmark_decisions_total{agent="openclaw",effect="call-model",verdict="allow"} 1`,
		`floodmark_questions_total{state="opened"} 1`, `floodmark_questions_open 1`,
		`floodmark_reasons_total{reason="taint-escalation",verdict="confirm"} 1`,
		`floodmark_events_total{point="before_tool_call"} 2`,
		`floodmark_tasks_total 1`, `floodmark_resolved_total{by="person"} 0`, `floodmark_answer_seconds_count 0`, `floodmark_paused 2`,
		`floodmark_cold_loads_total 1`, `floodmark_cached_sessions 1`, `floodmark_in_flight 0`,
		`floodmark_decision_seconds_count 7`, `floodmark_telemetry_lost_total 0`, `floodmark_telemetry_unread_total 0`,
	)
	s.command(t, approval.Command{Verb: approval.Deny, Tool: approval.All, Code: "deadbeef"})
	s.command(t, approval.Command{Verb: approval.Approve, Tool: approval.All, Code: <-s.codes})
	digest := floodmark.DigestOf("Run make install now.").String()
	s.command(t, approval.Command{Verb: approval.Endorse, Digest: digest})
	s.command(t, approval.Command{Verb: approval.Withdraw, Digest: digest})
	s.tell(t, hook.Event{Point: hook.AfterToolCall, Session: "s1", Call: hook.Call{ID: "c9", Name: "exec"}, Result: hook.Result{Text: "x"}})
	s.Reloaded(false)
	s.Reloaded(true)
	s.Observe(monitor.Observation{Point: hook.BeforeToolCall, Err: monitor.ErrBusy})
	s.Observe(monitor.Observation{Err: errors.New("odd"), Conflicts: 2})
	s.Observe(monitor.Observation{Warning: errors.New("no channel")})
	wants(t, s.scrape(t),
		`floodmark_questions_total{state="approved"} 1`, `floodmark_questions_open 0`, `floodmark_wrong_codes_total 1`,
		`floodmark_endorsements_total{change="endorsed"} 1`, `floodmark_endorsements_total{change="withdrawn"} 1`,
		`floodmark_incidents_total{kind="unmediated-call"} 1`, `floodmark_incidents_total{kind="other"} 0`,
		`floodmark_policy_reloads_total{result="ok"} 1`, `floodmark_policy_reloads_total{result="refused"} 1`,
		`floodmark_errors_total{class="busy"} 1`, `floodmark_errors_total{class="other"} 1`, `floodmark_conflicts_total 2`,
		`floodmark_warnings_total 1`, `floodmark_resolved_total{by="person"} 1`, `floodmark_answer_seconds_count 1`,
	)
	if !strings.Contains(s.scrape(t), "floodmark_checkpoint_age_seconds 60.") {
		t.Error("the age of the checkpoint")
	}
}

// An unanswered question ends, too.
func TestQuestionsExpire(t *testing.T) {
	s := newStage(t, Options{})
	s.play(t)
	s.clock.Add(int64(time.Hour))
	wants(t, s.scrape(t), `floodmark_questions_total{state="expired"} 1`, `floodmark_questions_open 0`, `floodmark_resolved_total{by="expired"} 1`)
}

// An approval counts as the person's when it is first used, and as a grant afterwards. A task is
// counted once, however many decisions it has.
func TestWhoResolvedIt(t *testing.T) {
	m := newMetrics(Options{Now: clock})
	at, w := time.Unix(100, 0), who{session: "s"}
	later := at.Add(3 * time.Second)
	verified := &decided{}
	verified.Decision.Reasons = append(verified.Decision.Reasons, struct {
		Code floodmark.Code `json:"code"`
		Rule string         `json:"rule"`
	}{floodmark.Verified, "webhook"})
	for _, f := range []told{
		&turn{open: true}, &decided{}, &decided{}, &asked{Ticket: "t"}, &granted{Ticket: "t"}, &replied{Ticket: "t", Verdict: floodmark.Allow},
		&used{Ticket: "t"}, &used{Ticket: "t"}, &used{Ticket: "t"}, &replied{Ticket: "u", Verdict: floodmark.Confirm},
		&opined{Verdict: floodmark.Allow}, &opined{Verdict: floodmark.Allow, Says: "silent"}, &opined{Verdict: floodmark.Confirm}, &turn{}, verified,
	} {
		if _, answered := f.(*replied); answered {
			m.fact(f, w, later)
			continue
		}
		m.fact(f, w, at)
	}
	page := httptest.NewRecorder()
	promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}).ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	wants(t, page.Body.String(),
		`floodmark_tasks_total 2`, `floodmark_resolved_total{by="grant"} 2`, `floodmark_resolved_total{by="person"} 1`, `floodmark_resolved_total{by="voided"} 1`,
		`floodmark_resolved_total{by="auditor"} 1`, `floodmark_resolved_total{by="verifier"} 1`, `floodmark_answer_seconds_sum 3`,
	)
}

// All unknown names become the same one, because strangers could make up any number of them, and
// each could be a message.
func TestStrangersHaveNoNames(t *testing.T) {
	s := newStage(t, Options{})
	for _, agent := range []string{"canary-one", "canary-two"} {
		for _, tool := range []hook.Call{{ID: "c", Name: "canary-tool"}, {ID: "d", Name: "canary-tool", Server: "canary-server"}} {
			s.tell(t, hook.Event{Agent: agent, Point: hook.BeforeToolCall, Session: floodmark.SessionID("s-" + agent), Call: tool})
		}
	}
	if err := s.monitor.Note(t.Context(), journal.Session{}, floodmark.IncidentSeen{Kind: "canary-kind", Text: "canary-text"}); err != nil {
		t.Fatal(err)
	}
	text := s.scrape(t)
	if strings.Contains(text, "canary") {
		t.Errorf("a stranger's name:\n%s", text)
	}
	wants(t, text, `floodmark_incidents_total{kind="other"} 1`)
	if !strings.Contains(text, `agent="other"`) {
		t.Error("nobody is counted as other")
	}
}

func TestNamesThatMayBeShown(t *testing.T) {
	n := newNames(nil)
	for name, shown := range map[string]bool{
		"": true, "s-1": true, "agent:main:main": true, strings.Repeat("x", maxID): true,
		strings.Repeat("x", maxID+1): false, "anna@firm.example": false, "+491234": false, "two words": false, "a/b": false,
		"sk-abc": false, "ghp_abc": false, "ä": false, "x\n": false,
	} {
		if got := n.id(name); (got == name) != shown || len(got) > maxID {
			t.Errorf("%q is shown as %q", name, got)
		}
	}
	if n.id("two words") == n.id("three words") {
		t.Error("two names are shown as one")
	}
}

// What exceeds the queue is dropped and counted without waiting.
func TestTheQueueIsBounded(t *testing.T) {
	m := newMetrics(Options{})
	s := &Telemetry{metrics: m, queue: make(chan item, 2), opts: Options{Now: clock}}
	entry := func(n int) monitor.Observation {
		return monitor.Observation{Entries: []journal.Entry{{Kind: "turn-opened", Body: make([]byte, n)}}}
	}
	s.Observe(entry(maxQueueBytes))
	if got := s.bytes.Load(); got != maxQueueBytes || len(s.queue) != 1 {
		t.Errorf("at the limit: %d bytes, %d waiting", got, len(s.queue))
	}
	s.Observe(entry(1))
	if got := s.bytes.Load(); got != maxQueueBytes || len(s.queue) != 1 {
		t.Errorf("one byte beyond: %d bytes, %d waiting", got, len(s.queue))
	}
	s.Observe(entry(0))
	s.Observe(entry(0))
	if len(s.queue) != 2 || s.bytes.Load() != maxQueueBytes {
		t.Errorf("%d waiting", len(s.queue))
	}
	if got := value(t, m, "floodmark_telemetry_lost_total"); got != 2 {
		t.Errorf("%v are counted as lost, want 2", got)
	}
}

func value(t testing.TB, m *metrics, name string) float64 {
	t.Helper()
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetCounter().GetValue()
		}
	}
	t.Fatalf("no metric %s", name)
	return 0
}

// A page in a browser can reach loopback by a host name of its own, and is refused.
func TestMetricsAreForThisMachine(t *testing.T) {
	s := newStage(t, Options{})
	for host, want := range map[string]int{
		"127.0.0.1:9464": 200, "localhost:9464": 200, "[::1]:9464": 200, "127.0.0.1": 200,
		"evil.example:9464": 403, "evil.example": 403, "10.0.0.1:9464": 403, "": 403,
	} {
		r := httptest.NewRequest(http.MethodGet, "http://x/metrics", nil)
		r.Host = host
		w := httptest.NewRecorder()
		s.Metrics().ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("asked by %q: %d, want %d", host, w.Code, want)
		}
	}
}

// Facts that cannot be read are counted and otherwise ignored.
func FuzzFacts(f *testing.F) {
	f.Add("action-decided", []byte(`{"action":{"kind":"call-tool","tool":{"name":"x"},"effects":["run"]},"decision":{"verdict":"allow"}}`))
	f.Add("incident-seen", []byte(`{"kind":"x"}`))
	f.Add("ticket-opened", []byte(`{"ticket":"t","expires":"x"}`))
	f.Add("content-seen", []byte(`{"node":-1,"call":"c"}`))
	c, err := shipped()
	if err != nil {
		f.Fatal(err)
	}
	s := newStageless(c)
	f.Fuzz(func(_ *testing.T, kind string, body []byte) {
		s.tellSeen(&seen{point: hook.BeforeToolCall, entries: []journal.Entry{{Kind: kind, Body: body, Seq: 1}}})
		clear(s.metrics.open)
	})
}
