package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/httpapi"
	"github.com/floodmark/floodmark/internal/machines"
	"github.com/floodmark/floodmark/internal/owner"
	"github.com/floodmark/floodmark/internal/quota"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/wire"
)

// A machineDesk answers laptops that joined this fleet.
type machineDesk struct {
	d    *Daemon
	book machines.Book
}

var _ httpapi.Machines = machineDesk{}

// openMachines finds the book of laptops. A journal in a file has none: its
// monitor is a laptop itself.
func (d *Daemon) openMachines() {
	d.machines = d.opts.Machines
	if j, ok := d.store.Journal.(interface{ Machines() machines.Book }); ok && d.machines == nil {
		d.machines = j.Machines()
	}
	if keep := time.Duration(d.opts.Service.Journal.Keep); d.machines != nil && keep > 0 {
		d.proof.copies = func(ctx context.Context, now time.Time) (int, error) {
			return owner.LetCopiesGo(ctx, d.machines, d.keys.Signing.Signer, now.Add(-keep), now)
		}
	}
}

// errNoMachines says that no laptop can join here.
func errNoMachines() error {
	return connect.NewError(connect.CodeFailedPrecondition,
		errors.New("no laptop can join this monitor: its journal is a file. A fleet keeps its journal in PostgreSQL (docs/guide/fleet.md)"))
}

// written writes down what became of a machine, where its tenant's people see it.
func (m machineDesk) written(ctx context.Context, tenant, kind, text string) error {
	return m.d.note(ctx, journal.Session{Tenant: tenant, ID: monitor.Incidents}, floodmark.IncidentSeen{Kind: kind, Text: text})
}

// Enrol implements [httpapi.Machines].
func (m machineDesk) Enrol(ctx context.Context, who httpapi.Identity, r *wire.EnrolRequest) (*wire.EnrolResponse, error) {
	if m.book == nil {
		return nil, errNoMachines()
	}
	if !m.d.opts.Service.HasTenant(who.Tenant) {
		return nil, fmt.Errorf("%w: your tenant is not known here", httpapi.ErrInvalid)
	}
	if err := machines.CheckName(r.GetName()); err != nil {
		return nil, fmt.Errorf("%w: %w", httpapi.ErrInvalid, err)
	}
	if _, err := machines.KeyOf(r.GetJournalKey()); err != nil {
		return nil, fmt.Errorf("%w: %w", httpapi.ErrInvalid, err)
	}
	leave, err := m.enter(ctx, who, 0)
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := m.use(ctx, who, r.GetName()); err != nil {
		return nil, err
	}
	id, token, hash := httpapi.NewMachineToken()
	one := machines.Machine{Tenant: who.Tenant, ID: id, Name: r.GetName(), By: who.Name, At: m.d.opts.Now().UTC(), Token: hash, JournalKey: r.GetJournalKey()}
	if err := m.book.Enrol(ctx, one); err != nil {
		return nil, err
	}
	if err := m.written(ctx, who.Tenant, "machine-enrolled", fmt.Sprintf("machine %s (%q) joined the fleet, enrolled by %s", id, r.GetName(), who.Name)); err != nil {
		return nil, err
	}
	return &wire.EnrolResponse{Machine: string(id), Token: token, Tenant: who.Tenant, BundleKeys: m.d.bundleKeys(who.Tenant)}, nil
}

// use counts that a token enrols one laptop more. What fails after that has used it
// all the same: a token must not enrol more than it may.
func (m machineDesk) use(ctx context.Context, who httpapi.Identity, name string) error {
	if who.Enrols == nil && who.Channel == httpapi.ByProvider {
		return nil // a person
	}
	if who.Enrols != nil {
		ok, err := m.book.Use(ctx, who.Tenant, who.Enrols.Token, who.Enrols.Most)
		if err != nil || ok {
			return err
		}
	}
	said := m.written(ctx, who.Tenant, "machine-refused", fmt.Sprintf("%q was not enrolled: the token %s has enrolled as many laptops as it may", name, who.Name))
	return errors.Join(connect.NewError(connect.CodeFailedPrecondition,
		errors.New("this token has enrolled as many laptops as it may; whoever runs the fleet makes one for more: «floodmark token create NAME --kind enrol --uses N»")), said)
}

