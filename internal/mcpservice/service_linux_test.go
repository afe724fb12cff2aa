package mcpservice

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestSeveralServersBehindOneAddress(t *testing.T) {
	t.Setenv("SECRET_OF_THE_GATEWAY", "hush")
	r := run(t, child(t, "one"), child(t, "two"), remote(t, "far"))
	c := r.connect(t, "anna", "", nil)
	var names []string
	for tool, err := range c.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
	}
	slices.Sort(names)
	want := []string{
		"far__echo", "far__environment", "far__hang", "far__pid", "one__echo", "one__environment", "one__hang", "one__pid",
		"two__echo", "two__environment", "two__hang", "two__pid",
	}
	if !slices.Equal(names, want) {
		t.Errorf("%v", names)
	}
	for _, name := range []string{"one", "two", "far"} {
		if got, err := call(t.Context(), c, name+"__echo", "x"); got != "x" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	env, err := call(t.Context(), c, "one__environment", "")
	if err != nil || !strings.Contains(env, "OWN=own-one") || strings.Contains(env, "hush") || strings.Contains(env, "own-two") {
		t.Errorf("a server's environment: %s, %v", env, err)
	}
	r.judge.mu.Lock()
	r.judge.refuse = "echo"
	calls := slices.Clone(r.judge.calls)
	r.judge.mu.Unlock()
	slices.Sort(calls)
	if !slices.Equal(calls, []string{"far/echo", "one/echo", "one/environment", "two/echo"}) || r.judge.sessions() != 1 {
		t.Errorf("the monitor was asked: %v, in %d sessions", calls, r.judge.sessions())
	}
	if got, err := call(t.Context(), c, "two__echo", "x"); err == nil || !strings.Contains(err.Error(), "not this one") {
		t.Errorf("refused: %q, %v", got, err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	until(t, "the monitor hears of the end", func() bool { r.judge.mu.Lock(); defer r.judge.mu.Unlock(); return r.judge.ended == 1 })
}

// Whose a client says it is, and what process it is, the monitor is told; it
// decides.
func TestTheMonitorIsToldWhoCalls(t *testing.T) {
	r := runWith(t, func(o *Options) { o.Caller = LocalCaller(os.Getuid()) }, child(t, "one"))
	c := r.connect(t, "anna", "s-1", nil)
	if got, err := call(t.Context(), c, "one__echo", "x"); got != "x" {
		t.Errorf("%q, %v", got, err)
	}
	r.judge.mu.Lock()
	defer r.judge.mu.Unlock()
	if r.judge.claims != "s-1" || r.judge.caller.PID != os.Getpid() || r.judge.caller.Start == 0 || len(r.judge.who) != 1 {
		t.Errorf("%v, %q, %v", r.judge.who, r.judge.claims, r.judge.caller)
	}
}

func TestKillOfAServer(t *testing.T) {
	r := run(t, child(t, "one"), child(t, "two"), remote(t, "far"))
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
	until(t, "it is reaped", func() bool { return gone(pid) })
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
	r := run(t, child(t, "one"), remote(t, "far"))
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
		until(t, "all have gone", func() bool {
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
	until(t, "no file and no goroutine is left", func() bool { return open(t) <= files+4 && runtime.NumGoroutine() <= routines+4 })
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
	r := run(t, child(t, "one"), child(t, "two"), remote(t, "far"))
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

// A server that reads nothing keeps neither the others from answering nor the
// gateway from stopping.
func TestADeafServer(t *testing.T) {
	silent := child(t, "deaf")
	silent.Args = []string{asDeaf}
	r := run(t, silent, child(t, "one"))
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
	began := time.Now()
	if err := r.stop(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("stopping took %v", took)
	}
	cancel()
	calls.Wait()
}
