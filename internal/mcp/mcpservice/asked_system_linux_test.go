package mcpservice

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	ask "github.com/floodmark/floodmark/client"
	"github.com/floodmark/floodmark/wire"
)

// postRules describe the tools of the post server: what it finds was written by strangers, and it
// sends letters.
const postRules = `version: 1
profile: assistant
tools:
  - server: post
    tool: look_around
    effect: observe
    returns: {trust: external, secrecy: public}
  - server: post
    tool: post_letter
    effect: send
    remote: true
    returns: {trust: external, secrecy: public}
    args:
      to: {role: critical, is: destination}
  - server: post
    tool: configure
    effect: admin
    remote: true
    returns: {trust: external, secrecy: public}
`

// A house is a monitor with its owner and the real program.
type house struct {
	t            *testing.T
	program, dir string
}

// build builds the real program.
func build(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "floodmark")
	if out, err := exec.Command("go", "build", "-o", program, "../../../cmd/floodmark").CombinedOutput(); err != nil {
		t.Fatalf("build floodmark: %v\n%s", err, out)
	}
	return program
}

// newHouse starts a monitor, with service.yaml.
func newHouse(t *testing.T, program, service string) *house {
	t.Helper()
	dir, err := os.MkdirTemp("", "fma") //nolint:usetesting // short: a socket lies in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	h := &house{t, program, dir}
	h.write("policy.yaml", postRules)
	h.write("service.yaml", service)
	h.start("serve")
	h.reach("unix", filepath.Join(dir, "run", "hook.sock"))
	return h
}

func (h *house) write(name, text string) {
	h.t.Helper()
	path := filepath.Join(h.dir, "config", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// start runs the program until the test ends.
func (h *house) start(args ...string) {
	h.t.Helper()
	cmd := exec.Command(h.program, append(args, "--dir", h.dir)...)
	var mu sync.Mutex
	var said bytes.Buffer
	cmd.Stderr = &locked{&mu, &said}
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil || h.t.Failed() {
			h.t.Logf("%v ended with %v:\n%s", args, err, said.String())
		}
	})
}

type locked struct {
	mu  *sync.Mutex
	out *bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(p)
}

// reach waits until the program listens, which it does not announce.
func (h *house) reach(network, address string) {
	h.t.Helper()
	until(func() bool {
		c, err := net.Dial(network, address)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
}

// tells runs a command of the owner and returns what it prints.
func (h *house) tells(args ...string) string {
	h.t.Helper()
	out, err := exec.Command(h.program, append(args, "--dir", h.dir)...).CombinedOutput()
	if err != nil {
		h.t.Errorf("%v: %v", args, err)
	}
	return string(out)
}

// owner returns a client for the owner's requests to the monitor.
func (h *house) owner() wire.OwnerServiceClient {
	h.t.Helper()
	c, err := ask.Dial(filepath.Join(h.dir, "run", "owner.sock"), ask.Options{})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(c.Close)
	return c.Owner()
}

// A person answers the forms in a client's window.
type person struct {
	mu    sync.Mutex
	asked []*mcp.ElicitParams
	says  func(context.Context, *mcp.ElicitParams) *mcp.ElicitResult
	shown chan struct{} // gets one for each window that was opened, if the test waits
	over  chan struct{} // gets one for each window that was closed
}

func (p *person) options() *mcp.ClientOptions {
	p.over = make(chan struct{}, 8)
	return &mcp.ClientOptions{ElicitationHandler: func(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		p.mu.Lock()
		p.asked = append(p.asked, r.Params)
		says, shown := p.says, p.shown
		p.mu.Unlock()
		if shown != nil {
			shown <- struct{}{}
		}
		res := says(ctx, r.Params)
		if ctx.Err() != nil {
			p.over <- struct{}{}
		}
		return res, nil
	}}
}

// wrap connects a client to a server behind «mcp wrap».
func (h *house) wrap(p *person) *mcp.ClientSession {
	h.t.Helper()
	self, err := os.Executable()
	if err != nil {
		h.t.Fatal(err)
	}
	cmd := exec.Command(h.program, "mcp", "wrap", "--dir", h.dir, "--server", "post", "--", self, asPost)
	return h.connect(p, &mcp.CommandTransport{Command: cmd})
}

func (h *house) connect(p *person, over mcp.Transport) *mcp.ClientSession {
	h.t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, p.options())
	s, err := c.Connect(h.t.Context(), over, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = s.Close() })
	return s
}

