package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/setup/config"
)

// fetches is what a laptop says to fetching a page in a session of its own.
func (r *runner) fetches(t *testing.T, n *int) floodmark.Verdict {
	t.Helper()
	*n++
	s, c := floodmark.SessionID(fmt.Sprint("fetches-", *n)), r.hooks(t)
	tell(t, c, hook.Event{Point: hook.SessionStart, Session: s})
	reply := tell(t, c, hook.Event{Point: hook.BeforeToolCall, Session: s, Call: hook.Call{ID: "c1", Name: "web_fetch", Args: []byte(`{"url":"https://x.example/"}`)}})
	return reply.Decision.Verdict
}

// writer writes a file, and makes its folder first.
func writer(t *testing.T, file string) func(text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	return func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// The owner's own policy goes on tightening beside a fleet's rules while its file is broken or
// gone, as it goes on holding without a fleet. After a restart the content of a broken file is
// unknown, so strict rules hold until it is mended.
func TestOwnPolicyGoesOnTightening(t *testing.T) {
	t.Parallel()
	f := newBundledFleet(t)
	end := now().Add(30 * time.Minute)
	f.rollOut(1, 1, "version: 1\nprofile: coding\n", end)
	dir := t.TempDir()
	own := config.DirPaths(dir).Policy
	write := writer(t, own)
	const tight, broken = "version: 1\ntoolOverrides:\n  web_fetch: {\"*\": restrict}\n", "version: 1\ntoolOverrides: [\n"
	n := 0
	holds := func(r *runner, when, profile string, want bool) {
		t.Helper()
		if got := r.fetches(t, &n); (got == floodmark.Restrict) != want || r.profile() != profile {
			t.Errorf("%s: %s, profile %s; status: %s", when, got, r.profile(), r.line(t))
		}
	}
	write(tight)
	r := newLaptop(t, dir, func(*Options) {})
	write(broken) // before it joined it held, and holds
	if r.d.live.Reload().Refused == nil {
		t.Error("the broken file is not refused")
	}
	r.join(t, f, "acme")
	holds(r, "joined with a broken file", "coding", true)
	if line := r.line(t); !strings.Contains(line, own+":") || !strings.Contains(line, "goes on tightening") {
		t.Errorf("%q", line)
	}
	write(tight)
	if err := r.d.live.Reload().Refused; err != nil {
		t.Errorf("it is mended, and refused: %v", err)
	}
	holds(r, "mended", "coding", true)
	if err := os.Remove(own); err != nil {
		t.Fatal(err)
	}
	r.until(t, "status says so", func() bool {
		return strings.Contains(r.line(t), own+" is gone; what it said before goes on tightening")
	})
	f.rollOut(2, 2, "version: 1\nprofile: coding\nmaxIterations: 7\n", end)
	if r.contact(); !strings.Contains(r.line(t), "bundle 2 holds until") {
		t.Errorf("not version 2: %q", r.line(t))
	}
	holds(r, "gone", "coding", true)
	write(broken)
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	r = newLaptop(t, dir, func(*Options) {})
	holds(r, "broken at a start", "strict", r.fetches(t, &n) == floodmark.Restrict)
	if line := r.line(t); !strings.Contains(line, "STRICT: "+own+":") || !strings.Contains(line, "mend it") || strings.Contains(line, "holds until") {
		t.Errorf("%q", line)
	}
	write("version: 1\n")
	r.until(t, "the fleet's rules hold again", func() bool { return r.profile() == "coding" })
	holds(r, "the owner wants none", "coding", false)
}
