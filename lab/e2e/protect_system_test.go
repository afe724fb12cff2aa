package e2e

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/setup/protect"
)

// What «floodmark protect» writes is enough: the agents find it, trust it, and the attack is
// stopped. After «floodmark unprotect» nothing of ours is left, even if the agent itself wrote to
// its settings. That the attack works without us is tested by the behaviour «off», and that files
// are restored byte for byte in internal/setup/protect.
func TestProtectIsEnough(t *testing.T) {
	for _, a := range agentsHere() {
		t.Run(a.name, func(t *testing.T) {
			if *gateOnly && !a.quick() {
				t.Skip("the gate tries two that are quick; make soak SUITE=agents tries all")
			}
			w := newWorld(t)
			w.daemon()
			w.hookProgram()
			w.features = "" // protect writes them
			var m protect.Machine
			var before map[string]string
			w.prepare = func(env []string, program string) {
				m, before = w.machine(env, program), w.settingsOf(a.name)
				plan, err := m.Protect(t.Context(), a.name)
				if err != nil {
					t.Fatal(err)
				}
				if err := plan.Apply(); err != nil || len(plan.Notes) > 0 || len(plan.Changes) == 0 {
					t.Fatalf("%v, %v, %d changes", err, plan.Notes, len(plan.Changes))
				}
			}
			w.story(a.shell, func() {})
			output := a.run(w, how{})
			if err := w.safe(); err != nil || !strings.Contains(output, "The sum is "+w.total) {
				t.Errorf("%v; results %q; %s", err, w.results(), output)
			}
			w.prepare = nil
			found, _, err := m.Find(t.Context(), a.name)
			if err != nil || found.State != protect.Protected {
				t.Errorf("after a run it is %s: %s, %v", found.State, found.Why, err)
			}
			plan, err := m.Unprotect(t.Context(), a.name)
			if err != nil {
				t.Fatal(err)
			}
			if err := plan.Apply(); err != nil {
				t.Fatal(err)
			}
			for path, text := range w.settingsOf(a.name) {
				if strings.Contains(text, "floodmark") && before[path] != text {
					t.Errorf("%s still holds something of ours: %s", path, text)
				}
			}
		})
	}
}

// machine returns the world as protect sees it.
func (w *world) machine(env []string, program string) protect.Machine {
	all := map[string]string{"HOME": w.home, "PATH": filepath.Dir(program) + ":" + os.Getenv("PATH")}
	for _, one := range append(env, w.env...) {
		name, value, _ := strings.Cut(one, "=")
		maps.Copy(all, map[string]string{name: value})
	}
	return protect.Machine{
		Getenv:  func(name string) string { return all[name] },
		Records: filepath.Join(w.home, "originals"), Hook: filepath.Join(w.home, "bin", "floodmark-hook"), Socket: w.socket(),
	}
}

// settingsOf returns the files that connect an agent, with their contents.
func (w *world) settingsOf(agent string) map[string]string {
	w.t.Helper()
	found := map[string]string{}
	for _, path := range w.machine(nil, "/bin/sh").Paths() {
		if data, err := os.ReadFile(path); err == nil {
			found[path] = string(data)
		}
	}
	w.t.Logf("%s: %d files", agent, len(found))
	return found
}
