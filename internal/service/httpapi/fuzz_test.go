package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/wire"
)

// FuzzHandleJSON sends any bytes as an event. If they are no event, the answer is a refusal;
// otherwise the monitor gets the same arguments. If package hook can decode the bytes, too, it
// decodes the same event.
func FuzzHandleJSON(f *testing.F) {
	for _, s := range []string{
		``, `{}`, `null`, `[]`, `{"point":"session_end","agent":"a","session":"s"}`,
		`{"point":"before_tool_call","agent":"a","session":"s","call":{"name":"x","args":{"n":1.0e2}}}`,
		`{"point":"before_tool_call","agent":"a","session":"s","call":{"name":"x","args":"{}"},"calls":[{"args":[]},null]}`,
		`{"point":"session_end","agent":"a","session":"s","call":null,"calls":[[]],"x":1}`,
		`{"call":{"args":1,"args":2}}`, `{"calls":{"args":{}}}`, "{\"call\":{\"args\":\"\xff\"}}", `{"call":{"args":{"a":"\ud800"}}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var judged *hook.Event
		h := httpapi.NewHookHandler(hooksFunc(func(_ context.Context, _ string, ev hook.Event) (hook.Reply, error) {
			judged = &ev
			return allow(), nil
		}), httpapi.Options{})
		r := httptest.NewRequestWithContext(httpapi.WithIdentity(t.Context(), agent()), http.MethodPost, wire.HookServiceHandleProcedure, bytes.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		var reply hook.Reply
		if err := json.Unmarshal(w.Body.Bytes(), &reply); w.Code != http.StatusOK || err != nil {
			t.Fatalf("%q: status %d, %v: %s", body, w.Code, err, w.Body)
		}
		if (reply.Decision.Verdict == floodmark.Allow) != (judged != nil) {
			t.Fatalf("%q: %v without being judged", body, reply.Decision.Verdict)
		}
		if judged == nil {
			if reply.Line == "" || reply.Decision.Verdict != floodmark.Restrict {
				t.Fatalf("%q: refused without a word: %+v", body, reply)
			}
			return
		}
		if err := judged.Check(); err != nil {
			t.Fatalf("%q: judged although %v", body, err)
		}
		plain, err := hook.Decode(body)
		if err != nil || len(plain.Call.Args) == 0 || plain.Call.Args[0] == '"' || plain.Call.Args[0] == 'n' {
			return
		}
		if got, want := compact(t, judged.Call.Args), compact(t, plain.Call.Args); got != want {
			t.Fatalf("%q: arguments %s, want %s", body, got, want)
		}
	})
}

// compact returns JSON without blanks, in which bytes that are not UTF-8 are replaced, as both
// readers do.
func compact(t *testing.T, args []byte) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(string([]rune(string(args))))); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// FuzzTokenFile reads any bytes as a file of tokens. No token in it permits more than its kind may,
// and none what both kinds may.
func FuzzTokenFile(f *testing.F) {
	for _, s := range []string{
		``, `{}`, `{"version":1}`, `{"version":1,"tokens":[{}]}`,
		`{"version":1,"tokens":[{"id":"01234567","kind":"agent","name":"x","may":["events"],"certificate":"c"}]}`,
		`{"version":1,"tokens":[{"id":"01234567","kind":"agent","name":"x","may":["approve"],"certificate":"c"}]}`,
		`{"version":1,"tokens":[{"id":"01234567","kind":"owner","name":"x","may":["view","events"],"certificate":"c"}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "t")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		tokens, err := httpapi.OpenTokens(path, soon)
		if err != nil {
			if got, found := tokens.FindCertificate("c"); found == nil || got.May != 0 || got.Name != "" || got.Tenant != "" {
				t.Fatalf("%q: %+v by a file that cannot be read", data, got)
			}
			return
		}
		all, err := tokens.List()
		if err != nil {
			t.Fatal(err)
		}
		for _, token := range all {
			got, err := tokens.FindCertificate(token.Certificate)
			if err == nil && got.May.Has(httpapi.MayEvents) && got.May != httpapi.MayEvents {
				t.Fatalf("%q: %+v", data, got)
			}
		}
	})
}
