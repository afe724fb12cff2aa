package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/wire"
)

var _ httpapi.Hooks = (*monitor.Monitor)(nil)

// Every protocol carries the same event to the monitor and its answer back.
func TestEveryProtocolCarriesTheSame(t *testing.T) {
	sent := plainEvent()
	sent.Call.Args = json.RawMessage(`{"amount": 12345678901234567890.10, "to": "anna@firm.example"}`)
	sent.Messages = []hook.Content{{Kind: floodmark.NodeInput, Text: "héllo", Digest: floodmark.DigestOf("x")}}
	answer := hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Confirm, Blame: []floodmark.NodeID{0, 3}}, Line: "«no»", Ticket: "t1"}
	var got []hook.Event
	h := hooksFunc(func(ctx context.Context, tenant string, ev hook.Event) (hook.Reply, error) {
		if tenant != "firm" || httpapi.IdentityOf(ctx).Name != "bot" {
			t.Errorf("tenant %q, identity %+v", tenant, httpapi.IdentityOf(ctx))
		}
		got = append(got, ev)
		return answer, nil
	})
	who := httpapi.Identity{Tenant: "firm", Name: "bot", May: httpapi.MayEvents}
	c := serve(t, as(who, httpapi.NewHookHandler(h, httpapi.Options{})))
	for name, client := range protocols(t, c) {
		got = nil
		w, err := client.Handle(t.Context(), wire.FromEvent(sent))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		reply, err := w.Hook()
		if diff := cmp.Diff(answer, reply); err != nil || diff != "" {
			t.Errorf("%s: %v; reply (-sent +arrived):\n%s", name, err, diff)
		}
		if diff := cmp.Diff([]hook.Event{sent}, got); diff != "" {
			t.Errorf("%s: event (-sent +arrived):\n%s", name, diff)
		}
	}
}

// curl can send the JSON of the Go struct, and gets the reply in the same form.
func TestPlainJSON(t *testing.T) {
	sent := plainEvent()
	yes := true
	sent.Call.Args, sent.Call.Hints = json.RawMessage(`{"n":12345678901234567890.10}`), &hook.Hints{ReadOnly: &yes}
	sent.Calls = []hook.Call{{ID: "1", Name: "a", Args: json.RawMessage(`[1e400]`)}, {Name: "b", Args: json.RawMessage(`7.0`)}, {Name: "c"}}
	body, err := json.Marshal(sent)
	if err != nil {
		t.Fatal(err)
	}
	var got hook.Event
	answer := hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Audit, Reasons: []floodmark.Reason{{Code: "rule", Verdict: floodmark.Audit}}}, BlockTurn: true}
	h := hooksFunc(func(_ context.Context, _ string, ev hook.Event) (hook.Reply, error) { got = ev; return answer, nil })
	c := serve(t, as(agent(), httpapi.NewHookHandler(h, httpapi.Options{})))
	for _, content := range []string{"application/json", "application/json; charset=utf-8"} {
		got = hook.Event{}
		status, text := post(t, c, handleURL, string(body), "Content-Type", content)
		if diff := cmp.Diff(sent, got); diff != "" || status != http.StatusOK {
			t.Errorf("%s: status %d; event (-sent +arrived):\n%s", content, status, diff)
		}
		var reply hook.Reply
		if err := json.Unmarshal([]byte(text), &reply); err != nil || !reflect.DeepEqual(reply, answer) {
			t.Errorf("%s: %s (%v)", content, text, err)
		}
	}
	// Arguments that are sent as a string are taken as the arguments themselves.
	post(t, c, handleURL, `{"point":"session_end","agent":"a","session":"s","call":{"name":"x","args":"{\"to\": 7}"}}`)
	if string(got.Call.Args) != `{"to": 7}` {
		t.Errorf("arguments sent as text arrived as %s", got.Call.Args)
	}
	post(t, c, handleURL, `{"point":"session_end","agent":"a","session":"s","call":{"name":"x","args":null}}`)
	if got.Call.Name != "x" || got.Call.Args != nil {
		t.Errorf("no arguments arrived as %s", got.Call.Args)
	}
}

