// Package membership is a laptop's part in the fleet that it joined: whose rules are in effect, what
// the laptop reports to the fleet, and which questions the fleet's people answer.
package membership

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"time"

	"connectrpc.com/connect"

	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/internal/fleet/fleetlink"
	"github.com/floodmark/floodmark/internal/fleet/machines"
	"github.com/floodmark/floodmark/internal/rules/bundle"
	"github.com/floodmark/floodmark/internal/rules/liverules"
	"github.com/floodmark/floodmark/internal/service/owner"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/wire"
)

// Options are what a Laptop is made with before anything else is open.
type Options struct {
	Paths   config.Paths
	Service config.Service
	Version string
	Log     *slog.Logger
	Now     func() time.Time
	// Agents tells the fleet which agents are here; nil: none.
	Agents func(ctx context.Context) []*wire.MachineAgent
	// Every is the time between two contacts with the fleet; zero for the default.
	Every time.Duration
	// Wait waits between two rounds of the named loop, and returns false if ctx ended.
	Wait func(ctx context.Context, loop string, d time.Duration) bool
}

// Parts are what a Laptop works with. All of them are required.
type Parts struct {
	Rules   *liverules.Live
	Journal journal.Journal
	// Key is the public key that signs the journal.
	Key string
	// Record records that this laptop joined or left, or returns why it could not.
	Record func(ctx context.Context, kind, text string) error
	// Incident records what should not have been possible, as far as it can.
	Incident func(ctx context.Context, kind, text string)
	// Incidents counts the incidents of this laptop.
	Incidents func() int64
	// Questions returns the open questions as a watcher of a channel sees them.
	Questions func(ctx context.Context, channel string) (*wire.PendingResponse, error)
	// Answer applies an answer to a question.
	Answer func(ctx context.Context, s journal.Session, cmd approval.Command) (monitor.Answered, error)
	// Waiting reports whether any question is open.
	Waiting func() bool
}

// A Laptop may have joined a fleet. If it joined none, it has no goroutine, connection or file of a
// fleet.
type Laptop struct {
	opts Options
	node Parts

	changing sync.Mutex // held while joining or leaving

	mu     sync.Mutex            // guards all below
	member *fleetlink.Membership // nil: it joined none
	kept   fleetlink.Kept
	// wrong, usually empty, says why it is unknown whether this laptop joined a fleet. If it is set,
	// strict rules are in effect and no fleet is contacted.
	wrong string
	link  *fleetlink.Link // nil while nothing runs
	run   context.Context // of the loops; nil before and after
	stop  func()          // ends the link and waits for it
}

var _ owner.Fleet = (*Laptop)(nil)

// Open reads whether this laptop joined a fleet. Attach must follow.
func Open(o Options) (*Laptop, error) {
	j := &Laptop{opts: o}
	m, is, err := fleetlink.Load(o.Paths.Fleet)
	if err != nil || !is {
		return j, err
	}
	j.member = &m
	if j.kept, err = fleetlink.LoadKept(o.Paths.FleetBundle); err != nil {
		o.Log.Error("the rules of the fleet cannot be read; strict ones hold until they are fetched again", "error", err)
	}
	return j, nil
}

// Attach gives a Laptop what it works with, once that is open. It must be called before LookBack.
func (j *Laptop) Attach(p Parts) { j.node = p }

// FleetRules returns a function that returns the rules of the fleet, or strict ones, at a time. It
// returns nil if the owner's own rules are in effect.
func (j *Laptop) FleetRules() func(time.Time) liverules.FleetRules {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.wrong == "" && (j.member == nil || len(j.member.Keys) == 0) {
		return nil
	}
	return j.rules
}

// rules returns the rules of the stored bundle, or strict ones.
func (j *Laptop) rules(now time.Time) liverules.FleetRules {
	b, err := j.open(now)
	if err != nil {
		return liverules.FleetRules{Name: "strict, because of the fleet", Data: []byte(config.StrictPolicy)}
	}
	return liverules.FleetRules{Name: fmt.Sprintf("bundle %d of the fleet", b.Version), Data: b.Policy, Until: b.ValidUntil}
}

// open opens the stored bundle with the keys given at joining.
func (j *Laptop) open(now time.Time) (bundle.Bundle, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.member == nil {
		return bundle.Bundle{}, errors.New("no fleet was joined")
	}
	return j.kept.Open(*j.member, now)
}

