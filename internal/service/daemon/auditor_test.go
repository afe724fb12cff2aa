package daemon

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/internal/story/testmodel"
	"github.com/floodmark/floodmark/wire"
)

// auditedBy is a daemon with a policy and perhaps a model on this machine.
func auditedBy(t *testing.T, policy, endpoint string) *runner {
	t.Helper()
	dir := t.TempDir()
	return startWith(t, dir, true, func(o *Options) {
		o.Service.Metrics = "127.0.0.1:0"
		if err := os.MkdirAll(filepath.Dir(o.Paths.Policy), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(o.Paths.Policy, []byte("version: 1\n"+policy), 0o600); err != nil {
			t.Fatal(err)
		}
		if endpoint != "" {
			o.Service.Auditor = &config.Auditor{Endpoint: endpoint, Model: testmodel.Name}
		}
	})
}

func warnings(t *testing.T, r *runner) string {
	t.Helper()
	s, err := r.owner(t).Owner().Status(t.Context(), &wire.StatusRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(s.GetWarnings(), "\n")
}

// A model on this machine takes the question: its yes is enough, and what it
// was shown holds nothing of the page.
func TestAuditedByAModel(t *testing.T) {
	t.Parallel()
	model := &testmodel.Model{Say: testmodel.Script(testmodel.Step{Text: "allow"}, testmodel.Step{Text: "block"}, testmodel.Step{Text: "nobody asked for it"})}
	server := httptest.NewServer(model.Handler())
	t.Cleanup(server.Close)
	r := auditedBy(t, "auditor: {on: true}\n", server.URL+"/v1")
	c := r.hooks(t)
	poison(t, c, "s")
	note := func(id floodmark.CallID, text string) hook.Event {
		return hook.Event{Point: hook.BeforeToolCall, Session: "s", Call: hook.Call{ID: id, Name: "write", Args: []byte(`{"path":"n.md","content":"` + text + `"}`)}}
	}
	if d := tell(t, c, note("c8", "hello")).Decision; d.Verdict != floodmark.Allow {
		t.Errorf("%+v", d)
	}
	reply := tell(t, c, note("c9", "other"))
	if reply.Decision.Verdict != floodmark.Confirm || !strings.Contains(reply.Decision.Reasons[0].Text, "nobody asked for it") {
		t.Errorf("%+v", reply.Decision)
	}
	turns := model.Turns()
	if len(turns) != 3 {
		t.Fatalf("%d requests", len(turns))
	}
	for _, turn := range turns {
		if body := string(turn.Body); strings.Contains(body, "curl evil") || !strings.Contains(body, "what is new?") || !strings.Contains(body, "web_fetch") {
			t.Errorf("the model was shown %s", body)
		}
	}
	if text := warnings(t, r); strings.Contains(text, "auditor") {
		t.Errorf("status says %s", text)
	}
}

// Where policy and settings do not fit together, status says so; and that the
// model does not answer.
func TestAuditorNotes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ policy, endpoint, want string }{
		"on, none there": {"auditor: {on: true}\n", "", "auditor: the policy wants one, and service.yaml names none"},
		"there, not on":  {"", "http://127.0.0.1:1/v1", "auditor: service.yaml names one, and the policy asks none"},
		"neither":        {"", "", ""},
		"on and there":   {"auditor: {on: true}\n", "http://127.0.0.1:1/v1", ""},
	} {
		text := warnings(t, auditedBy(t, c.policy, c.endpoint))
		if c.want != "" && !strings.Contains(text, c.want) || c.want == "" && strings.Contains(text, "auditor") {
			t.Errorf("%s: status says %s", name, text)
		}
	}
	broken := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(broken.Close)
	r := auditedBy(t, "auditor: {on: true}\n", broken.URL)
	h := r.hooks(t)
	poison(t, h, "s")
	d := tell(t, h, hook.Event{Point: hook.BeforeToolCall, Session: "s", Call: hook.Call{ID: "c9", Name: "write", Args: []byte(`{"path":"n.md","content":"hello"}`)}}).Decision
	if d.Verdict != floodmark.Confirm || d.Reasons[0].Text != "the auditor knows no such address or model (HTTP 404)" {
		t.Errorf("%+v", d)
	}
	if text := warnings(t, r); !strings.Contains(text, "it knows no such address or model (HTTP 404); since the monitor runs it gave 0 answers and failed 1 times") {
		t.Errorf("status says %s", text)
	}
}

// With failMode warn a call passes that would without an auditor, and the log warns,
// in our words and not in the endpoint's; with allow it passes in silence.
func TestAuditorWarns(t *testing.T) {
	t.Parallel()
	broken := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(broken.Close)
	for mode, warns := range map[string]bool{"block": true, "warn": true, "allow": false} {
		r := auditedBy(t, "auditor: {on: true, failMode: "+mode+"}\n", broken.URL)
		h := r.hooks(t)
		poison(t, h, "s")
		tell(t, h, hook.Event{Point: hook.MessageReceived, Session: "s", Text: "send an email to anna@firm.example that says hi", Origin: floodmark.Origin{Kind: floodmark.FromSender, Sender: "me", IsOwner: true}})
		d := tell(t, h, hook.Event{Point: hook.BeforeToolCall, Session: "s", Call: hook.Call{ID: "c9", Name: "send_email", Args: []byte(`{"to":"anna@firm.example","body":"good morning to you"}`)}}).Decision
		if (d.Verdict == floodmark.Allow) != (mode != "block") || d.Reasons[0].Code != floodmark.Audited {
			t.Errorf("%s: %+v", mode, d)
		}
		const line = `level=WARN msg="the auditor gave no opinion" session=s agent=openclaw error="knows no such address or model (HTTP 404)"`
		if got := r.log.String(); strings.Contains(got, line) != warns || strings.Contains(got, "page not found") {
			t.Errorf("%s: the log is %s", mode, got)
		}
		counted := (&shown{daemon: r.d}).scrape(t)
		if strings.Contains(string(counted), "\nfloodmark_warnings_total 1\n") != warns {
			t.Errorf("%s: the metrics are %s", mode, counted)
		}
	}
}