// restricts reads a reply and reports whether it is a refusal with words.
func restricts(t testing.TB, text string) (hook.Reply, bool) {
	t.Helper()
	var r hook.Reply
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Errorf("not a reply: %s", text)
		return r, false
	}
	d := r.Decision
	return r, d.Verdict == floodmark.Restrict && len(d.Reasons) > 0 && d.Reasons[0].Code == floodmark.Unjudged &&
		d.Remedy.Agent != "" && d.Remedy.Person != "" && r.Line != ""
}

// An unreadable event gets a denial, a reason and a hint.
func TestUnreadableEventsRestrict(t *testing.T) {
	h := hooksFunc(func(context.Context, string, hook.Event) (hook.Reply, error) {
		t.Error("an unreadable event was judged")
		return allow(), nil
	})
	c := serve(t, as(agent(), httpapi.NewHookHandler(h, httpapi.Options{})))
	const good = `"point":"session_end","agent":"a","session":"s"`
	for body, says := range map[string]string{
		``: "not the JSON", `{`: "not the JSON", `[]`: "found [", `null`: "", `7`: "does not fit", `{} {}`: "does not fit",
		`{}`:                                                                "unknown hook point",
		`{` + good + `,"sesion":"x"}`:                                       `unknown field "sesion"`,
		`{` + good + `,"agent":"b"}`:                                        `duplicate field "agent"`,
		`{` + good + `,"typed":"CANARY"}`:                                   "does not fit",
		`{"point":"x","agent":"a","session":"s"}`:                           `unknown hook point "x"`,
		`{"point":"session_end","agent":"a"}`:                               "needs an agent and a session",
		`{` + good + `,"call":{"args":{"a":1},"args":{"a":2}}}`:             `duplicate field "args"`,
		`{` + good + `,"call":{"args":{]}}`:                                 "not the JSON",
		`{` + good + `,"call":{"name":"` + strings.Repeat("x", 513) + `"}}`: "at most 512",
		`{` + good + `,"call":{"args":` + strings.Repeat("[", 65) + strings.Repeat("]", 65) + `}}`: "nested 65 deep",
		`{` + good + `,"result":{"digest":"abc"}}`:                                                 "digest has 3 characters",
		`{"point":"` + strings.Repeat("y", 5000) + `","agent":"a","session":"s"}`:                  "…",
	} {
		status, text := post(t, c, handleURL, body)
		reply, ok := restricts(t, text)
		if status != http.StatusOK || !ok || !strings.Contains(reply.Line, says) || strings.Contains(reply.Line, "CANARY") || len(reply.Line) > 600 {
			t.Errorf("%.80s: status %d, line %q; want one that says %q", body, status, reply.Line, says)
		}
	}
	if status, text := post(t, c, handleURL, "{}", "Content-Encoding", "gzip"); status != http.StatusOK || !strings.Contains(text, "compressed") {
		t.Errorf("compressed: %d %s", status, text)
	}
	if status, text := post(t, c, handleURL, "\xff\xff", "Content-Type", "application/proto"); status != http.StatusOK || strings.Contains(text, "allow") {
		t.Errorf("bad protobuf: %d %q", status, text)
	}
	for name, client := range protocols(t, c) {
		if reply, err := client.Handle(t.Context(), &wire.Event{}); err != nil || reply.GetDecision().GetVerdict() != "restrict" || reply.GetLine() == "" {
			t.Errorf("%s: %v, %v", name, reply, err)
		}
	}
}

