package console

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"github.com/floodmark/floodmark/internal/agents/peer"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/wire"
)

// A watched is an owner's desk whose streams last until their caller is gone, and whose questions
// have a code.
type watched struct{ httpapi.Owner }

// Sessions lasts until its caller is gone.
func (watched) Sessions(ctx context.Context, _ httpapi.Identity, r *wire.SessionsRequest) (*wire.SessionsResponse, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (watched) Watch(ctx context.Context, _ httpapi.Identity, _ *wire.WatchRequest, send func(*wire.WatchResponse) error) error {
	if err := send(&wire.WatchResponse{What: &wire.WatchResponse_Asked{Asked: &wire.Question{Ticket: "t-1", Code: "secret"}}}); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

func (watched) Pending(context.Context, httpapi.Identity, *wire.PendingRequest) (*wire.PendingResponse, error) {
	return &wire.PendingResponse{Questions: []*wire.Question{{Ticket: "t-1", Code: "secret"}}}, nil
}

func (watched) Show(context.Context, httpapi.Identity, *wire.ShowRequest) (*wire.ShowResponse, error) {
	return &wire.ShowResponse{Pending: []*wire.Question{{Ticket: "t-1", Code: "secret"}}}, nil
}

func (watched) Answer(_ context.Context, who httpapi.Identity, _ *wire.AnswerRequest) (*wire.AnswerResponse, error) {
	return &wire.AnswerResponse{Notice: "answered by " + who.Channel}, nil
}

// A served is a console with a port of its own.
type served struct {
	*house
	base string
	end  func() error
}

// serve runs a console until the test ends.
func serve(t *testing.T) *served {
	t.Helper()
	h := newHouse(t)
	h.opts.API = httpapi.NewOwnerHandler(watched{}, httpapi.Options{})
	s := &served{house: h}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx) }()
	s.end = func() error {
		err := errors.Join(h.Stop(context.WithoutCancel(ctx)), <-ended)
		cancel()
		return err
	}
	return s
}

// open logs a page in and returns the client of it.
func (s *served) open() (wire.OwnerServiceClient, *http.Client) {
	s.t.Helper()
	a, err := s.OpenConsole(httpapi.AtTerminal(s.t.Context()), owner(httpapi.OwnerMay), &wire.OpenConsoleRequest{})
	if err != nil {
		s.t.Fatal(err)
	}
	base, code, _ := strings.Cut(a.GetLink(), "/#open=")
	s.base = base
	transport := &http.Transport{}
	s.t.Cleanup(transport.CloseIdleConnections)
	web := &http.Client{Transport: transport}
	resp, err := web.Post(base+loginPath, "application/json", strings.NewReader(`{"code":"`+code+`"}`))
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	_, token, _ := strings.Cut(string(data), `{"token":"`)
	token, _, _ = strings.Cut(token, `"`)
	if err != nil || token == "" {
		s.t.Fatalf("%d, %v: %s", resp.StatusCode, err, data)
	}
	says := connect.WithInterceptors(connect.UnaryInterceptorFunc(func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
			r.Header().Set("Authorization", "Bearer "+token)
			return next(ctx, r)
		}
	}), streaming(token))
	return wire.NewOwnerServiceClient(web, base, connect.WithProtoJSON(), says), web
}

// open0 opens the console, and no page.
func (s *served) open0() {
	s.t.Helper()
	a, err := s.OpenConsole(httpapi.AtTerminal(s.t.Context()), owner(httpapi.OwnerMay), &wire.OpenConsoleRequest{})
	if err != nil {
		s.t.Fatal(err)
	}
	s.base, _, _ = strings.Cut(a.GetLink(), "/#open=")
}

// streaming adds a token to streams.
type streaming string

func (streaming) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc { return next }

func (s streaming) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return func(ctx context.Context, spec connect.Spec) connect.StreamingClientConn {
		conn := next(ctx, spec)
		conn.RequestHeader().Set("Authorization", "Bearer "+string(s))
		return conn
	}
}

func (streaming) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return next
}

