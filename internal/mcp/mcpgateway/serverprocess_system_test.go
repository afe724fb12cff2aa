package mcpgateway

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/mcp/mcpstdio"
)

// asServer is the argument that makes this test program a server.
const asServer = "-be-an-mcp-server"

// beServer makes this test program a server of tools if it was started as one.
func beServer() bool {
	if len(os.Args) < 2 || os.Args[1] != asServer {
		return false
	}
	if len(os.Args) > 3 {
		stubborn(os.Args[2], os.Args[3])
		return true
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ServerOptions{Instructions: "Be kind."})
	type in struct {
		Text string `json:"text"`
	}
	mcp.AddTool(s, &mcp.Tool{Name: "echo", Description: "Says it again."}, func(ctx context.Context, r *mcp.CallToolRequest, a in) (*mcp.CallToolResult, any, error) {
		if token := r.Params.GetProgressToken(); token != nil {
			_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: 1})
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: a.Text}}}, nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "pid", Description: "Its process."}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strconv.Itoa(os.Getpid())}}}, nil, nil
	})
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return true
}

// stubborn neither reads nor ends, and starts a child that does the same. The child
// holds a named pipe open as long as it runs.
func stubborn(role, pipe string) {
	terms := make(chan os.Signal, 1)
	signal.Notify(terms, syscall.SIGTERM)
	if role == "child" {
		held, err := os.OpenFile(pipe, os.O_WRONLY, 0) // when the test has opened it, too
		if err != nil {
			return
		}
		defer held.Close()
	} else {
		c := exec.Command(os.Args[0], asServer, "child", pipe)
		c.Stdout = os.Stdout
		if c.Start() == nil {
			fmt.Println(`{"jsonrpc":"2.0","method":"notifications/child"}`)
		}
	}
	time.Sleep(time.Hour) // if the test was killed, it is not there for ever
}

// startStubborn starts a stubborn server, and returns a pipe that ends with the
// child of the server, which runs.
func startStubborn(t *testing.T, patience time.Duration) (server mcp.Connection, child io.Reader) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "child")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	server, err = mcpstdio.Start(mcpstdio.Command{Args: []string{program, asServer, "server", path}, Patience: patience})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := server.Read(t.Context()); err != nil { // it ignores signals from here on
		t.Fatal(err)
	}
	held, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = held.Close() })
	return server, held
}

// through connects an SDK client to a server process through a relay.
func through(t *testing.T, j Judge, opts *mcp.ClientOptions) (*mcp.ClientSession, chan error) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	server, err := mcpstdio.Start(mcpstdio.Command{Args: []string{program, asServer}, Stderr: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	near, far := mcp.NewInMemoryTransports()
	client, err := far.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- Run(context.Background(), client, server, Options{Server: "test", Session: NewSession(j, Client{}), Pins: seesAll{}})
	}()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, opts).Connect(t.Context(), near, nil)
	if err != nil {
		t.Fatal(err)
	}
	return session, ended
}

func TestASDKClientAndAServerProcess(t *testing.T) {
	t.Parallel()
	progress := make(chan float64, 1)
	j := &fakeJudge{}
	session, ended := through(t, j, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { progress <- r.Params.Progress },
	})
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 2 {
		t.Fatalf("tools %v, %v", tools, err)
	}
	params := &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "hello"}}
	params.SetProgressToken("p")
	res, err := session.CallTool(t.Context(), params)
	if err != nil || res.IsError || res.Content[0].(*mcp.TextContent).Text != "hello" {
		t.Fatalf("result %+v, %v", res, err)
	}
	if got := <-progress; got != 1 {
		t.Errorf("progress %v", got)
	}
	pid := processOf(t, session)
	if err := session.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("ended with %v", err)
	}
	if err := syscall.Kill(pid, 0); err == nil {
		t.Error("the server still runs")
	}
	said := j.told(hook.ContextAssembled)
	if len(said) == 0 || !strings.Contains(said[0].Sources[0].Text, "Be kind.") {
		t.Errorf("its instructions are no source: %+v", said)
	}
}

func processOf(t *testing.T, s *mcp.ClientSession) int {
	t.Helper()
	res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "pid"})
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(res.Content[0].(*mcp.TextContent).Text)
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func TestAServerThatIsKilled(t *testing.T) {
	t.Parallel()
	session, ended := through(t, &fakeJudge{}, nil)
	pid := processOf(t, session)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "the server ended") {
		t.Errorf("ended with %v", err)
	}
	if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "pid"}); err == nil {
		t.Error("a call of a server that is gone worked")
	}
	_ = session.Close()
}

// A server that does not end is made to, with what it started.
func TestAStubbornServerIsReaped(t *testing.T) {
	t.Parallel()
	server, child := startStubborn(t, 0)
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	if _, err := io.Copy(io.Discard, child); err != nil { // until it runs no more
		t.Error(err)
	}
}

// A server that does not read must not keep the client.
func TestADeafServer(t *testing.T) {
	t.Parallel()
	server, child := startStubborn(t, 50*time.Millisecond)
	client := newSide(t)
	ended := make(chan error, 1)
	go func() {
		ended <- Run(context.Background(), client.conn, server, Options{Server: "deaf", Session: NewSession(&fakeJudge{}, Client{})})
	}()
	client.say(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", 1<<20) + `"}}`)
	if err := <-ended; err == nil {
		t.Error("it went on")
	}
	_ = client.in.Close()
	if _, err := io.Copy(io.Discard, child); err != nil {
		t.Error(err)
	}
}
