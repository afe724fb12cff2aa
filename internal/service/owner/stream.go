package owner

import (
	"context"
	"errors"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/wire"
)

// signOfLife is the interval of keep-alives to a watcher.
const signOfLife = 15 * time.Second

// Watch implements [httpapi.Owner].
func (d *Desk) Watch(ctx context.Context, who httpapi.Identity, r *wire.WatchRequest, send func(*wire.WatchResponse) error) error {
	only := journal.Session{}
	if r.GetSession() != "" {
		s, err := d.named(ctx, who.Tenant, r.GetSession())
		if err != nil {
			return err
		}
		only = s
	}
	w, end := d.Hub.Watch(who.Tenant)
	defer end()
	alive := time.NewTicker(signOfLife)
	defer alive.Stop()
	if err := send(&wire.WatchResponse{At: timestamppb.New(d.Now())}); err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-d.Hub.Closed():
			return nil
		case <-alive.C:
			if err := send(&wire.WatchResponse{At: timestamppb.New(d.Now()), Missed: w.Missed()}); err != nil {
				return err
			}
		case o := <-w.C:
			if o.Session.Tenant != who.Tenant || r.GetSession() != "" && o.Session != only {
				continue
			}
			if err := d.sendAll(ctx, who, o, w.Missed(), send); err != nil {
				return err
			}
		}
	}
}

// sendAll sends the events of one observation that people should see.
func (d *Desk) sendAll(ctx context.Context, who httpapi.Identity, o monitor.Observation, missed int64, send func(*wire.WatchResponse) error) error {
	for _, e := range o.Entries {
		f, err := e.Fact()
		if err != nil {
			return err
		}
		out := &wire.WatchResponse{At: timestamppb.New(e.Time()), Session: string(o.Session.ID), Agent: o.Agent, Missed: missed}
		if !d.happened(ctx, who, o, e, f, out) {
			continue
		}
		if err := send(out); err != nil {
			return err
		}
		missed = 0
	}
	return nil
}

func (d *Desk) happened(ctx context.Context, who httpapi.Identity, o monitor.Observation, e journal.Entry, f floodmark.Fact, out *wire.WatchResponse) bool {
	switch f := f.(type) {
	case floodmark.ActionDecided:
		out.What = &wire.WatchResponse_Decided{Decided: decided(o.Session, told{seq: e.Seq, at: e.Time(), fact: f})}
	case floodmark.TicketOpened:
		return d.ask(ctx, who, o, f.Ticket, out)
	case floodmark.TicketExtended:
		return d.ask(ctx, who, o, f.Ticket, out)
	case floodmark.TicketAnswered:
		out.What = &wire.WatchResponse_Answered{Answered: &wire.Answered{Ticket: string(f.Ticket), Verdict: f.Verdict.String(), By: f.By, Channel: f.Channel}}
	case floodmark.IncidentSeen:
		out.What = &wire.WatchResponse_Incident{Incident: &wire.Incident{
			Kind: f.Kind, Call: string(f.Call), Tool: wire.FromToolRef(f.Tool), Text: f.Text, At: timestamppb.New(e.Time()),
		}}
	case floodmark.ContentArrived:
		return d.boxOver(ctx, o, f, out)
	default:
		return pausing(o, f, out)
	}
	return true
}

// How long to wait for a question's code, which may come after its facts, and how often to check.
const (
	codeWithin = time.Second
	codeLook   = 10 * time.Millisecond
)

// ask fills in a question in its current form. It returns false if the caller may not answer it.
func (d *Desk) ask(ctx context.Context, who httpapi.Identity, o monitor.Observation, t floodmark.TicketID, out *wire.WatchResponse) bool {
	if httpapi.Terminal(ctx, who) && d.Codes != nil {
		d.awaitCode(ctx, o.Session, t)
	}
	tale, err := d.tell(ctx, o.Session, nil, nil)
	if err != nil {
		return false
	}
	for _, q := range d.open(ctx, who, tale) {
		if q.GetTicket() == string(t) {
			out.What = &wire.WatchResponse_Asked{Asked: q}
			return true
		}
	}
	return false
}

func (d *Desk) awaitCode(ctx context.Context, s journal.Session, t floodmark.TicketID) {
	ctx, cancel := context.WithTimeout(ctx, codeWithin)
	defer cancel()
	look := time.NewTicker(codeLook)
	defer look.Stop()
	for {
		if _, there := d.Codes.Code(s, t); there {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
	}
}

// logProblem is what a tenant sees of damage outside its own sessions.
const logProblem = "the log of signed heads, or the store, is damaged: the operator of this monitor must look"

// evidence returns what to verify: one session if it is named, or else all sessions for the
// operator, and the tenant's sessions for its people.
func (d *Desk) evidence(ctx context.Context, who httpapi.Identity, session string) (journal.Evidence, error) {
	e := d.Evidence
	switch {
	case session != "":
		s, err := d.named(ctx, who.Tenant, session)
		if err != nil {
			return e, err
		}
		e.Only = func(o journal.Session) bool { return o == s }
	case who.Tenant != "":
		e.Only = func(o journal.Session) bool { return o.Tenant == who.Tenant }
	}
	return e, nil
}

// Verify implements [httpapi.Owner].
func (d *Desk) Verify(ctx context.Context, who httpapi.Identity, req *wire.VerifyRequest, send func(*wire.VerifyResponse) error) error {
	evidence, err := d.evidence(ctx, who, req.GetSession())
	if err != nil {
		return err
	}
	var lost error
	r, err := journal.Verify(ctx, d.Journal, evidence, func(r journal.Report) {
		if lost == nil {
			lost = send(&wire.VerifyResponse{What: &wire.VerifyResponse_Progress{Progress: &wire.VerifyProgress{Sessions: r.Sessions, Entries: r.Entries}}})
		}
	})
	if lost != nil {
		return lost
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	report := &wire.VerifyReport{
		Ok: r.OK(), Sessions: r.Sessions, Entries: r.Entries, Erased: r.Erased, Checkpoints: r.Checkpoints, Limits: []string{r.Worth},
	}
	for _, f := range r.Findings {
		if who.Tenant != "" && f.Session.Tenant != who.Tenant {
			f.Text = logProblem // the text may be about other tenants
		}
		report.Problems = append(report.Problems, f.Text)
	}
	if err != nil { // if the store cannot be read to its end, that is a finding, too
		report.Ok = false
		if who.Tenant != "" {
			err = errors.New(logProblem)
		}
		report.Problems = append(report.Problems, "the check could not be finished, so the rest is not known: "+err.Error())
	}
	return send(&wire.VerifyResponse{What: &wire.VerifyResponse_Report{Report: report}})
}
