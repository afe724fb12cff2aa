package owner

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/reports/graph"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/wire"
)

var _ httpapi.Owner = (*Desk)(nil)

// The limits of a list.
const (
	usualSessions = 50
	maxSessions   = 1000
	maxCounted    = 100_000 // sessions that status counts
)

// Sessions implements [httpapi.Owner].
func (d *Desk) Sessions(ctx context.Context, who httpapi.Identity, r *wire.SessionsRequest) (*wire.SessionsResponse, error) {
	limit := int(r.GetLimit())
	if limit == 0 {
		limit = usualSessions
	}
	if limit < 0 || limit > maxSessions {
		return nil, fmt.Errorf("%w: limit: want 1 to %d", httpapi.ErrInvalid, maxSessions)
	}
	if r.GetMachine() != "" {
		return d.copies(ctx, who, r, limit)
	}
	out := &wire.SessionsResponse{}
	for h, err := range d.Journal.Recent(ctx, who.Tenant) {
		if err != nil {
			return nil, err
		}
		if h.Session.ID == monitor.Incidents || h.Session.ID == monitor.Pauses {
			continue
		}
		t, err := d.tell(ctx, h.Session, nil, nil)
		if err != nil {
			return nil, err
		}
		if r.GetAgent() != "" && !floodmark.IsOf(t.state.Agent, r.GetAgent()) || r.GetOpen() && (t.closed || t.forgotten()) {
			continue
		}
		if len(out.Sessions) == limit {
			out.More = true
			break
		}
		out.Sessions = append(out.Sessions, t.latest(t.summary(d.Now())))
	}
	return out, nil
}

// Show implements [httpapi.Owner].
func (d *Desk) Show(ctx context.Context, who httpapi.Identity, r *wire.ShowRequest) (*wire.ShowResponse, error) {
	s, err := d.find(ctx, who, r.GetSession())
	if err != nil {
		return nil, err
	}
	out := &wire.ShowResponse{}
	t, err := s.tell(nil, func(e journal.Entry, _ floodmark.Fact) {
		if r.GetFacts() {
			out.Facts = append(out.Facts, wire.FromEntry(s.Session, e))
		}
	})
	if err != nil {
		return nil, err
	}
	out.Copy = t.copy
	out.Session = t.summary(d.Now())
	for src := range t.state.Ledger.Sources() {
		one := src
		one.Label = t.state.Ledger.Effective(src.Node)
		out.Sources = append(out.Sources, wire.FromSource(one))
	}
	for _, one := range t.decisions {
		out.Decisions = append(out.Decisions, decided(s.Session, one))
	}
	if t.copy == nil {
		out.Pending = d.open(ctx, who, t)
	} else if out.Pending, err = d.askedByLaptops(ctx, who, string(s.ID)); err != nil {
		return nil, err
	}
	out.Grants = grants(t)
	for _, e := range t.state.Ledger.Endorsements() {
		out.Endorsements = append(out.Endorsements, &wire.Endorsement{Digest: e.Digest.String(), Trust: e.Trust.String(), By: e.By})
	}
	out.Incidents = t.incidents
	if t.erased != nil {
		out.Tombstone = wire.FromTombstone(*t.erased)
	}
	return out, nil
}

func decided(s journal.Session, t told) *wire.Decided {
	return &wire.Decided{
		Id: t.id(s), At: timestamppb.New(t.at), Action: wire.FromAction(t.fact.Action),
		Mark: wire.FromLabel(t.fact.Mark), Trust: t.fact.Trust.String(), Decision: wire.FromDecision(t.fact.Decision), Box: boxRun(t),
	}
}

