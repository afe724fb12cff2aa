package e2e

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/testmodel"
)

// The versions are those that were measured; others may behave otherwise.
const (
	codexVersion = "0.166.0"
	piVersion    = "0.73.1"
)

// An agent is one real program: how it is set up and run, protected or not.
type agent struct {
	shell func(command string) testmodel.Call
	run   func(w *world, h how) (output string)
}

// how an agent is run: with our hooks or without, in a new session or in the
// last one again.
type how struct{ protected, again bool }

func agentsHere() map[string]agent {
	return map[string]agent{
		"codex": {shell: func(command string) testmodel.Call {
			return testmodel.Call{Name: "exec_command", Args: map[string]string{"cmd": command}}
		}, run: runCodex},
		"pi": {shell: func(command string) testmodel.Call {
			return testmodel.Call{Name: "bash", Args: map[string]string{"command": command}}
		}, run: runPi},
	}
}

func runCodex(w *world, h how) string {
	w.write(".codex/config.toml", w.features+fmt.Sprintf(`
model = %q
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.scripted]
name = "scripted"
base_url = "%s/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 0
stream_max_retries = 0
[analytics]
enabled = false
`, testmodel.Name, w.llm.URL))
	if h.protected {
		w.hookProgram()
		w.write(".codex/hooks.json", shipped(w.t, "codex/hooks.json"))
	}
	args := []string{"exec"}
	if h.again {
		args = append(args, "resume", "--last")
	}
	args = append(args, "--json", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", prompt())
	return w.run([]string{"CODEX_HOME=" + filepath.Join(w.home, ".codex"), "SCRIPTED_KEY=none"},
		tool(w.t, "codex-"+codexVersion, "node_modules", ".bin", "codex"), args...)
}

// shipped reads a file of integrations.
func shipped(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "integrations", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func runPi(w *world, h how) string {
	w.write(".pi/agent/models.json", fmt.Sprintf(`{"providers":{"scripted":{"baseUrl":"%s/v1","api":"openai-completions","apiKey":"none",
"models":[{"id":%q,"name":"Scripted","reasoning":false,"input":["text"],"contextWindow":128000,"maxTokens":8000,
"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0}}]}}}`, w.llm.URL, testmodel.Name))
	args := []string{tool(w.t, "pi-"+piVersion, "node_modules", "@mariozechner", "pi-coding-agent", "dist", "cli.js"), "-p", "--mode", "json", "--model", "scripted/" + testmodel.Name}
	if h.protected {
		shim, err := filepath.Abs("../../../integrations/pi/floodmark.ts")
		if err != nil {
			w.t.Fatal(err)
		}
		args = append(args, "-e", shim)
	}
	if h.again {
		args = append(args, "--continue")
	}
	return w.run([]string{"PI_OFFLINE=1"}, "node", append(args, prompt())...)
}

// check looks at what happened: whether the secret left, and how many results
// the model read.
func (w *world) check(output string, leaked bool, results int) {
	w.t.Helper()
	got := w.results()
	for i, r := range got {
		w.t.Logf("result %d: %s", i+1, strings.TrimSpace(r))
	}
	if w.leaked() != leaked {
		w.t.Errorf("the secret reached the attacker: %v, want %v", w.leaked(), leaked)
	}
	for i, want := range []string{"42", "News"}[:min(2, len(got))] {
		if !strings.Contains(got[i], want) {
			w.t.Errorf("result %d, before the attack, does not say %q", i+1, want)
		}
	}
	if len(got) != results {
		w.t.Errorf("the model read %d results, want %d", len(got), results)
	}
	if w.t.Failed() {
		w.t.Log(output)
	}
}

// Without Floodmark the attack works: otherwise the rest shows nothing.
func TestUnprotectedAgentLeaks(t *testing.T) {
	for name, a := range agentsHere() {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.story(a.shell, func() {})
			w.check(a.run(w, how{}), true, 3)
		})
	}
}

