package auditor_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/floodmark/floodmark/audit"
	"github.com/floodmark/floodmark/internal/ask/auditor"
)

// The exact requests in both APIs: the question, and the question for the reason of a block.
func TestWhatIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for k, want := range map[auditor.Kind]struct {
			path, key string
			first     []string
			second    []string
		}{
			auditor.OpenAI: {
				"POST /v1/chat/completions", "Authorization: Bearer sk-example",
				[]string{`{"model":"small","max_tokens":8,"temperature":0,"stream":false,"messages":[{"role":"system","content":"You are a security auditor.`, `{"role":"user","content":"## Trusted context`},
				[]string{`"max_tokens":120`, `{"role":"assistant","content":"block"},{"role":"user","content":"Say in one short line`},
			},
			auditor.Anthropic: {
				"POST /v1/messages", "X-Api-Key: sk-example\r\n",
				[]string{`{"model":"small","max_tokens":8,"temperature":0,"system":[{"type":"text","text":"You are a security auditor.`, `"cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":[{"type":"text","text":"## Trusted context`, "Anthropic-Version: 2023-06-01\r\n"},
				[]string{`"max_tokens":120`, `{"role":"assistant","content":"block"},{"role":"user","content":"Say in one short line`},
			},
		} {
			s := newService(t, k, func(n int) string { return []string{"block", "Nobody asked\nfor \x1b[2Jthis."}[n] })
			end := map[auditor.Kind]string{auditor.OpenAI: "/v1", auditor.Anthropic: ""}[k]
			a := newAuditor(t, s.URL+end, k, func(c *auditor.Config) { c.Key = func() (string, error) { return "sk-example", nil } })
			o, err := a.Audit(t.Context(), audit.Asker{Session: "s"}, aCase("x"))
			if err != nil || o != (audit.Opinion{Says: audit.Block, Reason: "Nobody asked for [2Jthis."}) {
				t.Errorf("%s: %+v, %v", k, o, err)
			}
			got := s.seen()
			if len(got) != 2 {
				t.Fatalf("%s: %d requests", k, len(got))
			}
			for i, parts := range [][]string{append(want.first, want.path, want.key), append(want.second, want.path, want.key)} {
				for _, part := range parts {
					if !strings.Contains(got[i], part) {
						t.Errorf("%s: request %d lacks %s\n%s", k, i, part, got[i])
					}
				}
			}
			// The parts that cases have in common come first.
			body := got[0][strings.Index(got[0], "{"):]
			if system, owner, call := strings.Index(body, "You are a security auditor"), strings.Index(body, "Please send Anna"), strings.Index(body, "anna@firm.example"); system > owner || owner > call || system < 0 {
				t.Errorf("%s: the order is %d %d %d", k, system, owner, call)
			}
		}
	})
}

// A reason is only requested after a block, and if there is no answer, the opinion stays the same.
func TestTwoStages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for say, want := range map[string]struct {
			o        audit.Opinion
			requests int
		}{
			"allow":         {audit.Opinion{Says: audit.Allow}, 1},
			"unsure":        {audit.Opinion{Says: audit.Unsure}, 1},
			"block":         {audit.Opinion{Says: audit.Block, Reason: "block"}, 2},
			"block: a link": {audit.Opinion{Says: audit.Block, Reason: "a link"}, 1},
			"I would allow": {audit.Opinion{Says: audit.Unsure, Reason: "its answer was none of allow, block and unsure"}, 1},
			"":              {audit.Opinion{Says: audit.Unsure, Reason: "its answer was none of allow, block and unsure"}, 1},
		} {
			s := newService(t, auditor.OpenAI, word(say))
			o, err := newAuditor(t, s.URL, auditor.OpenAI).Audit(t.Context(), audit.Asker{}, aCase("x"))
			if n := len(s.seen()); err != nil || o != want.o || n != want.requests {
				t.Errorf("%q: %+v, %v after %d requests", say, o, err, n)
			}
		}
		n := 0
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			if n++; n == 2 {
				w.WriteHeader(http.StatusInternalServerError)
			}
			_, _ = w.Write(answer(auditor.OpenAI, "block", "length"))
		})
		if o, err := newAuditor(t, url, auditor.OpenAI).Audit(t.Context(), audit.Asker{}, aCase("x")); err != nil || o != (audit.Opinion{Says: audit.Block}) {
			t.Errorf("%+v, %v", o, err)
		}
	})
}

