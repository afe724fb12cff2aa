// Package fleetdesk answers laptops that joined a fleet: it enrols them, stores what they report,
// upload and ask, and hands their rules out. It shows people of the fleet what the laptops ask, and
// stores the answers until they are fetched. It decides nothing: a laptop verifies the signature of
// rules, and accepts an answer, as one of several channels, only for what it asked.
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
	"github.com/floodmark/floodmark/internal/bundle"
	"github.com/floodmark/floodmark/internal/httpapi"
	"github.com/floodmark/floodmark/internal/machines"
	"github.com/floodmark/floodmark/internal/owner"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/wire"
)

// A Desk answers laptops that joined this fleet, and its people about them. All fields are required
// unless they say what nil means.
type Desk struct {
	// Book keeps the laptops; nil: none can join, and one that tries gets an error.
	Book machines.Book
	// Bundles is where signed rules lie; nil: there are none. Keys are those of the
	// authors whom a tenant's laptops believe; none: their owners' own policies hold.
	Bundles bundle.Store
	Keys    func(tenant string) []string
	// HasTenant reports whether there is such a tenant.
	HasTenant func(tenant string) bool
	// Enter admits a laptop in turn, with so many bytes; leave ends its turn. The laptop gets its
	// error.
	Enter func(ctx context.Context, who httpapi.Identity, bytes int64) (leave func(), err error)
	// Note writes down what people of a tenant should see.
	Note func(ctx context.Context, s journal.Session, seen floodmark.IncidentSeen) error
	// MayAnswer reports whether a question is for members of groups; nil: for all who may answer at
	// all.
	MayAnswer func(groups []string, s journal.Session, agent string, tools []floodmark.ToolRef) bool
	Now       func() time.Time
}

var (
	_ httpapi.Machines = Desk{}
	_ owner.Laptops    = Desk{}
)

// errNoMachines says that no laptop can join here.
func errNoMachines() error {
	return connect.NewError(connect.CodeFailedPrecondition,
		errors.New("no laptop can join this monitor: its journal is a file. A fleet keeps its journal in PostgreSQL (docs/guide/fleet.md)"))
}

// written records what became of a machine, where its tenant's people see it.
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

// use counts that a token enrols one laptop more. A failure after that counts all the same: a token
// must not enrol more than it may.
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

// worded words a book's error.
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
				s.Report = nil // a newer program wrote it
			}
		}
		out.Machines = append(out.Machines, s)
	}
	return out, nil
}
