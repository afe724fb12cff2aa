package webhook_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/ask/webhook"
	"github.com/floodmark/floodmark/verify"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newTown(t)
		var got *http.Request
		var body []byte
		url := n.secure(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got = r
			body, _ = io.ReadAll(r.Body)
			_, _ = io.WriteString(w, `{"decision":"deny","reason":"not on a Friday"}`)
		}), n.sign(t, nil), nil)
		h := n.hook(t, webhook.Options{
			URL: url + "/verify?x=1", Headers: map[string]string{"Authorization": "Bearer abc"}, Secret: "sixteen letters!",
			Now: func() time.Time { return time.Unix(2000, 0) }, Version: "1.2",
		})
		r := h.Try(t.Context(), request())
		if r.Failure != nil || r.Answer != (verify.Answer{Reason: "not on a Friday"}) || r.Status != "200 OK" || !strings.HasPrefix(r.TLS, "TLS 1.") || r.Tries != 1 {
			t.Errorf("%+v", r)
		}
		if got.Method != http.MethodPost || got.URL.String() != "/verify?x=1" {
			t.Errorf("%s %s", got.Method, got.URL)
		}
		for name, want := range map[string]string{
			"Authorization": "Bearer abc", "Content-Type": "application/json", "Accept": "application/json", "User-Agent": "floodmark/1.2",
			"Webhook-Id": "r1", "Webhook-Timestamp": "2000", "Accept-Encoding": "",
		} {
			if got.Header.Get(name) != want {
				t.Errorf("%s: %q", name, got.Header.Get(name))
			}
		}
		for _, name := range []string{"X-Openclaw-Signature", "X-Floodmark-Signature", "Webhook-Signature"} {
			if got.Header.Get(name) == "" {
				t.Errorf("there is no %s", name)
			}
		}
		var sent struct{ RequestID string }
		if json.Unmarshal(body, &sent) != nil || sent.RequestID != "r1" {
			t.Errorf("%s", body)
		}
		if h.Name() != "webhook" {
			t.Error(h.Name())
		}
	})
}

// After a transient failure, the request is sent again with the same id and bytes, and another
// time.
func TestTriesAreOneRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ids, times, bodies, signs []string
		clock := time.Unix(1000, 0)
		n := newTown(t)
		url := n.inClear(t, func(w http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			ids, bodies = append(ids, r.Header.Get("Webhook-Id")), append(bodies, string(b))
			times, signs = append(times, r.Header.Get("Webhook-Timestamp")), append(signs, r.Header.Get("Webhook-Signature"))
			if len(ids) < 3 {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			_, _ = io.WriteString(w, `{"decision":"allow"}`)
		})
		h := n.hook(t, webhook.Options{URL: url, Secret: "sixteen letters!", Now: func() time.Time {
			clock = clock.Add(time.Second)
			return clock
		}})
		a, err := h.Verify(t.Context(), request())
		if err != nil || !a.Allow || len(ids) != 3 {
			t.Fatalf("%+v %v after %d tries", a, err, len(ids))
		}
		for i := 1; i < 3; i++ {
			if ids[i] != ids[0] || bodies[i] != bodies[0] || times[i] == times[i-1] || signs[i] == signs[i-1] {
				t.Errorf("try %d: %s %s %s %s", i+1, ids[i], times[i], signs[i], bodies[i])
			}
		}
	})
}

// A request is sent at most three times.
func TestThreeTries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, asked := newTown(t), 0
		url := n.inClear(t, func(w http.ResponseWriter, _ *http.Request) { asked++; w.WriteHeader(http.StatusBadGateway) })
		h := n.hook(t, webhook.Options{URL: url, Now: time.Now})
		if r := h.Try(t.Context(), request()); r.Tries != 3 || asked != 3 || r.Failure.Kind != verify.Status {
			t.Errorf("%+v after %d", r, asked)
		}
	})
}

// A webhook's answers over TLS, and what a monitor makes of them.
func TestAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newTown(t)
		for text, want := range map[string]floodmark.Verdict{`{"decision":"allow"}`: floodmark.Allow, `{"decision":"deny","reason":"no"}`: floodmark.Restrict} {
			for _, mode := range []verify.FailMode{verify.FailDeny, verify.FailAllow} {
				h := n.hook(t, webhook.Options{URL: n.secure(t, says(text), n.sign(t, nil), nil), Now: time.Now})
				if reply, answer := judge(t, h, mode); reply.Decision.Verdict != want || answer.Verdict != want || answer.Failure != "" {
					t.Errorf("%s: %+v", text, reply.Decision)
				}
			}
			// An answer with any 2xx status is accepted, and with no other.
			for status, counts := range map[int]bool{200: true, 201: true, 202: true, 299: true, 300: false} {
				h := n.hook(t, webhook.Options{URL: n.secure(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.WriteHeader(status)
					_, _ = io.WriteString(w, text)
				}), n.sign(t, nil), nil), Now: time.Now})
				reply, answer := judge(t, h, verify.FailDeny)
				if counts != (answer.Failure == "") || counts && reply.Decision.Verdict != want || !counts && reply.Decision.Verdict != floodmark.Restrict {
					t.Errorf("%d %s: %+v", status, text, reply.Decision)
				}
			}
		}
	})
}

func TestSettings(t *testing.T) {
	for _, o := range []webhook.Options{
		{URL: ""},
		{URL: "http://verifier.example"},
		{URL: "https://verifier.example", Secret: "short"},
		{URL: "https://verifier.example", Headers: map[string]string{"Host": "x"}},
		{URL: "https://verifier.example", Headers: map[string]string{"webhook-signature": "x"}},
		{URL: "https://verifier.example", Headers: map[string]string{"X\r\nY": "x"}},
	} {
		if _, err := webhook.New(o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}
