package mcpservice

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/floodmark/floodmark/internal/setup/config"
)

func TestMain(m *testing.M) {
	if slices.Contains(os.Args, asDeaf) {
		deaf()
		return
	}
	if slices.Contains(os.Args, asPost) {
		if err := post().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		return
	}
	if slices.Contains(os.Args, asServer) {
		if err := server("child", strconv.Itoa(os.Getpid()), os.Environ()).Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// asServer is the argument that makes this test program a server.
const asServer = "-be-an-mcp-server"

// asDeaf makes this test program a server that stops reading after it was initialized.
const asDeaf = "-be-deaf"

func deaf() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 1<<16), 1<<16)
	for range 2 {
		if in.Scan() {
			fmt.Println(`{"jsonrpc":"2.0","id":` + regexp.MustCompile(`"id":(\d+)`).FindStringSubmatch(in.Text() + `"id":0`)[1] +
				`,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"deaf","version":"1"}}}`)
		}
	}
	time.Sleep(time.Hour) // if the test was killed, it is not there for ever
}

// process returns a server that is this test program in a process of its own.
func process(t *testing.T, name string) config.GatewayServer {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return config.GatewayServer{Name: name, Command: program, Args: []string{asServer}}
}

// runProcesses runs a gateway that starts processes.
func runProcesses(t *testing.T, servers ...config.GatewayServer) *running {
	t.Helper()
	return runWith(t, func(o *Options) { o.start = nil }, servers...)
}

// until polls a condition for which there is no event.
func until(ok func() bool) {
	for !ok() {
		time.Sleep(10 * time.Millisecond)
	}
}

// gone reports whether a process has gone, even as a zombie.
func gone(pid string) bool {
	_, err := os.Stat("/proc/" + pid)
	return errors.Is(err, os.ErrNotExist)
}

func TestKillOfAServer(t *testing.T) {
	t.Parallel()
	r := runProcesses(t, process(t, "one"), process(t, "two"), remote(t, "far"))
	begun, changed := make(chan int, 1), make(chan int, 10)
	c := r.connect(t, "anna", "", &mcp.ClientOptions{
		ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) { begun <- 1 },
		ToolListChangedHandler:      func(context.Context, *mcp.ToolListChangedRequest) { changed <- 1 },
	})
	pid, err := call(t.Context(), c, "two__pid", "")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	params := &mcp.CallToolParams{Name: "two__hang", Arguments: words{}}
	params.SetProgressToken("t")
	go func() { _, err := c.CallTool(t.Context(), params); ended <- err }()
	<-begun
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(n, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "two") {
		t.Errorf("the open call: %v", err)
	}
	<-changed
	until(func() bool { return gone(pid) })
	for _, name := range []string{"one", "far"} {
		if got, err := call(t.Context(), c, name+"__echo", "x"); got != "x" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if next, err := call(t.Context(), c, "two__pid", ""); err != nil || next == pid {
		t.Errorf("the next call starts it again: %q, %v", next, err)
	}
}

// Every client has servers of its own, and when it has gone nothing of it is
// left: no process, no goroutine, no file.
func TestManyClientsAtOnce(t *testing.T) {
	r := runProcesses(t, process(t, "one"), remote(t, "far"))
	round := func() map[string]bool {
		var mu sync.Mutex
		pids := map[string]bool{}
		var clients sync.WaitGroup
		for i := range 20 {
			clients.Go(func() {
				c := r.connect(t, fmt.Sprint("client", i), "", nil)
				for range 5 {
					if got, err := call(t.Context(), c, "far__echo", "x"); got != "x" {
						t.Errorf("%q, %v", got, err)
					}
				}
				pid, err := call(t.Context(), c, "one__pid", "")
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				pids[pid] = true
				mu.Unlock()
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		clients.Wait()
		until(func() bool {
			for pid := range pids {
				if !gone(pid) {
					return false
				}
			}
			return r.Sessions() == 0
		})
		return pids
	}
	if pids := round(); len(pids) != 20 || r.judge.sessions() != 20 {
		t.Errorf("%d processes, %d sessions", len(pids), r.judge.sessions())
	}
	files, routines := open(t), runtime.NumGoroutine()
	round()
	round()
	defer func() {
		t.Logf("files %d, then %d; goroutines %d, then %d", files, open(t), routines, runtime.NumGoroutine())
	}()
	until(func() bool { return open(t) <= files+4 && runtime.NumGoroutine() <= routines+4 })
}

func open(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func TestStopWithCallsOpen(t *testing.T) {
	t.Parallel()
	r := runProcesses(t, process(t, "one"), process(t, "two"), remote(t, "far"))
	var pids []string
	var calls sync.WaitGroup
	for i := range 3 {
		c := r.connect(t, fmt.Sprint("client", i), "", nil)
		for _, name := range []string{"one", "two"} {
			pid, err := call(t.Context(), c, name+"__pid", "")
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
			calls.Go(func() {
				if _, err := call(t.Context(), c, name+"__hang", ""); err == nil {
					t.Error("a call that hangs was answered")
				}
			})
		}
	}
	if err := r.stop(); err != nil {
		t.Error(err)
	}
	for _, pid := range pids {
		if !gone(pid) {
			t.Errorf("process %s is left", pid)
		}
	}
	calls.Wait()
}

// A server that does not read delays neither the other servers nor the stop of the gateway.
func TestADeafServer(t *testing.T) {
	t.Parallel()
	silent := process(t, "deaf")
	silent.Args = []string{asDeaf}
	r := runProcesses(t, silent, process(t, "one"))
	c := r.connect(t, "anna", "", nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var calls sync.WaitGroup
	for range 3 {
		calls.Go(func() {
			if _, err := call(ctx, c, "deaf__x", strings.Repeat("x", 1<<20)); err == nil {
				t.Error("a server that reads nothing answered")
			}
		})
	}
	for range 3 {
		if got, err := call(t.Context(), c, "one__echo", "x"); got != "x" {
			t.Errorf("%q, %v", got, err)
		}
	}
	if err := r.stop(); err != nil {
		t.Error(err)
	}
	cancel()
	calls.Wait()
}