// LookBack checks that the membership is the one that was recorded, and tells the rules the latest
// time that was seen.
func (j *Laptop) LookBack(ctx context.Context) error {
	if err := j.recall(ctx); err != nil {
		return err
	}
	j.mu.Lock()
	latest, is := j.kept.Latest, j.member != nil
	j.mu.Unlock()
	if !is {
		return nil
	}
	j.node.Rules.Saw(latest)
	for h, err := range j.node.Journal.Recent(ctx, "") {
		if err != nil {
			return err
		}
		j.node.Rules.Saw(time.Unix(0, h.At))
		break
	}
	j.node.Rules.Expire()
	return nil
}

// Begin is called when the daemon runs; ctx ends with it.
func (j *Laptop) Begin(ctx context.Context) error {
	j.mu.Lock()
	j.run = ctx
	j.mu.Unlock()
	return j.start()
}

// start starts the link, if there is a fleet to contact.
func (j *Laptop) start() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.member == nil || j.run == nil || j.run.Err() != nil || j.link != nil {
		return nil
	}
	link, err := j.newLink()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(j.run)
	var work sync.WaitGroup
	work.Go(func() { link.Run(ctx) })
	work.Go(func() { j.watch(ctx) })
	if m := *j.member; !m.NoAsking {
		work.Go(func() { j.asks(ctx, m) })
	}
	j.link, j.stop = link, func() { cancel(); work.Wait() }
	return nil
}

// newLink makes a link. The caller holds the lock.
func (j *Laptop) newLink() (*fleetlink.Link, error) {
	return fleetlink.New(fleetlink.Options{
		Membership: *j.member, Journal: j.node.Journal, Report: j.report, Have: j.have, Take: j.take, Now: j.opts.Now,
		Every: j.opts.Every, ReportEvery: j.opts.Every,
		Wait: func(ctx context.Context, d time.Duration) bool { return j.opts.Wait(ctx, LoopLink, d) },
	})
}

// The loops of a laptop that joined, as [Options.Wait] has them.
const (
	LoopLink   = "link"   // facts and reports go to the fleet, rules come from there
	LoopAsks   = "asks"   // questions go to the fleet, answers come from there
	LoopExpire = "expire" // checks whether the rules have expired
)

// expiresEvery is how often watch checks whether the bundle has expired. Decisions check by
// themselves.
const expiresEvery = 5 * time.Second

// watch checks often whether the rules have expired, so that status says soon that strict rules are
// in effect.
func (j *Laptop) watch(ctx context.Context) {
	for j.opts.Wait(ctx, LoopExpire, expiresEvery) {
		j.node.Rules.Expire()
	}
}

// halt stops the link, if it runs.
func (j *Laptop) halt() {
	j.mu.Lock()
	stop := j.stop
	j.link, j.stop = nil, nil
	j.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// End stops the link, at the end of the daemon.
func (j *Laptop) End() {
	j.mu.Lock()
	j.run = nil
	j.mu.Unlock()
	j.halt()
}

// have returns the version of the stored bundle; 0 if it was damaged since, so that it is fetched
// again.
func (j *Laptop) have() uint64 {
	if _, err := j.open(time.Time{}); err != nil && !errors.Is(err, bundle.ErrExpired) {
		return 0
	}
	return j.given()
}

// given returns the version that the fleet gave this machine last.
func (j *Laptop) given() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.kept.Version
}

// take stores a bundle of the fleet, and then puts its rules into effect. An unusable bundle changes
// nothing.
func (j *Laptop) take(version, floor uint64, sealed []byte) error {
	now := j.node.Rules.Time()
	j.mu.Lock()
	if j.member == nil || len(j.member.Keys) == 0 {
		j.mu.Unlock()
		return nil // the owner's own policy holds
	}
	next, err := j.kept.Take(*j.member, sealed, version, floor, now)
	if err == nil {
		err = next.Save(j.opts.Paths.FleetBundle)
	}
	if err == nil {
		j.kept = next
	}
	j.mu.Unlock()
	if err != nil {
		return err
	}
	j.node.Rules.Reload()
	return nil
}

// report returns the versions that run here.
func (j *Laptop) report(ctx context.Context) *wire.ReportMachineRequest {
	incidents := j.node.Incidents()
	r := &wire.ReportMachineRequest{Version: j.opts.Version, Platform: runtime.GOOS + "/" + runtime.GOARCH, Incidents: incidents, Rules: "own"}
	if j.opts.Agents != nil {
		r.Agents = j.opts.Agents(ctx)
	}
	if j.FleetRules() != nil {
		r.Rules = "strict"
		if b, err := j.open(j.node.Rules.Time()); err == nil && j.node.Rules.Current().Shut == "" {
			r.Rules, r.Bundle = "bundle", b.Version
		}
	}
	return r
}

