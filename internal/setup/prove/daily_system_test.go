package prove_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/floodmark/floodmark/internal/setup/prove"
)

// noon returns noon of a day in January; the check has no clock of its own.
func noon(day int) time.Time { return time.Date(2026, 1, day, 12, 0, 0, 0, time.UTC) }

func (w *world) daily() prove.Daily {
	return prove.Daily{
		Proofs: filepath.Join(w.dir, "proofs.json"), Checked: filepath.Join(w.dir, "checked.json"),
		Records: w.machine.Records, Hook: w.machine.Hook,
	}
}

func (w *world) step(now time.Time) []prove.Finding {
	w.t.Helper()
	found, err := w.daily().Step(w.t.Context(), now)
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

// packaged puts an agent from an npm package on PATH.
func (w *world) packaged(name, pkg, version string) {
	w.t.Helper()
	folder := filepath.Join(w.dir, "npm", name)
	link := filepath.Join(w.dir, "bin", name)
	_ = os.Remove(link) // it may be there
	for _, err := range []error{
		os.MkdirAll(folder, 0o700),
		os.WriteFile(filepath.Join(folder, "package.json"), []byte(`{"name":"`+pkg+`","version":"`+version+`"}`), 0o600),
		os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\nexit 1\n"), 0o700), //nolint:gosec // it is a program
		os.Symlink(filepath.Join(folder, name), link),
	} {
		if err != nil {
			w.t.Fatal(err)
		}
	}
}

// proved stores a proof of an agent.
func (w *world) proved(agent, version string) {
	w.t.Helper()
	err := prove.Remember(w.t.Context(), w.daily().Proofs, w.machine, []string{agent})
	if err == nil {
		err = prove.Keep(w.daily().Proofs, []prove.Result{{Agent: agent, Version: version, Grade: prove.HostVerified, At: noon(1)}})
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// Every protected agent is checked once a day, and not more often. A new finding is reported once.
func daily(t *testing.T) {
	w := newWorld(t)
	w.packaged("gemini", "@google/gemini-cli", "1.2.3")
	for _, agent := range []string{"gemini-cli", "pi"} {
		w.protect(agent)
		w.proved(agent, map[string]string{"gemini-cli": "1.2.3"}[agent])
	}
	if got := w.step(noon(1)); len(got) > 0 {
		t.Fatalf("all is well: %v", got)
	}
	w.packaged("gemini", "@google/gemini-cli", "1.3.0")
	if got := w.step(noon(1).Add(prove.Every - time.Second)); len(got) > 0 {
		t.Errorf("it was looked at before a day was over: %v", got)
	}
	got := w.step(noon(1).Add(prove.Every))
	want := []prove.Finding{{Kind: prove.Updated, Why: "Gemini CLI: it was 1.2.3 when it was proved, and is 1.3.0 now («floodmark prove gemini-cli» tries it again)"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if got := w.step(noon(3)); len(got) > 0 {
		t.Errorf("it was said already: %v", got)
	}
	checks, err := prove.Checked(w.daily().Checked)
	if err != nil || !checks.At.Equal(noon(3)) || checks.Agents["gemini-cli"].Kind != prove.Updated || checks.Agents["pi"] != (prove.Finding{}) {
		t.Errorf("%+v %v", checks, err)
	}
	w.proved("gemini-cli", "1.3.0")
	if got := w.step(noon(4)); len(got) > 0 {
		t.Errorf("it was proved anew: %v", got)
	}
	if got := w.step(noon(2)); len(got) > 0 { // the clock was set back, so the check runs again
		t.Error(got)
	}
	if checks, err = prove.Checked(w.daily().Checked); err != nil || !checks.At.Equal(noon(2)) {
		t.Errorf("%+v %v", checks, err)
	}
}

// A program that was replaced is noticed, even if it reports the same version.
func dailyNoticesAnotherProgram(t *testing.T) {
	w := newWorld(t)
	w.packaged("gemini", "@google/gemini-cli", "1.2.3")
	w.protect("gemini-cli")
	if err := prove.Remember(t.Context(), w.daily().Proofs, w.machine, []string{"gemini-cli"}); err != nil {
		t.Fatal(err)
	}
	if err := prove.Keep(w.daily().Proofs, []prove.Result{w.prove("gemini-cli")}); err != nil { // it fails to start here
		t.Fatal(err)
	}
	if got := w.step(noon(1)); len(got) > 0 {
		t.Fatal(got)
	}
	if err := os.WriteFile(filepath.Join(w.dir, "npm", "gemini", "gemini"), []byte("#!/bin/sh\nexit 2\n"), 0o700); err != nil { //nolint:gosec // it is a program
		t.Fatal(err)
	}
	if got := w.step(noon(2)); len(got) != 1 || got[0].Kind != prove.Updated || !strings.Contains(got[0].Why, "its program was changed") {
		t.Error(got)
	}
}

// Every fault that keeps a refusal from coming back is found.
func dailyFindsWhatIsBroken(t *testing.T) {
	for name, one := range map[string]struct {
		agent, want string
		harm        func(w *world) error
	}{
		"settings": {"claude-code", "not as we would write it", func(w *world) error {
			return os.WriteFile(filepath.Join(w.home, ".claude", "settings.json"), []byte("{}\n"), 0o600)
		}},
		"half of them": {"claude-code", "not as we would write it", func(w *world) error {
			path := filepath.Join(w.home, ".claude", "settings.json")
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(path, []byte(strings.Replace(string(text), "PreToolUse", "Notification", 1)), 0o600)
		}},
		"plugin": {"pi", "", func(w *world) error {
			return os.Remove(filepath.Join(w.home, ".pi", "agent", "extensions", "floodmark.ts"))
		}},
		"monitor, by its hook":   {"cursor", "did not answer itself", func(w *world) error { w.stop(); return nil }},
		"monitor, by its plugin": {"pi", "did not answer itself", func(w *world) error { w.stop(); return nil }},
		"hook program":           {"cursor", "", func(w *world) error { return os.Remove(w.machine.Hook) }},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.protect(one.agent)
			w.proved(one.agent, "")
			if got := w.step(noon(1)); len(got) > 0 {
				t.Fatal(got)
			}
			if err := one.harm(w); err != nil {
				t.Fatal(err)
			}
			got := w.step(noon(2))
			if len(got) != 1 || got[0].Kind != prove.Broken || !strings.Contains(got[0].Why, one.want) {
				t.Errorf("%+v", got)
			}
		})
	}
}

// Whatever the settings and proofs are, the check starts no program but the monitor's hook program.
func dailyStartsNothingElse(t *testing.T) {
	w := newWorld(t)
	started := filepath.Join(w.dir, "started")
	w.program("floodmark-hook", "echo > "+started+"\n")
	w.program("cursor-agent", "echo > "+started+"\n")
	w.program("node", "echo > "+started+"\n")
	own := w.daily()
	w.machine.Hook = filepath.Join(w.dir, "bin", "floodmark-hook")
	for _, agent := range []string{"cursor", "pi"} {
		w.protect(agent)
		w.proved(agent, "")
	}
	_ = os.Remove(started) // protecting asks an agent's version
	got, err := own.Step(t.Context(), noon(1))
	if err != nil || len(got) != 1 || got[0].Kind != prove.Broken || !strings.Contains(got[0].Why, "not the hook program of this monitor") {
		t.Errorf("%+v %v", got, err)
	}
	if _, err := os.Stat(started); err == nil {
		t.Error("a program was started")
	}
}

// An agent that is not protected any more is not checked.
func dailyForgets(t *testing.T) {
	w := newWorld(t)
	w.protect("pi")
	w.proved("pi", "")
	w.stop()
	if err := prove.Forget(w.daily().Proofs, []string{"pi"}); err != nil {
		t.Fatal(err)
	}
	if got := w.step(noon(1)); len(got) > 0 {
		t.Error(got)
	}
	if all, err := prove.Proofs(w.daily().Proofs); err != nil || len(all) != 1 { // it was proved, though
		t.Error(all, err)
	}
}

// If the results of the last check cannot be read, or were written by another program, the check
// runs again.
func checksThatCannotBeRead(t *testing.T) {
	w := newWorld(t)
	for _, text := range []string{"", "{", `{"v":2}`, `{"at":"2026-01-01T12:00:00Z"}`} {
		if err := os.WriteFile(w.daily().Checked, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := prove.Checked(w.daily().Checked); err == nil {
			t.Errorf("%q was read", text)
		}
		w.step(noon(1))
		if checks, err := prove.Checked(w.daily().Checked); err != nil || !checks.At.Equal(noon(1)) {
			t.Error(checks, err)
		}
	}
}

// rewriter is the agent in the tests of Rewrites.
const (
	rewriter        = "gemini-cli"
	rewriterPackage = "@google/gemini-cli"
)

// runsWhatItIsGiven checks whether the agent is known to run the command that it gets.
func (w *world) runsWhatItIsGiven(want bool, when string) {
	w.t.Helper()
	now := &prove.Rewrites{Proofs: w.daily().Proofs, Records: w.machine.Records}
	for range 2 { // the second time the program is not read again
		if got := now.Proved(w.t.Context(), rewriter); got != want {
			w.t.Errorf("%s: %v", when, got)
		}
	}
	if now.Proved(w.t.Context(), "pi") || now.Proved(w.t.Context(), "") {
		w.t.Error("another agent was not proved")
	}
}

// sawRewrite stores a proof of that. It does not run the agent, but reads its program.
func (w *world) sawRewrite(change func(*prove.Result)) {
	w.t.Helper()
	r := w.prove(rewriter)
	r.Grade, r.Rewrites, r.Why = prove.HostVerified, true, ""
	change(&r)
	if err := prove.Keep(w.daily().Proofs, []prove.Result{r}); err != nil {
		w.t.Fatal(err)
	}
}

// A proof that an agent runs the command that it gets is only valid for the same program, and not
// for another version, program, agent or time.
func rewritesOfOneProgram(t *testing.T) {
	w := newWorld(t)
	asSeen := func(*prove.Result) {}
	if (*prove.Rewrites)(nil).Proved(t.Context(), rewriter) {
		t.Error("nothing knows it")
	}
	w.packaged("gemini", rewriterPackage, "1.2.3")
	w.runsWhatItIsGiven(false, "no proofs")
	w.protect(rewriter)
	w.proved(rewriter, "1.2.3")
	w.runsWhatItIsGiven(false, "proved before this was tried")
	for when, change := range map[string]func(*prove.Result){
		"it ran its own":  func(r *prove.Result) { r.Rewrites = false },
		"our side only":   func(r *prove.Result) { r.Grade = prove.AdapterVerified },
		"it failed":       func(r *prove.Result) { r.Grade = prove.Failed },
		"another version": func(r *prove.Result) { r.Version = "1.2.2" },
		"no version":      func(r *prove.Result) { r.Version = "" },
	} {
		w.sawRewrite(change)
		w.runsWhatItIsGiven(false, when)
	}
	w.sawRewrite(asSeen)
	w.runsWhatItIsGiven(true, "proved")
	w.packaged("gemini", rewriterPackage, "1.3.0")
	w.runsWhatItIsGiven(false, "updated")
	w.packaged("gemini", rewriterPackage, "1.2.3")
	w.runsWhatItIsGiven(true, "as before")
	overwrite := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil { //nolint:gosec // it may be a program
			t.Fatal(err)
		}
	}
	overwrite(filepath.Join(w.dir, "npm", "gemini", "gemini"), "#!/bin/sh\nexit 22\n")
	w.runsWhatItIsGiven(false, "another program of the same version")
	w.sawRewrite(asSeen)
	w.runsWhatItIsGiven(true, "proved anew")
	if err := os.Remove(filepath.Join(w.dir, "npm", "gemini", "package.json")); err != nil {
		t.Fatal(err)
	}
	w.runsWhatItIsGiven(false, "a script of no version")
	w.packaged("gemini", rewriterPackage, "1.2.3")
	w.sawRewrite(asSeen)
	overwrite(filepath.Join(w.home, ".gemini", "settings.json"), "{}\n")
	w.runsWhatItIsGiven(false, "protected no longer")
	overwrite(w.daily().Proofs, "{")
	w.runsWhatItIsGiven(false, "proofs that cannot be read")
}
