package e2e

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/setup/protect"
	"github.com/floodmark/floodmark/internal/setup/prove"
)

// «floodmark prove» starts the real agent and leaves nothing in its home.
func TestProve(t *testing.T) {
	for name, program := range map[string][]string{
		"codex":       {"codex-" + codexVersion, "node_modules", ".bin", "codex"},
		"copilot-cli": {"copilot-cli-" + copilotVersion, "node_modules", ".bin", "copilot"},
		"gemini-cli":  {"gemini-cli-" + geminiVersion, "node_modules", ".bin", "gemini"},
		"openclaw":    {"openclaw-" + openclawVersion, "node_modules", ".bin", "openclaw"},
		"opencode":    {"opencode-" + opencodeVersion, "node_modules", "opencode-linux-x64", "bin", "opencode"},
		"pi":          {"pi-" + piVersion, "node_modules", ".bin", "pi"},
	} {
		t.Run(name, func(t *testing.T) {
			if *gateOnly && name != "codex" && name != "pi" {
				t.Skip("the gate tries two that are quick; make soak SUITE=agents tries all")
			}
			w := newWorld(t)
			w.daemon()
			w.hookProgram()
			path := filepath.Dir(tool(t, program...)) + ":" + os.Getenv("PATH")
			if name == "openclaw" {
				path = filepath.Dir(tool(t, "node-"+nodeVersion, "node_modules", ".bin", "node")) + ":" + path
			}
			m := w.machine([]string{"PATH=" + path}, tool(t, program...))
			plan, err := m.Protect(t.Context(), name)
			if err == nil {
				err = plan.Apply()
			}
			if err != nil {
				t.Fatal(err)
			}
			before := w.files()
			f, there, err := m.Find(t.Context(), name)
			if err != nil || !there || f.State != protect.Protected {
				t.Fatal(f, there, err)
			}
			r := prove.Agent(t.Context(), m, f, time.Now())
			if r.Grade != prove.HostVerified || len(r.Seen) < 3 || !r.Rewrites || len(r.Untried) > 0 {
				t.Errorf("%+v", r)
			}
			if after := w.files(); after != before {
				t.Errorf("there were %d files, now %d", before, after)
			}
		})
	}
}

// files counts the files in the home outside the monitor's own folder.
func (w *world) files() (n int) {
	w.t.Helper()
	err := filepath.WalkDir(w.home, func(path string, d os.DirEntry, err error) error {
		if path == filepath.Join(w.home, daemonFolder) {
			return filepath.SkipDir
		}
		n++
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}