// errJoin returns the error of a Join or Leave that is not possible.
func errJoin(format string, args ...any) error {
	return connect.NewError(connect.CodeFailedPrecondition, fmt.Errorf(format, args...))
}

// firstFetch bounds how long Join waits for the first rules.
const firstFetch = 20 * time.Second

// Join implements [owner.Fleet].
func (j *Laptop) Join(ctx context.Context, by string, r *wire.JoinRequest) (*wire.JoinResponse, error) {
	j.changing.Lock()
	defer j.changing.Unlock()
	j.mu.Lock()
	before, wrong := j.member, j.wrong
	j.mu.Unlock()
	switch {
	case wrong != "":
		return nil, errJoin("%s; «floodmark fleet leave» first", wrong)
	case before != nil:
		return nil, errJoin("this laptop joined %s already; «floodmark fleet leave» first", before.URL)
	case j.opts.Service.Journal.InDatabase():
		return nil, errJoin("a node of a fleet joins none: its journal is in PostgreSQL")
	case j.opts.Service.BundlesOf("") != nil:
		return nil, errJoin("this monitor has bundles of its own (bundles in service.yaml): take them out first")
	case machines.CheckName(r.GetName()) != nil:
		return nil, errJoin("%w", machines.CheckName(r.GetName()))
	}
	if err := fleetlink.CheckURL(r.GetUrl()); err != nil {
		return nil, errJoin("%w", err)
	}
	ask := &wire.EnrolRequest{Name: r.GetName(), JournalKey: j.node.Key}
	m, err := fleetlink.Enrol(ctx, r.GetUrl(), r.GetAuthority(), r.GetCredential(), ask, j.opts.Now())
	if err != nil {
		return nil, errJoin("%w", err)
	}
	m.NoAsking = r.GetNoAsking()
	if err := j.node.Record(ctx, joinedKind, by+joinedWords(m)); err != nil {
		return nil, err
	}
	if err := m.Save(j.opts.Paths.Fleet); err != nil {
		return nil, errors.Join(err, j.node.Record(ctx, leftKind, "what the fleet gave could not be kept: "+err.Error()))
	}
	j.mu.Lock()
	j.member, j.kept = &m, fleetlink.Kept{}
	link, err := j.newLink()
	j.mu.Unlock()
	if err != nil {
		return nil, err
	}
	defer link.Close() // fetches the first rules; start makes the link that stays
	fetch, cancel := context.WithTimeout(ctx, firstFetch)
	_ = link.FetchBundle(fetch) // it is retried; until then strict rules hold
	cancel()
	if err := errors.Join(j.node.Rules.Join(j.FleetRules()), j.start()); err != nil {
		return nil, err
	}
	return &wire.JoinResponse{Machine: m.Machine, Fleet: j.Line()}, nil
}

// leaveTime bounds how long Leave tries to tell the fleet.
const leaveTime = 15 * time.Second

// Leave implements [owner.Fleet]. It also works offline.
func (j *Laptop) Leave(ctx context.Context, by string) (*wire.LeaveResponse, error) {
	j.changing.Lock()
	defer j.changing.Unlock()
	j.mu.Lock()
	m, wrong := j.member, j.wrong
	j.mu.Unlock()
	text := by + " took this laptop out of the fleet, though " + wrong
	switch {
	case m == nil && wrong == "":
		return nil, errJoin("this laptop joined no fleet")
	case m != nil:
		text = fmt.Sprintf("%s took this laptop, machine %s, out of %s", by, m.Machine, m.URL)
	}
	if err := j.node.Record(ctx, leftKind, text); err != nil {
		return nil, err // this laptop is still in the fleet, and in contact with it
	}
	j.halt()
	for _, file := range []string{j.opts.Paths.FleetBundle, j.opts.Paths.Fleet} {
		if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	j.mu.Lock()
	j.member, j.kept, j.wrong = nil, fleetlink.Kept{}, ""
	j.mu.Unlock()
	if err := j.node.Rules.Join(nil); err != nil {
		return nil, err
	}
	if m == nil {
		return &wire.LeaveResponse{Untold: "which machine this was is not known here"}, nil
	}
	out := &wire.LeaveResponse{Machine: m.Machine}
	tell, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTime)
	defer cancel()
	if err := fleetlink.Leave(tell, *m); err != nil {
		out.Untold = err.Error()
	}
	return out, nil
}
