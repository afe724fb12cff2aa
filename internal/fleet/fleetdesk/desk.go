// Package fleetdesk answers laptops that joined a fleet: it enrols them, stores their reports,
// journal entries and questions, and sends them their rules. It shows the laptops' questions to
// people of the fleet, and stores the answers until the laptops fetch them. It makes no decisions:
// a laptop verifies the signature of its rules, and accepts an answer only to a question that it
// has asked.
package fleetdesk

import (
	"context"
	"errors"
	"fmt"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/fleet/machines"
	"github.com/floodmark/floodmark/internal/rules/bundle"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/service/owner"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/wire"
)

// A Desk answers requests of the laptops that joined this fleet, and requests of people about these
// laptops. A field is required unless its comment says what nil means.
type Desk struct {
	// Book stores the laptops. If it is nil, no laptop can join.
	Book machines.Book
	// Bundles stores the signed rules; nil if there are none. Keys returns the keys of the authors
	// of a tenant's rules. If there are none, the laptops use their owners' policies.
	Bundles bundle.Store
	Keys    func(tenant string) []string
	// HasTenant reports whether there is such a tenant.
	HasTenant func(tenant string) bool
	// Enter admits a request of a laptop with a number of bytes, within the limits of its tenant.
	// The caller calls leave at the end of the request. An error is returned to the laptop.
	Enter func(ctx context.Context, who httpapi.Identity, bytes int64) (leave func(), err error)
	// Note records an incident that people of a tenant should see.
	Note func(ctx context.Context, s journal.Session, seen floodmark.IncidentSeen) error
	// MayAnswer reports whether members of these groups may answer a question. If it is nil,
	// everyone who may answer questions at all may answer each one.
	MayAnswer func(groups []string, s journal.Session, agent string, tools []floodmark.ToolRef) bool
	Now       func() time.Time
}

var (
	_ httpapi.Machines = Desk{}
	_ owner.Laptops    = Desk{}
)

// errNoMachines returns the error that no laptop can join this monitor.
func errNoMachines() error {
	return connect.NewError(connect.CodeFailedPrecondition,
		errors.New("no laptop can join this monitor: its journal is a file. A fleet keeps its journal in PostgreSQL (docs/guide/fleet.md)"))
}

// written records an event of a machine as an incident, which people of its tenant see.
func (d Desk) written(ctx context.Context, tenant, kind, text string) error {
	return d.Note(ctx, journal.Session{Tenant: tenant, ID: monitor.Incidents}, floodmark.IncidentSeen{Kind: kind, Text: text})
}

// Enrol implements [httpapi.Machines].
func (d Desk) Enrol(ctx context.Context, who httpapi.Identity, r *wire.EnrolRequest) (*wire.EnrolResponse, error) {
	if d.Book == nil {
		return nil, errNoMachines()
	}
	if !d.HasTenant(who.Tenant) {
		return nil, fmt.Errorf("%w: your tenant is not known here", httpapi.ErrInvalid)
	}
	if err := machines.CheckName(r.GetName()); err != nil {
		return nil, fmt.Errorf("%w: %w", httpapi.ErrInvalid, err)
	}
	if _, err := machines.KeyOf(r.GetJournalKey()); err != nil {
		return nil, fmt.Errorf("%w: %w", httpapi.ErrInvalid, err)
	}
	leave, err := d.Enter(ctx, who, 0)
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := d.use(ctx, who, r.GetName()); err != nil {
		return nil, err
	}
	id, token, hash := httpapi.NewMachineToken()
	one := machines.Machine{Tenant: who.Tenant, ID: id, Name: r.GetName(), By: who.Name, At: d.Now().UTC(), Token: hash, JournalKey: r.GetJournalKey()}
	if err := d.Book.Enrol(ctx, one); err != nil {
		return nil, err
	}
	if err := d.written(ctx, who.Tenant, "machine-enrolled", fmt.Sprintf("machine %s (%q) joined the fleet, enrolled by %s", id, r.GetName(), who.Name)); err != nil {
		return nil, err
	}
	return &wire.EnrolResponse{Machine: string(id), Token: token, Tenant: who.Tenant, BundleKeys: d.Keys(who.Tenant)}, nil
}

