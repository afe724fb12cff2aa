package daemon

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/fleet/machines"
	"github.com/floodmark/floodmark/internal/fleet/machines/machinestest"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/wire"
)

// bearerOf adds a token to every call.
type bearerOf string

func (b bearerOf) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
		r.Header().Set("Authorization", "Bearer "+string(b))
		return next(ctx, r)
	}
}

func (b bearerOf) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

func (b bearerOf) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return next
}

// laptop calls with a token.
func (f *fleet) laptop(token string) wire.MachineServiceClient {
	return wire.NewMachineServiceClient(f.web, f.base, connect.WithInterceptors(bearerOf(token)))
}

// enrolled is a laptop that joined with a token to enrol.
func (f *fleet) enrolled(tenant string) (*wire.EnrolResponse, wire.MachineServiceClient) {
	f.t.Helper()
	got, err := f.laptop(f.token(tenant, "setup", httpapi.MayEnrol)).Enrol(f.t.Context(), &wire.EnrolRequest{Name: "anna's laptop", JournalKey: f.d.keys.Signing.Public})
	if err != nil {
		f.t.Fatal(err)
	}
	return got, f.laptop(got.GetToken())
}

func upload(u machines.Upload) *wire.UploadRequest {
	r := &wire.UploadRequest{Session: []byte(u.Session), After: &wire.MirrorHead{}}
	if u.After.Seq > 0 {
		r.After = &wire.MirrorHead{Seq: u.After.Seq, Hash: u.After.Hash[:]}
	}
	for _, e := range u.Entries {
		r.Entries = append(r.Entries, &wire.MirrorEntry{At: e.At, Kind: e.Kind, Body: e.Body, Hash: e.Hash[:]})
	}
	if u.Stone != nil {
		r.Tombstone = u.Stone.Note
	}
	return r
}

// said are the lines that people of a tenant should look at.
func (f *fleet) said(tenant string) string {
	lines, _ := f.d.notes.list(tenant)
	return strings.Join(lines, "\n")
}

// A laptop joins, tells of itself, uploads, is listed, and is revoked.
func TestMachineJoins(t *testing.T) {
	t.Parallel()
	f := newFleet(t, func(*Options) {})
	got, laptop := f.enrolled("acme")
	if got.GetTenant() != "acme" || !strings.HasPrefix(got.GetToken(), httpapi.MachinePrefix+got.GetMachine()+"_") {
		t.Fatalf("%v", got)
	}
	if _, err := laptop.ReportMachine(t.Context(), &wire.ReportMachineRequest{Version: "1.2.3", Bundle: 7}); err != nil {
		t.Fatal(err)
	}
	all := machinestest.Entries(t, "s", journal.Link{}, 6, "x")
	for _, step := range []struct {
		from, to int
		outcome  machines.Outcome
		seq      uint64
	}{{2, 4, machines.Gap, 0}, {0, 4, machines.Kept, 4}, {0, 4, machines.Kept, 4}, {3, 6, machines.Kept, 6}} {
		answer, err := laptop.Upload(t.Context(), upload(machinestest.Part("s", all, step.from, step.to)))
		if err != nil || answer.GetOutcome() != string(step.outcome) || answer.GetHead().GetSeq() != step.seq {
			t.Fatalf("%+v: %v, %v", step, answer, err)
		}
	}
	heads, err := laptop.Mirrored(t.Context(), &wire.MirroredRequest{Sessions: [][]byte{[]byte("s"), []byte("t")}})
	if err != nil || len(heads.GetHeads()) != 2 || !bytes.Equal(heads.GetHeads()[0].GetHash(), all[5].Hash[:]) || heads.GetHeads()[1].GetSeq() != 0 {
		t.Fatalf("%v, %v", heads, err)
	}
	admin := f.laptop(f.token("acme", "bea", httpapi.MayView|httpapi.MayAdmin))
	list, err := admin.ListMachines(t.Context(), &wire.ListMachinesRequest{})
	if err != nil || len(list.GetMachines()) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	if m := list.GetMachines()[0]; m.GetEnrolledBy() != "setup" || m.GetReport().GetBundle() != 7 || m.GetEntries() != 6 || m.GetState() != "joined" || m.GetSeen() == nil {
		t.Errorf("%v", m)
	}
	if _, err := admin.RevokeMachine(t.Context(), &wire.RevokeMachineRequest{Machine: got.GetMachine()}); err != nil {
		t.Fatal(err)
	}
	_, err = laptop.Upload(t.Context(), upload(machinestest.Part("s", all, 0, 6)))
	if connect.CodeOf(err) != connect.CodeUnauthenticated || !strings.Contains(err.Error(), machines.WhyEnded) {
		t.Errorf("a revoked machine is heard: %v", err)
	}
	if list, _ = admin.ListMachines(t.Context(), &wire.ListMachinesRequest{}); len(list.GetMachines()) != 0 {
		t.Errorf("%v", list)
	}
	if list, _ = admin.ListMachines(t.Context(), &wire.ListMachinesRequest{All: true}); len(list.GetMachines()) != 1 || list.GetMachines()[0].GetEndedBy() != "bea" {
		t.Errorf("%v", list)
	}
	for _, want := range []string{"machine-enrolled: machine " + got.GetMachine(), "machine-revoked"} {
		if !strings.Contains(f.said("acme"), want) {
			t.Errorf("%q is not among\n%s", want, f.said("acme"))
		}
	}
	if strings.Contains(f.said("acme")+f.said(""), got.GetToken()[40:]) {
		t.Error("a token is among the notes")
	}
}

