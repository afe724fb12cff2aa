package daemon

import (
	"context"
	"io"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"connectrpc.com/connect"

	"github.com/floodmark/floodmark"

	"github.com/floodmark/floodmark/internal/agents/peer"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/wire"
)

// A consoled is a daemon whose console is open in the owner's browser.
type consoled struct {
	*runner
	base  string
	token string
	page  wire.OwnerServiceClient
	// agent says that the agent, which is this test's own process, connects to the console from now on.
	agent atomic.Bool
}

// looking replaces the table of processes that the daemon looks at.
func looking(table peer.Table) func(*Daemon) { return func(d *Daemon) { d.gate.Table = table } }

// startConsole runs a daemon that takes the test's parent for the owner's browser.
func startConsole(t *testing.T) *consoled {
	t.Helper()
	c := &consoled{}
	c.runner = startWith(t, t.TempDir(), true, func(*Options) {}, looking(atTerminal{}), func(d *Daemon) {
		d.gate.OfTCP = func(netip.AddrPort, netip.AddrPort, []int, peer.Process) (peer.Process, int, error) {
			pid := os.Getppid()
			if c.agent.Load() {
				pid = os.Getpid()
			}
			info, err := peer.System{}.Look(pid)
			return info.Process, os.Getuid(), err
		}
	})
	a, err := c.owner(t).Console().OpenConsole(t.Context(), &wire.OpenConsoleRequest{})
	if err != nil {
		t.Fatal(err)
	}
	base, code, _ := strings.Cut(a.GetLink(), "/#open=")
	c.base = base
	status, body := c.post(t, "/login", "", `{"code":"`+code+`"}`)
	_, rest, _ := strings.Cut(body, `{"token":"`)
	c.token, _, _ = strings.Cut(rest, `"`)
	if status != http.StatusOK || c.token == "" {
		t.Fatalf("%d: %s", status, body)
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	c.page = wire.NewOwnerServiceClient(&http.Client{Transport: transport}, base, connect.WithProtoJSON(),
		connect.WithInterceptors(connect.UnaryInterceptorFunc(func(next connect.UnaryFunc) connect.UnaryFunc {
			return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
				r.Header().Set("Authorization", "Bearer "+c.token)
				return next(ctx, r)
			}
		})))
	return c
}

// post sends a request on a connection of its own.
func (c *consoled) post(t *testing.T, path, token, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := new(http.Client).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(data)
}

// TestTheConsoleAnswers: a card is answered by what it showed, without a code, and the journal says
// where.
func TestTheConsoleAnswers(t *testing.T) {
	t.Parallel()
	c := startConsole(t)
	hooks := c.hooks(t)
	poison(t, hooks, "s1")
	if got := tell(t, hooks, run("s1")); got.Decision.Verdict != floodmark.Confirm {
		t.Fatalf("nothing was asked: %+v", got.Decision)
	}
	pending, err := c.page.Pending(t.Context(), &wire.PendingRequest{})
	if err != nil || len(pending.GetQuestions()) != 1 {
		t.Fatalf("%v, %v", pending, err)
	}
	q := pending.GetQuestions()[0]
	if q.GetCode() != "" || q.GetSeen() == "" {
		t.Errorf("the card: code %q, seen %q", q.GetCode(), q.GetSeen())
	}
	say := func(seen string) (*wire.AnswerResponse, error) {
		return c.page.Answer(t.Context(), &wire.AnswerRequest{Session: q.GetSession(), Ticket: q.GetTicket(), Verb: "approve", Calls: int32(len(q.GetCalls())), Seen: seen})
	}
	if a, err := say(""); connect.CodeOf(err) != connect.CodeInvalidArgument {
		t.Errorf("unseen: %v, %v", a, err)
	}
	if a, err := say(strings.Repeat("0", len(q.GetSeen()))); err != nil || a.GetAnswered() {
		t.Errorf("another card: %v, %v", a, err)
	}
	if a, err := say(q.GetSeen()); err != nil || !a.GetAnswered() {
		t.Fatalf("the card: %v, %v", a, err)
	}
	channel := ""
	for e, err := range c.d.store.Read(t.Context(), journal.Session{ID: "s1"}, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if f, err := e.Fact(); err != nil {
			t.Error(err)
		} else if f, ok := f.(floodmark.TicketAnswered); ok {
			channel = f.Channel
		}
	}
	if channel != "console" {
		t.Errorf("the journal says that it was answered at %q", channel)
	}
	if a, err := say(q.GetSeen()); err != nil || a.GetAnswered() {
		t.Errorf("a second time: %v, %v", a, err)
	}
}