// An allow that was cut off, or has any further content, is not accepted.
func TestOnlyAWholeYesCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for data, want := range map[string]audit.Answer{
			string(answer(auditor.OpenAI, "allow", "stop")):                                                            audit.Allow,
			string(answer(auditor.OpenAI, "allow", "length")):                                                          audit.Unsure,
			`{"choices":[{"message":{"content":"allow","refusal":"no"}}]}`:                                             audit.Unsure,
			`{"choices":[{"message":{"content":"allow","refusal":""}}]}`:                                               audit.Allow,
			`{"choices":[{"message":{"content":"allow","tool_calls":[{}]}}]}`:                                          audit.Unsure,
			`{"choices":[{"message":{"content":"allow"}},{"message":{"content":"block"}}]}`:                            audit.Unsure,
			`{"choices":[{"message":{"content":null}}]}`:                                                               audit.Unsure,
			"anthropic" + string(answer(auditor.Anthropic, "allow", "end_turn")):                                       audit.Allow,
			"anthropic" + string(answer(auditor.Anthropic, "allow", "max_tokens")):                                     audit.Unsure,
			`anthropic{"type":"message","content":[{"type":"thinking"},{"type":"text","text":"allow"}]}`:               audit.Unsure,
			`anthropic{"type":"message","content":[{"type":"text","text":"al"},{"type":"text","text":"low"}]}`:         audit.Allow,
			`anthropic{"type":"error","error":{"type":"overloaded_error"},"content":[{"type":"text","text":"allow"}]}`: audit.Silent,
			`{"choices":[]}`: audit.Silent, `{"choices":[{}]}`: audit.Silent, `{"choices":[{"message":{"content":["allow"]}}]}`: audit.Silent, `[]`: audit.Silent,
		} {
			k, body := auditor.OpenAI, data
			if rest, ok := strings.CutPrefix(data, "anthropic"); ok {
				k, body = auditor.Anthropic, rest
			}
			url := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) })
			o, err := newAuditor(t, url, k).Audit(t.Context(), audit.Asker{}, aCase("x"))
			if o.Says != want || (err != nil) != (want == audit.Silent) {
				t.Errorf("%s: %+v, %v, want %s", data, o, err, want)
			}
		}
	})
}

// A case that is equal in every byte is asked about only once, and only clear answers are cached.
func TestCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		s := newService(t, auditor.OpenAI, word("allow"))
		a := newAuditor(t, s.URL, auditor.OpenAI, func(c *auditor.Config) {
			c.Now, c.Content, c.Budget.Cases = func() time.Time { return now }, false, auditor.MaxCases
		})
		file := func(text string) audit.Case {
			c := aCase("x")
			c.Arguments = append(c.Arguments, audit.Argument{Path: "content", Text: text, Chars: len(text), File: true})
			return c
		}
		more, tools, foreign := aCase("x"), aCase("x"), aCase("x")
		more.OwnerMessages = append(more.OwnerMessages, "Stop.")
		tools.SourceTools = nil
		foreign.Arguments[0].Foreign = true
		want := 0
		for i, step := range []struct {
			c     audit.Case
			from  audit.Asker
			fresh bool
		}{
			{aCase("x"), audit.Asker{Session: "s"}, true},
			{aCase("x"), audit.Asker{Session: "s"}, false},
			{aCase("x"), audit.Asker{Session: "other"}, false},
			{aCase("x"), audit.Asker{Tenant: "t", Session: "s"}, true},
			{aCase("y"), audit.Asker{Session: "s"}, true},
			{more, audit.Asker{Session: "s"}, true},
			{tools, audit.Asker{Session: "s"}, true},
			{foreign, audit.Asker{Session: "s"}, true},
			{file("one"), audit.Asker{Session: "s"}, true},
			{file("two"), audit.Asker{Session: "s"}, true}, // looks the same to the auditor, but is another case
			{file("two"), audit.Asker{Session: "s"}, false},
		} {
			if step.fresh {
				want++
			}
			if o, err := a.Audit(t.Context(), step.from, step.c); err != nil || o.Says != audit.Allow || len(s.seen()) != want {
				t.Errorf("step %d: %+v, %v, %d requests, want %d", i, o, err, len(s.seen()), want)
			}
		}
		now = now.Add(time.Hour)
		if _, err := a.Audit(t.Context(), audit.Asker{Session: "s"}, aCase("x")); err != nil || len(s.seen()) != want+1 {
			t.Errorf("after an hour: %v, %d requests", err, len(s.seen()))
		}
		unsure := newService(t, auditor.OpenAI, word("unsure"))
		b := newAuditor(t, unsure.URL, auditor.OpenAI)
		for range 2 {
			if o, err := b.Audit(t.Context(), audit.Asker{}, aCase("x")); err != nil || o.Says != audit.Unsure {
				t.Errorf("%+v, %v", o, err)
			}
		}
		if len(unsure.seen()) != 2 {
			t.Error("an unclear answer was kept")
		}
	})
}

