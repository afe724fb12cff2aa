package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"connectrpc.com/connect"

	"github.com/floodmark/floodmark/internal/bundle"
	"github.com/floodmark/floodmark/internal/config"
	"github.com/floodmark/floodmark/internal/fleetlink"
	"github.com/floodmark/floodmark/internal/liverules"
	"github.com/floodmark/floodmark/internal/machines"
	"github.com/floodmark/floodmark/internal/owner"
	"github.com/floodmark/floodmark/wire"
)

// joined is a laptop's membership in a fleet. A laptop that joined none has no goroutine,
// connection or file for it.
type joined struct {
	d *Daemon

	changing sync.Mutex // held while joining or leaving

	mu     sync.Mutex            // guards all below
	member *fleetlink.Membership // nil: it joined none
	kept   fleetlink.Kept
	// wrong says why it cannot be told whether this laptop joined: strict rules hold then, and no
	// fleet is contacted. Usually it is empty.
	wrong string
	link  *fleetlink.Link // nil while nothing runs
	run   context.Context // of the loops; nil before and after
	stop  func()          // ends the link and waits for it
}

var _ owner.Fleet = (*joined)(nil)

// openJoined reads whether this laptop joined a fleet.
func (d *Daemon) openJoined() error {
	d.joined = &joined{d: d}
	m, is, err := fleetlink.Load(d.opts.Paths.Fleet)
	if err != nil || !is {
		return err
	}
	d.joined.member = &m
	if d.joined.kept, err = fleetlink.LoadKept(d.opts.Paths.FleetBundle); err != nil {
		d.opts.Log.Error("the rules of the fleet cannot be read; strict ones hold until they are fetched again", "error", err)
	}
	return nil
}

// fleetRules returns what the rules in force are made with: nil unless they come from a fleet.
func (j *joined) fleetRules() func(time.Time) liverules.FleetRules {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.wrong == "" && (j.member == nil || len(j.member.Keys) == 0) {
		return nil
	}
	return j.rules
}

// rules returns the rules of the stored bundle, or strict ones.
func (j *joined) rules(now time.Time) liverules.FleetRules {
	b, err := j.open(now)
	if err != nil {
		return liverules.FleetRules{Name: "strict, because of the fleet", Data: []byte(config.StrictPolicy)}
	}
	return liverules.FleetRules{Name: fmt.Sprintf("bundle %d of the fleet", b.Version), Data: b.Policy, Until: b.ValidUntil}
}

// open opens the stored bundle with the keys given at joining.
func (j *joined) open(now time.Time) (bundle.Bundle, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.member == nil {
		return bundle.Bundle{}, errors.New("no fleet was joined")
	}
	return j.kept.Open(*j.member, now)
}

// lookBack checks that the membership is the one that was recorded, and tells the rules the latest
// time that was seen.
func (j *joined) lookBack(ctx context.Context) error {
	if err := j.recall(ctx); err != nil {
		return err
	}
	j.mu.Lock()
	latest, is := j.kept.Latest, j.member != nil
	j.mu.Unlock()
	if !is {
		return nil
	}
	j.d.live.Saw(latest)
	for h, err := range j.d.store.Recent(ctx, "") {
		if err != nil {
			return err
		}
		j.d.live.Saw(time.Unix(0, h.At))
		break
	}
	j.d.live.Expire()
	return nil
}

// begin is called when the daemon runs; ctx ends with it.
func (j *joined) begin(ctx context.Context) error {
	j.mu.Lock()
	j.run = ctx
	j.mu.Unlock()
	return j.start()
}