// enter lets laptops in by turns, as many as their tenant may send events. They
// are counted apart from its agents: one laptop must not keep those out.
func (m machineDesk) enter(ctx context.Context, who httpapi.Identity, bytes int64) (leave func(), err error) {
	if m.d.laptopQuotas == nil || !m.d.opts.Service.HasTenant(who.Tenant) {
		return func() {}, nil
	}
	leave, err = m.d.laptopQuotas.Enter(ctx, who.Tenant, floodmark.SessionID("machine/"+cmp.Or(who.Machine, who.Name)), bytes)
	if errors.Is(err, quota.ErrOver) {
		m.d.notes.add(who.Tenant, "over-quota", "laptops: "+err.Error(), m.d.opts.Now())
		return nil, connect.NewError(connect.CodeResourceExhausted, fmt.Errorf("your tenant's laptops are %w; it is tried again later", err))
	}
	return leave, err
}

// ReportMachine implements [httpapi.Machines].
func (m machineDesk) ReportMachine(ctx context.Context, who httpapi.Identity, r *wire.ReportMachineRequest) (*wire.ReportMachineResponse, error) {
	if m.book == nil {
		return nil, errNoMachines()
	}
	data, err := proto.Marshal(r)
	if err != nil || len(data) > machines.MaxReportBytes {
		return nil, fmt.Errorf("%w: a report has at most %d bytes", httpapi.ErrInvalid, machines.MaxReportBytes)
	}
	leave, err := m.enter(ctx, who, int64(len(data)))
	if err != nil {
		return nil, err
	}
	defer leave()
	return &wire.ReportMachineResponse{}, m.known(m.book.Report(ctx, who.Tenant, machines.ID(who.Machine), m.d.opts.Now(), data))
}

// known words what a book says.
func (machineDesk) known(err error) error {
	if errors.Is(err, machines.ErrUnknown) {
		return fmt.Errorf("%w: %w; «floodmark machines» lists them", httpapi.ErrNotFound, machines.ErrUnknown)
	}
	return err
}

// LeaveFleet implements [httpapi.Machines].
func (m machineDesk) LeaveFleet(ctx context.Context, who httpapi.Identity, _ *wire.LeaveFleetRequest) (*wire.LeaveFleetResponse, error) {
	if m.book == nil {
		return nil, errNoMachines()
	}
	if err := m.known(m.book.End(ctx, who.Tenant, machines.ID(who.Machine), machines.Left, who.Name, m.d.opts.Now())); err != nil {
		return nil, err
	}
	return &wire.LeaveFleetResponse{}, m.written(ctx, who.Tenant, "machine-left", "machine "+who.Machine+" left the fleet")
}

// RevokeMachine implements [httpapi.Machines].
func (m machineDesk) RevokeMachine(ctx context.Context, who httpapi.Identity, r *wire.RevokeMachineRequest) (*wire.RevokeMachineResponse, error) {
	if m.book == nil {
		return nil, errNoMachines()
	}
	if err := m.known(m.book.End(ctx, who.Tenant, machines.ID(r.GetMachine()), machines.Revoked, who.Name, m.d.opts.Now())); err != nil {
		return nil, err
	}
	return &wire.RevokeMachineResponse{}, m.written(ctx, who.Tenant, "machine-revoked", fmt.Sprintf("machine %s was revoked by %s", r.GetMachine(), who.Name))
}

// ListMachines implements [httpapi.Machines].
func (m machineDesk) ListMachines(ctx context.Context, who httpapi.Identity, r *wire.ListMachinesRequest) (*wire.ListMachinesResponse, error) {
	if m.book == nil {
		return nil, errNoMachines()
	}
	p := machines.Page{After: machines.ID(r.GetAfter()), Most: int(r.GetMost()), Joined: !r.GetAll()}
	if p.Most <= 0 || p.Most > machines.MaxPage {
		p.Most = machines.MaxPage
	}
	list, err := m.book.List(ctx, who.Tenant, p)
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