// Why implements [httpapi.Owner].
func (d *Desk) Why(ctx context.Context, who httpapi.Identity, r *wire.WhyRequest) (*wire.WhyResponse, error) {
	name, number, one := strings.Cut(r.GetOf(), "#")
	var seq uint64
	if one {
		var err error
		if seq, err = strconv.ParseUint(number, 10, 64); err != nil || seq == 0 {
			return nil, fmt.Errorf("%w: write SESSION#7 for one decision, or SESSION for all that was refused", httpapi.ErrInvalid)
		}
	}
	s, err := d.find(ctx, who, name)
	if err != nil {
		return nil, err
	}
	after := newTrail(s.Session)
	t, err := s.tell(func(at uint64, f floodmark.ActionDecided) bool {
		return one && at == seq || !one && f.Decision.Verdict < floodmark.Allow
	}, after.see)
	if err != nil {
		return nil, err
	}
	out := &wire.WhyResponse{Session: t.summary(d.Now())}
	for _, dec := range slices.Backward(t.decisions) {
		if dec.why != nil {
			e := explained(s.Session, dec)
			e.Followed = after.followed(dec.seq)
			out.Explanations = append(out.Explanations, e)
		}
	}
	if one && len(out.Explanations) == 0 {
		return nil, fmt.Errorf("%w: entry %d of session %s is no decision; «floodmark journal show %s» lists them", httpapi.ErrNotFound, seq, s.ID, s.ID)
	}
	return out, nil
}

func explained(s journal.Session, t told) *wire.Explanation {
	return &wire.Explanation{
		Decision: t.id(s), At: timestamppb.New(t.at), Verdict: t.fact.Decision.Verdict.String(), Line: t.why.Line,
		Sources: t.why.Sources, Arguments: t.why.Arguments, Actions: t.why.Actions, Reasons: t.why.Reasons, Remedies: t.why.Remedies, Box: boxRun(t),
	}
}

// Graph implements [httpapi.Owner].
func (d *Desk) Graph(ctx context.Context, who httpapi.Identity, r *wire.GraphRequest) (*wire.GraphResponse, error) {
	s, err := d.find(ctx, who, r.GetSession())
	if err != nil {
		return nil, err
	}
	type dated struct {
		at   time.Time
		fact floodmark.Fact
	}
	var facts []dated
	if _, err := s.tell(nil, func(e journal.Entry, f floodmark.Fact) { facts = append(facts, dated{e.Time(), f}) }); err != nil {
		return nil, err
	}
	var entries iter.Seq2[time.Time, floodmark.Fact] = func(yield func(time.Time, floodmark.Fact) bool) {
		for _, f := range facts {
			if !yield(f.at, f.fact) {
				return
			}
		}
	}
	g, err := graph.Build(s.ID, entries)
	if err != nil {
		return nil, err
	}
	media, data, err := g.In(r.GetFormat())
	if errors.Is(err, graph.ErrForm) {
		err = fmt.Errorf("%w: %w", httpapi.ErrInvalid, err)
	}
	return &wire.GraphResponse{MediaType: media, Data: data}, err
}

// Grants implements [httpapi.Owner].
func (d *Desk) Grants(ctx context.Context, who httpapi.Identity, r *wire.GrantsRequest) (*wire.GrantsResponse, error) {
	out := &wire.GrantsResponse{}
	passed, err := d.each(ctx, who.Tenant, r.GetSession(), func(t *tale) { out.Grants = append(out.Grants, grants(t)...) })
	if err != nil {
		return nil, err
	}
	out.Unread = passed.words()
	if r.GetSession() == "" {
		out.Grants = slices.Concat(out.Grants, d.elder(ctx, who.Tenant, out.Grants), d.inAdvance(who.Tenant))
	}
	out.Grants = slices.DeleteFunc(out.Grants, func(g *wire.Grant) bool { return wire.Lasts(g.GetScope()) && !d.Now().Before(g.GetUntil().AsTime()) })
	slices.SortStableFunc(out.Grants, func(a, b *wire.Grant) int { return compareTimes(a.GetUntil(), b.GetUntil()) })
	return out, nil
}

// elder returns the grants for whole projects that were given in sessions without recent events.
func (d *Desk) elder(ctx context.Context, tenant string, have []*wire.Grant) (list []*wire.Grant) {
	if d.Lasting == nil {
		return nil
	}
	for _, id := range d.Lasting(tenant) {
		if slices.ContainsFunc(have, func(g *wire.Grant) bool { return g.GetSession() == string(id) }) {
			continue
		}
		if t, err := d.tell(ctx, journal.Session{Tenant: tenant, ID: id}, nil, nil); err == nil {
			list = append(list, slices.DeleteFunc(grants(t), func(g *wire.Grant) bool { return !wire.Lasts(g.GetScope()) })...)
		}
	}
	return list
}