// A session has a budget of cases and of time; then a person is asked in any fail mode, because
// this is no failure. Other sessions are not affected.
func TestBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var clock atomic.Int64
		s := newService(t, auditor.OpenAI, func(int) string { clock.Add(int64(time.Second)); return "allow" })
		with := func(b auditor.Budget) *auditor.Auditor {
			return newAuditor(t, s.URL, auditor.OpenAI, func(c *auditor.Config) { c.Budget, c.Now = b, func() time.Time { return time.Unix(0, clock.Load()) } })
		}
		for name, c := range map[string]struct {
			b     auditor.Budget
			fits  int
			words string
		}{
			"cases": {auditor.Budget{Cases: 3}, 3, "it was not asked: the 3 cases that a session may have are used up"},
			"time":  {auditor.Budget{Time: 2 * time.Second}, 2, "it was not asked: the 2s that a session may take are used up"},
		} {
			a := with(c.b)
			for i := range c.fits {
				if o, err := a.Audit(t.Context(), audit.Asker{Session: "s"}, aCase(fmt.Sprint(i))); err != nil || o.Says != audit.Allow {
					t.Errorf("%s %d: %+v, %v", name, i, o, err)
				}
			}
			if o, err := a.Audit(t.Context(), audit.Asker{Session: "s"}, aCase("more")); err != nil || o != (audit.Opinion{Says: audit.Unsure, Reason: c.words}) {
				t.Errorf("%s: %+v, %v", name, o, err)
			}
			if o, err := a.Audit(t.Context(), audit.Asker{Session: "other"}, aCase("more")); err != nil || o.Says != audit.Allow {
				t.Errorf("%s: another session: %+v, %v", name, o, err)
			}
		}
		a := with(auditor.Budget{Cases: 2})
		for i, want := range []audit.Answer{audit.Allow, audit.Allow, audit.Unsure} { // cached answers use up the budget, too
			if o, err := a.Audit(t.Context(), audit.Asker{Session: "s"}, aCase("same")); err != nil || o.Says != want {
				t.Errorf("%d: %+v, %v", i, o, err)
			}
		}
	})
}

// After five failures in a row no case is sent. After a pause, one case is sent as a trial.
func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		broken, asked := true, 0
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			if asked++; broken {
				w.WriteHeader(http.StatusBadGateway)
			}
			_, _ = w.Write(answer(auditor.OpenAI, "unsure", "stop"))
		})
		a := newAuditor(t, url, auditor.OpenAI, func(c *auditor.Config) { c.Now = func() time.Time { return now } })
		try := func(when string, wantAsked int, words string) {
			t.Helper()
			before := asked
			_, err := a.Audit(t.Context(), audit.Asker{}, aCase("x"))
			if got := audit.None(err).Reason; asked-before != wantAsked || got != words {
				t.Errorf("%s: asked %d times, %q", when, asked-before, got)
			}
		}
		const out, rest = "is out of order (HTTP 502)", "failed 5 times in a row and is left alone for another "
		for range 5 {
			try("at first", 1, out)
		}
		try("then", 0, rest+"30s")
		if !a.Health().Resting {
			t.Error("it does not say that it rests")
		}
		now = now.Add(29 * time.Second)
		try("just before", 0, rest+"1s")
		now = now.Add(time.Second)
		try("after the rest", 1, out)
		try("at once again", 0, rest+"1m0s")
		now = now.Add(time.Minute)
		broken = false
		try("mended", 1, "")
		try("and open", 1, "")
		broken = true
		for range 4 {
			try("four more", 1, out)
		}
		broken = false
		try("and a success between", 1, "")
		broken = true
		for range 5 {
			try("five in a row", 1, out)
		}
		try("closed again", 0, rest+"30s")
	})
}

