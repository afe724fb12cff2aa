package owner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/wire"
)

// Pause implements [httpapi.Owner]. Only a person at a terminal can pause, and only over the
// owner's own socket. Scripts and callers on the network cannot.
func (d *Desk) Pause(ctx context.Context, who httpapi.Identity, r *wire.PauseRequest) (*wire.PauseResponse, error) {
	if !httpapi.Present(ctx, who) {
		return nil, fmt.Errorf("%w: only a person at a terminal of this machine can do this; nothing else can pause", httpapi.ErrInvalid)
	}
	wanted := floodmark.Pause{Observe: r.GetObserve()}
	if r.GetSeconds() <= 0 || r.GetSeconds() > int64(wanted.Most()/time.Second) {
		return nil, fmt.Errorf("%w: it takes more than nothing and at most %d hours", httpapi.ErrInvalid, int(wanted.Most().Hours()))
	}
	if wanted.Observe && !d.mayObserve(who.Tenant) {
		return nil, fmt.Errorf("%w: the rules here are those of a fleet, whose people signed them; «pause» without --observe is yours", httpapi.ErrInvalid)
	}
	s := journal.Session{Tenant: who.Tenant}
	if r.GetSession() != "" {
		var err error
		if s, err = d.named(ctx, who.Tenant, r.GetSession()); err != nil {
			return nil, err
		}
	}
	out := &wire.PauseResponse{}
	old, err := d.end(ctx, who.Tenant, func(p floodmark.Pause) bool { return p.Session == s.ID }, "another pause replaces it", who.Name)
	if err != nil {
		return nil, err
	}
	if len(old) > 0 {
		out.Replaced = old[0]
	}
	begin := d.Monitor.Pause
	if wanted.Observe {
		begin = d.Monitor.ObserveOnly
	}
	p, err := begin(ctx, s, time.Duration(r.GetSeconds())*time.Second, who.Name, who.Channel)
	if errors.Is(err, monitor.ErrPause) {
		return nil, fmt.Errorf("%w: %w", httpapi.ErrInvalid, err)
	}
	if err != nil {
		return nil, err
	}
	out.Pause = paused(p)
	return out, nil
}

// mayObserve reports whether the rules are only the owner's. Only then may enforcement be switched
// off, because a tenant or a fleet may rely on its rules being enforced here.
func (d *Desk) mayObserve(tenant string) bool {
	return tenant == "" && (d.Fleet == nil || d.Fleet.Line() == "") && d.Rules(tenant).Bundle == ""
}

// Resume implements [httpapi.Owner].
func (d *Desk) Resume(ctx context.Context, who httpapi.Identity, r *wire.ResumeRequest) (*wire.ResumeResponse, error) {
	which := func(floodmark.Pause) bool { return true }
	if r.GetSession() != "" {
		s, err := d.named(ctx, who.Tenant, r.GetSession())
		if err != nil {
			return nil, err
		}
		which = func(p floodmark.Pause) bool { return p.Session == s.ID }
	}
	ended, err := d.end(ctx, who.Tenant, which, "ended by the owner", who.Name)
	if err != nil {
		return nil, err
	}
	return &wire.ResumeResponse{Ended: ended}, nil
}

// EndPauses ends the pauses whose time is over, and returns what they let through. The daemon calls
// it every second. A pause expires without it, but its summary is written here. It also finds
// pauses that began before a restart.
func (d *Desk) EndPauses(ctx context.Context, tenants ...string) ([]*wire.PauseSummary, error) {
	var all []*wire.PauseSummary
	for _, tenant := range slices.Compact(slices.Sorted(slices.Values(append(d.Monitor.PausedTenants(), tenants...)))) {
		over := func(p floodmark.Pause) bool { return !d.Monitor.PauseHolds(tenant, p) }
		ended, err := d.end(ctx, tenant, over, "its time is over", "")
		if err != nil {
			return all, err
		}
		all = append(all, ended...)
	}
	return all, nil
}

// end ends some pauses of a tenant, and returns a summary of each. A pause that is still in effect
// is ended before its calls are counted, so that an error during the counting does not prolong it.
func (d *Desk) end(ctx context.Context, tenant string, which func(floodmark.Pause) bool, why, by string) ([]*wire.PauseSummary, error) {
	list, err := d.Monitor.Paused(ctx, tenant)
	if err != nil {
		return nil, err
	}
	var all []*wire.PauseSummary
	for _, p := range list {
		if !which(p) {
			continue
		}
		f := floodmark.PauseEnded{Session: p.Session, Why: why, By: by}
		ended := d.Monitor.PauseHolds(tenant, p)
		if ended {
			if ended, err = d.Monitor.Resume(ctx, tenant, f); err != nil {
				return all, err
			}
			if !ended {
				continue // another request was faster
			}
		}
		sum, err := d.account(ctx, tenant, p)
		if err != nil {
			return all, err
		}
		if sum.Why = why; !ended {
			f.Asked, f.Refused = int(sum.GetAsked()), int(sum.GetRefused())
			if ended, err = d.Monitor.Resume(ctx, tenant, f); err != nil {
				return all, err
			}
		}
		if ended {
			all = append(all, sum)
		}
	}
	return all, nil
}