// serve connects a client with a token to «mcp serve».
func (h *house) serve(p *person, name string) *mcp.ClientSession {
	h.t.Helper()
	self, err := os.Executable()
	if err != nil {
		h.t.Fatal(err)
	}
	token := strings.Fields(h.tells("fleet", "token", "create", name))[0]
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		h.t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	h.write("gateway.yaml", fmt.Sprintf("version: 1\nlisten: %s\nservers:\n  - name: post\n    command: %s\n    args: [%s]\n", address, self, asPost))
	h.start("mcp", "serve")
	h.reach("tcp", address)
	return h.connect(p, &mcp.StreamableClientTransport{Endpoint: "http://" + address + Path, HTTPClient: &http.Client{Transport: shows(token)}, DisableStandaloneSSE: false})
}

// shows adds a token to every request.
type shows string

func (s shows) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(s))
	return http.DefaultTransport.RoundTrip(r)
}

// letter sends a letter to the address that a stranger named.
func (h *house) letter(s *mcp.ClientSession, prefix string) (said string, failed bool) {
	h.t.Helper()
	return h.calls(s, prefix+"post_letter", map[string]any{"to": "mallory@evil.example"})
}

func (h *house) calls(s *mcp.ClientSession, name string, args map[string]any) (said string, failed bool) {
	h.t.Helper()
	r, err := s.CallTool(h.t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		h.t.Fatal(err)
	}
	for _, c := range r.Content {
		if c, ok := c.(*mcp.TextContent); ok {
			said += c.Text
		}
	}
	return said, r.IsError
}

// fills returns a person's answer to a form, with a place if the form asks for one.
func fills(place string) func(context.Context, *mcp.ElicitParams) *mcp.ElicitResult {
	return func(_ context.Context, p *mcp.ElicitParams) *mcp.ElicitResult {
		content := map[string]any{"answer": "yes"}
		if strings.Contains(fmt.Sprint(p.RequestedSchema), "place") {
			content = map[string]any{"place": place}
		}
		return &mcp.ElicitResult{Action: "accept", Content: content}
	}
}

// The owner lets this test program ask in its own window, and a token's client.
const letsAsk = "agents:\n  mcpservice.test: {ask: elicitation}\n  windows: {ask: elicitation}\n"

// Questions in the windows of clients: the real program, real clients.
func TestAskingByElicitation(t *testing.T) {
	t.Parallel()
	program := build(t)
	t.Run("asked", func(t *testing.T) { askedThere(t, newHouse(t, program, letsAsk)) })
	t.Run("no answer", func(t *testing.T) { notAnswered(t, newHouse(t, program, letsAsk)) })
	for name, service := range map[string]string{"off": "", "another client": "agents:\n  cursor: {ask: elicitation}\n"} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, program, service)
			p := &person{says: fills("evil.example")}
			s := h.wrap(p)
			h.calls(s, "look_around", nil)
			if said, failed := h.letter(s, ""); !failed || len(p.asked) > 0 {
				t.Errorf("asked %d times: %s", len(p.asked), said)
			}
		})
	}
}