// use counts a use of the token that enrols a laptop. The use stays counted even if the enrolment
// fails later, so that a token can never enrol more laptops than it may.
func (d Desk) use(ctx context.Context, who httpapi.Identity, name string) error {
	if who.Enrols == nil && who.Channel == httpapi.ByProvider {
		return nil // a person
	}
	if who.Enrols != nil {
		ok, err := d.Book.Use(ctx, who.Tenant, who.Enrols.Token, who.Enrols.Most)
		if err != nil || ok {
			return err
		}
	}
	said := d.written(ctx, who.Tenant, "machine-refused", fmt.Sprintf("%q was not enrolled: the token %s has enrolled as many laptops as it may", name, who.Name))
	return errors.Join(connect.NewError(connect.CodeFailedPrecondition,
		errors.New("this token has enrolled as many laptops as it may; the fleet's operator makes one for more: «floodmark fleet token create NAME --kind enrol --uses N»")), said)
}

// ReportMachine implements [httpapi.Machines].
func (d Desk) ReportMachine(ctx context.Context, who httpapi.Identity, r *wire.ReportMachineRequest) (*wire.ReportMachineResponse, error) {
	if d.Book == nil {
		return nil, errNoMachines()
	}
	data, err := proto.Marshal(r)
	if err != nil || len(data) > machines.MaxReportBytes {
		return nil, fmt.Errorf("%w: a report has at most %d bytes", httpapi.ErrInvalid, machines.MaxReportBytes)
	}
	leave, err := d.Enter(ctx, who, int64(len(data)))
	if err != nil {
		return nil, err
	}
	defer leave()
	return &wire.ReportMachineResponse{}, d.worded(d.Book.Report(ctx, who.Tenant, machines.ID(who.Machine), d.Now(), data))
}

// worded returns an error of the book in the form for clients.
func (Desk) worded(err error) error {
	if errors.Is(err, machines.ErrUnknown) {
		return fmt.Errorf("%w: %w; «floodmark fleet machines» lists them", httpapi.ErrNotFound, machines.ErrUnknown)
	}
	return err
}

// LeaveFleet implements [httpapi.Machines].
func (d Desk) LeaveFleet(ctx context.Context, who httpapi.Identity, _ *wire.LeaveFleetRequest) (*wire.LeaveFleetResponse, error) {
	if d.Book == nil {
		return nil, errNoMachines()
	}
	if err := d.worded(d.Book.End(ctx, who.Tenant, machines.ID(who.Machine), machines.Left, who.Name, d.Now())); err != nil {
		return nil, err
	}
	return &wire.LeaveFleetResponse{}, d.written(ctx, who.Tenant, "machine-left", "machine "+who.Machine+" left the fleet")
}

// RevokeMachine implements [httpapi.Machines].
func (d Desk) RevokeMachine(ctx context.Context, who httpapi.Identity, r *wire.RevokeMachineRequest) (*wire.RevokeMachineResponse, error) {
	if d.Book == nil {
		return nil, errNoMachines()
	}
	if err := d.worded(d.Book.End(ctx, who.Tenant, machines.ID(r.GetMachine()), machines.Revoked, who.Name, d.Now())); err != nil {
		return nil, err
	}
	return &wire.RevokeMachineResponse{}, d.written(ctx, who.Tenant, "machine-revoked", fmt.Sprintf("machine %s was revoked by %s", r.GetMachine(), who.Name))
}

// ListMachines implements [httpapi.Machines].
func (d Desk) ListMachines(ctx context.Context, who httpapi.Identity, r *wire.ListMachinesRequest) (*wire.ListMachinesResponse, error) {
	if d.Book == nil {
		return nil, errNoMachines()
	}
	p := machines.Page{After: machines.ID(r.GetAfter()), Most: int(r.GetMost()), Joined: !r.GetAll()}
	if p.Most <= 0 || p.Most > machines.MaxPage {
		p.Most = machines.MaxPage
	}
	list, err := d.Book.List(ctx, who.Tenant, p)
	if err != nil {
		return nil, err
	}
	out := &wire.ListMachinesResponse{}
	if len(list) == p.Most {
		out.Next = string(list[len(list)-1].ID)
	}
	for _, one := range list {
		s := &wire.MachineStatus{
			Id: string(one.ID), Name: one.Name, EnrolledBy: one.By, Enrolled: timestamppb.New(one.At), State: string(one.State), EndedBy: one.EndedBy,
			Sessions: one.Sessions, Entries: one.Entries, Forks: one.Forks,
		}
		if !one.Seen.IsZero() {
			s.Seen, s.Report = timestamppb.New(one.Seen), &wire.ReportMachineRequest{}
			if err := proto.Unmarshal(one.Report, s.Report); err != nil {
				s.Report = nil // the report may be from a newer program
			}
		}
		out.Machines = append(out.Machines, s)
	}
	return out, nil
}
