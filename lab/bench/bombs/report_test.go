package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A run fails if a command ran outside its box, or if a hook came late.
func TestVerdict(t *testing.T) {
	c := cell{"codex", "box", "kill", building}
	for name, broken := range map[string]struct {
		do   func(*report)
		want string
	}{
		"nothing outside": {func(r *report) { r.add(c, outcome{applied: true}, "") }, ""},
		"boxed":           {func(r *report) { r.add(c, outcome{applied: true, boxed: true}, "cpu") }, ""},
		"outside":         {func(r *report) { r.add(c, outcome{outside: true}, "") }, c.name() + ": 1 of 1 commands"},
		"a ticket":        {func(r *report) { r.Tickets = append(r.Tickets, ticketCount{Try: "late", Outside: 1}) }, "late: 1"},
		"a late hook":     {func(r *report) { r.took("cpu bomb", 21*time.Second, false) }, "1 hooks of 1"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReport(options{})
			broken.do(r)
			err := r.verdict()
			if (err == nil) != (broken.want == "") || err != nil && !strings.Contains(err.Error(), broken.want) {
				t.Errorf("%v, want %q", err, broken.want)
			}
		})
	}
}

// Every victim is broken at every step at which it runs.
func TestCellsOfAnAgent(t *testing.T) {
	for _, name := range []string{"codex", "pi"} {
		a, _ := agentNamed(name)
		steps := map[string]map[string]bool{}
		for _, c := range cellsOf(a) {
			if steps[c.Victim] == nil {
				steps[c.Victim] = map[string]bool{}
			}
			steps[c.Victim][c.Step] = true
		}
		for victim, want := range map[string]int{"monitor": 6, "agent": 6, "box": 3} {
			if len(steps[victim]) != want {
				t.Errorf("%s: %s at %d steps, want %d", name, victim, len(steps[victim]), want)
			}
		}
		if hooks := len(steps["hook"]); hooks != map[bool]int{true: 3}[a.hooked()] {
			t.Errorf("%s: hooks at %d steps", name, hooks)
		}
	}
}

func TestWatchTellsNames(t *testing.T) {
	dir := t.TempDir()
	names, stop, err := watch(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	for _, name := range []string{"a.ticket", "b.taken"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := <-names; got != name {
			t.Errorf("%q, want %q", got, name)
		}
	}
}
