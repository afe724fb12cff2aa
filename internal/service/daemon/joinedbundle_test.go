package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/rules/bundle"
	"github.com/floodmark/floodmark/internal/rules/bundle/bundletest"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/wire"
)

// A bundled fleet hands rules out.
func newBundledFleet(t *testing.T) *fleet {
	t.Helper()
	return newFleet(t, func(o *Options) {
		o.Service.Bundles = &config.Bundles{Keys: []string{bundle.FormatKey(bundletest.Keys()[0])}}
	})
}

// rollOut publishes a version of acme's rules and rolls it out to all.
func (f *fleet) rollOut(version, floor uint64, policy string, until time.Time) {
	f.t.Helper()
	b := bundle.Bundle{Tenant: "acme", Version: version, Floor: floor, Made: until.Add(-time.Hour).Truncate(time.Second), ValidUntil: until.Truncate(time.Second), Policy: []byte(policy)}
	if err := f.d.bundles.Publish(f.t.Context(), bundletest.Sealed(f.t, b)); err != nil {
		f.t.Fatal(err)
	}
	f.roll(bundle.Rollout{Stable: version})
}

func (f *fleet) roll(r bundle.Rollout) {
	f.t.Helper()
	last, err := f.d.bundles.Now(f.t.Context(), "acme")
	if err != nil {
		f.t.Fatal(err)
	}
	r.Tenant, r.Serial, r.By, r.At = "acme", last.Serial+1, "an author", now().Truncate(time.Second)
	if err := f.d.bundles.Roll(f.t.Context(), r); err != nil {
		f.t.Fatal(err)
	}
}

// profile is that of the rules in force on a laptop.
func (r *runner) profile() string { return r.d.live.Rules().Policy.Profile() }

// Rules of the fleet hold on a laptop, change with the rollout, end in time, and
// go with leaving. A clock that is set back revives nothing, here or after a
// restart.
func TestFleetRules(t *testing.T) {
	t.Parallel()
	f := newBundledFleet(t)
	end := now().Add(30 * time.Minute)
	f.rollOut(1, 1, "version: 1\nprofile: coding\n", end)
	dir := t.TempDir()
	var offset atomic.Int64
	clock := func(o *Options) {
		o.Now = func() time.Time { return now().Add(time.Duration(offset.Load())) }
	}
	r := newLaptop(t, dir, clock)
	if r.profile() != "assistant" {
		t.Fatalf("profile %s", r.profile())
	}
	if got := r.join(t, f, "acme"); !strings.Contains(got.GetFleet(), "bundle 1 holds until") || r.profile() != "coding" {
		t.Fatalf("%q, profile %s", got.GetFleet(), r.profile())
	}
	f.rollOut(2, 2, "version: 1\nprofile: coding\nmaxIterations: 7\n", end)
	if r.contact(); !strings.Contains(r.line(t), "bundle 2 holds until") {
		t.Errorf("not version 2: %q", r.line(t))
	}
	list, err := f.laptop(f.token("acme", "v", httpapi.MayView)).ListMachines(t.Context(), &wire.ListMachinesRequest{})
	if err != nil || list.GetMachines()[0].GetReport().GetBundle() != 2 {
		t.Errorf("the fleet is not told: %v, %v", list, err)
	}
	if err := f.stop(); err != nil {
		t.Fatal(err)
	}
	offset.Store(int64(31 * time.Minute))
	if r.profile() != "strict" {
		t.Errorf("after its end: profile %s", r.profile())
	}
	r.work(t, "late") // the journal has seen this time
	if line := r.line(t); !strings.Contains(line, "STRICT: bundle 2 ended at") {
		t.Errorf("%q", line)
	}
	offset.Store(0)
	if r.profile() != "strict" {
		t.Errorf("a clock that was set back: profile %s", r.profile())
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	r = newLaptop(t, dir, clock)
	if r.profile() != "strict" || !strings.Contains(r.line(t), "STRICT") {
		t.Errorf("after a restart with the clock set back: profile %s, %q", r.profile(), r.line(t))
	}
	if _, err := r.owner(t).Owner().Leave(t.Context(), &wire.LeaveRequest{}); err != nil {
		t.Fatal(err)
	}
	if r.alone(t); r.profile() != "assistant" {
		t.Errorf("after leaving: profile %s", r.profile())
	}
}

// What is revoked with nothing in its place makes laptops strict; a version below
// the floor of one that was used is not taken.
func TestFleetRulesTakenBack(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("minutes with the race detector")
	}
	f := newBundledFleet(t)
	end := now().Add(30 * time.Minute)
	f.rollOut(1, 1, "version: 1\nprofile: assistant\n", end)
	f.rollOut(2, 2, "version: 1\nprofile: coding\n", end)
	r := newLaptop(t, t.TempDir(), func(*Options) {})
	r.join(t, f, "acme")
	if r.profile() != "coding" {
		t.Fatal(r.profile())
	}
	f.roll(bundle.Rollout{Stable: 1}) // as a node that lies would
	if r.contact(); !strings.Contains(r.line(t), "bundle 1 of the fleet is not used") {
		t.Errorf("it is taken: %q", r.line(t))
	}
	if r.profile() != "coding" {
		t.Errorf("led back to %s", r.profile())
	}
	f.roll(bundle.Rollout{Revoked: []uint64{1, 2}})
	if r.contact(); r.profile() != "strict" {
		t.Errorf("all is revoked: profile %s", r.profile())
	}
	if line := r.line(t); !strings.Contains(line, "STRICT: the fleet has no rules for this machine") {
		t.Errorf("%q", line)
	}
}

// Of the owner's own policy only what tightens holds beside a bundle, and status
// says what does not.
func TestOwnPolicyTightens(t *testing.T) {
	t.Parallel()
	f := newBundledFleet(t)
	f.rollOut(1, 1, "version: 1\nprofile: coding\n", now().Add(30*time.Minute))
	dir := t.TempDir()
	own := config.DirPaths(dir).Policy
	if err := os.MkdirAll(filepath.Dir(own), 0o700); err != nil {
		t.Fatal(err)
	}
	text := "version: 1\nprofile: assistant\nrelax: false\ntoolOverrides:\n  web_fetch: {\"*\": restrict}\n"
	if err := os.WriteFile(own, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newLaptop(t, dir, func(*Options) {})
	if got := r.join(t, f, "acme"); !strings.Contains(got.GetFleet(), "[profile relax]") {
		t.Errorf("%q", got.GetFleet())
	}
	c := r.hooks(t)
	tell(t, c, hook.Event{Point: hook.SessionStart, Session: "s"})
	reply := tell(t, c, hook.Event{Point: hook.BeforeToolCall, Session: "s", Call: hook.Call{ID: "c1", Name: "web_fetch", Args: []byte(`{"url":"https://x.example/"}`)}})
	if reply.Decision.Verdict != floodmark.Restrict || r.profile() != "coding" {
		t.Errorf("%s, profile %s", reply.Decision.Verdict, r.profile())
	}
}