// maxPausedLines bounds the calls that a summary lists.
const maxPausedLines = 20

// account returns the summary of what a pause let through.
func (d *Desk) account(ctx context.Context, tenant string, p floodmark.Pause) (*wire.PauseSummary, error) {
	sum := &pausedSum{calls: map[string]int{}, out: &wire.PauseSummary{Pause: paused(p)}}
	if p.Session != "" {
		err := sum.tell(ctx, d, journal.Session{Tenant: tenant, ID: p.Session}, p)
		return sum.done(), err
	}
	for h, err := range d.Journal.Recent(ctx, tenant) {
		if err != nil {
			return nil, err
		}
		if h.At < p.From.UnixNano() {
			break
		}
		if err := sum.tell(ctx, d, h.Session, p); err != nil {
			return nil, err
		}
	}
	return sum.done(), nil
}

// tell counts the calls of one session. If the session cannot be read, the summary says so.
func (s *pausedSum) tell(ctx context.Context, d *Desk, of journal.Session, p floodmark.Pause) error {
	t, err := d.tell(ctx, of, nil, nil)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		s.calls["session "+string(of.ID)+" cannot be read"]++
	default:
		s.add(t, p)
	}
	return nil
}

// A pausedSum is a summary that is being made.
type pausedSum struct {
	calls map[string]int
	out   *wire.PauseSummary
}

// add counts the decisions of a session that a pause changed. Equal calls count as one question,
// because they would have been asked about once.
func (s *pausedSum) add(t *tale, p floodmark.Pause) {
	type call struct {
		tool floodmark.ToolRef
		args floodmark.Digest
	}
	seen := map[call]bool{}
	for _, one := range t.decisions {
		f := one.fact
		if one.at.Before(p.From) || !letThrough(f.Decision, p) || f.Action.Kind == floodmark.CallModel ||
			len(f.Decision.Verifiers) > 0 { // the call would only have waited for verifiers
			continue
		}
		word := "asked"
		if f.Decision.Would == floodmark.Contain {
			word = "run in a box"
		} else if f.Decision.Would == floodmark.Restrict.String() {
			word = "refused"
			s.out.Refused++
		} else if c := (call{f.Action.Tool, f.Action.ArgsDigest}); !seen[c] {
			seen[c] = true
			s.out.Asked++
		}
		rule := ""
		if len(f.Decision.Reasons) > 1 {
			rule = cmp.Or(f.Decision.Reasons[1].Rule, string(f.Decision.Reasons[1].Code))
		}
		s.calls[fmt.Sprintf("%s in %s would have been %s (%s)", f.Action.Tool, t.session.ID, word, rule)]++
	}
}

// letThrough reports whether a decision was allowed only because of this kind of pause.
func letThrough(d floodmark.Decision, p floodmark.Pause) bool {
	if len(d.Reasons) == 0 {
		return false
	}
	return p.Observe && d.Reasons[0].Code == floodmark.DryRun || !p.Observe && d.Reasons[0].Code == floodmark.Paused
}

// done returns the summary, with the most frequent calls first.
func (s *pausedSum) done() *wire.PauseSummary {
	names := make([]string, 0, len(s.calls))
	for name := range s.calls {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(s.calls[b], s.calls[a]), cmp.Compare(a, b)) })
	for i, name := range names {
		if i == maxPausedLines {
			s.out.Lines = append(s.out.Lines, fmt.Sprintf("%d more", len(names)-i))
			break
		}
		if n := s.calls[name]; n > 1 {
			name = fmt.Sprintf("%s, %d times", name, n)
		}
		s.out.Lines = append(s.out.Lines, name)
	}
	return s.out
}

// pauses returns a tenant's pauses that are in effect.
func (d *Desk) pauses(ctx context.Context, tenant string) ([]*wire.Pause, error) {
	list, err := d.Monitor.Paused(ctx, tenant)
	if err != nil {
		return nil, err
	}
	var out []*wire.Pause
	for _, p := range list {
		if d.Monitor.PauseHolds(tenant, p) {
			out = append(out, paused(p))
		}
	}
	return out, nil
}

func paused(p floodmark.Pause) *wire.Pause {
	return &wire.Pause{Session: string(p.Session), From: timestamppb.New(p.From), Until: timestamppb.New(p.Until), By: p.By, Observe: p.Observe}
}

// pausing fills in the event for the begin or end of a pause. Only the session of pauses is used,
// because other sessions repeat its facts.
func pausing(o monitor.Observation, f floodmark.Fact, out *wire.WatchResponse) bool {
	if o.Session.ID != monitor.Pauses {
		return false
	}
	switch f := f.(type) {
	case floodmark.PauseBegan:
		out.Session = string(f.Session)
		out.What = &wire.WatchResponse_Paused{Paused: paused(f.Pause)}
	case floodmark.PauseEnded:
		out.Session = string(f.Session)
		out.What = &wire.WatchResponse_Resumed{Resumed: &wire.PauseSummary{
			Pause: &wire.Pause{Session: string(f.Session)}, Why: f.Why, Asked: int64(f.Asked), Refused: int64(f.Refused),
		}}
	default:
		return false
	}
	return true
}
