package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/config"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/verify"
)

// live are the rules in force. A file that is wrong changes nothing: the old
// rules stay, and what is wrong with the new ones is kept for whoever asks.
type live struct {
	file string
	own  func() (*catalog.File, error) // where this installation lies
	now  func() time.Time
	// gates are those of service.yaml, which holds until the daemon ends.
	gates verify.Gates
	// changed is told of every try, after it.
	changed func(rulesStatus)
	// fleet says what holds in place of the file, at a time, on a laptop that joined
	// a fleet; nil everywhere else.
	fleet func(now time.Time) fleetRules

	// loading is held from reading rules until they are in force: what was read
	// earlier must not take the place of what was read later. It guards good.
	loading sync.Mutex
	// good is the owner's own policy as it last held: beside a fleet's rules it goes
	// on tightening when the file is broken or gone. Nil is none.
	good []byte

	mu     sync.Mutex // guards all below
	status rulesStatus
	// strict holds once until is over; a zero until is never. Latest is the latest
	// time that was seen: a clock that is set back revives nothing.
	strict kernel.Rules
	until  time.Time
	latest time.Time
}

// fleetRules are rules that come from a fleet.
type fleetRules struct {
	name string // for people
	data []byte
	// until is when they end, and strict ones hold; zero: never.
	until time.Time
}

// A rulesStatus is which rules hold, and what became of the last try.
type rulesStatus struct {
	rules  config.Rules
	loaded time.Time
	// refused is why the file as it lies there does not hold; nil if it does.
	refused error
	fresh   bool // the last try brought other rules
	// left is what of the owner's own file does not hold beside a fleet's rules.
	left string
	// shut is why strict rules hold in place of a fleet's that have not ended; empty
	// if they do not.
	shut string
}

// newLive loads the rules for the first time. With wrong rules there is no
// daemon to begin with: better none than one with rules nobody wrote.
func newLive(p config.Paths, now func() time.Time, fleet func(time.Time) fleetRules) (*live, error) {
	l := &live{file: p.Policy, own: p.Guarded, now: now, changed: func(rulesStatus) {}, fleet: fleet}
	got, err := l.load(fleet, now())
	if err != nil {
		return nil, err
	}
	l.take(got)
	return l, nil
}

// A loaded is what was read at one time.
type loaded struct {
	status rulesStatus
	strict kernel.Rules
	until  time.Time
}

// load reads the rules, and looks again where this installation lies: agents may
// have been connected since. Rules of a fleet that cannot be read are strict ones.
func (l *live) load(fleet func(time.Time) fleetRules, now time.Time) (got loaded, err error) {
	got.status = rulesStatus{loaded: l.now(), fresh: true}
	places, err := l.own()
	if err != nil {
		return got, err
	}
	if fleet == nil {
		got.status.rules, err = config.LoadRules(l.file, places)
		if err == nil && got.status.rules.Text != nil {
			l.good = got.status.rules.Text
		}
		return got, err
	}
	err = l.beside(&got, fleet(now), places)
	return got, err
}

// take puts rules in force. The caller holds the lock, or is the only one.
func (l *live) take(got loaded) {
	l.status, l.strict, l.until = got.status, got.strict, got.until
}

// join puts rules of a fleet in force, or with nil the owner's own again.
func (l *live) join(fleet func(time.Time) fleetRules) error {
	l.loading.Lock()
	got, err := l.load(fleet, l.time())
	if err != nil {
		l.loading.Unlock()
		return err
	}
	l.mu.Lock()
	l.fleet = fleet
	l.take(got)
	after := l.status
	l.mu.Unlock()
	l.loading.Unlock()
	l.changed(after)
	return nil
}

// time is now, or the latest time that was seen if that is later.
func (l *live) time() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.clock()
}

// clock does so for who holds the lock.
func (l *live) clock() time.Time {
	if now := l.now(); now.After(l.latest) {
		l.latest = now
	}
	return l.latest
}

// saw notes a time that is known to have been.
func (l *live) saw(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at.After(l.latest) {
		l.latest = at
	}
}

// over reports whether the rules of a fleet have ended. The caller holds the lock.
func (l *live) over() bool { return !l.until.IsZero() && !l.clock().Before(l.until) }

// expire puts strict rules in force for good if those of a fleet have ended: until
// then each decision finds out by itself.
func (l *live) expire() {
	l.mu.Lock()
	over := l.over()
	l.mu.Unlock()
	if over {
		l.reload()
	}
}

// rules returns those in force.
func (l *live) rules() kernel.Rules {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.status.rules.Rules
	if l.over() {
		r = l.strict
	}
	r.Gates = l.gates
	return r
}

func (l *live) current() rulesStatus {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.status
}

// reload reads the file again.
func (l *live) reload() rulesStatus {
	l.loading.Lock()
	l.mu.Lock()
	fleet, now := l.fleet, l.clock()
	l.mu.Unlock()
	got, err := l.load(fleet, now)
	r := got.status.rules
	l.mu.Lock()
	before := l.status
	if err == nil && fleet == nil && r.File == "" && before.rules.File != "" {
		err = fmt.Errorf("%s is gone: what it said stays in force (write «version: 1» to it if you want the shipped profile)", before.rules.File)
	}
	switch {
	case err != nil:
		l.status.refused, l.status.fresh = err, false
	case r.Policy.Hash() == before.rules.Policy.Hash() && r.Catalog.Hash() == before.rules.Catalog.Hash():
		l.status.fresh, l.status.rules.File = false, r.File
		l.status.refused, l.status.left, l.status.shut = got.status.refused, got.status.left, got.status.shut
		l.strict, l.until = got.strict, got.until
	default:
		l.take(got)
	}
	after := l.status
	l.mu.Unlock()
	l.loading.Unlock()
	l.changed(after)
	return after
}

// problems are what is wrong with the file as it lies there.
func (s rulesStatus) problems() floodmark.Problems {
	if found, ok := errors.AsType[floodmark.Problems](s.refused); ok {
		return found
	}
	if s.refused != nil {
		return floodmark.Problems{{File: s.rules.File, Line: 1, Column: 1, Severity: floodmark.Error, Code: "unreadable", Text: s.refused.Error()}}
	}
	return s.rules.Warnings
}

// settle is how long a file must be left alone before it is read: editors
// write in several steps.
const settle = 200 * time.Millisecond

// watch reloads whenever the file changes, until ctx ends. It watches the
// folder, because editors replace files, so it makes the folder: the first
// policy is written there later.
func (l *live) watch(ctx context.Context, log *slog.Logger) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch the policy: %w", err)
	}
	defer w.Close()
	folder := filepath.Dir(l.file)
	if err := errors.Join(os.MkdirAll(folder, 0o700), w.Add(folder)); err != nil {
		log.Warn("the policy is not watched: say «floodmark policy reload» after a change", "folder", folder)
		<-ctx.Done()
		return nil
	}
	quiet := time.NewTimer(settle) // it may have changed since it was read first
	defer quiet.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case ev := <-w.Events:
			if filepath.Base(ev.Name) == filepath.Base(l.file) {
				quiet.Reset(settle)
			}
		case <-quiet.C:
			l.reload()
		case err := <-w.Errors:
			log.Warn("watch the policy", "error", err)
		}
	}
}
