package e2e

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/internal/setup/prove"
)

var boxProgram = flag.String("box", "", "the built floodmark-box; without it each test builds it")

// script is the project's own code: it writes where it may and where it may not, and looks for a
// key.
const script = `echo "built $NODE_ENV" > made.txt
echo evil > "$HOME/evil.txt"
cat "$HOME/.ssh/id" .env 2>/dev/null | grep KEY || echo nothing found
sh -c 'kill -TERM $$'; echo "signal $?"
exit 7
`

// After a page was read, a command of the project runs in a box. What it makes in the project is
// kept, what it does elsewhere is not, and the model gets its output and exit status. Codex also
// runs it in its own sandbox.
func TestBoxed(t *testing.T) {
	for _, a := range agentsHere() {
		sandboxes := []string{""}
		if a.name == "codex" {
			sandboxes = append(sandboxes, "workspace-write")
		}
		if a.name == "pi" && *program != "" {
			t.Run("pi as a person has it", func(t *testing.T) { newWorld(t).provedRun(a) })
		}
		for _, sandbox := range sandboxes {
			t.Run(strings.TrimSpace(a.name+" "+sandbox), func(t *testing.T) {
				if *gateOnly && !a.quick() {
					t.Skip("the gate tries two that are quick; make soak SUITE=agents tries all")
				}
				if sandbox != "" && os.Getuid() == 0 {
					t.Skip("as root a box needs a control group, and Codex's sandbox has none to write to")
				}
				w := newWorld(t)
				w.sandbox = sandbox
				w.boxedRun(a)
			})
		}
	}
}

// provedRun does the same with the real monitor, after only «floodmark protect» and «floodmark
// prove».
func (w *world) provedRun(a agent) {
	w.t.Helper()
	w.own, w.features = true, ""
	kill := w.served()
	w.hookProgram()
	w.prepare = func(env []string, _ string) {
		paths, err := config.UserPaths(func(string) string { return "" }, w.home)
		if err != nil {
			w.t.Fatal(err)
		}
		m := w.machine(env, tool(w.t, a.name+"-"+a.version, "node_modules", ".bin", a.name))
		m.Records = paths.Originals
		plan, err := m.Protect(w.t.Context(), a.name)
		if err == nil {
			err = plan.Apply()
		}
		if err != nil {
			w.t.Fatal(err)
		}
		f, _, err := m.Find(w.t.Context(), a.name)
		if err != nil {
			w.t.Fatal(err)
		}
		r := prove.Agent(w.t.Context(), m, f, time.Now())
		if err := prove.KeepAll(w.t.Context(), paths.Proofs, m, []prove.Result{r}); err != nil || !r.Rewrites {
			w.t.Fatalf("%v, %+v", err, r)
		}
		held, err := prove.Box(w.t.Context(), paths.Proofs, filepath.Join(filepath.Dir(*program), "floodmark-box"), time.Now(), func(int, int) {})
		if err != nil || !held.Verified {
			w.t.Fatalf("%v, %+v", err, held)
		}
		kill() // it treats the sender of a canary, here this test and all below it, as an agent
		w.served()
	}
	w.buildScript(a, how{})
}

// buildScript has the model run the project's script after it has read a page.
func (w *world) buildScript(a agent, h how) {
	w.t.Helper()
	w.write(".ssh/id", "KEY of the owner")
	w.write("project/.env", "KEY=1")
	w.write("project/build.sh", script)
	w.calls(a, nil, work, read, "NODE_ENV=test sh build.sh")
	a.run(w, h)
	got := w.results()
	w.t.Logf("the model read %q", got)
	if len(got) != 3 || !strings.Contains(got[2], "nothing found") || !strings.Contains(got[2], "signal 143") || strings.Contains(got[2], "KEY") {
		w.t.Errorf("the model read %q\n%s", got, tail(w.output))
	}
	if made, err := os.ReadFile(filepath.Join(w.project, "made.txt")); err != nil || string(made) != "built test\n" {
		w.t.Errorf("what it made: %q, %v", made, err)
	}
	if _, err := os.Stat(filepath.Join(w.home, "evil.txt")); err == nil {
		w.t.Error("it wrote to the home")
	}
}

func (w *world) boxedRun(a agent) {
	w.t.Helper()
	w.boxes = *boxProgram
	if w.boxes == "" {
		w.boxes = filepath.Join(w.home, "bin", "floodmark-box")
		build := exec.CommandContext(w.t.Context(), "go", "-C", "../..", "build", "-o", w.boxes, "./cmd/floodmark-box")
		if text, err := build.CombinedOutput(); err != nil {
			w.t.Fatalf("%v\n%s", err, text)
		}
	}
	w.inMemory()
	w.env = []string{"FLOODMARK_HOOK_SOCKET=" + w.memorySocket()}
	w.buildScript(a, how{protected: true})
	boxed := 0
	for _, f := range w.decided() {
		if f.Decision.Verdict == floodmark.Allow && f.Decision.Reach == floodmark.Boxed {
			boxed++
		}
	}
	if kinds := w.incidents(); boxed != 1 || len(kinds) > 0 {
		w.t.Errorf("%d calls in a box; %v", boxed, kinds)
	}
}

// decided returns all decisions about calls.
func (w *world) decided() []floodmark.ActionDecided {
	w.t.Helper()
	return slices.DeleteFunc(written[floodmark.ActionDecided](w), func(d floodmark.ActionDecided) bool { return d.Action.Tool.Name == "" })
}
