package hostile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A client talks to one server through the wrapper.
type client struct {
	t       *testing.T
	server  string // the owner's name for it
	cmd     *exec.Cmd
	in      io.WriteCloser
	notes   *buffer
	pids    string
	done    chan struct{} // closed when the wrapper has ended
	next    int
	mu      sync.Mutex // guards what is below
	answers map[string]chan reply
	asked   []asked // the server's requests to us
	told    []asked // the server's notifications
}

// A reply is an answer to a request.
type reply struct {
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// asked is a request or notification of the server.
type asked struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// clientVariable makes this program start the wrapper, as a client does. The processes that one
// program starts belong to one session of the monitor.
const clientVariable = "HOSTILE_TEST_CLIENT"

// start runs a command with our own standard streams.
func start(args []string) {
	if err := os.Unsetenv(clientVariable); err != nil {
		os.Exit(2)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if cmd.Run() != nil {
		os.Exit(1)
	}
}

// buffer keeps the messages of a process for people.
type buffer struct {
	mu sync.Mutex // guards b
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// connect starts the server of a case behind the wrapper, under a name.
func (w *world) connect(t *testing.T, server, plays string, args ...string) *client {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &client{t: t, server: server, notes: &buffer{}, pids: filepath.Join(w.dir, server+".pids"), done: make(chan struct{}), answers: map[string]chan reply{}}
	project := filepath.Join(w.dir, server)
	if err := os.MkdirAll(project, 0o700); err != nil {
		t.Fatal(err)
	}
	c.cmd = exec.Command(self, append([]string{w.program, "mcp", "wrap", "--dir", w.dir, "--socket", w.socket, "--server", server, "--", self}, args...)...)
	c.cmd.Dir, c.cmd.Stderr = project, c.notes
	c.cmd.Env = append(os.Environ(), clientVariable+"=1", serverVariable+"="+plays, pidVariable+"="+c.pids)
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go c.read(out)
	t.Cleanup(c.leave)
	return c
}

func (c *client) read(out io.Reader) {
	defer close(c.done)
	defer func() { _ = c.cmd.Wait() }() // how it ended is in ProcessState
	r := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			asked
			reply
		}
		if json.Unmarshal(line, &m) != nil {
			c.t.Errorf("the client was given a line that is no message: %.200s", line)
			continue
		}
		c.mu.Lock()
		wait := c.answers[string(m.ID)]
		switch {
		case m.Method != "" && len(m.ID) > 0:
			c.asked = append(c.asked, m.asked)
		case m.Method != "":
			c.told = append(c.told, m.asked)
		case wait == nil:
			c.t.Errorf("the client was given an answer to nothing: %.200s", line)
		default:
			delete(c.answers, string(m.ID))
			wait <- m.reply
		}
		c.mu.Unlock()
	}
}

// send sends one line to the server.
func (c *client) send(line string) {
	// The server may be gone already; the missing answers show that.
	_, _ = io.WriteString(c.in, line+"\n")
}

// begin sends a request and returns a function that waits for its answer.
func (c *client) begin(method, params string) (id string, wait func() reply) {
	c.t.Helper()
	c.next++
	id = strconv.Itoa(c.next)
	got := make(chan reply, 1)
	c.mu.Lock()
	c.answers[id] = got
	c.mu.Unlock()
	c.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":` + params + `}`)
	return id, func() reply {
		c.t.Helper()
		select {
		case r := <-got:
			return r
		case <-c.done:
			select {
			case r := <-got:
				return r
			default:
			}
			c.t.Fatalf("%s was not answered, and the wrapper has ended: %s", method, c.notes)
		}
		return reply{}
	}
}

func (c *client) ask(method, params string) reply {
	c.t.Helper()
	_, wait := c.begin(method, params)
	return wait()
}

// hello initializes the connection, with all capabilities that servers may use.
func (c *client) hello() reply {
	c.t.Helper()
	r := c.ask("initialize", `{"protocolVersion":"2025-06-18","capabilities":{"sampling":{},"elicitation":{},"roots":{"listChanged":true}},"clientInfo":{"name":"test","version":"1"}}`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return r
}

// tools returns the names of the tools that the client is shown.
func (c *client) tools() []string {
	c.t.Helper()
	names, _ := c.page("")
	return names
}

func (c *client) page(cursor string) (names []string, next string) {
	c.t.Helper()
	params := `{}`
	if cursor != "" {
		params = `{"cursor":` + quote(cursor) + `}`
	}
	r := c.ask("tools/list", params)
	var list struct {
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
		NextCursor string `json:"nextCursor"`
	}
	if r.Error == nil && json.Unmarshal(r.Result, &list) != nil {
		c.t.Fatalf("no list: %s", r.Result)
	}
	for _, t := range list.Tools {
		names = append(names, t.Name)
	}
	return names, list.NextCursor
}

// call calls a tool and returns what a model would read, and whether it failed.
func (c *client) call(name, args string) (text string, failed bool) {
	c.t.Helper()
	return outcome(c.ask("tools/call", `{"name":`+quote(name)+`,"arguments":`+args+`}`))
}

func outcome(r reply) (text string, failed bool) {
	if r.Error != nil {
		return r.Error.Message, true
	}
	var result struct {
		IsError bool `json:"isError"`
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	if json.Unmarshal(r.Result, &result) != nil {
		return string(r.Result), true
	}
	for _, part := range result.Content {
		text += part.Text
	}
	return text, result.IsError
}

// noted waits until the wrapper has written something to people.
func (c *client) noted(part string) {
	c.t.Helper()
	c.until("the wrapper says "+part, func() bool { return strings.Contains(c.notes.String(), part) })
}

// heard waits until the server's message of a method has arrived.
func (c *client) heard(method string) asked {
	c.t.Helper()
	var found asked
	c.until("the client hears "+method, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		all := append(slices.Clone(c.asked), c.told...)
		i := slices.IndexFunc(all, func(a asked) bool { return a.Method == method })
		if i >= 0 {
			found = all[i]
		}
		return i >= 0
	})
	return found
}

// until waits until a condition is true, and fails if the wrapper ends before that.
func (c *client) until(what string, is func() bool) {
	c.t.Helper()
	for !is() {
		select {
		case <-c.done:
			if !is() {
				c.t.Fatalf("not so: %s\nthe wrapper ended, and said: %s", what, c.notes)
			}
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// called waits until a call has reached the server, which records it in a file.
func (c *client) called() {
	c.t.Helper()
	c.until("the server is called", func() bool { return called(c.pids) })
}

// gone waits until the wrapper has ended by itself.
func (c *client) gone() { <-c.done }

// leave closes the connection as clients do, and waits until the wrapper has ended.
func (c *client) leave() {
	_ = c.in.Close()
	<-c.done
}

// reaped checks that no server of this client is still running.
func (c *client) reaped() {
	c.t.Helper()
	data, err := os.ReadFile(c.pids)
	if err != nil {
		c.t.Error(err)
	}
	for word := range strings.FieldsSeq(string(data)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			c.t.Fatal(err)
		}
		for syscall.Kill(pid, 0) == nil { // it is not our child, so we are not notified when it ends
			time.Sleep(5 * time.Millisecond)
		}
	}
}