// TestAStreamEndsWithItsToken: at once, however long it would last.
func TestAStreamEndsWithItsToken(t *testing.T) {
	for name, end := range map[string]func(*served) error{
		"closed": func(s *served) error {
			_, err := s.CloseConsole(t.Context(), owner(httpapi.OwnerMay), nil)
			return err
		},
		"one page too many": func(s *served) error { s.logins(maxTokens); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t)
			page, _ := s.open()
			stream, err := page.Watch(t.Context(), &wire.WatchRequest{})
			if err != nil || !stream.Receive() {
				t.Fatal(err, stream.Err())
			}
			if q := stream.Msg().GetAsked(); q.GetTicket() == "" || q.GetCode() != "" {
				t.Errorf("the stream shows %v", q)
			}
			s.now = s.now.Add(1)
			if err := end(s); err != nil {
				t.Fatal(err)
			}
			if stream.Receive() || connect.CodeOf(stream.Err()) != connect.CodeUnauthenticated {
				t.Errorf("the stream goes on, or ended with %v", stream.Err())
			}
			if _, err := page.Pending(t.Context(), &wire.PendingRequest{}); connect.CodeOf(err) != connect.CodeUnauthenticated {
				t.Errorf("a call afterwards: %v", err)
			}
			if err := errors.Join(stream.Close(), s.end()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestACallEndsWithItsToken: a call under way keeps neither a page that was logged out nor the monitor.
func TestACallEndsWithItsToken(t *testing.T) {
	for name, end := range map[string]func(*served) error{
		"logged out":  (*served).CloseAll,
		"the monitor": func(s *served) error { return s.end() },
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t)
			began := make(chan struct{}, 1)
			api := s.opts.API
			s.opts.API = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				began <- struct{}{}
				api.ServeHTTP(w, r)
			})
			page, _ := s.open()
			ended := make(chan error, 1)
			go func() {
				_, err := page.Sessions(t.Context(), &wire.SessionsRequest{})
				ended <- err
			}()
			<-began
			if err := end(s); err != nil {
				t.Fatal(err)
			}
			if err := <-ended; connect.CodeOf(err) != connect.CodeUnauthenticated || !strings.Contains(err.Error(), "floodmark open") {
				t.Errorf("the call ended with %v", err)
			}
			if name == "logged out" {
				if err := s.end(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestAPageThatDoesNotRead keeps the monitor no longer than a moment.
func TestAPageThatDoesNotRead(t *testing.T) {
	s := serve(t)
	began := make(chan struct{})
	s.opts.API = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(began)
		for {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				return
			}
		}
	})
	s.open0()
	at := strings.TrimPrefix(s.base, "http://")
	conn, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Length: 0\r\n\r\n", wire.OwnerServiceWatchProcedure, at)
	<-began
	if err := s.end(); err != nil {
		t.Error(err)
	}
	_ = conn.Close()
}

// TestHangingUpIsNoIncident: a page that is left has no process any more; a program that stays on and
// cannot be told is recorded.
func TestHangingUpIsNoIncident(t *testing.T) {
	s := serve(t)
	judge, leaver := s.opts.Judge, make(chan net.Conn, 1)
	s.opts.Judge = func(ours, theirs netip.AddrPort, guess peer.Process) (peer.Caller, bool) {
		select {
		case c := <-leaver:
			_ = c.Close()
		default:
		}
		return judge(ours, theirs, guess)
	}
	s.at = 4711 // a process that has ended
	s.open0()
	at := strings.TrimPrefix(s.base, "http://")
	for _, leaves := range []bool{true, false} {
		conn, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		if leaves {
			leaver <- conn
		}
		fmt.Fprintf(conn, "POST /login HTTP/1.1\r\nHost: %s\r\nContent-Length: 2\r\n\r\n{}", at)
		_, _ = io.ReadAll(conn) // until it was refused
		_ = conn.Close()
	}
	if err := s.end(); err != nil {
		t.Error(err)
	}
	if len(s.incidents) != 1 || !strings.HasPrefix(s.incidents[0], "unknown-peer: ") {
		t.Errorf("%q", s.incidents)
	}
}

// TestNoCodeLeaves: codes prove a person at a terminal; the console answers what its card shows.
func TestNoCodeLeaves(t *testing.T) {
	s := serve(t)
	page, _ := s.open()
	pending, err := page.Pending(t.Context(), &wire.PendingRequest{})
	if err != nil || len(pending.GetQuestions()) != 1 || pending.GetQuestions()[0].GetCode() != "" {
		t.Errorf("%v, %v", pending, err)
	}
	show, err := page.Show(t.Context(), &wire.ShowRequest{})
	if err != nil || show.GetPending()[0].GetCode() != "" {
		t.Errorf("%v, %v", show, err)
	}
	for name, c := range map[string]struct {
		q    *wire.AnswerRequest
		want connect.Code
	}{
		"by code":        {&wire.AnswerRequest{Code: "secret", Verb: "approve", Seen: "x"}, connect.CodeInvalidArgument},
		"deny by code":   {&wire.AnswerRequest{Code: "secret", Verb: "deny"}, connect.CodeInvalidArgument},
		"not seen":       {&wire.AnswerRequest{Ticket: "t-1", Verb: "approve"}, connect.CodeInvalidArgument},
		"seen":           {&wire.AnswerRequest{Ticket: "t-1", Verb: "approve", Seen: "x"}, 0},
		"denied, unseen": {&wire.AnswerRequest{Ticket: "t-1", Verb: "deny"}, 0},
	} {
		a, err := page.Answer(t.Context(), c.q)
		if c.want != 0 && connect.CodeOf(err) != c.want || c.want == 0 && (err != nil || a.GetNotice() != "answered by console") {
			t.Errorf("%s: %v, %v", name, a, err)
		}
	}
	if err := s.end(); err != nil {
		t.Error(err)
	}
}

// TestClosedUntilOpened: nothing listens before the first link, and nothing after the end.
func TestClosedUntilOpened(t *testing.T) {
	s := serve(t)
	if s.at0() != "" {
		t.Error("it listens, and nobody opened it")
	}
	s.open()
	address := strings.TrimPrefix(s.base, "http://")
	if at, err := netip.ParseAddrPort(address); err != nil || !at.Addr().IsLoopback() {
		t.Errorf("it listens on %s", address)
	}
	first := s.base
	if s.open(); s.base != first {
		t.Errorf("a second port: %s and %s", first, s.base)
	}
	if err := s.end(); err != nil {
		t.Fatal(err)
	}
	if conn, err := net.Dial("tcp", address); err == nil {
		_ = conn.Close()
		t.Error("it listens on after its end")
	}
	if _, err := s.OpenConsole(httpapi.AtTerminal(t.Context()), owner(httpapi.OwnerMay), &wire.OpenConsoleRequest{}); err == nil {
		t.Error("it was opened after its end")
	}
}

// TestABrokenListenerIsReplaced: the console's trouble does not end the monitor.
func TestABrokenListenerIsReplaced(t *testing.T) {
	s := serve(t)
	page, _ := s.open()
	s.mu.Lock()
	server := s.server
	s.mu.Unlock()
	_ = server.Close()
	for s.at0() != "" { // until Run has seen it
		if _, err := page.Pending(t.Context(), &wire.PendingRequest{}); err == nil {
			t.Fatal("a closed server answers")
		}
	}
	again, _ := s.open()
	if _, err := again.Pending(t.Context(), &wire.PendingRequest{}); err != nil {
		t.Error(err)
	}
	if err := s.end(); err != nil {
		t.Error(err)
	}
}

// TestLargeHeadersAndFloods: what is too much is refused, and the page of the owner goes on.
func TestLargeHeadersAndFloods(t *testing.T) {
	s := serve(t)
	page, _ := s.open()
	stream, err := page.Watch(t.Context(), &wire.WatchRequest{})
	if err != nil || !stream.Receive() {
		t.Fatal(err, stream.Err())
	}
	address := strings.TrimPrefix(s.base, "http://")
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: %s\r\nX: %s\r\n\r\n", address, strings.Repeat("x", 2*maxHeaderBytes))
	if line, _ := bufio.NewReader(conn).ReadString('\n'); !strings.Contains(line, "431") {
		t.Errorf("large headers: %q", line)
	}
	_ = conn.Close()
	var flood []net.Conn
	for range 2 * maxConnections {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		flood = append(flood, c)
	}
	if _, err := flood[0].Read(make([]byte, 1)); !errors.Is(err, io.EOF) && err == nil {
		t.Errorf("the oldest of a flood: %v", err)
	}
	if _, err := page.Pending(t.Context(), &wire.PendingRequest{}); err != nil {
		t.Errorf("a call of the owner's page: %v", err)
	}
	if err := s.CloseAll(); err != nil {
		t.Error(err)
	}
	if stream.Receive() || connect.CodeOf(stream.Err()) != connect.CodeUnauthenticated {
		t.Errorf("the stream of the owner's page broke: %v", stream.Err())
	}
	for _, c := range flood {
		_ = c.Close()
	}
	if err := errors.Join(stream.Close(), s.end()); err != nil {
		t.Error(err)
	}
}

// CloseAll ends all pages.
func (s *served) CloseAll() error {
	_, err := s.CloseConsole(s.t.Context(), owner(httpapi.OwnerMay), nil)
	return err
}
