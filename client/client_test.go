package client_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/client"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type hooksFunc func(ctx context.Context, tenant string, ev hook.Event) (hook.Reply, error)

func (f hooksFunc) Handle(ctx context.Context, tenant string, ev hook.Event) (hook.Reply, error) {
	return f(ctx, tenant, ev)
}

func event() hook.Event {
	return hook.Event{
		Point: hook.BeforeToolCall, Agent: "a", Session: "s",
		Call: hook.Call{Name: "send", Args: json.RawMessage(`{"n": 1.10}`)},
	}
}

// serve serves h on a local socket and returns its path.
func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := httpapi.NewServer(h)
	var wait sync.WaitGroup
	wait.Go(func() { _ = s.Serve(l) })
	t.Cleanup(func() { _ = s.Close(); wait.Wait() })
	return path
}

func dial(t *testing.T, target string, o client.Options) *client.Client {
	t.Helper()
	c, err := client.Dial(target, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// daemon answers events as an agent's socket would.
func daemon(f hooksFunc) http.Handler {
	h := httpapi.NewHookHandler(f, httpapi.Options{})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(httpapi.WithIdentity(r.Context(), httpapi.Identity{Name: "agent", May: httpapi.MayEvents})))
	})
}

func TestHandle(t *testing.T) {
	var got hook.Event
	want := hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free}, Footer: "from news.example"}
	path := serve(t, daemon(func(_ context.Context, _ string, ev hook.Event) (hook.Reply, error) { got = ev; return want, nil }))
	for _, target := range []string{path, "unix://" + path} {
		reply, err := dial(t, target, client.Options{}).Handle(t.Context(), event())
		if err != nil || !reflect.DeepEqual(reply, want) {
			t.Errorf("%+v, %v", reply, err)
		}
		if diff := cmp.Diff(event(), got); diff != "" {
			t.Error(diff)
		}
	}
}

// answers returns answers of a socket that are no replies.
func answers() map[string]http.HandlerFunc {
	raw := func(status int, content, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", content)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	return map[string]http.HandlerFunc{
		"unknown verdict":  raw(200, "application/proto", "\x0a\x07\x0a\x05ALLOW"),
		"not protobuf":     raw(200, "application/proto", "\xff\xff\xff"),
		"JSON unasked for": raw(200, "application/json", `{"decision":{"verdict":"allow"}}`),
		"a web page":       raw(200, "text/html", "<html>allow</html>"),
		"an error":         raw(500, "application/json", `{"code":"internal"}`),
		"two lines":        raw(500, "application/json", `{"code":"internal","message":"\u001b[31mone\ntwo"}`),
		"not found":        raw(404, "text/plain", "no"),
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://news.example", http.StatusTemporaryRedirect)
		},
		"too much": raw(200, "application/proto", strings.Repeat("x", client.MaxReplyBytes+1)),
		"hangs up": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"silence": func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // a server notices only by reading that the caller is gone
			<-r.Context().Done()
		},
	}
}

func zero(t *testing.T, what string, reply hook.Reply, err error) {
	t.Helper()
	line := reply.Line
	reply.Line = ""
	if err == nil || !reflect.DeepEqual(reply, hook.Reply{}) || !strings.HasPrefix(line, "Floodmark refuses this because it was not judged: ") || !strings.HasSuffix(line, ".") || strings.ContainsAny(line, "\x1b\n") {
		t.Errorf("%s: %+v, line %q, %v; want the zero reply with a line", what, reply, line, err)
	}
}

// For any answer that is no reply, the client returns a reply that restricts.
func TestAnyErrorRestricts(t *testing.T) {
	for name, answer := range answers() {
		if testing.Short() && name == "too much" {
			continue
		}
		c := dial(t, serve(t, answer), client.Options{Timeout: 2 * time.Second})
		reply, err := c.Handle(t.Context(), event())
		zero(t, name, reply, err)
	}
	gone := dial(t, filepath.Join(t.TempDir(), "nothing"), client.Options{})
	reply, err := gone.Handle(t.Context(), event())
	zero(t, "no daemon", reply, err)
	if !strings.Contains(reply.Line, "not running") {
		t.Errorf("no daemon: %q", reply.Line)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	reply, err = gone.Handle(ctx, event())
	zero(t, "given up", reply, err)
	reply, err = gone.Handle(t.Context(), hook.Event{})
	zero(t, "no event", reply, err)
	large := event()
	large.Call.Name = strings.Repeat("x", hook.MaxNameBytes+1)
	reply, err = gone.Handle(t.Context(), large)
	zero(t, "too large", reply, err)
	if !errors.Is(err, hook.ErrTooLarge) || !strings.Contains(reply.Line, "Split") {
		t.Errorf("too large: %q, %v", reply.Line, err)
	}
}

// A command in a reply is passed on before a call and nowhere else. If it is missing, a call that
// may only run in a box does not run.
func TestACommandInAReply(t *testing.T) {
	var answer hook.Reply
	mux := http.NewServeMux()
	mux.HandleFunc(wire.HookServiceHandleProcedure, func(w http.ResponseWriter, _ *http.Request) {
		data, err := proto.Marshal(wire.FromReply(answer))
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/proto")
		_, _ = w.Write(data)
	})
	c := dial(t, serve(t, mux), client.Options{})
	ev := event()
	for _, reach := range []floodmark.Reach{floodmark.Boxed, floodmark.Free} {
		answer = hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Allow, Reach: reach}, Command: "box -- ls"}
		ev.Point = hook.BeforeToolCall
		if reply, err := c.Handle(t.Context(), ev); err != nil || !reflect.DeepEqual(reply, answer) {
			t.Errorf("%+v, %v", reply, err)
		}
		ev.Point = hook.AfterToolCall
		reply, err := c.Handle(t.Context(), ev)
		zero(t, "after a call", reply, err)
	}
	answer = hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Allow}}
	for _, at := range []hook.Point{hook.BeforeToolCall, hook.AfterToolCall, hook.SessionStart} {
		ev.Point = at
		reply, err := c.Handle(t.Context(), ev)
		if want := (hook.Reply{Line: "refused because " + hook.ErrNoBox.Error() + "."}); !errors.Is(err, hook.ErrNoBox) || !reflect.DeepEqual(reply, want) {
			t.Errorf("a box without a command at %s: %+v, %v", at, reply, err)
		}
	}
}

