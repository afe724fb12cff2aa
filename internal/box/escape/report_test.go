package escape

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSummary(t *testing.T) {
	held := Outcome{Attempt: Attempt{Name: "held", Worked: []string{"sent"}}, Free: true}
	out := Outcome{Attempt: Attempt{Name: "went", Worked: []string{"sent"}}, Free: true, Out: true}
	late := Outcome{Attempt: Attempt{Name: "slow", Worked: []string{"sent"}}, Free: true, Not: "it was not done in time"}
	source := Outcome{Attempt: Attempt{Name: "poison", Worked: []string{"source", "a", "b"}}, Free: true, Out: true}
	for name, c := range map[string]struct {
		list     []Outcome
		verified bool
		says     string
	}{
		"nothing was tried":      {nil, false, ""},
		"held":                   {[]Outcome{held, source}, true, "1 changed source of the project"},
		"one is out":             {[]Outcome{held, out}, false, "OUT: went"},
		"one was not tried":      {[]Outcome{held, late}, false, "not tried: slow: it was not done in time"},
		"nothing works unboxed":  {[]Outcome{{Attempt: held.Attempt}}, false, "0 of them work"},
		"out although it failed": {[]Outcome{{Attempt: out.Attempt, Out: true, Not: "x"}, held}, false, "OUT: went"},
	} {
		r := Summary(c.list)
		if text := strings.Join(r.Lines(), "\n"); r.Verified != c.verified || !strings.Contains(text, c.says) {
			t.Errorf("%s: %+v\n%s", name, r, text)
		}
	}
}

// The shipped attempts can be read, and there are enough of them.
func TestAttempts(t *testing.T) {
	list, err := Attempts()
	if err != nil || len(list) < 100 {
		t.Fatalf("%d attempts: %v", len(list), err)
	}
	source := 0
	for _, a := range list {
		if a.Source() {
			source++
		}
	}
	if source == 0 {
		t.Error("no attempt poisons source of the project")
	}
	for _, bad := range []string{"-- a --\nnever\ntrue\n", "-- a --\nsent\n", "-- a --\nsaid\ntrue\n"} {
		if _, err := parse([]byte(bad)); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// removeAll also removes folders that cannot be entered.
func TestRemoveAll(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "worlds")
	shut := filepath.Join(folder, "0", "boxed", "work", "work")
	if err := os.MkdirAll(filepath.Join(shut, "incompat"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(shut, 0); err != nil {
		t.Fatal(err)
	}
	removeAll(folder)
	if _, err := os.Lstat(folder); err == nil {
		t.Error("it is still there")
	}
}