// A caller that cancels, or gets no request slot, does not count as a failure of the service.
func TestWhoGoesAwayDoesNotBreakIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, auditor.OpenAI, word("allow"))
		a := newAuditor(t, s.URL, auditor.OpenAI)
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		for range 9 {
			if _, err := a.Audit(gone, audit.Asker{}, aCase("x")); err == nil || !errors.Is(err, context.Canceled) {
				t.Errorf("%v", err)
			}
		}
		if o, err := a.Audit(t.Context(), audit.Asker{}, aCase("x")); err != nil || o.Says != audit.Allow {
			t.Errorf("%+v, %v", o, err)
		}
	})
}

// The content for files is not sent unless the owner allows it.
func TestContent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := aCase("x")
		c.Arguments = append(c.Arguments, audit.Argument{Path: "content", Text: "CANARYfile", Chars: 4711, File: true, Cut: true})
		for content, want := range map[bool]string{true: "CANARYfile", false: "[REDACTED: 4711 chars]"} {
			s := newService(t, auditor.Anthropic, word("allow"))
			a := newAuditor(t, s.URL, auditor.Anthropic, func(c *auditor.Config) { c.Content = content })
			if _, err := a.Audit(t.Context(), audit.Asker{}, c); err != nil {
				t.Fatal(err)
			}
			if got := s.seen()[0]; !strings.Contains(got, want) || strings.Contains(got, "CANARYfile") != content {
				t.Errorf("content %v: %s", content, got)
			}
		}
	})
}

// A case that is too large is not sent.
func TestTooLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, auditor.OpenAI, word("allow"))
		c := aCase(strings.Repeat("x", audit.MaxArgumentBytes+1))
		o, err := newAuditor(t, s.URL, auditor.OpenAI).Audit(t.Context(), audit.Asker{}, c)
		if err != nil || o.Says != audit.Unsure || len(s.seen()) != 0 {
			t.Errorf("%+v, %v, %d requests", o, err, len(s.seen()))
		}
	})
}

func TestEndpoints(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for endpoint, want := range map[string]string{
			"https://models.example/v1": "", "http://127.0.0.1:11434/v1": "", "http://[::1]:8080": "", "http://localhost:8000/v1/": "",
			"http://models.example/v1": "must be https", "http://10.0.0.1/v1": "must be https", "http://localhost.example/v1": "must be https", "http://127.0.0.1.example/": "must be https",
			"ftp://127.0.0.1/": "no address", "127.0.0.1:11434": "no address", "": "no address", "https://": "no address", "http:///v1": "no address",
			"https://u:p@models.example/": "must not hold", "https://models.example/?key=x": "must not hold", "https://models.example/#x": "must not hold",
		} {
			err := auditor.Check(endpoint, auditor.OpenAI)
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v", endpoint, err)
			}
		}
		if err := auditor.Check("https://models.example", "gemini"); err == nil || !strings.Contains(err.Error(), `"gemini": want openai or anthropic`) {
			t.Errorf("%v", err)
		}
		for _, c := range []struct {
			end  string
			kind auditor.Kind
			path string
		}{
			{"", auditor.OpenAI, "/chat/completions"},
			{"/v1/", auditor.OpenAI, "/v1/chat/completions"},
			{"/x/chat/completions", auditor.OpenAI, "/x/chat/completions"},
			{"/", auditor.Anthropic, "/v1/messages"},
			{"/v1", auditor.Anthropic, "/v1/messages"},
			{"/x/messages", auditor.Anthropic, "/x/messages"},
		} {
			s := newService(t, c.kind, word("allow"))
			if _, err := newAuditor(t, s.URL+c.end, c.kind).Audit(t.Context(), audit.Asker{}, aCase("x")); err != nil {
				t.Fatal(err)
			}
			if got := s.seen()[0]; !strings.HasPrefix(got, "POST "+c.path+"\n") {
				t.Errorf("%s%s goes to %.60s", c.kind, c.end, got)
			}
		}
	})
}

