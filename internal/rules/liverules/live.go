// Package liverules holds the rules in force on this machine: the owner's policy, which is read
// again whenever its file changes. On a laptop that joined a fleet, they are the fleet's rules plus
// the tightening part of the owner's policy. Rules that cannot be read are never put in force, and
// expired rules do not come back when the clock is set back.
package liverules

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/verify"
)

// Options are what [New] needs.
type Options struct {
	File   string // the owner's policy
	Reader *config.Reader
	// Own returns catalog entries for the files of this installation, which are guarded under any
	// policy.
	Own func() (*catalog.File, error)
	Now func() time.Time
	// Gates are the gates in service.yaml, which is only read when the daemon starts.
	Gates verify.Gates
	// Changed is called after every later attempt to load the rules.
	Changed func(Status)
	// Fleet returns, on a laptop that joined a fleet, the rules that are in force in place of the
	// file at a given time. It is nil on any other machine.
	Fleet func(now time.Time) FleetRules
}

// Live holds the rules in force. If the file is wrong, the old rules stay in force, and the errors
// are kept for status.
type Live struct {
	opts Options

	// loading is locked from reading rules until they are in force, so that an earlier reading
	// cannot replace a later one. It also guards good.
	loading sync.Mutex
	// good is the last good text of the owner's policy, or nil if there was none. If the file is
	// broken or gone, its tightening part stays in force beside a fleet's rules.
	good []byte

	mu     sync.Mutex                     // guards all below
	fleet  func(now time.Time) FleetRules // the current value of Options.Fleet; Join changes it
	status Status
	places floodmark.Digest // of the installation's files that the rules in force guard
	// strict are the rules in force after the time until; if that is zero, they never are. latest
	// is the latest time that was seen. It is used instead of an earlier clock, so that setting the
	// clock back does not revive expired rules.
	strict kernel.Rules
	until  time.Time
	latest time.Time
	// expected is until when a change is attributed to "floodmark protect".
	expected time.Time
}

// FleetRules are rules that come from a fleet.
type FleetRules struct {
	Name string // for people
	Data []byte
	// Until is when the rules expire and strict rules replace them; zero: never.
	Until time.Time
}

// A Status says which rules are in force, and the result of the last attempt to load them.
type Status struct {
	Rules  config.Rules
	Loaded time.Time
	// Refused is why the file on the disk is not in force, or nil if it is.
	Refused error
	Fresh   bool // the last attempt put other rules in force
	// Announced is set if these are exactly the rules that [Live.Protecting] announced.
	Announced bool
	// Left describes the part of the owner's file that is not in force beside a fleet's rules.
	Left string
	// Shut is why strict rules are in force in place of a fleet's rules that have not expired. It
	// is empty if they are not.
	Shut string
}

// Log logs the result of the last attempt.
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

// New loads the rules for the first time. If they are wrong it fails, because it is better to run
// no daemon than one with rules that the owner did not write.
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

// load reads the rules, and looks up the files of this installation again, because agents may have
// been connected since. If a fleet's rules cannot be read, it uses strict rules.
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

// take puts rules in force. Its caller holds the lock, or is the only one that knows l.
func (l *Live) take(got loaded) {
	l.status, l.places, l.strict, l.until = got.status, got.places, got.strict, got.until
}

// Join puts a fleet's rules in force, or the owner's policy if fleet is nil.
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

// clock does what Time does, for a caller that holds the lock.
func (l *Live) clock() time.Time {
	if now := l.opts.Now(); now.After(l.latest) {
		l.latest = now
	}
	return l.latest
}

// Saw records a time that has certainly been reached.
func (l *Live) Saw(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at.After(l.latest) {
		l.latest = at
	}
}

// over reports whether a fleet's rules have expired. Its caller holds the lock.
func (l *Live) over() bool { return !l.until.IsZero() && !l.clock().Before(l.until) }

// Expire loads the rules again if a fleet's rules have expired. It need not be called in time,
// because [Live.Rules] checks the expiry by itself.
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

// Current returns which rules are in force, and the result of the last attempt to load them.
func (l *Live) Current() Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.status
}

// protectTime bounds the time from protect's announcement to its change.
const protectTime = time.Minute

// Protecting announces a change by "floodmark protect", which the owner has called.
func (l *Live) Protecting() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expected = l.clock().Add(protectTime)
}

// announced reports whether a change to the rules r was announced and is one that protect makes:
// other files are guarded, the coding policy was written where there was none, or it was removed
// again. Any other change is made by another program. Its caller holds the lock.
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

// Problems returns the errors in the file on the disk, or the warnings of the rules if there are
// none.
func (s Status) Problems() floodmark.Problems {
	if found, ok := errors.AsType[floodmark.Problems](s.Refused); ok {
		return found
	}
	if s.Refused != nil {
		return floodmark.Problems{{File: s.Rules.File, Line: 1, Column: 1, Severity: floodmark.Error, Code: "unreadable", Text: s.Refused.Error()}}
	}
	return s.Rules.Warnings
}