// An error of the monitor is a refusal, even beside an allowing reply, and its text is not sent
// unless it was worded for people.
func TestFailuresRestrict(t *testing.T) {
	for says, h := range map[string]hooksFunc{
		"could not be judged": func(context.Context, string, hook.Event) (hook.Reply, error) {
			return allow(), errors.New("CANARY /var/lib")
		},
		"could not be judged or": func(context.Context, string, hook.Event) (hook.Reply, error) { panic("CANARY") },
		"the disk is full. Make room.": func(context.Context, string, hook.Event) (hook.Reply, error) {
			return allow(), fmt.Errorf("x: %w", &monitor.Refusal{Reason: "the disk is full", Hint: "Make room.", Err: errors.New("CANARY")})
		},
		"whoever asked": func(context.Context, string, hook.Event) (hook.Reply, error) { return allow(), context.Canceled },
	} {
		var told error
		o := httpapi.Options{Failed: func(_ string, err error) { told = err }}
		c := serve(t, as(agent(), httpapi.NewHookHandler(h, o)))
		status, text := post(t, c, handleURL, `{"point":"after_llm_call","agent":"a","session":"s","calls":[{"name":"x"},{"name":"y"}]}`)
		reply, ok := restricts(t, text)
		if status != http.StatusOK || !ok || !strings.Contains(reply.Line, says) || strings.Contains(text, "CANARY") || told == nil {
			t.Errorf("%s: status %d, told %v: %s", says, status, told, text)
		}
		if len(reply.Calls) != 2 || reply.Calls[1].Verdict != floodmark.Restrict {
			t.Errorf("%s: the calls are answered by %+v", says, reply.Calls)
		}
	}
}

// A caller cannot say in this protocol that it replaces commands, so a call for a box is refused
// with a reason of its own. It is not to be sent to other nodes, which would refuse it, too.
func TestABoxedYesIsRefused(t *testing.T) {
	boxed := floodmark.Decision{Verdict: floodmark.Allow}
	for want, answer := range map[error]hook.Reply{
		hook.ErrNoBox:        {Decision: boxed},
		hook.ErrOtherCommand: {Decision: boxed, Command: "box -- ls"},
	} {
		h := hooksFunc(func(context.Context, string, hook.Event) (hook.Reply, error) { return answer, nil })
		c := serve(t, as(agent(), httpapi.NewHookHandler(h, httpapi.Options{})))
		for _, point := range []string{"before_tool_call", "after_llm_call"} {
			_, text := post(t, c, handleURL, `{"point":"`+point+`","agent":"a","session":"s","call":{"name":"x"},"calls":[{"name":"x"}]}`)
			var r hook.Reply
			if err := json.Unmarshal([]byte(text), &r); err != nil {
				t.Fatal(err)
			}
			if r.Decision.Verdict != floodmark.Restrict || r.Command != "" || r.Line != "refused because "+want.Error()+"." || len(r.Calls) != 1 || r.Calls[0].Verdict != floodmark.Restrict ||
				r.Decision.Reasons[0].Code != floodmark.OutsideBox {
				t.Errorf("%s: %s", point, text)
			}
		}
	}
}

// The caller gets a refusal before its own deadline, and no request runs longer than the cap.
func TestDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := hooksFunc(func(ctx context.Context, _ string, _ hook.Event) (hook.Reply, error) {
			<-ctx.Done()
			return allow(), ctx.Err()
		})
		c := serveInMemory(t, as(agent(), httpapi.NewHookHandler(slow, httpapi.Options{})))
		var wait sync.WaitGroup
		for name, client := range protocols(t, c) {
			wait.Go(func() {
				began := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
				defer cancel()
				reply, err := client.Handle(ctx, wire.FromEvent(plainEvent()))
				if took := time.Since(began); took != 3*time.Second-200*time.Millisecond {
					t.Errorf("%s: after %v", name, took)
				}
				if err != nil || reply.GetDecision().GetVerdict() != "restrict" || !strings.Contains(reply.GetLine(), "no time left") {
					t.Errorf("%s: %v, %v", name, reply, err)
				}
			})
		}
		wait.Wait()
		c = serveInMemory(t, as(agent(), httpapi.NewHookHandler(slow, httpapi.Options{MaxWait: 10 * time.Second})))
		for _, header := range [][]string{nil, {"Connect-Timeout-Ms", "600000"}} {
			began := time.Now()
			_, text := post(t, c, handleURL, `{"point":"session_end","agent":"a","session":"s"}`, header...)
			if _, ok := restricts(t, text); !ok || time.Since(began) != 10*time.Second-200*time.Millisecond {
				t.Errorf("%v: after %v: %s", header, time.Since(began), text)
			}
		}
		if status, _ := post(t, c, handleURL, `{}`, "Connect-Timeout-Ms", "soon"); status != http.StatusBadRequest {
			t.Errorf("a time that is none: status %d", status)
		}
	})
}

