package hostile

import (
	"flag"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	floodmark "github.com/floodmark/floodmark/client"
	"github.com/floodmark/floodmark/internal/mcp/mcppins"
	"github.com/floodmark/floodmark/wire"
)

var (
	given  = flag.String("floodmark", "", "use this `PROGRAM` instead of building one")
	update = flag.Bool("update", false, "write the page that is generated")
)

func TestMain(m *testing.M) {
	if os.Getenv(clientVariable) != "" {
		start(os.Args[1:])
		return
	}
	if name := os.Getenv(serverVariable); name != "" {
		serve(name)
		return
	}
	os.Exit(m.Run())
}

// build builds the real program.
func build(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "floodmark")
	out, err := exec.Command("go", "-C", "../../..", "build", "-o", path, "./cmd/floodmark").CombinedOutput()
	if err != nil {
		t.Fatalf("build floodmark: %v\n%s", err, out)
	}
	return path
}

// A world is an owner's installation with a running monitor.
type world struct {
	program, dir, socket, owner string
}

// rules describe the servers' tools: the results of those that look are a stranger's, and letters
// are sent to others.
const rules = `version: 1
profile: assistant
tools:
  - server: [honest, hostile]
    tool: [look_around, peek_there]
    effect: observe
    returns: {trust: external, secrecy: public}
  - server: [honest, hostile]
    tool: [post_letter, mail_card]
    effect: send
    remote: true
    returns: {trust: external, secrecy: public}
    args:
      to: {role: critical, is: destination}
`

// monitor starts the monitor that all cases share.
func monitor(t *testing.T) *world {
	t.Helper()
	program := *given
	if program == "" {
		program = build(t)
	}
	return monitorOf(t, program)
}

// monitorOf starts a monitor with a program that was already built.
func monitorOf(t *testing.T, program string) *world {
	t.Helper()
	w := &world{program: program}
	w.dir = shortFolder(t)
	w.socket, w.owner = filepath.Join(w.dir, "run", "hook.sock"), filepath.Join(w.dir, "run", "owner.sock")
	if err := os.MkdirAll(filepath.Join(w.dir, "config"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.dir, "config", "policy.yaml"), []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	said := &buffer{}
	cmd := exec.Command(w.program, "serve", "--dir", w.dir)
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the monitor ended badly: %v\n%s", err, said)
		}
	})
	listens("unix", w.socket)
	return w
}

// listens waits until a program listens, which it does not report.
func listens(network, address string) {
	for {
		if c, err := net.Dial(network, address); err == nil {
			_ = c.Close()
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// shortFolder returns a folder whose path is short enough for a socket.
func shortFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "fmh") //nolint:usetesting // said above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// apart returns the same monitor with separate pins for one case.
func (w *world) apart(t *testing.T) *world {
	t.Helper()
	own := *w
	own.dir = shortFolder(t)
	return &own
}

func (w *world) book(t *testing.T) *mcppins.Book {
	t.Helper()
	b, err := mcppins.Open(filepath.Join(w.dir, "state", "mcp-pins.json"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// accept does what the owner does after «floodmark mcp review».
func (w *world) accept(t *testing.T, ref string) {
	t.Helper()
	if _, err := w.book(t).Accept(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
}

// held lists what the owner is shown as held.
func (w *world) held(t *testing.T) (refs []string) {
	t.Helper()
	list, err := w.book(t).Entries()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if e.Held {
			refs = append(refs, e.Ref)
		}
	}
	return refs
}

// mark returns the mark of a client's session: trust and secrecy.
func (w *world) mark(t *testing.T, c *client) string {
	t.Helper()
	way, err := floodmark.Dial(w.owner, floodmark.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer way.Close()
	all, err := way.Owner().Sessions(t.Context(), &wire.SessionsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(w.dir, c.server)
	i := slices.IndexFunc(all.GetSessions(), func(s *wire.Session) bool { return strings.HasSuffix(s.GetProject(), project) })
	if i < 0 {
		return "no session"
	}
	m := all.GetSessions()[i].GetMark()
	return m.GetTrust() + " " + m.GetSecrecy()
}
