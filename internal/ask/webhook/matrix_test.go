package webhook_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/ask/webhook"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/provenance"
	"github.com/floodmark/floodmark/verify"
)

// A cell is one way in which a receiver fails.
type cell struct {
	name  string
	serve func(testing.TB, town) string // returns the receiver's address
	kind  verify.FailureKind
	text  string // what a person reads
	tries int
}

func inClear(h http.HandlerFunc) func(testing.TB, town) string {
	return func(tb testing.TB, n town) string { return n.inClear(tb, h) }
}

// secure serves over TLS, with changes to the certificate and the configuration.
func secure(cert func(*x509.Certificate), config func(*tls.Config)) func(testing.TB, town) string {
	return func(tb testing.TB, n town) string {
		return n.secure(tb, says(`{"decision":"allow"}`), n.sign(tb, cert), config)
	}
}

// cells returns all ways in which a receiver can fail.
func cells() []cell {
	list := []cell{
		{"timeout", inClear(silent), verify.TimedOut, "it did not answer within 400 ms", 1},
		{"slow drip", inClear(drip), verify.TimedOut, "it did not answer within 400 ms", 1},
		{"refused", func(tb testing.TB, n town) string { return n.closed(tb) }, verify.Unreachable, "nothing listens at 127.0.0.1:", 3},
		{"hangs up", inClear(hang), verify.Unreachable, "broke off", 3},
		{"cut in the middle", inClear(cut), verify.Unreachable, "broke off", 1},
		{"signed by nobody known", func(tb testing.TB, n town) string {
			return n.secure(tb, says(`{"decision":"allow"}`), newMaker(tb).sign(tb, nil), nil)
		}, verify.Untrusted, "signed by nobody this machine trusts", 1},
		{"another host's certificate", secure(func(c *x509.Certificate) { c.IPAddresses, c.DNSNames = nil, []string{"other.example"} }, nil), verify.Untrusted, "its certificate is for another host", 1},
		{"expired certificate", secure(func(c *x509.Certificate) { c.NotAfter = midnight.Add(-time.Minute) }, nil), verify.Untrusted, "its certificate has expired", 1},
		{"not for servers", secure(func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} }, nil), verify.Untrusted, "its certificate is not valid", 1},
		{"old TLS", secure(nil, func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS11 }), verify.Untrusted, "no encrypted connection came about", 1},
		{"no TLS", func(tb testing.TB, n town) string {
			return "https" + strings.TrimPrefix(n.inClear(tb, says(`{"decision":"allow"}`)), "http")
		}, verify.Untrusted, "it does not speak TLS there", 1},
		{"not HTTP", inClear(garbage), verify.Malformed, "it is not HTTP", 1},
		{"204", inClear(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }), verify.Malformed, "it is not a JSON object", 1},
		{"a page", inClear(says("<html>Welcome to our network</html>")), verify.Malformed, "its answer was not understood", 1},
		{"packed", inClear(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			fmt.Fprint(w, "\x1f\x8b\x08\x00")
		}), verify.Malformed, "its answer was not understood", 1},
		{"replayed", inClear(says(`{"decision":"allow","requestId":"of-yesterday"}`)), verify.Malformed, "it is the answer to another request", 1},
		{"both ways", inClear(says(`{"decision":"deny","decision":"allow"}`)), verify.Malformed, "it says decision twice", 1},
		{"too large", inClear(says(`{"decision":"allow"}` + strings.Repeat(" ", verify.MaxAnswerBytes))), verify.TooLarge, "longer than 64 KB", 1},
		{"endless", inClear(endless), verify.TooLarge, "longer than 64 KB", 1},
		{"large headers", inClear(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Fill", strings.Repeat("x", 20<<10))
		}), verify.TooLarge, "headers of its answer are longer than 16 KB", 1},
	}
	for _, code := range []int{301, 302, 303, 307, 308} {
		list = append(list, cell{fmt.Sprint(code), moved(code), verify.Redirected, fmt.Sprintf("it answered %d", code), 1})
	}
	for code, tries := range map[int]int{400: 1, 401: 1, 403: 1, 404: 1, 413: 1, 429: 3, 500: 1, 502: 3, 503: 3, 504: 3, 599: 1} {
		list = append(list, cell{fmt.Sprint(code), inClear(fails(code)), verify.Status, fmt.Sprintf("it answered %d", code), tries})
	}
	return list
}

// moved redirects to a place that must not be requested.
func moved(code int) func(testing.TB, town) string {
	return func(tb testing.TB, n town) string {
		elsewhere := n.inClear(tb, func(http.ResponseWriter, *http.Request) { tb.Error("a redirect was followed") })
		return n.inClear(tb, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere, code) })
	}
}

// within is the timeout of the webhooks.
const within = 400 * time.Millisecond

// limit returns the timeout for a cell. It is longer if the request is tried again, because the
// pauses alone take longer than within.
func (c cell) limit() time.Duration {
	if c.tries == 1 {
		return within
	}
	return 30 * time.Second
}

// takes returns how long it takes until the failure is known.
func (c cell) takes() time.Duration {
	switch {
	case c.kind == verify.TimedOut:
		return within
	case c.tries == 3:
		return time.Second
	}
	return 0
}

