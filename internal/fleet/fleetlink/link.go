package fleetlink

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/wire"
)

// Options describe a link.
type Options struct {
	Membership Membership
	Journal    journal.Journal
	// Report returns what runs on this laptop. The link adds how far it is behind.
	Report func(ctx context.Context) *wire.ReportMachineRequest
	// Have returns the version of the stored bundle. Take receives another bundle that the fleet
	// has for this machine, with its version and the oldest version still allowed according to the
	// fleet.
	Have func() uint64
	Take func(version, floor uint64, sealed []byte) error
	Now  func() time.Time
	// Every is the time between two contacts, ReportEvery the time between two reports; zero means
	// the default.
	Every, ReportEvery time.Duration
	// Wait waits between two contacts, and returns false if ctx ended. If it is nil, a timer is
	// used.
	Wait func(ctx context.Context, d time.Duration) bool
}

// The defaults. Each wait is shortened or lengthened at random, so that the laptops of a fleet do
// not call all at once.
const (
	usualEvery  = 20 * time.Second
	usualReport = 2 * time.Minute
	firstWait   = time.Second
	longestWait = 5 * time.Minute
	endedWait   = 10 * time.Minute
	// recheckEvery is how often the fleet is asked about all sessions again, because it may have
	// lost entries that it confirmed.
	recheckEvery = time.Hour
)

// A State is the state of a link, for people.
type State struct {
	// Contact is when all calls of a contact last succeeded; zero for never.
	Contact time.Time
	// Trouble is why the last contact failed; empty if it succeeded.
	Trouble string
	// Ended says that the fleet no longer knows this machine.
	Ended bool
	// Behind is how many sessions are not known to be uploaded completely. Forked is of how many
	// the fleet has different entries.
	Behind, Forked int64
}

// A Link keeps a laptop in contact with its fleet. Run does all the work.
type Link struct {
	opts   Options
	caller *Caller
	up     uploader
	// checked is when the fleet was last asked about all sessions. reported is when the last report
	// was sent.
	checked, reported time.Time

	mu    sync.Mutex // guards state
	state State
}

// New returns a link. Nothing is sent before Run.
func New(o Options) (*Link, error) {
	c, err := Dial(o.Membership.URL, o.Membership.Authority, o.Membership.Token)
	if err != nil {
		return nil, err
	}
	if o.Every <= 0 {
		o.Every = usualEvery
	}
	if o.ReportEvery <= 0 {
		o.ReportEvery = usualReport
	}
	if o.Wait == nil {
		o.Wait = sleep
	}
	return &Link{opts: o, caller: c, up: uploader{journal: o.Journal, fleet: c.fleet}}, nil
}

// Close ends the connections of a link. Run does that itself when it returns.
func (l *Link) Close() { l.caller.Close() }

// State returns the state of the link.
func (l *Link) State() State {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state
}

// Run makes contact again and again until ctx ends. It retries after every error.
func (l *Link) Run(ctx context.Context) {
	defer l.Close()
	wait := firstWait
	for {
		err := l.Once(ctx)
		pause := l.opts.Every
		switch {
		case ctx.Err() != nil:
			return
		case Ended(err):
			pause = endedWait
		case err != nil:
			pause, wait = wait, min(2*wait, longestWait)
		}
		if err == nil {
			wait = firstWait
		}
		if !l.opts.Wait(ctx, jitter(pause)) {
			return
		}
	}
}

// sleep is the default of [Options.Wait].
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// jitter returns a random time between half of d and one and a half times d.
func jitter(d time.Duration) time.Duration {
	return d/2 + time.Duration(rand.Int64N(int64(d)+1)) //nolint:gosec // nothing depends on it being a secret
}

// Once makes one contact: it fetches rules, uploads facts, then sends a report.
func (l *Link) Once(ctx context.Context) error {
	err := l.contact(ctx)
	if ctx.Err() != nil { // we ended the contact ourselves, so the fleet is not in trouble
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.Trouble, l.state.Ended, l.state.Forked = l.caller.Why(err), Ended(err), int64(len(l.up.forked))
	if err == nil {
		l.state.Contact = l.opts.Now()
	}
	return err
}

func (l *Link) contact(ctx context.Context) error {
	var refused *BundleError
	if err := l.FetchBundle(ctx); err != nil && !errors.As(err, &refused) {
		return err
	}
	if now := l.opts.Now(); now.Sub(l.checked) > recheckEvery || now.Before(l.checked) {
		l.up.mark, l.checked = 0, now
	}
	behind, err := l.up.run(ctx)
	l.mu.Lock()
	l.state.Behind = behind
	l.mu.Unlock()
	if ctx.Err() != nil || Ended(err) {
		return err
	}
	if err := errors.Join(err, l.report(ctx, behind)); err != nil {
		return err
	}
	if refused != nil { // everything else succeeded
		return refused
	}
	return nil
}

// A BundleError says why rules of the fleet are not used.
type BundleError struct{ Err error }

func (e *BundleError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *BundleError) Unwrap() error { return e.Err }

// FetchBundle asks which rules the fleet has for this machine, and passes new ones to Take.
func (l *Link) FetchBundle(ctx context.Context) error {
	have := l.opts.Have()
	got, err := l.caller.fleet.FetchBundle(ctx, &wire.FetchBundleRequest{Have: have})
	if err != nil {
		return err
	}
	if got.GetVersion() == have {
		return nil
	}
	if err := l.opts.Take(got.GetVersion(), got.GetFloor(), got.GetBundle()); err != nil {
		return &BundleError{err}
	}
	return nil
}

func (l *Link) report(ctx context.Context, behind int64) error {
	now := l.opts.Now()
	if since := now.Sub(l.reported); since >= 0 && since < l.opts.ReportEvery {
		return nil
	}
	r := l.opts.Report(ctx)
	r.Behind = behind
	if _, err := l.caller.fleet.ReportMachine(ctx, r); err != nil {
		return err
	}
	l.reported = now
	return nil
}