// askedThere approves and denies in the window, and reads the journal.
func askedThere(t *testing.T, h *house) {
	for name, begin := range map[string]func(*person) (*mcp.ClientSession, string){
		"wrap":  func(p *person) (*mcp.ClientSession, string) { return h.wrap(p), "" },
		"serve": func(p *person) (*mcp.ClientSession, string) { return h.serve(p, "windows"), "post__" },
	} {
		t.Run(name, func(t *testing.T) {
			p := &person{says: fills("evil.example")}
			s, prefix := begin(p)
			if said, failed := h.calls(s, prefix+"configure", nil); !failed || len(p.asked) > 0 {
				t.Errorf("admin was asked there: %s", said)
			}
			h.calls(s, prefix+"look_around", nil)
			if said, failed := h.letter(s, prefix); failed || said != "posted to mallory@evil.example" {
				t.Fatalf("approved: %s", said)
			}
			if len(p.asked) != 1 {
				t.Fatalf("asked %d times", len(p.asked))
			}
			message := p.asked[0].Message
			for _, part := range []string{"Floodmark asks", "mallory@evil.example", "look around"} {
				if !strings.Contains(message, part) {
					t.Errorf("%q is not in %q", part, message)
				}
			}
			p.says = func(context.Context, *mcp.ElicitParams) *mcp.ElicitResult {
				return &mcp.ElicitResult{Action: "decline"}
			}
			if said, failed := h.letter(s, prefix); !failed || strings.Contains(said, "posted") {
				t.Errorf("declined: %s", said)
			}
		})
	}
	told := ""
	for line := range strings.Lines(h.tells("journal", "sessions")) {
		if f := strings.Fields(line); len(f) > 1 && f[1] == "mcp" {
			told += h.tells("journal", "show", "--facts", f[0])
		}
	}
	told = strings.Join(strings.Fields(told), " ") // it is wrapped
	for _, part := range []string{"the window of mcpservice.test", "the window of windows", "elicitation"} {
		if !strings.Contains(told, part) {
			t.Errorf("%q is not in the journal:\n%s", part, told)
		}
	}
}

// notAnswered gives every answer but a plain yes.
func notAnswered(t *testing.T, h *house) {
	p := &person{}
	s := h.wrap(p)
	h.calls(s, "look_around", nil)
	for name, says := range map[string]func(context.Context, *mcp.ElicitParams) *mcp.ElicitResult{
		"another place": fills("good.example"),
		"yes by default": func(context.Context, *mcp.ElicitParams) *mcp.ElicitResult {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{}}
		},
		"dismissed": func(context.Context, *mcp.ElicitParams) *mcp.ElicitResult { return &mcp.ElicitResult{Action: "cancel"} },
	} {
		p.says = says
		if said, failed := h.letter(s, ""); !failed || strings.Contains(said, "posted") {
			t.Errorf("%s: %s", name, said)
		}
	}
	// If the question is answered elsewhere first, the window is closed.
	p.says = func(ctx context.Context, _ *mcp.ElicitParams) *mcp.ElicitResult {
		<-ctx.Done()
		return fills("evil.example")(ctx, p.asked[0])
	}
	o := h.owner()
	done := make(chan string, 1)
	shown := make(chan struct{}, 1)
	p.mu.Lock()
	p.shown = shown
	p.mu.Unlock()
	go func() {
		said, _ := h.letter(s, "")
		done <- said
	}()
	select {
	case said := <-done:
		t.Fatalf("it is not asked in the window: %s", said)
	case <-shown:
	}
	list, err := o.Pending(t.Context(), &wire.PendingRequest{})
	if err != nil || len(list.GetQuestions()) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	q := list.GetQuestions()[0]
	if _, err := o.Answer(t.Context(), &wire.AnswerRequest{Verb: "deny", Ticket: q.GetTicket(), Session: q.GetSession()}); err != nil {
		t.Fatal(err)
	}
	if said := <-done; strings.Contains(said, "posted") || !strings.Contains(said, "refused") {
		t.Errorf("denied elsewhere: %s", said)
	}
	<-p.over // the window is closed
}