// start starts the link, if there is a fleet to contact.
func (j *joined) start() error {
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
func (j *joined) newLink() (*fleetlink.Link, error) {
	return fleetlink.New(fleetlink.Options{
		Membership: *j.member, Journal: j.d.store, Report: j.report, Have: j.have, Take: j.take, Now: j.d.opts.Now,
		Every: j.d.opts.FleetEvery, ReportEvery: j.d.opts.FleetEvery,
		Wait: func(ctx context.Context, d time.Duration) bool { return j.d.opts.wait(ctx, loopLink, d) },
	})
}

// The loops of a laptop that joined, as Options.wait has them.
const (
	loopLink   = "link"   // facts and reports go to the fleet, rules come from there
	loopAsks   = "asks"   // questions go to the fleet, answers come from there
	loopExpire = "expire" // checks whether the rules have expired
)

// expiresEvery is how often watch checks whether the bundle has expired. Decisions check by
// themselves.
const expiresEvery = 5 * time.Second

// watch makes status say in time that strict rules hold.
func (j *joined) watch(ctx context.Context) {
	for j.d.opts.wait(ctx, loopExpire, expiresEvery) {
		j.d.live.Expire()
	}
}

// sleepFor waits, and returns false if ctx ended.
func sleepFor(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// halt stops the link, if it runs.
func (j *joined) halt() {
	j.mu.Lock()
	stop := j.stop
	j.link, j.stop = nil, nil
	j.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// end stops the link, at the end of the daemon.
func (j *joined) end() {
	j.mu.Lock()
	j.run = nil
	j.mu.Unlock()
	j.halt()
}

// have returns the version of the stored bundle; 0 if it was damaged since, so that it is fetched
// again.
func (j *joined) have() uint64 {
	if _, err := j.open(time.Time{}); err != nil && !errors.Is(err, bundle.ErrExpired) {
		return 0
	}
	return j.given()
}

// given returns the version that the fleet gave this machine last.
func (j *joined) given() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.kept.Version
}

// take stores a bundle of the fleet, and then puts its rules in force. An unusable bundle changes
// nothing.
func (j *joined) take(version, floor uint64, sealed []byte) error {
	now := j.d.live.Time()
	j.mu.Lock()
	if j.member == nil || len(j.member.Keys) == 0 {
		j.mu.Unlock()
		return nil // the owner's own policy holds
	}
	next, err := j.kept.Take(*j.member, sealed, version, floor, now)
	if err == nil {
		err = next.Save(j.d.opts.Paths.FleetBundle)
	}
	if err == nil {
		j.kept = next
	}
	j.mu.Unlock()
	if err != nil {
		return err
	}
	j.d.live.Reload()
	return nil
}

// report returns the versions that run here.
func (j *joined) report(ctx context.Context) *wire.ReportMachineRequest {
	_, incidents := j.d.notes.list("")
	r := &wire.ReportMachineRequest{Version: j.d.opts.Version, Platform: runtime.GOOS + "/" + runtime.GOARCH, Incidents: incidents, Rules: "own"}
	if j.d.opts.Agents != nil {
		r.Agents = j.d.opts.Agents(ctx)
	}
	if j.fleetRules() != nil {
		r.Rules = "strict"
		if b, err := j.open(j.d.live.Time()); err == nil && j.d.live.Current().Shut == "" {
			r.Rules, r.Bundle = "bundle", b.Version
		}
	}
	return r
}

// errJoin words the error of a failed Join.
func errJoin(format string, args ...any) error {
	return connect.NewError(connect.CodeFailedPrecondition, fmt.Errorf(format, args...))
}

// firstFetch bounds how long Join waits for the first rules.
const firstFetch = 20 * time.Second

// Join implements [owner.Fleet].
func (j *joined) Join(ctx context.Context, by string, r *wire.JoinRequest) (*wire.JoinResponse, error) {
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
	case j.d.opts.Service.Journal.InDatabase():
		return nil, errJoin("a node of a fleet joins none: its journal is in PostgreSQL")
	case j.d.opts.Service.BundlesOf("") != nil:
		return nil, errJoin("this monitor has bundles of its own (bundles in service.yaml): take them out first")
	case machines.CheckName(r.GetName()) != nil:
		return nil, errJoin("%w", machines.CheckName(r.GetName()))
	}
	if err := fleetlink.CheckURL(r.GetUrl()); err != nil {
		return nil, errJoin("%w", err)
	}
	ask := &wire.EnrolRequest{Name: r.GetName(), JournalKey: j.d.keys.Signing.Public}
	m, err := fleetlink.Enrol(ctx, r.GetUrl(), r.GetAuthority(), r.GetCredential(), ask, j.d.opts.Now())
	if err != nil {
		return nil, errJoin("%w", err)
	}
	m.NoAsking = r.GetNoAsking()
	if err := j.swear(ctx, joinedKind, by+joinedWords(m)); err != nil {
		return nil, err
	}
	if err := m.Save(j.d.opts.Paths.Fleet); err != nil {
		return nil, errors.Join(err, j.swear(ctx, leftKind, "what the fleet gave could not be kept: "+err.Error()))
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
	if err := errors.Join(j.d.live.Join(j.fleetRules()), j.start()); err != nil {
		return nil, err
	}
	return &wire.JoinResponse{Machine: m.Machine, Fleet: j.Line()}, nil
}

// leaveTime bounds how long Leave tries to tell the fleet.
const leaveTime = 15 * time.Second

// Leave implements [owner.Fleet]. It also works offline.
func (j *joined) Leave(ctx context.Context, by string) (*wire.LeaveResponse, error) {
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
	if err := j.swear(ctx, leftKind, text); err != nil {
		return nil, err // it is still a machine of the fleet, and in touch with it
	}
	j.halt()
	for _, file := range []string{j.d.opts.Paths.FleetBundle, j.d.opts.Paths.Fleet} {
		if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	j.mu.Lock()
	j.member, j.kept, j.wrong = nil, fleetlink.Kept{}, ""
	j.mu.Unlock()
	if err := j.d.live.Join(nil); err != nil {
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
