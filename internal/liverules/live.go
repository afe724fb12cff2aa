// Package liverules holds the rules in force on this machine: the owner's policy, read
// again whenever its file changes, or on a laptop that joined a fleet the fleet's, with
// what of the owner's tightens them. It never puts rules in force that cannot be read,
// and rules that have ended do not come back with a clock that is set back.
package liverules

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/config"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/verify"
)

// Options are what [New] needs.
type Options struct {
	File   string // the owner's policy
	Reader *config.Reader
	// Own says where this installation lies: whatever the policy says, that is guarded.
	Own func() (*catalog.File, error)
	Now func() time.Time
	// Gates are those of service.yaml, which holds until the daemon ends.
	Gates verify.Gates
	// Changed is told of every try after the first, when it is over.
	Changed func(Status)
	// Fleet says what holds in place of the file, at a time, on a laptop that joined
	// a fleet; nil everywhere else.
	Fleet func(now time.Time) FleetRules
}

// Live are the rules in force. A file that is wrong changes nothing: the old
// rules stay, and what is wrong with the new ones is kept for whoever asks.
type Live struct {
	opts Options

	// loading is held from reading rules until they are in force: what was read
	// earlier must not take the place of what was read later. It guards good.
	loading sync.Mutex
	// good is the owner's own policy as it last held: beside a fleet's rules it goes
	// on tightening when the file is broken or gone. Nil is none.
	good []byte

	mu     sync.Mutex                     // guards all below
	fleet  func(now time.Time) FleetRules // as it is by now
	status Status
	places floodmark.Digest // where this installation lies, as the rules have it
	// strict holds once until is over; a zero until is never. Latest is the latest
	// time that was seen: a clock that is set back revives nothing.
	strict kernel.Rules
	until  time.Time
	latest time.Time
	// expected is until when a change by «floodmark protect» is nobody else's.
	expected time.Time
}

// FleetRules are rules that come from a fleet.
type FleetRules struct {
	Name string // for people
	Data []byte
	// Until is when they end, and strict ones hold; zero: never.
	Until time.Time
}

// A Status is which rules hold, and what became of the last try.
type Status struct {
	Rules  config.Rules
	Loaded time.Time
	// Refused is why the file as it lies there does not hold; nil if it does.
	Refused error
	Fresh   bool // the last try brought other rules
	// Announced says that these are no other rules than [Live.Protecting] announced.
	Announced bool
	// Left is what of the owner's own file does not hold beside a fleet's rules.
	Left string
	// Shut is why strict rules hold in place of a fleet's that have not ended; empty
	// if they do not.
	Shut string
}

// Log writes down what became of the last try.
func (s Status) Log(log *slog.Logger) {
	if s.Refused != nil {
		log.Error("the new policy is refused, the old one stays", "error", s.Refused)
	}
	if s.Shut != "" {
		log.Error("strict rules hold in place of the fleet's", "error", s.Shut)
	}
	if s.Fresh {
		log.Info("a new policy holds", "file", s.Rules.File, "digest", s.Rules.Policy.Hash().Short())
	}
}

// New loads the rules for the first time. With wrong rules there is no
// daemon to begin with: better none than one with rules nobody wrote.
func New(o Options) (*Live, error) {
	l := &Live{opts: o, fleet: o.Fleet}
	got, err := l.load(o.Fleet, o.Now())
	if err != nil {
		return nil, err
	}
	l.take(got)
	return l, nil
}

// A loaded is what was read at one time.
type loaded struct {
	status Status
	places floodmark.Digest
	strict kernel.Rules
	until  time.Time
}

// load reads the rules, and looks again where this installation lies: agents may
// have been connected since. Rules of a fleet that cannot be read are strict ones.
func (l *Live) load(fleet func(time.Time) FleetRules, now time.Time) (got loaded, err error) {
	got.status = Status{Loaded: l.opts.Now(), Fresh: true}
	places, err := l.opts.Own()
	if err != nil {
		return got, err
	}
	got.places = places.Hash()
	if fleet == nil {
		got.status.Rules, err = l.opts.Reader.Load(l.opts.File, places)
		if err == nil && got.status.Rules.Text != nil {
			l.good = got.status.Rules.Text
		}
		return got, err
	}
	err = l.beside(&got, fleet(now), places)
	return got, err
}