func TestSettingsThatCannotBe(t *testing.T) {
	good := auditor.Config{Endpoint: "https://models.example", Kind: auditor.OpenAI, Model: "m"}
	for want, change := range map[string]func(*auditor.Config){
		"name of a model":  func(c *auditor.Config) { c.Model = "" },
		"want at most 30s": func(c *auditor.Config) { c.Timeout = auditor.MaxTimeout + 1 },
		"timeout is -1ns":  func(c *auditor.Config) { c.Timeout = -1 },
		"no address":       func(c *auditor.Config) { c.Endpoint = "x" },
	} {
		c := good
		change(&c)
		if a, err := auditor.New(c); a != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	good.Timeout = auditor.MaxTimeout
	if _, err := auditor.New(good); err != nil {
		t.Error(err)
	}
}

// If there is no key, the error says so, and no request is sent.
func TestNoKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, auditor.OpenAI, word("allow"))
		a := newAuditor(t, s.URL, auditor.OpenAI, func(c *auditor.Config) {
			c.Key = func() (string, error) { return "", errors.New("the variable X is not set") }
		})
		_, err := a.Audit(t.Context(), audit.Asker{}, aCase("x"))
		if err == nil || err.Error() != "the auditor has no key: the variable X is not set" || len(s.seen()) != 0 {
			t.Errorf("%v, %d requests", err, len(s.seen()))
		}
	})
}

// FuzzAnswer reads what a service could send: only an answer whose whole text is that one word
// allows.
func FuzzAnswer(f *testing.F) {
	for _, text := range []string{"allow", "block", "allow it", ""} {
		f.Add(string(answer(auditor.OpenAI, text, "stop")), true)
		f.Add(string(answer(auditor.Anthropic, text, "end_turn")), false)
	}
	f.Fuzz(func(t *testing.T, data string, openai bool) {
		k := auditor.Anthropic
		if openai {
			k = auditor.OpenAI
		}
		by := roundTrip(func(*http.Request) (*http.Response, error) {
			w := httptest.NewRecorder()
			_, _ = w.WriteString(data)
			return w.Result(), nil
		})
		a, err := auditor.New(auditor.Config{Endpoint: "https://models.example", Kind: k, Model: "m", Transport: by})
		if err != nil {
			t.Fatal(err)
		}
		o, err := a.Audit(t.Context(), audit.Asker{}, aCase("x"))
		if o.Agrees() && (err != nil || openai && !strings.Contains(strings.ToLower(unescaped(data)), "allow")) {
			t.Errorf("%q agrees: %v", data, err)
		}
		if (o.Says == audit.Silent) != (err != nil) || len(o.Reason) > audit.MaxReasonBytes {
			t.Errorf("%q: %+v, %v", data, o, err)
		}
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements [http.RoundTripper].
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// unescaped returns JSON without escapes.
func unescaped(data string) string {
	for r := 'A'; r <= 'z'; r++ {
		for _, form := range []string{`\u%04x`, `\u%04X`} {
			data = strings.ReplaceAll(data, fmt.Sprintf(form, r), string(r))
		}
	}
	return data
}

var _ audit.Auditor = (*auditor.Auditor)(nil)

// A model has the configured timeout, or five seconds by default.
func TestHowLongItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		url := serve(t, func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		})
		for set, want := range map[time.Duration]time.Duration{0: 5 * time.Second, 3 * time.Second: 3 * time.Second} {
			a := newAuditor(t, url, auditor.OpenAI, func(c *auditor.Config) { c.Timeout = set })
			began := time.Now()
			_, err := a.Audit(t.Context(), audit.Asker{Session: "s"}, aCase("x"))
			if took := time.Since(began); took != want || err == nil || !strings.Contains(err.Error(), "did not answer within "+want.String()) {
				t.Errorf("set to %s: %s, %v", set, took, err)
			}
		}
	})
}
