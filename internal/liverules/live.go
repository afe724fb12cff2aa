// Package liverules holds the rules in force on this machine: the owner's policy, read again
// whenever its file changes, or on a laptop that joined a fleet the fleet's, plus the part of the
// owner's that tightens. It never puts rules in force that cannot be read, and expired rules do not
// come back when the clock is set back.
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
	// Own returns the files of this installation, which are guarded under any policy.
	Own func() (*catalog.File, error)
	Now func() time.Time
	// Gates are those of service.yaml, which holds until the daemon ends.
	Gates verify.Gates
	// Changed is called after every later try.
	Changed func(Status)
	// Fleet returns what holds in place of the file, at a time, on a laptop that joined a fleet;
	// nil everywhere else.
	Fleet func(now time.Time) FleetRules
}

// Live are the rules in force. A file that is wrong changes nothing: the old rules stay, and the
// errors of the new ones are kept for status.
type Live struct {
	opts Options

	// loading is held from reading rules until they are in force: an earlier reading must not
	// replace a later one. It guards good.
	loading sync.Mutex
	// good is the owner's own policy as it last held: beside a fleet's rules it goes on tightening
	// when the file is broken or gone. Nil is none.
	good []byte

	mu     sync.Mutex                     // guards all below
	fleet  func(now time.Time) FleetRules // as it is by now
	status Status
	places floodmark.Digest // where this installation lies, as the rules have it
	// strict holds once until is over; a zero until is never. Latest is the latest time that was
	// seen: a clock that is set back revives nothing.
	strict kernel.Rules
	until  time.Time
	latest time.Time
	// expected is until when a change is taken for that of «floodmark protect».
	expected time.Time
}

// FleetRules are rules that come from a fleet.
type FleetRules struct {
	Name string // for people
	Data []byte
	// Until is when they end, and strict ones hold; zero: never.
	Until time.Time
}

// A Status says which rules hold, and the result of the last try.
type Status struct {
	Rules  config.Rules
	Loaded time.Time
	// Refused is why the file as it lies there does not hold; nil if it does.
	Refused error
	Fresh   bool // the last try brought other rules
	// Announced says that these are exactly the rules that [Live.Protecting] announced.
	Announced bool
	// Left is the part of the owner's own file that does not hold beside a fleet's rules.
	Left string
	// Shut is why strict rules hold in place of a fleet's that have not ended; empty
	// if they do not.
	Shut string
}

// Log logs the result of the last try.
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

// New loads the rules for the first time. If they are wrong it fails: no daemon is better than one
// with rules that the owner did not write.
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

// load reads the rules, and finds again where this installation is: agents may have been connected
// since. Rules of a fleet that cannot be read are replaced by strict ones.
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

// Time returns the present time, or the latest time that was seen if that is later.
func (l *Live) Time() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.clock()
}

// clock is Time for a caller that holds the lock.
func (l *Live) clock() time.Time {
	if now := l.opts.Now(); now.After(l.latest) {
		l.latest = now
	}
	return l.latest
}

// Saw notes a time that has certainly been reached.
func (l *Live) Saw(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at.After(l.latest) {
		l.latest = at
	}
}

// over reports whether the rules of a fleet have ended. The caller holds the lock.
func (l *Live) over() bool { return !l.until.IsZero() && !l.clock().Before(l.until) }

// Expire puts strict rules in force for good if those of a fleet have expired: until then each
// decision checks by itself.
func (l *Live) Expire() {
	l.mu.Lock()
	over := l.over()
	l.mu.Unlock()
	if over {
		l.Reload()
	}
}

// Rules returns the rules now in force.
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

// protectTime bounds the time from protect's announcement to its change.
const protectTime = time.Minute

// Protecting announces a change by «floodmark protect», which the owner wants.
func (l *Live) Protecting() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expected = l.clock().Add(protectTime)
}

// announced reports whether rules differ from those in force only by what protect does: other
// places are guarded, its policy was written where there was none, or removed again. Any further
// change is another program's. The caller holds the lock.
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

// Problems returns the errors in the file on disk.
func (s Status) Problems() floodmark.Problems {
	if found, ok := errors.AsType[floodmark.Problems](s.Refused); ok {
		return found
	}
	if s.Refused != nil {
		return floodmark.Problems{{File: s.Rules.File, Line: 1, Column: 1, Severity: floodmark.Error, Code: "unreadable", Text: s.Refused.Error()}}
	}
	return s.Rules.Warnings
}
