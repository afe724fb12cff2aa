package hostile

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// served returns one case of each family, with the result behind «mcp serve»: the text of the
// refusal of a tool with this argument, or of its result.
func served() []struct{ name, first, tool, to, want string } {
	return []struct{ name, first, tool, to, want string }{
		{"poison-result", "peek_there", "mail_card", "mallory@evil.example", "mail_card"},
		{"rug-behind-call", "", "fetch_poem", "", "is held: it changed"},
		{"shadow-builtin", "", "Bash", "", "is held: it imitates another"},
		{"hidden-zero-width", "", "tell_time", "", "is held: "},
		{"size-message", "", "peek_there", "", "hostile"},
		{"silent", "", "peek_there", "", "context canceled"},
		{"broken-result", "", "peek_there", "", "floodmark"},
		{"exits-in-call", "", "peek_there", "", "hostile"},
		{"question-flood", "", "peek_there", "", ""},
		{"claim-read-only", "peek_there", "mail_card", "mallory@evil.example", "mail_card"},
	}
}

// TestHostileServersBehindOneAddress runs one case of each family behind the real «mcp serve»,
// beside an honest server of the same client, which continues to work.
func TestHostileServersBehindOneAddress(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the real program for a while")
	}
	t.Parallel()
	program := *given
	if program == "" {
		program = build(t)
	}
	if n := len(served()); n != len(families()) {
		t.Errorf("%d cases for %d families", n, len(families()))
	}
	for _, c := range served() {
		t.Run(c.name, func(t *testing.T) {
			w := monitorOf(t, program)
			session := behindServe(t, w, c.name)
			plain := func(when string) {
				if text, err := callServed(t.Context(), session, "honest__look_around", ""); err != nil || text != "a plain answer" {
					t.Errorf("%s: the honest server answers %q, %v", when, text, err)
				}
			}
			plain("before")
			list, err := session.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			held := strings.HasPrefix(c.want, "is held") && c.name != "rug-behind-call"
			if held && slices.ContainsFunc(list.Tools, func(one *mcp.Tool) bool { return one.Name == "hostile__"+c.tool }) {
				t.Errorf("%s is shown", c.tool)
			}
			if c.first != "" {
				_, _ = callServed(t.Context(), session, "hostile__"+c.first, "") // its result does not matter
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.name == "silent" { // the client cancels its call
				go func() {
					for !called(filepath.Join(w.dir, "hostile.pids")) && ctx.Err() == nil {
						time.Sleep(5 * time.Millisecond)
					}
					cancel()
				}()
			}
			text, err := callServed(ctx, session, "hostile__"+c.tool, c.to)
			if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q, %v, want %q", text, err, c.want)
			}
			plain("after")
		})
	}
}

func callServed(ctx context.Context, c *mcp.ClientSession, name, to string) (string, error) {
	args := map[string]any{}
	if to != "" {
		args["to"] = to
	}
	res, err := c.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return "", err
	}
	text := ""
	for _, part := range res.Content {
		if t, ok := part.(*mcp.TextContent); ok {
			text += t.Text
		}
	}
	if res.IsError {
		return "", fmt.Errorf("refused: %s", text)
	}
	return text, nil
}

// behindServe starts «mcp serve» with a hostile and an honest server, and connects a client.
func behindServe(t *testing.T, w *world, plays string) *mcp.ClientSession {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	_ = free.Close()
	file := "servers:\n"
	for _, one := range [][2]string{{"honest", honest}, {"hostile", plays}} {
		file += fmt.Sprintf("  - {name: %s, command: %q, env: {%s: %q, %s: %q}}\n", one[0], self, serverVariable, one[1], pidVariable, filepath.Join(w.dir, one[0]+".pids"))
	}
	if err := os.WriteFile(filepath.Join(w.dir, "config", "gateway.yaml"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	said, err := exec.Command(w.program, "fleet", "token", "create", "t", "--dir", w.dir).CombinedOutput()
	token := regexp.MustCompile(`fm_agent_\S+`).FindString(string(said))
	if err != nil || token == "" {
		t.Fatalf("no token: %v\n%s", err, said)
	}
	notes := &buffer{}
	cmd := exec.Command(w.program, "mcp", "serve", "--dir", w.dir, "--listen", address)
	cmd.Stderr = notes
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil || t.Failed() {
			t.Logf("mcp serve ended with %v\n%s", err, notes)
		}
	})
	listens("tcp", address)
	session, err := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: "http://" + address + "/mcp", HTTPClient: &http.Client{Transport: bearer(token)},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// A bearer sends a token with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}