// TestThePersonAtTheConsole: what takes a person at a terminal is heard there too.
func TestThePersonAtTheConsole(t *testing.T) {
	t.Parallel()
	c := startConsole(t)
	poison(t, c.hooks(t), "s1")
	show, err := c.page.Show(t.Context(), &wire.ShowRequest{Session: "s1"})
	if err != nil || len(show.GetSources()) == 0 {
		t.Fatalf("%v, %v", show, err)
	}
	digest := ""
	for _, s := range show.GetSources() {
		if strings.Contains(s.String(), "web_fetch") {
			digest = s.GetDigest()
		}
	}
	if a, err := c.page.Endorse(t.Context(), &wire.EndorseRequest{Session: "s1", Digest: digest}); err != nil || !a.GetDone() {
		t.Errorf("endorse: %v, %v", a, err)
	}
	if a, err := c.page.Withdraw(t.Context(), &wire.WithdrawRequest{Session: "s1", Digest: digest}); err != nil || !a.GetDone() {
		t.Errorf("withdraw: %v, %v", a, err)
	}
	if _, err := c.page.Pause(t.Context(), &wire.PauseRequest{Seconds: 60}); err != nil {
		t.Errorf("pause: %v", err)
	}
	if a, err := c.page.Resume(t.Context(), &wire.ResumeRequest{}); err != nil || len(a.GetEnded()) != 1 {
		t.Errorf("resume: %v, %v", a, err)
	}
	if _, err := c.page.Undo(t.Context(), &wire.UndoRequest{}); err != nil && !strings.Contains(err.Error(), "nothing is kept here") {
		t.Errorf("undo: %v", err)
	}
	if _, err := c.page.Leave(t.Context(), &wire.LeaveRequest{}); connect.CodeOf(err) != connect.CodeFailedPrecondition {
		t.Errorf("leave a fleet: %v", err)
	}
	mint := wire.NewConsoleServiceClient(http.DefaultClient, c.base, connect.WithProtoJSON())
	if _, err := mint.OpenConsole(t.Context(), &wire.OpenConsoleRequest{}); connect.CodeOf(err) != connect.CodeUnauthenticated {
		t.Errorf("a link without a token: %v", err)
	}
	if status, body := c.post(t, wire.ConsoleServiceOpenConsoleProcedure, c.token, "{}"); status == http.StatusOK {
		t.Errorf("a page made a link: %s", body)
	}
	if status, body := c.post(t, wire.ConsoleServiceCloseConsoleProcedure, c.token, "{}"); status != http.StatusOK || !strings.Contains(body, `"ended":1`) {
		t.Errorf("close: %d %s", status, body)
	}
	if _, err := c.page.Pending(t.Context(), &wire.PendingRequest{}); connect.CodeOf(err) != connect.CodeUnauthenticated {
		t.Errorf("after the end: %v", err)
	}
	if s, err := c.owner(t).Owner().Status(t.Context(), &wire.StatusRequest{}); err != nil || s.GetIncidents() != 0 {
		t.Errorf("a page that is logged out is no incident: %v, %v", s.GetWarnings(), err)
	}
}

// TestAnAgentAtTheConsole: an agent's process gets nothing, with the owner's token or without, and
// what it tried is in status. Its own token opens nothing for anybody.
func TestAnAgentAtTheConsole(t *testing.T) {
	t.Parallel()
	c := startConsole(t)
	tokens, err := httpapi.OpenTokens(filepath.Join(t.TempDir(), "tokens"), now)
	if err != nil {
		t.Fatal(err)
	}
	agents, _, err := tokens.Create(httpapi.Token{Kind: httpapi.AgentKind, Name: "agent"})
	if err != nil {
		t.Fatal(err)
	}
	if status, _ := c.post(t, wire.OwnerServiceStatusProcedure, agents, "{}"); status != http.StatusUnauthorized {
		t.Errorf("an agent's token: %d", status)
	}
	tell(t, c.hooks(t), run("s1")) // from now on this process is the agent
	c.agent.Store(true)
	for _, path := range []string{"/", "/index.html", "/login", wire.OwnerServiceStatusProcedure, wire.HookServiceHandleProcedure} {
		if status, body := c.post(t, path, c.token, "{}"); status != http.StatusForbidden || !strings.Contains(body, "which this monitor guards") {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	c.agent.Store(false)
	if s, err := c.page.Status(t.Context(), &wire.StatusRequest{}); err != nil || !strings.Contains(strings.Join(s.GetWarnings(), "\n"), "was tried at the console") {
		t.Errorf("not written down: %v, %v", s.GetWarnings(), err)
	}
	if status, _ := c.post(t, wire.HookServiceHandleProcedure, c.token, "{}"); status != http.StatusNotFound {
		t.Errorf("the console takes events: %d", status)
	}
}

// TestNobodyOpenedTheConsole: then it listens nowhere, and a script cannot open it.
func TestNobodyOpenedTheConsole(t *testing.T) {
	t.Parallel()
	r := startWith(t, t.TempDir(), true, func(*Options) {}, looking(noTerminal{}))
	if _, err := r.owner(t).Console().OpenConsole(t.Context(), &wire.OpenConsoleRequest{}); connect.CodeOf(err) != connect.CodeInvalidArgument {
		t.Errorf("a script opened it: %v", err)
	}
	if a, err := r.owner(t).Console().CloseConsole(t.Context(), &wire.CloseConsoleRequest{}); err != nil || a.GetEnded() != 0 {
		t.Errorf("%v, %v", a, err)
	}
}

// noTerminal takes every process for one without a terminal.
type noTerminal struct{ peer.System }

// Look implements [peer.Table].
func (n noTerminal) Look(pid int) (peer.Info, error) {
	info, err := n.System.Look(pid)
	info.Terminal = false
	return info, err
}

// TestNoConsoleOfTheMachine: a monitor with a user of its own says why it has none.
func TestNoConsoleOfTheMachine(t *testing.T) {
	t.Parallel()
	r := startWith(t, t.TempDir(), true, func(o *Options) { o.System = true }, looking(atTerminal{}))
	if _, err := r.owner(t).Console().OpenConsole(t.Context(), &wire.OpenConsoleRequest{}); err == nil || !strings.Contains(err.Error(), "another user than your browser") {
		t.Errorf("%v", err)
	}
}