// recentTime is the age that open questions and grants can have at most. Approvals end after at
// most a day, and questions that are held in quiet hours after at most two.
const recentTime = 51 * time.Hour

// each calls see with the session of a name, or with all recent sessions if the name is empty. If a
// named session cannot be read, it returns an error. Of all sessions, it skips those that cannot be
// read, and returns them.
func (d *Desk) each(ctx context.Context, tenant, name string, see func(*tale)) (unread, error) {
	if name == "" {
		return d.recent(ctx, tenant, func(t *tale) bool { see(t); return true })
	}
	s, err := d.named(ctx, tenant, name)
	if err != nil {
		return unread{}, err
	}
	t, err := d.tell(ctx, s, nil, nil)
	if err == nil {
		see(t)
	}
	return unread{}, err
}

func grants(t *tale) []*wire.Grant {
	var list []*wire.Grant
	for _, g := range slices.Concat(t.state.Book.Grants, t.state.Book.Hosts) {
		w := &wire.Grant{
			Ticket: string(g.Ticket), Session: string(t.session.ID), Scope: string(g.Scope), Tool: wire.FromToolRef(g.Shown.Tool),
			ArgsDigest: g.Shown.ArgsDigest.String(), Pattern: g.Shown.Pattern, Mark: wire.FromLabel(g.Shown.Mark), Turn: int32(min(g.Turn, 1<<30)),
		}
		if g.Scope == floodmark.GrantHosts {
			w.Pattern = strings.Join(g.Shown.Hosts, " ")
		}
		if !g.Until.IsZero() {
			w.Until = timestamppb.New(g.Until)
		}
		list = append(list, w)
	}
	return list
}

// inAdvance returns the policy's standing approvals that have not expired.
func (d *Desk) inAdvance(tenant string) []*wire.Grant {
	var list []*wire.Grant
	for _, s := range d.Rules(tenant).Policy.Standing() {
		if d.Now().Before(s.Until) {
			list = append(list, &wire.Grant{
				Ticket: standingName + s.Name, Scope: "standing", Pattern: s.Call, Mark: wire.FromLabel(s.Mark), Until: timestamppb.New(s.Until),
				Agent: s.Agent, Trigger: s.Trigger, Job: s.Job,
			})
		}
	}
	return list
}

// standingName begins the name of a standing approval.
const standingName = "standing."

// compareTimes orders times without an end last.
func compareTimes(a, b *timestamppb.Timestamp) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return a.AsTime().Compare(b.AsTime())
}

// Status implements [httpapi.Owner].
func (d *Desk) Status(ctx context.Context, who httpapi.Identity, _ *wire.StatusRequest) (*wire.StatusResponse, error) {
	lines, incidents := d.Notes(who.Tenant)
	out := &wire.StatusResponse{
		Version: d.Version, Started: timestamppb.New(d.Started), Policy: d.policy(who, d.Rules(who.Tenant)), Engine: d.Engine, Place: d.Place,
		Pending: int64(len(d.Monitor.Pending(who.Tenant))), Incidents: incidents, Mode: d.Mode, Tenant: who.Tenant,
		Warnings: lines, Quiet: d.Rules(who.Tenant).Policy.Settings("").Quiet.Line(d.Now()),
		Caller: who.Name, May: who.May.Words(),
	}
	if !who.Ends.IsZero() {
		out.Ends = timestamppb.New(who.Ends)
	}
	if who.Tenant == "" {
		out.Warnings = append(out.Warnings, d.standing()...)
		if d.Nodes != nil {
			out.Nodes = d.Nodes()
		}
		if d.Fleet != nil {
			out.Fleet = d.Fleet.Line()
		}
	} else {
		out.Place = ""
	}
	switch err := d.fromJournal(ctx, who.Tenant, out); {
	case err == nil:
	case ctx.Err() != nil, errors.Is(err, journal.ErrBroken), errors.Is(err, monitor.ErrNoTenant):
		return nil, err
	default: // errors of the journal refer the caller to status, so status itself must not fail
		out.Warnings = slices.Insert(out.Warnings, 0, silent)
	}
	return out, nil
}

