package prove_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/integrations"
	"github.com/floodmark/floodmark/internal/agents"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
	"github.com/floodmark/floodmark/internal/setup/protect"
	"github.com/floodmark/floodmark/internal/setup/prove"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestProofs runs the tests that start the programs of hooks and agents.
func TestProofs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		test func(*testing.T)
	}{
		{"adapter of every agent", adapterOfEveryAgent},
		{"adapter fails", adapterFails},
		{"plugin by node", pluginByNode},
		{"plugins by real node", pluginsByRealNode},
		{"host fails", hostFails},
		{"daily", daily},
		{"daily notices another program", dailyNoticesAnotherProgram},
		{"daily finds what is broken", dailyFindsWhatIsBroken},
		{"daily starts nothing else", dailyStartsNothingElse},
		{"daily forgets", dailyForgets},
		{"rewrites are those of one program", rewritesOfOneProgram},
		{"checks that cannot be read", checksThatCannotBeRead},
	} {
		t.Run(c.name, c.test)
	}
}

// noQuestions fails the test if a question is asked about a canary.
type noQuestions struct{ t *testing.T }

func (n noQuestions) Handle(context.Context, string, hook.Event) (hook.Reply, error) {
	n.t.Error("somebody was asked about a canary")
	return hook.Reply{}, nil
}

