package hookframe_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/floodmark/floodmark/internal/agents/hookframe"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func dial(t *testing.T, l net.Listener) net.Conn {
	t.Helper()
	conn, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func echo(_ context.Context, req hookframe.Request) hookframe.Response {
	return hookframe.Response{Stdout: req.Agent + " " + req.Event}
}

// serve answers with h on l until the test ends.
func serve(t *testing.T, l net.Listener, h hookframe.Handler) {
	t.Helper()
	var wait sync.WaitGroup
	wait.Go(func() {
		if err := hookframe.ServeAll(t.Context(), l, func(net.Conn) hookframe.Handler { return h }, nil); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(wait.Wait)
}

func TestAskAndServe(t *testing.T) {
	l := listen(t)
	serve(t, l, echo)
	for range 3 {
		resp, err := hookframe.Ask(dial(t, l), question())
		if err != nil || resp.Stdout != "codex PreToolUse" || resp.V != hookframe.Version {
			t.Errorf("%+v, %v", resp, err)
		}
	}
}

// A program newer than the daemon gets a denial that it understands.
func TestServeRefusesWhatItCannotRead(t *testing.T) {
	l := listen(t)
	serve(t, l, echo)
	for name, data := range map[string]string{
		"newer":   string(frame(`{"v":2,"agent":"codex"}`)),
		"no JSON": string(frame(`hello`)),
		"large":   "\x01\x00\x00\x00",
	} {
		conn := dial(t, l)
		if _, err := io.WriteString(conn, data); err != nil {
			t.Fatal(err)
		}
		resp, err := hookframe.ReadResponse(conn)
		if err != nil || resp.Exit != hookframe.Refused || resp.Stdout != "" || resp.Stderr == "" {
			t.Errorf("%s: %+v, %v; want a refusal", name, resp, err)
		}
	}
}

func TestServeRefusesAnAnswerThatIsTooLarge(t *testing.T) {
	l := listen(t)
	serve(t, l, func(context.Context, hookframe.Request) hookframe.Response {
		return hookframe.Response{Stdout: strings.Repeat("x", hookframe.MaxResponse)}
	})
	if resp, err := hookframe.Ask(dial(t, l), question()); err != nil || resp.Exit != hookframe.Refused {
		t.Errorf("%d bytes, exit %d, %v", len(resp.Stdout), resp.Exit, err)
	}
}

// The daemon's denial comes before the asker's deadline.
func TestHandlersContextEndsBeforeTheAskersPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer near.Close()
		var wait sync.WaitGroup
		wait.Go(func() {
			if err := hookframe.Serve(t.Context(), far, func(ctx context.Context, _ hookframe.Request) hookframe.Response {
				<-ctx.Done()
				return hookframe.Refuse(ctx.Err().Error())
			}); err != nil {
				t.Error(err)
			}
		})
		req := question()
		req.DeadlineMS = 1000
		began := time.Now()
		resp, err := hookframe.Ask(near, req)
		if took := time.Since(began); err != nil || !strings.Contains(resp.Stderr, context.DeadlineExceeded.Error()) || took != 900*time.Millisecond {
			t.Errorf("after %s: %+v, %v", took, resp, err)
		}
		wait.Wait()
	})
}

func TestAskGivesUpAtItsDeadline(t *testing.T) {
	l := listen(t)
	req := question()
	req.DeadlineMS = 50
	if resp, err := hookframe.Ask(dial(t, l), req); err == nil { // no one accepts
		t.Errorf("%+v", resp)
	}
}

func TestHandlersContextEndsWhenTheAskerIsGone(t *testing.T) {
	l := listen(t)
	gone := make(chan error, 1)
	serve(t, l, func(ctx context.Context, _ hookframe.Request) hookframe.Response {
		<-ctx.Done()
		gone <- ctx.Err()
		return hookframe.Refuse("late")
	})
	conn := dial(t, l)
	req := question()
	req.DeadlineMS = hookframe.MaxWait.Milliseconds()
	if err := hookframe.WriteRequest(conn, req); err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestSplit(t *testing.T) {
	frames, web := hookframe.Split(listen(t))
	serve(t, frames, echo)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Method+" "+r.URL.Path)
	})}
	var wait sync.WaitGroup
	wait.Go(func() { _ = server.Serve(web) })
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(context.Context, string, string) (net.Conn, error) { return net.Dial("unix", web.Addr().String()) },
	}}
	for range 3 {
		if resp, err := hookframe.Ask(dial(t, frames), question()); err != nil || resp.Stdout != "codex PreToolUse" {
			t.Errorf("frames: %+v, %v", resp, err)
		}
		resp, err := client.Get("http://hook/a")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if resp.Body.Close(); err != nil || string(body) != "GET /a" {
			t.Errorf("http: %q, %v", body, err)
		}
	}
	_ = server.Close()
	wait.Wait()
	if _, err := frames.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closing one closes both: %v", err)
	}
}

// A listener reports when something is read from a connection that it accepted.
type listener struct {
	net.Listener
	heard chan<- struct{}
}

func (l listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	return reading{conn, l.heard}, err
}

type reading struct {
	net.Conn
	heard chan<- struct{}
}

func (r reading) Read(p []byte) (int, error) {
	r.heard <- struct{}{}
	return r.Conn.Read(p)
}

// A silent connection does not block Close.
func TestSplitClosesTheUndecided(t *testing.T) {
	heard := make(chan struct{}, 1)
	frames, web := hookframe.Split(listener{listen(t), heard})
	conn := dial(t, frames)
	<-heard
	if err := web.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("it is still open")
	}
}

func TestSplitHandsOnTheConnectionItself(t *testing.T) {
	frames, _ := hookframe.Split(listen(t))
	defer frames.Close()
	if _, err := dial(t, frames).Write([]byte{0, 1, 2}); err != nil {
		t.Fatal(err)
	}
	conn, err := frames.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if c, ok := conn.(*hookframe.Conn); !ok {
		t.Errorf("a %T", conn)
	} else if _, ok := c.NetConn().(*net.UnixConn); !ok {
		t.Errorf("around a %T", c.NetConn())
	}
	b := make([]byte, 3)
	if _, err := io.ReadFull(conn, b); err != nil || string(b) != "\x00\x01\x02" {
		t.Errorf("%q, %v", b, err)
	}
}
