package daemon

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/fleet/fleetlink"
	"github.com/floodmark/floodmark/internal/fleet/machines"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/wire"
)

// An attacker who deletes, changes or plants the membership file and has the monitor restart gets
// strict rules, an incident and no fleet, instead of the owner's own rules or a fleet of their own.
// Leaving is the way out.
func TestMembershipIsNotSwapped(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("minutes with the race detector")
	}
	f := newBundledFleet(t)
	f.rollOut(1, 1, "version: 1\nprofile: coding\n", now().Add(30*time.Minute))
	for name, change := range map[string]func(t *testing.T, file string, good []byte){
		"deleted": func(t *testing.T, file string, _ []byte) {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		},
		"without keys": func(t *testing.T, file string, good []byte) {
			var m fleetlink.Membership
			if err := json.Unmarshal(good, &m); err != nil {
				t.Fatal(err)
			}
			m.Keys = nil
			if err := m.Save(file); err != nil {
				t.Fatal(err)
			}
		},
		"of another fleet": func(t *testing.T, file string, good []byte) {
			if err := os.WriteFile(file, bytes.ReplaceAll(good, []byte("127.0.0.1"), []byte("127.0.0.2")), 0o600); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			r := newLaptop(t, dir, func(*Options) {})
			r.join(t, f, "acme")
			good, err := os.ReadFile(r.paths.Fleet)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.stop(); err != nil {
				t.Fatal(err)
			}
			change(t, r.paths.Fleet, good)
			r = newLaptop(t, dir, func(*Options) {})
			r.swapped(t)
			if name == "deleted" {
				r.putBack(t, dir, good)
			}
		})
	}
}

// putBack holds that the membership holds again once it is there again.
func (r *runner) putBack(t *testing.T, dir string, good []byte) {
	t.Helper()
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.paths.Fleet, good, 0o600); err != nil {
		t.Fatal(err)
	}
	if again := newLaptop(t, dir, func(*Options) {}); again.profile() != "coding" {
		t.Errorf("put back: profile %s", again.profile())
	}
}

// A planted membership that was never joined with brings no fleet, and Leave removes it.
func TestMembershipIsNotPlanted(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("minutes with the race detector")
	}
	f := newBundledFleet(t)
	f.rollOut(1, 1, "version: 1\nprofile: coding\n", now().Add(30*time.Minute))
	dir := t.TempDir()
	r := newLaptop(t, dir, func(*Options) {})
	r.join(t, f, "acme")
	data, err := os.ReadFile(r.paths.Fleet)
	if err != nil {
		t.Fatal(err)
	}
	other := t.TempDir()
	p := newLaptop(t, other, func(*Options) {})
	p.work(t, "s")
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.paths.Fleet, data, 0o600); err != nil {
		t.Fatal(err)
	}
	p = newLaptop(t, other, func(*Options) {})
	p.swapped(t)
	if _, err := p.owner(t).Owner().Leave(t.Context(), &wire.LeaveRequest{}); err != nil {
		t.Fatal(err)
	}
	if p.alone(t); p.profile() != "assistant" {
		t.Errorf("after leaving: profile %s", p.profile())
	}
}

// swapped holds that a laptop noticed.
func (r *runner) swapped(t *testing.T) {
	t.Helper()
	if r.profile() != "strict" || !strings.HasPrefix(r.line(t), "STRICT: ") || !strings.Contains(r.line(t), "floodmark fleet leave") {
		t.Errorf("profile %s, %q", r.profile(), r.line(t))
	}
	if _, linked := r.d.joined.State(); linked {
		t.Error("a fleet is spoken to")
	}
	if !strings.Contains(r.incidents(t), "fleet-changed") {
		t.Error("there is no incident")
	}
}

