package liverules

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/verify"
)

// at returns an Own for an installation at some paths.
func at(p config.Paths) func() (*catalog.File, error) {
	return func() (*catalog.File, error) { return reader.Guarded(p) }
}

// Rules of a fleet end in time, at each decision, and a clock that is set back does
// not revive them.
func TestFleetRulesEnd(t *testing.T) {
	begin := time.Unix(1_700_000_000, 0)
	now, paths, told := begin, config.DirPaths(t.TempDir()), 0
	l, err := New(Options{
		File: paths.Policy, Reader: reader, Own: at(paths), Now: func() time.Time { return now },
		Gates: verify.Gates{{Name: "gate"}}, Changed: func(Status) { told++ },
		Fleet: func(time.Time) FleetRules {
			return FleetRules{Name: "bundle", Data: []byte(lax), Until: begin.Add(time.Hour)}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	holds := func(what, profile string) {
		t.Helper()
		if r := l.Rules(); r.Policy.Profile() != profile || len(r.Gates) != 1 {
			t.Errorf("%s: profile %s with %d gates", what, r.Policy.Profile(), len(r.Gates))
		}
	}
	holds("at first", "coding")
	now = begin.Add(time.Hour - 1)
	l.Expire()
	holds("a moment before the end", "coding")
	if told != 0 {
		t.Errorf("told %d times before anything was tried", told)
	}
	l.Saw(begin.Add(time.Hour))
	holds("at the end, as somebody else saw it", "strict")
	now = begin
	holds("with the clock set back", "strict")
	if l.Expire(); told != 1 || !l.Time().Equal(begin.Add(time.Hour)) {
		t.Errorf("told %d times, time %v", told, l.Time())
	}
}

// Joining and leaving a fleet changes the rules in force. Meanwhile the tightening part of the
// owner's policy stays in force, with or without its file.
func TestJoinedAndLeft(t *testing.T) {
	r := enter(t, "version: 1\nprofile: assistant\ntoolOverrides: {exec: {untrusted: restrict}}\n", nil)
	alone := r.Rules().Policy.Hash()
	bundle := func(time.Time) FleetRules { return FleetRules{Name: "bundle", Data: []byte(lax)} }
	if err := r.Join(bundle); err != nil {
		t.Fatal(err)
	}
	both := r.Rules().Policy
	if s := <-r.told; !s.Fresh || both.Profile() != "coding" || !strings.Contains(s.Left, "profile") {
		t.Errorf("joined: fresh %v, profile %s, left out %q", s.Fresh, both.Profile(), s.Left)
	}
	if err := os.Remove(r.file); err != nil {
		t.Fatal(err)
	}
	if s := r.Reload(); s.Refused == nil || s.Shut != "" || r.Rules().Policy.Hash() != both.Hash() {
		t.Errorf("without the file: refused %v, shut %q", s.Refused, s.Shut)
	}
	r.write(t, "version: 1\nprofile: assistant\ntoolOverrides: {exec: {untrusted: restrict}}\n")
	if err := r.Join(nil); err != nil {
		t.Fatal(err)
	}
	if s := r.Current(); s.Rules.Policy.Hash() != alone || s.Left != "" || s.Refused != nil {
		t.Errorf("left: profile %s, left out %q, refused %v", s.Rules.Policy.Profile(), s.Left, s.Refused)
	}
}

// If the owner's policy was never read, its tightening part is unknown. Then strict rules are in
// force with a fleet, and without one New fails.
func TestABrokenPolicyAtFirst(t *testing.T) {
	paths := config.DirPaths(t.TempDir())
	r := enter(t, "", nil)
	r.write(t, "version: 1\nprofil: coding\n")
	o := Options{File: r.file, Reader: reader, Own: at(paths), Now: now, Changed: func(Status) {}}
	if l, err := New(o); err == nil {
		t.Errorf("without a fleet: profile %s", l.Rules().Policy.Profile())
	}
	o.Fleet = func(time.Time) FleetRules { return FleetRules{Name: "bundle", Data: []byte(lax)} }
	l, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if s := l.Current(); s.Shut == "" || len(s.Problems()) == 0 || l.Rules().Policy.Profile() != "strict" {
		t.Errorf("with a fleet: shut %q, profile %s", s.Shut, l.Rules().Policy.Profile())
	}
}