// A world is a person's home with settings folders of all agents, and a monitor.
type world struct {
	t         *testing.T
	dir, home string
	machine   protect.Machine
	stop      func() // ends the monitor
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir, err := os.MkdirTemp("", "fm") //nolint:usetesting // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	w := &world{t: t, dir: dir, home: filepath.Join(dir, "home")}
	hookProgram := filepath.Join(dir, "floodmark-hook")
	if text, err := exec.CommandContext(t.Context(), "go", "build", "-o", hookProgram, "../../../cmd/floodmark-hook").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, text)
	}
	env := map[string]string{"HOME": w.home, "PATH": filepath.Join(dir, "bin")}
	w.machine = protect.Machine{Getenv: func(n string) string { return env[n] }, Records: filepath.Join(dir, "records"), Hook: hookProgram, Socket: filepath.Join(dir, "s")}
	for _, folder := range []string{".claude", ".codex", ".copilot", ".cursor", ".gemini", ".openclaw", ".config/opencode", ".pi/agent", "../bin"} {
		if err := os.MkdirAll(filepath.Join(w.home, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"head", "touch", "tr"} { // and no agent of this machine
		path, err := exec.LookPath(name)
		if err == nil {
			err = os.Symlink(path, filepath.Join(dir, "bin", name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", w.machine.Socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	door := agents.Door{Hooks: noQuestions{t}}
	wait.Go(func() {
		_ = hookframe.ServeAll(ctx, l, func(net.Conn) hookframe.Handler { return door.Answer }, func(err error) { t.Log(err) })
	})
	w.stop = sync.OnceFunc(func() { cancel(); _ = l.Close(); wait.Wait() })
	t.Cleanup(w.stop)
	return w
}

// program puts a shell script on PATH.
func (w *world) program(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, "bin", name), []byte("#!/bin/sh\n"+text), 0o700); err != nil { //nolint:gosec // it is a program
		w.t.Fatal(err)
	}
}

func (w *world) protect(agent string) {
	w.t.Helper()
	plan, err := w.machine.Protect(w.t.Context(), agent)
	if err == nil {
		err = plan.Apply()
	}
	if err != nil {
		w.t.Fatal(agent, err)
	}
}

func (w *world) prove(agent string) prove.Result {
	w.t.Helper()
	f, there, err := w.machine.Find(w.t.Context(), agent)
	if err != nil || !there {
		w.t.Fatal(agent, there, err)
	}
	return prove.Agent(w.t.Context(), w.machine, f, time.Unix(1, 0))
}

// With the settings that protect writes, the monitor's refusal comes back in each agent's form.
// Without a monitor, a refusal is not taken for the monitor's.
func adapterOfEveryAgent(t *testing.T) {
	w := newWorld(t)
	covers, err := integrations.Covers()
	if err != nil {
		t.Fatal(err)
	}
	w.program("node", `echo '{"skip":true}'`)
	for _, a := range protect.Agents() {
		if r := w.prove(a.Name); r.Grade != prove.NotProtected || r.Verified() {
			t.Errorf("before: %+v", r)
		}
		w.protect(a.Name)
		r := w.prove(a.Name)
		if r.Grade != prove.AdapterVerified || !r.Verified() || len(r.Seen) != 1 || len(r.Untried) == 0 || r.Why != "" {
			t.Errorf("%+v", r)
		}
		if len(r.Holes) == 0 || len(r.Holes) != len(covers[a.Name].Holes) {
			t.Errorf("%s: holes %v", a.Name, r.Holes)
		}
	}
	w.stop()
	for _, a := range protect.Agents() {
		if r := w.prove(a.Name); r.Grade != prove.Failed || !strings.Contains(r.Why, "did not answer itself") {
			t.Errorf("without a monitor: %+v", r)
		}
	}
}

// Changed settings are not proved, and a command that prints anything but a refusal fails.
func adapterFails(t *testing.T) {
	w := newWorld(t)
	w.protect("pi")
	if err := os.WriteFile(filepath.Join(w.home, ".pi/agent/extensions/floodmark.ts"), []byte("// nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := w.prove("pi"); r.Grade != prove.Failed || !strings.Contains(r.Why, "not ours") {
		t.Errorf("%+v", r)
	}
	w.protect("gemini-cli")
	for says, want := range map[string]string{
		`echo '{"decision":"allow","reason":"the hook'"'"'s message was not understood"}'`: "not a no",
		`echo '{"decision":"deny","reason":"because"}'`:                                    "did not answer itself: because",
		`echo "{]}"`: "no object",
		`exit 3`:     "exit status 2",
		`printf {; head -c 70000 /dev/zero | tr '\0' ' '; echo }`: "too long",
	} {
		if err := os.WriteFile(w.machine.Hook, []byte("#!/bin/sh\n"+says+"\n"), 0o700); err != nil { //nolint:gosec // it is a program
			t.Fatal(err)
		}
		if r := w.prove("gemini-cli"); r.Grade != prove.Failed || !strings.Contains(r.Why, want) {
			t.Errorf("%s: %+v", says, r)
		}
	}
}

// If there is a node on PATH, the plugin itself has to block.
func pluginByNode(t *testing.T) {
	w := newWorld(t)
	w.protect("opencode")
	file, err := w.machine.Shim("opencode")
	if err != nil {
		t.Fatal(err)
	}
	for says, want := range map[string]string{
		`echo '{"block":false,"reason":""}'`:         "not a no",
		`echo '{"block":true,"reason":"no daemon"}'`: "did not answer itself: no daemon",
		`echo; echo oh >&2; exit 1`:                  "exit status 1: oh",
		`echo nothing`:                               "no object",
	} {
		w.program("node", says)
		if r := w.prove("opencode"); r.Grade != prove.Failed || !strings.Contains(r.Why, want) {
			t.Errorf("%s: %+v", says, r)
		}
	}
	w.program("node", `test "$4" = opencode && test "$5" = `+file+` && echo '{"block":true,"reason":"floodmark: the hook'"'"'s message was not understood"}'`)
	if r := w.prove("opencode"); r.Grade != prove.AdapterVerified || len(r.Seen) != 2 {
		t.Errorf("%+v", r)
	}
	if _, err := w.machine.Shim("codex"); err == nil {
		t.Error("Codex loads no code of ours")
	}
}

// The plugins with the real node, if one that reads TypeScript is on PATH.
func pluginsByRealNode(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node")
	}
	w := newWorld(t)
	if err := os.Symlink(node, filepath.Join(w.dir, "bin", "node")); err != nil {
		t.Fatal(err)
	}
	for _, agent := range []string{"openclaw", "opencode", "pi"} {
		w.protect(agent)
		r := w.prove(agent)
		if r.Grade != prove.AdapterVerified {
			t.Errorf("%+v", r)
		}
		t.Logf("%s: %d seen, %v", agent, len(r.Seen), r.Untried)
	}
}

// Programs with the name of an agent that do not obey.
func hostFails(t *testing.T) {
	w := newWorld(t)
	ask := `echo '{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/","tool_name":"Bash","tool_input":{"command":"refused-canary"},"tool_use_id":"1"}' |
` + w.machine.Hook + ` -socket "$HOME/s" codex PreToolUse >/dev/null
`
	const first = "case \"$1\" in exec) ;; *) exit 0;; esac\n"
	w.program("codex", first)
	w.protect("codex")
	for does, want := range map[string]string{
		"touch $HOME/refused-canary":       "it ran a command without asking",
		ask + "touch $HOME/refused-canary": "it ran a command that was refused",
		"echo sorry; exit 7":               "exit status 7: sorry",
		ask + "echo hm":                    "did not run what was allowed, so nothing is shown: hm",
		"touch $HOME/allowed-canary":       "it did not ask about the command",
		ask + "touch $HOME/allowed-canary": "its model was not told",
	} {
		w.program("codex", first+does+"\n")
		if r := w.prove("codex"); r.Grade != prove.Failed || !strings.Contains(r.Why, want) {
			t.Errorf("%s: %+v", does, r)
		}
	}
}