// A daemon's own refusal is repeated word for word, because it is a reply and no error.
func TestRefusalsOfTheDaemonAreReplies(t *testing.T) {
	path := serve(t, daemon(func(context.Context, string, hook.Event) (hook.Reply, error) { return hook.Reply{}, errors.New("disk") }))
	reply, err := dial(t, path, client.Options{}).Handle(t.Context(), event())
	if err != nil || reply.Decision.Verdict != floodmark.Restrict || !strings.Contains(reply.Line, "floodmark status") {
		t.Errorf("%+v, %v", reply, err)
	}
	nobody := httpapi.NewHookHandler(hooksFunc(nil), httpapi.Options{})
	reply, err = dial(t, serve(t, nobody), client.Options{}).Handle(t.Context(), event())
	zero(t, "nobody", reply, err)
	if connect.CodeOf(err) != connect.CodeUnauthenticated || !strings.Contains(reply.Line, "token") {
		t.Errorf("nobody: %q, %v", reply.Line, err)
	}
}

func TestDialRefuses(t *testing.T) {
	for _, target := range []string{
		"", "floodmark.sock", "unix://", "unix://rel", "http://127.0.0.1:7443", "https://", "ftp://x", "https://a:b@firm.example",
		"https://firm.example/?x", "https://firm.example/#x", "://", "HTTP://firm.example",
	} {
		if c, err := client.Dial(target, client.Options{}); err == nil || c != nil {
			t.Errorf("%q: dialled", target)
		}
	}
	if _, err := client.Dial("/run/s", client.Options{Token: "fm_agent_x"}); err == nil {
		t.Error("a token for a local socket")
	}
}

// Over TLS the token is sent with calls and streams, but only by TLS 1.3 and to a daemon whose
// certificate is trusted.
func TestTLS(t *testing.T) {
	var seen []string
	mux := http.NewServeMux()
	note := func(path, content, body string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			seen = append(seen, r.URL.Path+" "+r.Header.Get("Authorization"))
			w.Header().Set("Content-Type", content)
			_, _ = io.WriteString(w, body)
		})
	}
	note(wire.HookServiceHandleProcedure, "application/proto", "\x0a\x07\x0a\x05allow")
	note(wire.OwnerServiceStatusProcedure, "application/proto", "")
	note(wire.OwnerServiceWatchProcedure, "application/connect+proto", "\x02\x00\x00\x00\x02{}")
	s := httptest.NewUnstartedServer(mux)
	s.EnableHTTP2, s.Config.ErrorLog = true, log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	pool := s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	c := dial(t, s.URL, client.Options{Token: "fm_owner_x", TLS: &tls.Config{RootCAs: pool}}) //nolint:gosec // Dial raises the version
	if reply, err := c.Handle(t.Context(), event()); err != nil || reply.Decision.Verdict != floodmark.Allow {
		t.Errorf("%+v, %v", reply, err)
	}
	if _, err := c.Owner().Status(t.Context(), &wire.StatusRequest{}); err != nil {
		t.Error(err)
	}
	stream, err := c.Owner().Watch(t.Context(), &wire.WatchRequest{})
	if err != nil || stream.Receive() || stream.Err() != nil {
		t.Errorf("%v, %v", err, stream.Err())
	}
	_ = stream.Close()
	for _, got := range seen {
		if !strings.HasSuffix(got, " Bearer fm_owner_x") {
			t.Errorf("called %s", got)
		}
	}
	if len(seen) != 3 {
		t.Errorf("%d calls", len(seen))
	}
	reply, err := dial(t, s.URL, client.Options{Token: "fm_owner_x"}).Handle(t.Context(), event())
	zero(t, "an authority nobody believes", reply, err)
	if !strings.Contains(reply.Line, "certificate") || len(seen) != 3 {
		t.Errorf("%q, %d calls", reply.Line, len(seen))
	}
	s.TLS.MaxVersion = tls.VersionTLS12
	reply, err = dial(t, s.URL, client.Options{TLS: &tls.Config{RootCAs: pool}}).Handle(t.Context(), event()) //nolint:gosec // as above
	zero(t, "TLS 1.2", reply, err)
}
