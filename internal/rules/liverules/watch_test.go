package liverules

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/setup/config"
)

const (
	lax    = "version: 1\nprofile: coding\n"
	strict = "version: 1\nprofile: strict\n"
)

// reader is shared by all tests, and no test changes what it has read.
var reader = config.NewReader()

func now() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

// A room is a machine with rules in force.
type room struct {
	*Live
	file   string
	looked chan struct{} // gets a value whenever the installation's files are looked up
	told   chan Status
	moved  atomic.Bool // the installation has other files
}

// enter loads a policy; an empty one is no file.
func enter(t *testing.T, policy string, fleet func(time.Time) FleetRules) *room {
	t.Helper()
	r := &room{file: filepath.Join(t.TempDir(), "policy.yaml"), looked: make(chan struct{}, 1000), told: make(chan Status, 1000)}
	if policy != "" {
		r.write(t, policy)
	}
	var err error
	r.Live, err = New(Options{
		File: r.file, Reader: reader, Own: r.own, Now: now, Changed: func(s Status) { r.told <- s }, Fleet: fleet,
	})
	if err != nil {
		t.Fatal(err)
	}
	<-r.looked
	return r
}

func (r *room) own() (*catalog.File, error) {
	defer func() { r.looked <- struct{}{} }()
	place := "/here/**"
	if r.moved.Load() {
		place = "/there/**"
	}
	return catalog.Parse("this installation", []byte(`{"paths":{"selfProtected":["`+place+`"]}}`))
}

// write replaces the policy in one step.
func (r *room) write(t *testing.T, policy string) {
	t.Helper()
	if err := errors.Join(os.WriteFile(r.file+".new", []byte(policy), 0o600), os.Rename(r.file+".new", r.file)); err != nil {
		t.Fatal(err)
	}
}

// during runs something until the test ends.
func during(t *testing.T, f func(context.Context)) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() { f(ctx) })
	t.Cleanup(func() {
		stop()
		work.Wait()
	})
}

func (r *room) watch(t *testing.T) {
	t.Helper()
	during(t, func(ctx context.Context) {
		if err := r.Watch(ctx, slog.New(slog.DiscardHandler)); err != nil {
			t.Error(err)
		}
	})
}

// A change after the first reading and before the watch causes no event. It is found nevertheless;
// otherwise a policy that was tightened then would not be in force.
func TestChangedBeforeItWasWatched(t *testing.T) {
	for name, c := range map[string]struct {
		before string
		change func(*testing.T, *room)
		holds  func(Status) bool
	}{
		"tightened": {lax, func(t *testing.T, r *room) { r.write(t, strict) }, func(s Status) bool {
			return s.Fresh && s.Rules.Policy.Profile() == "strict"
		}},
		"the first": {"", func(t *testing.T, r *room) { r.write(t, strict) }, func(s Status) bool {
			return s.Fresh && s.Rules.Policy.Profile() == "strict"
		}},
		"as long as before, at the same time": {lax, func(t *testing.T, r *room) { r.swap(t, strict) }, func(s Status) bool {
			return s.Fresh && s.Rules.Policy.Profile() == "strict"
		}},
		"broken": {strict, func(t *testing.T, r *room) { r.write(t, "version: 1\nprofil: coding\n") }, func(s Status) bool {
			return s.Refused != nil && s.Rules.Policy.Profile() == "strict"
		}},
		"gone": {strict, func(t *testing.T, r *room) {
			if err := os.Remove(r.file); err != nil {
				t.Fatal(err)
			}
		}, func(s Status) bool { return s.Refused != nil && s.Rules.Policy.Profile() == "strict" }},
		"an agent was connected": {lax, func(_ *testing.T, r *room) { r.moved.Store(true) }, func(s Status) bool {
			_, guarded, _ := s.Rules.Catalog.Guards("/there/x", false, catalog.Places{})
			return s.Fresh && guarded
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := enter(t, c.before, nil)
			c.change(t, r)
			r.watch(t)
			if s := <-r.told; !c.holds(s) {
				t.Errorf("fresh %v, refused %v, profile %s", s.Fresh, s.Refused, s.Rules.Policy.Profile())
			}
		})
	}
}

// swap writes other bytes into the file, as many, and sets its time back.
func (r *room) swap(t *testing.T, policy string) {
	t.Helper()
	before, err := os.Stat(r.file)
	if err != nil || before.Size() != int64(len(policy)) {
		t.Fatal(before, err)
	}
	if err := errors.Join(os.WriteFile(r.file, []byte(policy), 0o600), os.Chtimes(r.file, before.ModTime(), before.ModTime())); err != nil {
		t.Fatal(err)
	}
}

// The start of the watch does not reload an unchanged policy: the first attempt comes with a
// change.
func TestNothingChangedBeforeItWasWatched(t *testing.T) {
	for name, before := range map[string]string{"a policy": lax, "no policy": ""} {
		t.Run(name, func(t *testing.T) {
			r := enter(t, before, nil)
			r.watch(t)
			<-r.looked
			r.write(t, strict)
			if s := <-r.told; !s.Fresh || s.Rules.Policy.Profile() != "strict" {
				t.Errorf("fresh %v, profile %s", s.Fresh, s.Rules.Policy.Profile())
			}
		})
	}
}

// A fleet's rules are loaded again when the watch starts, so that their problems are reported then.
func TestFleetRulesAreToldOf(t *testing.T) {
	r := enter(t, "", func(time.Time) FleetRules { return FleetRules{Name: "bundle", Data: []byte("version: 9\n")} })
	r.watch(t)
	if s := <-r.told; s.Shut == "" || s.Rules.Policy.Profile() != "strict" {
		t.Errorf("shut %q, profile %s", s.Shut, s.Rules.Policy.Profile())
	}
}

// If so much happens in the folder that the system drops events, the rules are checked, because an
// event for the file may have been dropped.
func TestAChangeThatWasNotTold(t *testing.T) {
	r := enter(t, lax, nil)
	errs := make(chan error)
	during(t, func(ctx context.Context) { r.follow(ctx, slog.New(slog.DiscardHandler), nil, errs) })
	<-r.looked
	r.write(t, strict)
	errs <- fsnotify.ErrEventOverflow
	if s := <-r.told; !s.Fresh || s.Rules.Policy.Profile() != "strict" {
		t.Errorf("fresh %v, profile %s", s.Fresh, s.Rules.Policy.Profile())
	}
}