// take puts rules in force. The caller holds the lock, or is the only one.
func (l *Live) take(got loaded) {
	l.status, l.places, l.strict, l.until = got.status, got.places, got.strict, got.until
}

// Join puts rules of a fleet in force, or with nil the owner's own again.
func (l *Live) Join(fleet func(time.Time) FleetRules) error {
	l.loading.Lock()
	got, err := l.load(fleet, l.Time())
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
	l.opts.Changed(after)
	return nil
}

// Time is now, or the latest time that was seen if that is later.
func (l *Live) Time() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.clock()
}

// clock does so for who holds the lock.
func (l *Live) clock() time.Time {
	if now := l.opts.Now(); now.After(l.latest) {
		l.latest = now
	}
	return l.latest
}

// Saw notes a time that is known to have been.
func (l *Live) Saw(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at.After(l.latest) {
		l.latest = at
	}
}

// over reports whether the rules of a fleet have ended. The caller holds the lock.
func (l *Live) over() bool { return !l.until.IsZero() && !l.clock().Before(l.until) }

// Expire puts strict rules in force for good if those of a fleet have ended: until
// then each decision finds out by itself.
func (l *Live) Expire() {
	l.mu.Lock()
	over := l.over()
	l.mu.Unlock()
	if over {
		l.Reload()
	}
}

// Rules returns those in force, each time it is asked.
func (l *Live) Rules() kernel.Rules {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.status.Rules.Rules
	if l.over() {
		r = l.strict
	}
	r.Gates = l.opts.Gates
	return r
}

// Current says which rules hold, and what became of the last try.
func (l *Live) Current() Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.status
}

// protectTime is how long protect may take from its word to its deed.
const protectTime = time.Minute

// Protecting announces what «floodmark protect» does: the owner wants it.
func (l *Live) Protecting() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expected = l.clock().Add(protectTime)
}

// announced reports whether rules differ from those in force by nothing but what protect
// does: other places are guarded, its policy stands where there was none, or is gone again.
// Whatever else changed meanwhile was somebody else. The caller holds the lock.
func (l *Live) announced(r config.Rules) bool {
	if !l.clock().Before(l.expected) {
		return false
	}
	was := l.status.Rules
	return r.Policy.Hash() == was.Policy.Hash() || was.File == "" && string(r.Text) == config.CodingPolicy ||
		r.File == "" && string(was.Text) == config.CodingPolicy
}

// Reload reads the file again.
func (l *Live) Reload() Status {
	l.loading.Lock()
	l.mu.Lock()
	fleet, now := l.fleet, l.clock()
	l.mu.Unlock()
	got, err := l.load(fleet, now)
	r := got.status.Rules
	l.mu.Lock()
	before := l.status
	if err == nil && fleet == nil && r.File == "" && before.Rules.File != "" && !l.announced(r) {
		err = fmt.Errorf("%s is gone: what it said stays in force (write «version: 1» to it if you want the shipped profile)", before.Rules.File)
	}
	switch {
	case err != nil:
		l.status.Refused, l.status.Fresh = err, false
	case r.Policy.Hash() == before.Rules.Policy.Hash() && r.Catalog.Hash() == before.Rules.Catalog.Hash():
		l.status.Fresh, l.status.Rules.File = false, r.File
		l.status.Refused, l.status.Left, l.status.Shut = got.status.Refused, got.status.Left, got.status.Shut
		l.strict, l.until = got.strict, got.until
	default:
		got.status.Announced = l.announced(r)
		l.take(got)
	}
	after := l.status
	l.mu.Unlock()
	l.loading.Unlock()
	l.opts.Changed(after)
	return after
}

// Problems are what is wrong with the file as it lies there.
func (s Status) Problems() floodmark.Problems {
	if found, ok := errors.AsType[floodmark.Problems](s.Refused); ok {
		return found
	}
	if s.Refused != nil {
		return floodmark.Problems{{File: s.Rules.File, Line: 1, Column: 1, Severity: floodmark.Error, Code: "unreadable", Text: s.Refused.Error()}}
	}
	return s.Rules.Warnings
}