// silent is the warning in status while the journal cannot be read.
const silent = "the journal does not answer, so agents are refused and sessions are not counted: see that its database runs, or that its disk has room; the monitor's log says what failed"

// fromJournal adds to a status what must be read from the journal.
func (d *Desk) fromJournal(ctx context.Context, tenant string, out *wire.StatusResponse) (err error) {
	if out.Pauses, err = d.pauses(ctx, tenant); err != nil {
		return err
	}
	for _, err := range d.Journal.Recent(ctx, tenant) {
		if err != nil {
			return err
		}
		if out.Sessions++; out.Sessions >= maxCounted {
			break
		}
	}
	out.BoxedToday, err = d.boxedToday(ctx, tenant)
	return err
}

// standing returns the limits of this installation's protection that its owner should know.
func (d *Desk) standing() []string {
	var list []string
	if d.Mode != "system" {
		list = append(list, "user mode: code of your own user that leaves its process tree (double fork), traces this process, deletes the store or kills the monitor is not stopped by it, only noticed; system mode closes this (docs/guide/service.md)")
	}
	if !d.Evidence.Apart {
		list = append(list, "the signed heads lie where your own user can write: verifying the journal detects damage, not your own rewriting")
	}
	return list
}

// policy describes the rules in force. Only the operator sees the paths of files, and what is wrong in them.
func (d *Desk) policy(who httpapi.Identity, r Rules) *wire.PolicyStatus {
	p := &wire.PolicyStatus{Digest: r.Policy.Hash().String(), Loaded: timestamppb.New(r.Loaded), Profile: r.Policy.Profile(), DryRun: !r.Policy.Settings("").Enforce, Bundle: r.Bundle}
	if r.File != "" && who.Tenant == "" {
		p.Files = []string{r.File}
	}
	for _, one := range r.Problems {
		if who.Tenant != "" { // a problem quotes the operator's policy
			one = floodmark.Problem{File: strings.TrimPrefix(filepath.Base(one.File), "."), Severity: one.Severity, Code: one.Code, Text: "the operator of this monitor has to mend this"}
		}
		p.Problems = append(p.Problems, wire.FromProblem(one))
	}
	return p
}

// ReloadPolicy implements [httpapi.Owner].
func (d *Desk) ReloadPolicy(ctx context.Context, who httpapi.Identity, r *wire.ReloadPolicyRequest) (*wire.ReloadPolicyResponse, error) {
	if r.GetProtecting() {
		if who.Tenant == "" && who.Channel == httpapi.OwnerSocket && d.Protecting != nil {
			d.Protecting()
		}
		return &wire.ReloadPolicyResponse{Policy: d.policy(who, d.Rules(who.Tenant))}, nil
	}
	got := d.Reload(ctx, who.Tenant)
	return &wire.ReloadPolicyResponse{Loaded: got.Fresh && !got.Refused, Policy: d.policy(who, got)}, nil
}

// Export implements [httpapi.Owner].
func (d *Desk) Export(ctx context.Context, who httpapi.Identity, r *wire.ExportRequest, send func(*wire.ExportResponse) error) error {
	if r.GetSession() != "" {
		s, err := d.named(ctx, who.Tenant, r.GetSession())
		if err != nil {
			return err
		}
		return d.export(ctx, s, r.GetAfter(), send)
	}
	for h, err := range d.Journal.Recent(ctx, who.Tenant) {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		if err := d.export(ctx, h.Session, 0, send); err != nil {
			return err
		}
	}
	return nil
}

func (d *Desk) export(ctx context.Context, s journal.Session, after uint64, send func(*wire.ExportResponse) error) error {
	start, err := d.Journal.Begin(ctx, s)
	if err != nil {
		return err
	}
	if t := start.Tombstone; t != nil && t.Link.Seq > after {
		if err := send(&wire.ExportResponse{What: &wire.ExportResponse_Tombstone{Tombstone: wire.FromTombstone(*t)}}); err != nil {
			return err
		}
		after = t.Link.Seq
	}
	for e, err := range d.Journal.Read(ctx, s, after) {
		if err != nil {
			return err
		}
		if err := send(&wire.ExportResponse{What: &wire.ExportResponse_Entry{Entry: wire.FromEntry(s, e)}}); err != nil {
			return err
		}
	}
	return nil
}