// What a laptop cannot have written is refused; something else in place of what
// is kept is an incident.
func TestMachineForksAndLies(t *testing.T) {
	t.Parallel()
	f := newFleet(t, func(*Options) {})
	_, laptop := f.enrolled("acme")
	all := machinestest.Entries(t, "s", journal.Link{}, 3, "x")
	if _, err := laptop.Upload(t.Context(), upload(machinestest.Part("s", all, 0, 3))); err != nil {
		t.Fatal(err)
	}
	again := machinestest.Entries(t, "s", journal.Link{}, 5, "other")
	answer, err := laptop.Upload(t.Context(), upload(machinestest.Part("s", again, 0, 5)))
	if err != nil || answer.GetOutcome() != string(machines.Fork) || answer.GetHead().GetSeq() != 3 {
		t.Errorf("%v, %v", answer, err)
	}
	lies := upload(machinestest.Part("s", again, 0, 5))
	lies.Entries[2].Body = []byte(`{"kind":"x"}`)
	short := upload(machinestest.Part("s", again, 0, 5))
	short.Entries[1].Hash = []byte{1}
	odd := upload(machinestest.Part("s", again, 1, 5))
	odd.After.Hash = nil
	for i, r := range []*wire.UploadRequest{lies, short, odd, {}, {Session: []byte("s"), Tombstone: []byte("x")}} {
		if _, err := laptop.Upload(t.Context(), r); connect.CodeOf(err) != connect.CodeInvalidArgument {
			t.Errorf("%d: %v", i, err)
		}
	}
	for _, want := range []string{"machine-forked", "machine-broken"} {
		if !strings.Contains(f.said("acme"), want) {
			t.Errorf("%q is not among\n%s", want, f.said("acme"))
		}
	}
	// The same session of another machine is another session.
	_, other := f.enrolled("acme")
	if answer, err := other.Upload(t.Context(), upload(machinestest.Part("s", again, 0, 5))); err != nil || answer.GetOutcome() != string(machines.Kept) {
		t.Errorf("%v, %v", answer, err)
	}
}

