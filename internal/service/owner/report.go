package owner

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/wire"
)

// maxReported bounds the incidents of one report.
const maxReported = 1000

// reportable reports whether callers may report a kind of incident. All others only the monitor
// records.
func reportable(kind string) bool {
	switch kind {
	case "unmediated-call", "refused-call-ran", "unseen-session":
		return true
	}
	return false
}

// said reports whether a kind is a decision of the owner about tool definitions, which is made
// outside the monitor. Each one is recorded, even if it is repeated.
func said(kind string) bool {
	switch kind {
	case "definition-accepted", "definition-rejected", "definition-forgotten":
		return true
	}
	return false
}

// Report implements [httpapi.Owner]. It leaves out incidents that are recorded already, in the
// session or in the list of incidents, so that reporting again does not count them twice.
func (d *Desk) Report(ctx context.Context, who httpapi.Identity, r *wire.ReportRequest) (*wire.ReportResponse, error) {
	if r.GetSession() == "" || len(r.GetIncidents()) > maxReported {
		return nil, fmt.Errorf("%w: report one session and at most %d incidents at once", httpapi.ErrInvalid, maxReported)
	}
	s := journal.Session{Tenant: who.Tenant, ID: floodmark.SessionID(r.GetSession())}
	if s.ID == monitor.Incidents {
		return d.say(ctx, who, r.GetIncidents())
	}
	known, err := d.reported(ctx, s)
	if err != nil {
		return nil, err
	}
	out := &wire.ReportResponse{}
	for _, i := range r.GetIncidents() {
		if !reportable(i.GetKind()) {
			return nil, fmt.Errorf("%w: incidents of the kind %q are not reported", httpapi.ErrInvalid, i.GetKind())
		}
		name := i.GetKind() + "\x00" + i.GetCall()
		if known[name] {
			continue
		}
		known[name] = true
		seen := floodmark.IncidentSeen{
			Kind: i.GetKind(), Call: floodmark.CallID(i.GetCall()), Text: i.GetText(),
			Tool: floodmark.ToolRef{Agent: i.GetTool().GetAgent(), Server: i.GetTool().GetServer(), Name: i.GetTool().GetName()},
		}
		if err := d.Incident(ctx, s, seen); err != nil {
			return nil, err
		}
		out.Written++
	}
	return out, nil
}

// say records decisions of the owner that do not belong to a session.
func (d *Desk) say(ctx context.Context, who httpapi.Identity, list []*wire.Incident) (*wire.ReportResponse, error) {
	out := &wire.ReportResponse{}
	for _, i := range list {
		if !said(i.GetKind()) {
			return nil, fmt.Errorf("%w: incidents of the kind %q belong to a session", httpapi.ErrInvalid, i.GetKind())
		}
		seen := floodmark.IncidentSeen{Kind: i.GetKind(), Text: i.GetText() + ", by " + byOf(who)}
		if err := d.Monitor.Note(ctx, journal.Session{Tenant: who.Tenant, ID: monitor.Incidents}, seen); err != nil {
			return nil, err
		}
		out.Written++
	}
	return out, nil
}

// reported returns the incidents recorded for a session, by kind and call.
func (d *Desk) reported(ctx context.Context, s journal.Session) (map[string]bool, error) {
	known := map[string]bool{}
	for _, at := range []journal.Session{s, {Tenant: s.Tenant, ID: monitor.Incidents}} {
		t, err := d.tell(ctx, at, nil, nil)
		if errors.Is(err, httpapi.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, i := range t.incidents {
			if at == s || strings.HasPrefix(i.GetText(), fmt.Sprintf("session %q: ", s.ID)) {
				known[i.GetKind()+"\x00"+i.GetCall()] = true
			}
		}
	}
	return known, nil
}