// Rules that were damaged on disk are strict ones until the fleet is reached, and
// then fetched again, though the fleet has no newer ones.
func TestDamagedRulesAreFetchedAgain(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("minutes with the race detector")
	}
	f := newBundledFleet(t)
	f.rollOut(1, 1, "version: 1\nprofile: coding\n", now().Add(30*time.Minute))
	dir := t.TempDir()
	r := newLaptop(t, dir, func(*Options) {})
	got := r.join(t, f, "acme")
	if r.contact(); !f.copied(r, "acme", got.GetMachine()) {
		t.Error("the fleet has no copy")
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	kept, err := fleetlink.LoadKept(r.paths.FleetBundle)
	if err != nil {
		t.Fatal(err)
	}
	kept.Sealed[len(kept.Sealed)-1] ^= 1
	if err := kept.Save(r.paths.FleetBundle); err != nil {
		t.Fatal(err)
	}
	r = newLaptop(t, dir, func(*Options) {})
	if r.contact(); r.profile() != "coding" {
		t.Errorf("not fetched again: profile %s", r.profile())
	}
	if _, state, err := f.book.Find(t.Context(), machines.ID(got.GetMachine())); err != nil || state != machines.Joined {
		t.Errorf("%s, %v", state, err)
	}
}

// A daemon erases what its settings call too old, and nothing without them.
func TestOldSessionsGo(t *testing.T) {
	t.Parallel()
	for keep, erased := range map[time.Duration]bool{0: false, time.Hour: true} {
		r := newLaptop(t, t.TempDir(), func(o *Options) { o.Service.Journal.Keep = config.Days(keep) })
		r.work(t, "s")
		for later, gone := range map[time.Duration]bool{time.Minute: false, 2 * time.Hour: erased} {
			if _, err := r.d.proof.retention.Step(t.Context(), r.d.opts.Now().Add(later)); err != nil {
				t.Fatal(err)
			}
			if start, err := r.d.store.Begin(t.Context(), journal.Session{ID: "s"}); err != nil || later > time.Hour && (start.Tombstone != nil) != gone {
				t.Errorf("kept for %v, after %v: %+v, %v", keep, later, start, err)
			}
		}
	}
}

// Old records of a laptop are erased, but not that it joined: a membership file planted afterwards
// is noticed.
func TestMembershipIsNotErased(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("minutes with the race detector")
	}
	f := newBundledFleet(t)
	f.rollOut(1, 1, "version: 1\nprofile: coding\n", now().Add(30*time.Minute))
	in, out := t.TempDir(), t.TempDir()
	r, p := newLaptop(t, in, func(*Options) {}), newLaptop(t, out, func(*Options) {})
	r.join(t, f, "acme")
	r.work(t, "s")
	p.d.incident(t.Context(), "unknown-peer", "somebody knocked")
	for name, of := range map[journal.Session]*runner{{ID: "s"}: r, {ID: monitor.Incidents}: p} {
		old := of.d.proof.retention
		again := journal.Retention{Journal: old.Journal, Signer: old.Signer, Mark: old.Mark, Spare: old.Spare, Keep: time.Nanosecond}
		if did, err := again.Step(t.Context(), now().Add(time.Hour)); err != nil || len(did.Kept) > 0 {
			t.Fatal(did, err)
		}
		if start, err := of.d.store.Begin(t.Context(), name); err != nil || start.Tombstone == nil {
			t.Errorf("%s is not erased: %v", name, err)
		}
	}
	if start, err := r.d.store.Begin(t.Context(), journal.Session{ID: monitor.Incidents}); err != nil || start.Tombstone != nil {
		t.Errorf("%+v, %v", start, err)
	}
	if !r.d.joined.Needs(journal.Session{ID: monitor.Incidents}) || p.d.joined.Needs(journal.Session{ID: monitor.Incidents}) {
		t.Error("who needs it is not known")
	}
	data, err := os.ReadFile(r.paths.Fleet)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.paths.Fleet, data, 0o600); err != nil {
		t.Fatal(err)
	}
	newLaptop(t, out, func(*Options) {}).swapped(t)
}