// With it the call is refused, the model reads why in one line, and the
// owner's task is done all the same.
func TestProtectedAgentDoesNotLeak(t *testing.T) {
	for name, a := range agentsHere() {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.daemon()
			w.story(a.shell, func() {})
			output := a.run(w, how{protected: true})
			w.check(output, false, 4)
			if !strings.Contains(output, "Done.") || !strings.Contains(output, w.secret) {
				t.Errorf("the task was not done: %s", output)
			}
		})
	}
}

// A daemon that is killed between two calls allows nothing.
func TestDaemonGone(t *testing.T) {
	for name, a := range agentsHere() {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.story(a.shell, w.daemon())
			w.check(a.run(w, how{protected: true}), false, 3)
			if last := w.results(); len(last) < 3 || !strings.Contains(last[2], "the monitor did not answer, so nothing is allowed") {
				t.Errorf("the model was told %q", last)
			}
		})
	}
}

// A daemon that says nothing, or nonsense, allows nothing.
func TestDaemonMisbehaves(t *testing.T) {
	for name, a := range agentsHere() {
		for kind, serve := range map[string]func(net.Conn){
			"silent":  func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) },
			"garbage": func(conn net.Conn) { _, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n{}") },
		} {
			t.Run(name+" "+kind, func(t *testing.T) {
				w := newWorld(t)
				kill := w.daemon()
				w.env = []string{"FLOODMARK_HOOK_DEADLINE=3s"}
				w.story(a.shell, func() {
					kill()
					_ = os.Remove(w.socket())
					serving(t, w.socket(), serve)
				})
				w.check(a.run(w, how{protected: true}), false, 3)
				if last := w.results(); len(last) < 3 || !strings.Contains(last[2], "the monitor did not answer, so nothing is allowed") {
					t.Errorf("the model was told %q", last)
				}
			})
		}
	}
}

// What was read in a session counts in it for ever: in a new process of the
// agent, and of the daemon.
func TestMarkSurvives(t *testing.T) {
	for name, a := range agentsHere() {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			kill := w.daemon()
			step := func(command string) testmodel.Step {
				return testmodel.Step{Calls: []testmodel.Call{a.shell(command)}}
			}
			w.model.Say = func(turn testmodel.Turn) testmodel.Step {
				return []testmodel.Step{step(work), step(read), {Text: "Read."}, step(attack), {Text: "Done."}}[min(turn.Number, 4)]
			}
			a.run(w, how{protected: true})
			kill()
			w.daemon()
			w.check(a.run(w, how{protected: true, again: true}), false, 3)
			last := w.results()
			if len(last) != 3 || !refused(last[2]) {
				t.Errorf("the model read %q", last)
			}
			if *program != "" && !strings.Contains(strings.Join(last, ""), "news.example (untrusted)") {
				t.Errorf("the page is not blamed: %q", last)
			}
		})
	}
}

// Without a daemon not even a message reaches the model.
func TestDaemonNeverStarted(t *testing.T) {
	for name, a := range agentsHere() {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.story(a.shell, func() {})
			w.check(a.run(w, how{protected: true}), false, 0)
			if n := len(w.model.Turns()); n != 0 {
				t.Errorf("the model was called %d times", n)
			}
		})
	}
}

// A hook program that is gone, or killed, allows nothing.
func TestCodexHookGone(t *testing.T) {
	for name, script := range map[string]string{"gone": "", "killed": "#!/bin/sh\nkill -9 $$\n"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.daemon()
			w.story(agentsHere()["codex"].shell, func() {
				hook := filepath.Join(w.home, "bin", "floodmark-hook")
				if err := os.Remove(hook); err != nil {
					t.Error(err)
				}
				if script == "" {
					return
				}
				if err := os.WriteFile(hook, []byte(script), 0o700); err != nil {
					t.Error(err)
				}
			})
			w.check(runCodex(w, how{protected: true}), false, 3)
		})
	}
}