// Tokens that are nearly a machine's are refused, and so is a machine of a tenant that is gone.
func TestMachineOfNobody(t *testing.T) {
	t.Parallel()
	f := newFleet(t, func(*Options) {})
	got, _ := f.enrolled("acme")
	ghost := f.token("ghost", "g", httpapi.MayMachine)
	text := got.GetToken()
	for name, token := range map[string]string{
		"ghost": ghost, "short": text[:len(text)-1], "other": text[:len(text)-1] + "x", "no secret": httpapi.MachinePrefix + got.GetMachine() + "_",
		"prefix": httpapi.MachinePrefix, "upper": strings.ToUpper(text), "an agent's": strings.Replace(text, "machine", "agent", 1),
	} {
		_, err := f.laptop(token).ReportMachine(t.Context(), &wire.ReportMachineRequest{})
		if connect.CodeOf(err) != connect.CodeUnauthenticated {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A token to enrol enrols and does nothing else; a laptop cannot enrol another.
func TestWhoEnrols(t *testing.T) {
	t.Parallel()
	f := newFleet(t, func(*Options) {})
	_, laptop := f.enrolled("acme")
	good := &wire.EnrolRequest{Name: "x", JournalKey: f.d.keys.Signing.Public}
	if _, err := laptop.Enrol(t.Context(), good); connect.CodeOf(err) != connect.CodePermissionDenied {
		t.Errorf("a laptop enrols: %v", err)
	}
	setup := f.laptop(f.token("acme", "setup", httpapi.MayEnrol))
	for name, r := range map[string]*wire.EnrolRequest{"no key": {Name: "x"}, "no name": {JournalKey: good.JournalKey}, "odd": {Name: "a\nb", JournalKey: good.JournalKey}} {
		if _, err := setup.Enrol(t.Context(), r); connect.CodeOf(err) != connect.CodeInvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := f.laptop(f.token("ghost", "setup", httpapi.MayEnrol)).Enrol(t.Context(), good); err == nil {
		t.Error("a laptop of no tenant joined")
	}
}

// People whose group may join laptops do that and see nothing.
func TestPeopleEnrol(t *testing.T) {
	t.Parallel()
	f, idp := newPeople(t, func(o *Options) { o.Service.People.Roles.Laptop = []string{"staff"} })
	token := person(idp, "anna", "acme", "staff")
	got, err := f.laptop(token).Enrol(t.Context(), &wire.EnrolRequest{Name: "x", JournalKey: f.d.keys.Signing.Public})
	if err != nil || got.GetTenant() != "acme" {
		t.Fatalf("%v, %v", got, err)
	}
	if _, err := f.laptop(token).ListMachines(t.Context(), &wire.ListMachinesRequest{}); connect.CodeOf(err) != connect.CodePermissionDenied {
		t.Errorf("staff lists machines: %v", err)
	}
	if _, err := f.laptop(person(idp, "bob", "acme", "engineering")).Enrol(t.Context(), &wire.EnrolRequest{Name: "x", JournalKey: f.d.keys.Signing.Public}); connect.CodeOf(err) != connect.CodePermissionDenied {
		t.Errorf("a viewer enrols: %v", err)
	}
}

// Laptops have a quota like their tenant's, and are told to retry later. What they send does not
// delay the judging of the tenant's agents.
func TestMachinesOverQuota(t *testing.T) {
	t.Parallel()
	at := now()
	f := newFleet(t, func(o *Options) {
		o.Service.Tenants["acme"] = config.Tenant{Quota: config.Quota{Events: 1}}
		o.Now = func() time.Time { return at }
	})
	_, laptop := f.enrolled("acme")
	var err error
	for range 40 {
		if _, err = laptop.ReportMachine(t.Context(), &wire.ReportMachineRequest{}); err != nil {
			break
		}
	}
	if connect.CodeOf(err) != connect.CodeResourceExhausted {
		t.Errorf("%v", err)
	}
	_, other := f.enrolled("beta")
	if _, err := other.ReportMachine(t.Context(), &wire.ReportMachineRequest{}); err != nil {
		t.Errorf("beta is refused for acme's flood: %v", err)
	}
	if r := tell(t, f.agent("acme"), hook.Event{Point: hook.SessionStart, Session: "s"}); r.Decision.Verdict != floodmark.Allow {
		t.Errorf("an agent is refused for a laptop's flood: %+v", r)
	}
}

// A monitor whose journal is a file takes no laptops, and says so.
func TestNoMachinesInAFile(t *testing.T) {
	t.Parallel()
	f := newFleet(t, func(o *Options) { o.Machines = nil })
	_, err := f.laptop(f.token("acme", "setup", httpapi.MayEnrol)).Enrol(t.Context(), &wire.EnrolRequest{Name: "x", JournalKey: f.d.keys.Signing.Public})
	if connect.CodeOf(err) != connect.CodeFailedPrecondition || !strings.Contains(err.Error(), "PostgreSQL") {
		t.Errorf("%v", err)
	}
}

// The fleet's retention holds for what laptops uploaded; without one nothing goes.
func TestOldCopiesGo(t *testing.T) {
	t.Parallel()
	for keep, want := range map[time.Duration]string{0: "incident-seen", time.Hour: machines.GoneKind} {
		f := newFleet(t, func(o *Options) { o.Service.Journal.Keep = config.Days(keep) })
		id := f.plantMachine()
		now := f.d.opts.Now()
		for _, later := range []time.Duration{time.Minute, 2 * time.Hour} {
			if f.d.proof.copies != nil {
				if _, err := f.d.proof.copies(t.Context(), now.Add(later)); err != nil {
					t.Fatal(err)
				}
			}
			kind := ""
			for e, err := range f.book.Read(t.Context(), "acme", machines.ID(id), namedCanary) {
				if err != nil {
					t.Fatal(err)
				}
				kind = e.Kind
			}
			if kind != want && later > time.Hour || later < time.Hour && kind != "incident-seen" {
				t.Errorf("kept for %v, after %v: %s", keep, later, kind)
			}
		}
	}
}
