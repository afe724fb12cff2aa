package daemon

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/client"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/wire"
)

// verified runs a daemon whose calls pass a webhook of this test.
func verified(t *testing.T, more string, answer http.HandlerFunc) *runner {
	t.Helper()
	receiver := httptest.NewServer(answer)
	t.Cleanup(receiver.Close)
	s, err := config.ParseService("service.yaml", []byte("verifier:\n  webhook:\n    url: "+receiver.URL+"\n    secret: ${FLOODMARK_TEST_HMAC}\n"+more))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("FLOODMARK_TEST_HMAC", "correct horse battery staple")
	return startWith(t, t.TempDir(), true, func(o *Options) { o.Service = s })
}

func ask(t *testing.T, r *runner, args string) (hook.Reply, error) {
	t.Helper()
	return begun(t, r).Handle(t.Context(), write(args))
}

// begun begins the session.
func begun(t *testing.T, r *runner) *client.Client {
	t.Helper()
	c := r.hooks(t)
	if _, err := c.Handle(t.Context(), hook.Event{Agent: "pi", Session: "s", Point: hook.SessionStart}); err != nil {
		t.Fatal(err)
	}
	return c
}

func write(args string) hook.Event {
	return hook.Event{Agent: "pi", Session: "s", Point: hook.BeforeToolCall, Call: hook.Call{ID: "c1", Name: "write", Args: json.RawMessage(args)}}
}

// From service.yaml to the other system and back, with what must not leave left
// out, and a refusal that says who refused.
func TestWebhookOfTheDaemon(t *testing.T) {
	var body string
	r := verified(t, "", func(w http.ResponseWriter, q *http.Request) {
		b, _ := io.ReadAll(q.Body)
		body = string(b)
		if q.Header.Get("X-Openclaw-Signature") == "" || q.Header.Get("Webhook-Signature") == "" {
			t.Error("it is not signed")
		}
		_, _ = io.WriteString(w, `{"decision":"deny","reason":"not on a Friday"}`)
	})
	reply, err := ask(t, r, `{"path":"/work/a.txt","content":"the quick brown fox"}`)
	if err != nil || reply.Decision.Verdict != floodmark.Restrict || !strings.Contains(reply.Line, `the verifier webhook refused it and said "not on a Friday"`) {
		t.Errorf("%+v %v", reply, err)
	}
	if !strings.Contains(body, `"params":{"content":"[REDACTED: 19 chars]","path":"/work/a.txt"}`) || strings.Contains(body, "quick") {
		t.Error(body)
	}
	var asked struct {
		ID string `json:"requestId"`
	}
	if err := json.Unmarshal([]byte(body), &asked); err != nil {
		t.Error(err)
	}
	if id, err := uuid.Parse(asked.ID); err != nil || id.Version() != 4 || id.Variant() != uuid.RFC4122 || asked.ID != id.String() {
		t.Errorf("the request is called %q: %v", asked.ID, err)
	}
	if log := r.log.String(); strings.Contains(log, "battery") {
		t.Error(log)
	}
}

// What failed is shown in status, also where failMode let the call pass.
func TestWebhookFailuresAreInStatus(t *testing.T) {
	for mode, want := range map[string]floodmark.Verdict{"allow": floodmark.Allow, "deny": floodmark.Restrict} {
		r := verified(t, "  failMode: "+mode+"\n", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
		if reply, err := ask(t, r, `{"path":"/work/a.txt","content":"x"}`); err != nil || reply.Decision.Verdict != want {
			t.Errorf("%+v %v", reply, err)
		}
		s, err := r.owner(t).Owner().Status(t.Context(), &wire.StatusRequest{})
		if err != nil || !strings.Contains(strings.Join(s.GetWarnings(), "\n"), "verifier-failed: webhook gave no answer (it answered 418 I'm a teapot)") {
			t.Errorf("%v %v", s.GetWarnings(), err)
		}
		if err := r.stop(); err != nil {
			t.Fatal(err)
		}
	}
}

// An agent that cannot wait is told so in time.
func TestWebhookSlowerThanTheAgent(t *testing.T) {
	// A busy machine may not even come to asking in time. That is refused, too, and a
	// more patient agent asks.
	for patience, told := time.Second, false; !told; patience *= 2 {
		r := verified(t, "  failMode: allow\n", func(_ http.ResponseWriter, q *http.Request) {
			_, _ = io.Copy(io.Discard, q.Body)
			<-q.Context().Done()
		})
		begun(t, r)
		c, err := client.Dial(r.paths.HookSocket, client.Options{Timeout: patience})
		if err != nil {
			t.Fatal(err)
		}
		reply, err := c.Handle(t.Context(), write(`{"path":"/work/a.txt","content":"x"}`))
		c.Close()
		if reply.Decision.Verdict != floodmark.Restrict {
			t.Fatalf("%+v %v", reply, err)
		}
		told = strings.Contains(reply.Line, "when the agent had to be told")
		t.Logf("after %v: %s", patience, reply.Line)
	}
}

// Without its secret the daemon does not start, and the error does not show a secret.
func TestWebhookWithoutItsSecret(t *testing.T) {
	s, err := config.ParseService("service.yaml", []byte("verifier: {webhook: {url: 'https://verifier.example', secret: '${FLOODMARK_TEST_NONE}'}}"))
	if err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]string{"": "FLOODMARK_TEST_NONE is not set", "hunter2": "shorter than 16 bytes"} {
		t.Setenv("FLOODMARK_TEST_NONE", value)
		o := options(t.TempDir(), &lockedBuffer{})
		o.Service = s
		d, err := Open(t.Context(), o)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v %v", d, err)
		}
	}
	if err := os.Unsetenv("FLOODMARK_TEST_NONE"); err != nil {
		t.Fatal(err)
	}
	// What is off needs no secret, and no bot listens for it; an agent's section that is
	// on needs both.
	const off = "verifier: {enabled: false, webhook: {url: 'https://verifier.example', secret: '${FLOODMARK_TEST_NONE}'}, " +
		"telegram: {botToken: '1:abc', chatId: 7, allowedUserIds: [7]}}\n"
	for agents, want := range map[string]string{"": "", "agents: {codex: {verifier: {failMode: deny}}}": "FLOODMARK_TEST_NONE is not set"} {
		o := options(t.TempDir(), &lockedBuffer{})
		if o.Service, err = config.ParseService("service.yaml", []byte(off+agents)); err != nil {
			t.Fatal(err)
		}
		d, err := Open(t.Context(), o)
		switch {
		case want != "":
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", agents, err)
			}
		case err != nil:
			t.Error(err)
		default:
			if len(d.bots) > 0 {
				t.Errorf("%d bots listen", len(d.bots))
			}
			if err := d.close(); err != nil {
				t.Error(err)
			}
		}
	}
}
