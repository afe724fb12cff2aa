package e2e

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents"
	"github.com/floodmark/floodmark/internal/hookframe"
)

// answers are what the shim tells pi, by event. An absent one lets pi go on.
type answers struct {
	Input struct {
		Action string `json:"action"`
	} `json:"input"`
	Call *struct {
		Block  bool   `json:"block"`
		Reason string `json:"reason"`
	} `json:"tool_call"`
	Result *struct {
		Content []struct{ Text string } `json:"content"`
		IsError bool                    `json:"isError"`
	} `json:"tool_result"`
	Bash *struct {
		Result struct {
			Output string `json:"output"`
		} `json:"result"`
	} `json:"user_bash"`
}

// drive runs every handler of the shim against whoever serves the socket.
func drive(t *testing.T, serve func(net.Conn)) answers {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "s")
	if serve != nil {
		serving(t, socket, serve)
	}
	return driveAt(t, socket)
}

// driveAt runs them with a socket of that name.
func driveAt(t *testing.T, socket string) answers {
	t.Helper()
	if *installed == "" {
		t.Skip("real agents are run by .ci/agents")
	}
	jiti := tool(t, "pi-"+piVersion, "node_modules", "jiti", "lib", "jiti.mjs")
	shim, err := filepath.Abs("../../../integrations/pi/floodmark.ts")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), runWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "testdata/drive.mjs", jiti, shim)
	cmd.Env = append(os.Environ(), hookframe.SocketVariable+"="+socket, "FLOODMARK_HOOK_DEADLINE=300ms")
	out, err := cmd.Output()
	var got answers
	if err == nil {
		err = json.Unmarshal(out, &got)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return got
}

// serving lets serve have every connection to a socket, until the test ends.
func serving(t *testing.T, socket string, serve func(net.Conn)) {
	t.Helper()
	l := listen(t, socket)
	var wait sync.WaitGroup
	wait.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wait.Go(func() { defer conn.Close(); serve(conn) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); wait.Wait() })
}

type always floodmark.Verdict

func (v always) Handle(context.Context, string, hook.Event) (hook.Reply, error) {
	return hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Verdict(v)}, Line: "because."}, nil
}

func answering(v floodmark.Verdict) func(net.Conn) {
	return func(conn net.Conn) {
		_ = hookframe.Serve(context.Background(), conn, agents.Door{Hooks: always(v)}.Answer)
	}
}

func TestShimDoesAsItIsTold(t *testing.T) {
	got := drive(t, answering(floodmark.Allow))
	if got.Input.Action != "continue" || got.Call != nil || got.Result != nil || got.Bash != nil {
		t.Errorf("allowed: %+v", got)
	}
	got = drive(t, answering(floodmark.Restrict))
	if !got.closed() || got.Call.Reason != "floodmark: because." {
		t.Errorf("refused: %+v", got)
	}
}

// closed reports whether pi does nothing and shows nothing.
func (a answers) closed() bool {
	return a.Input.Action == "handled" &&
		a.Call != nil && a.Call.Block && a.Call.Reason != "" &&
		a.Result != nil && a.Result.IsError && len(a.Result.Content) == 1 && !strings.Contains(a.Result.Content[0].Text, "RESULT") &&
		a.Bash != nil && a.Bash.Result.Output != ""
}

// Node takes a number for a port, and a name for one in the project's folder.
func TestShimAsksAtAbsolutePathsOnly(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	wait.Go(func() {
		for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
			answering(floodmark.Allow)(conn)
		}
	})
	t.Cleanup(func() { _ = l.Close(); wait.Wait() })
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if got := driveAt(t, port); !got.closed() {
		t.Errorf("it believed whoever answers at a port: %+v", got)
	}
}

func TestShimIsClosedOnEveryFailure(t *testing.T) {
	says := func(data []byte) func(net.Conn) {
		return func(conn net.Conn) {
			if _, err := hookframe.ReadRequest(conn); err != nil {
				t.Error(err)
			}
			_, _ = conn.Write(data)
		}
	}
	frame := func(body string) []byte {
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
	}
	for name, serve := range map[string]func(net.Conn){
		"no daemon":     nil,
		"silent":        func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) },
		"slow":          func(conn net.Conn) { time.Sleep(500 * time.Millisecond); answering(floodmark.Allow)(conn) },
		"closes":        func(net.Conn) {},
		"garbage":       says([]byte("HTTP/1.1 200 OK\r\n\r\n")),
		"half":          says(frame(`{"v":1,"stdout":"{\"block\":false}","stderr":"","exit":0}`)[:30]),
		"no JSON":       says(frame(`hello`)),
		"null":          says(frame(`null`)),
		"newer":         says(frame(`{"v":2,"stdout":"{\"block\":false,\"keep\":true,\"action\":\"continue\"}","stderr":"","exit":0}`)),
		"status":        says(frame(`{"v":1,"stdout":"{\"block\":false,\"keep\":true,\"action\":\"continue\"}","stderr":"no","exit":2}`)),
		"no status":     says(frame(`{"v":1,"stdout":"{\"block\":false,\"keep\":true,\"action\":\"continue\"}","stderr":""}`)),
		"empty":         says(frame(`{"v":1,"stdout":"","stderr":"","exit":0}`)),
		"nothing to do": says(frame(`{"v":1,"stdout":"{}","stderr":"","exit":0}`)),
		"a word":        says(frame(`{"v":1,"stdout":"\"yes\"","stderr":"","exit":0}`)),
	} {
		t.Run(name, func(t *testing.T) {
			if got := drive(t, serve); !got.closed() {
				t.Errorf("%+v", got)
			}
		})
	}
}