// An event may be as large as the limit, in every protocol, and is refused one
// byte beyond it.
func TestEventBytesAtAndBeyondTheLimit(t *testing.T) {
	if testing.Short() {
		t.Skip("events of 32 MiB")
	}
	seen := 0
	h := hooksFunc(func(_ context.Context, _ string, ev hook.Event) (hook.Reply, error) {
		seen = len(ev.Text)
		return allow(), nil
	})
	c := serve(t, as(agent(), httpapi.NewHookHandler(h, httpapi.Options{})))
	const head, tail = `{"point":"session_end","agent":"a","session":"s","text":"`, `"}`
	room := hook.MaxEventBytes - len(head) - len(tail)
	text := strings.Repeat("x", room+1)
	if _, answer := post(t, c, handleURL, head+text[:room]+tail); seen != room || !strings.Contains(answer, "allow") {
		t.Errorf("at the limit: %d bytes arrived, %s", seen, answer)
	}
	if status, answer := post(t, c, handleURL, head+text+tail); status != http.StatusOK || !strings.Contains(answer, "too large") {
		t.Errorf("beyond the limit: %d %s", status, answer)
	}
	const around = 19 // the bytes that protobuf and the names add
	client := wire.NewHookServiceClient(c, "http://test")
	for extra, want := range map[int]string{0: "allow", 1: "restrict"} {
		ev := &wire.Event{Point: "session_end", Agent: "a", Session: "s", Text: strings.Repeat("x", hook.MaxEventBytes-around-5+extra)}
		reply, err := client.Handle(t.Context(), ev)
		if err != nil || reply.GetDecision().GetVerdict() != want {
			t.Errorf("protobuf, %d beyond: %v, %v", extra, reply.GetDecision().GetVerdict(), err)
		}
	}
	if reply, err := protocols(t, c)["gRPC"].Handle(t.Context(), &wire.Event{Text: strings.Repeat("x", hook.MaxEventBytes)}); err != nil || reply.GetDecision().GetVerdict() != "restrict" {
		t.Errorf("gRPC, beyond: %v, %v", reply, err)
	}
}

func TestWrongDoors(t *testing.T) {
	c := serve(t, as(agent(), httpapi.NewHookHandler(hooksFunc(allowAll), httpapi.Options{})))
	for path, want := range map[string]int{
		"/": 404, "/floodmark.v1.HookService/": 404, "/floodmark.v1.HookService/handle": 404, wire.OwnerServiceStatusProcedure: 404,
	} {
		if status, _ := post(t, c, "http://test"+path, "{}"); status != want {
			t.Errorf("%s: %d, want %d", path, status, want)
		}
	}
	if status, _ := post(t, c, handleURL, "{}", "Content-Type", "text/plain"); status != http.StatusUnsupportedMediaType {
		t.Errorf("text: status %d", status)
	}
	if resp, err := c.Get(handleURL + "?encoding=json&message={}"); err != nil || resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("GET: %v, %v", resp, err)
	} else {
		_ = resp.Body.Close()
	}
}

// A slow body ends in a timeout.
func TestSlowBodies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := serveInMemory(t, as(agent(), httpapi.NewHookHandler(hooksFunc(allowAll), httpapi.Options{})))
		body := make(slowBody)
		defer close(body)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, handleURL, body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		began := time.Now()
		resp, err := c.Do(r)
		if took := time.Since(began); took != httpapi.DefaultMaxBody {
			t.Errorf("waited for %v", took)
		}
		if err != nil {
			return // the server closed the connection
		}
		defer resp.Body.Close()
		var reply hook.Reply
		if err := json.NewDecoder(resp.Body).Decode(&reply); err == nil && reply.Decision.Verdict != floodmark.Restrict {
			t.Errorf("half an event was answered by %+v", reply)
		}
	})
}

// slowBody sends nothing until it is closed.
type slowBody chan struct{}

func (b slowBody) Read([]byte) (int, error) {
	<-b
	return 0, errors.New("over")
}