func endless(w http.ResponseWriter, _ *http.Request) {
	chunk := []byte(strings.Repeat(" ", 4096))
	for {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}

// For each way to fail, with failMode deny and allow, the call is refused or allowed, the journal
// says why, and the agent gets a sentence.
func TestFailureMatrix(t *testing.T) {
	for _, c := range cells() {
		for _, mode := range []verify.FailMode{verify.FailDeny, verify.FailAllow} {
			t.Run(c.name+"/"+mode.String(), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					n := newTown(t)
					h := n.hook(t, webhook.Options{URL: c.serve(t, n), Secret: "sixteen letters!", Timeout: c.limit(), Now: time.Now})
					reply, answer := judge(t, h, mode)
					want := floodmark.Restrict
					if mode == verify.FailAllow {
						want = floodmark.Allow
					}
					if reply.Decision.Verdict != want || len(reply.Decision.Verifiers) > 0 || answer.Verdict != want {
						t.Errorf("got %+v", reply.Decision)
					}
					if answer.Failure != string(c.kind) || !strings.Contains(answer.Text, c.text) {
						t.Errorf("written down: %s %q, want %s %q", answer.Failure, answer.Text, c.kind, c.text)
					}
					if want == floodmark.Restrict && (!strings.Contains(reply.Line, "the verifier webhook gave no answer: ") || !strings.Contains(reply.Line, c.text)) {
						t.Errorf("the agent reads %q", reply.Line)
					}
					if want == floodmark.Allow && !strings.Contains(reply.Decision.Reasons[0].Text, "failMode lets the call pass") {
						t.Errorf("nobody is told that it passed unverified: %+v", reply.Decision.Reasons)
					}
				})
			})
		}
	}
}

// How often a request is tried for each failure, and how long that takes.
func TestTries(t *testing.T) {
	for _, c := range cells() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				n := newTown(t)
				h := n.hook(t, webhook.Options{URL: c.serve(t, n), Timeout: c.limit(), Now: time.Now})
				r := h.Try(t.Context(), request())
				if r.Tries != c.tries || r.Failure == nil || r.Answer.Allow || r.Took != c.takes() {
					t.Errorf("%+v, want %d tries in %s", r, c.tries, c.takes())
				}
			})
		})
	}
}

func request() verify.Request {
	return verify.Request{ID: "r1", Reach: floodmark.Free, At: time.Unix(1000, 0), Session: "s", Agent: "openclaw", Tool: "ls", Params: []byte(`{"path":"/work"}`)}
}

// ungated reads its rules only once, because that takes long, above all with the race detector.
var ungated = sync.OnceValues(func() (kernel.Rules, error) {
	p, problems := policy.Load(policy.Layer{Name: "user", Data: []byte("version: 1\n")})
	if problems.Failed() {
		return kernel.Rules{}, problems
	}
	tools, err := catalog.Parse("tools", []byte("agent: a\nabout: tests\ntools:\n  - {tool: ls, about: lists, effect: observe, returns: {trust: local, secrecy: internal}, args: {path: {role: critical, is: path}}}\n"))
	if err != nil {
		return kernel.Rules{}, err
	}
	return kernel.NewRules(p, catalog.New([]*catalog.File{tools}, nil)), nil
})

// judge lets a monitor decide one call that needs the answer of a webhook.
func judge(t *testing.T, h verify.Verifier, mode verify.FailMode) (hook.Reply, floodmark.VerifierAnswered) {
	t.Helper()
	rules, err := ungated()
	if err != nil {
		t.Fatal(err)
	}
	rules.Gates = verify.Gates{{Name: "webhook", FailMode: mode, Timeout: time.Minute}}
	var n atomic.Int64
	kept := journal.NewMemory()
	m, err := monitor.New(monitor.Config{
		Journal: kept, Rules: func() kernel.Rules { return rules }, Verifiers: []verify.Verifier{h},
		Key: func(string) (provenance.Key, error) { return provenance.Key{7}, nil }, Now: func() time.Time { return midnight },
		NewCode: func() string { return "c0de0000" }, NewTicket: func() floodmark.TicketID { return floodmark.TicketID(fmt.Sprint("t", n.Add(1))) },
		NewRequest: func() string { return fmt.Sprint("r", n.Add(1)) },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	var reply hook.Reply
	for _, ev := range []hook.Event{
		{Point: hook.SessionStart},
		{Point: hook.BeforeToolCall, Call: hook.Call{ID: "c", Name: "ls", Args: json.RawMessage(`{"path":"/work"}`)}},
	} {
		ev.Agent, ev.Session = "a", "s"
		if reply, err = m.Handle(t.Context(), "", ev); err != nil {
			t.Fatal(err)
		}
	}
	var answer floodmark.VerifierAnswered
	for e, err := range kept.Read(t.Context(), journal.Session{ID: "s"}, 0) {
		if err != nil {
			t.Fatal(err)
		}
		f, err := e.Fact()
		if err != nil {
			t.Fatal(err)
		}
		if a, ok := f.(floodmark.VerifierAnswered); ok {
			answer = a
		}
	}
	return reply, answer
}
