package httpapi

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"

	"connectrpc.com/connect"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
	"github.com/floodmark/floodmark/internal/fleet/machines"
	"github.com/floodmark/floodmark/wire"
)

// Machines serves laptops that joined the fleet, and people who ask about them. The rules of
// [Owner] apply. A call of a machine is about who.Machine only.
type Machines interface {
	Enrol(ctx context.Context, who Identity, r *wire.EnrolRequest) (*wire.EnrolResponse, error)
	ReportMachine(ctx context.Context, who Identity, r *wire.ReportMachineRequest) (*wire.ReportMachineResponse, error)
	Mirrored(ctx context.Context, who Identity, r *wire.MirroredRequest) (*wire.MirroredResponse, error)
	Upload(ctx context.Context, who Identity, r *wire.UploadRequest) (*wire.UploadResponse, error)
	FetchBundle(ctx context.Context, who Identity, r *wire.FetchBundleRequest) (*wire.FetchBundleResponse, error)
	AskFleet(ctx context.Context, who Identity, r *wire.AskFleetRequest) (*wire.AskFleetResponse, error)
	LeaveFleet(ctx context.Context, who Identity, r *wire.LeaveFleetRequest) (*wire.LeaveFleetResponse, error)
	ListMachines(ctx context.Context, who Identity, r *wire.ListMachinesRequest) (*wire.ListMachinesResponse, error)
	RevokeMachine(ctx context.Context, who Identity, r *wire.RevokeMachineRequest) (*wire.RevokeMachineResponse, error)
}

const (
	// MaxMachineBytes bounds one request of a machine. The largest is an upload, with some bytes of
	// encoding for each entry.
	MaxMachineBytes = machines.MaxBytes + 1<<20
	// maxMachinesInFlight bounds what all machines send at once. It is separate from the budget of
	// events, so that laptops do not delay agents.
	maxMachinesInFlight = 8 * MaxMachineBytes
)

// NewMachineHandler serves the MachineService. The caller must be in the request's context; see
// [WithIdentity].
func NewMachineHandler(m Machines, o Options) http.Handler {
	_, next := wire.NewMachineServiceHandler(machineService{m}, codecs(),
		connect.WithInterceptors(checked{o}), connect.WithRecover(recovered))
	service := wire.File_floodmark_v1_machine_proto.Services().ByName("MachineService")
	whole := hookframe.NewBudget(maxMachinesInFlight)
	return &guard{
		next: next, methods: methodsOf(service, MaxMachineBytes), opts: o, portion: (&portions{whole: whole}).of,
		budget: whole, errors: connect.NewErrorWriter(codecs()),
	}
}

// machineService adapts Connect's calls: it adds the caller.
type machineService struct{ m Machines }

var _ wire.MachineServiceHandler = machineService{}

func (s machineService) Enrol(ctx context.Context, r *wire.EnrolRequest) (*wire.EnrolResponse, error) {
	return s.m.Enrol(ctx, IdentityOf(ctx), r)
}

func (s machineService) ReportMachine(ctx context.Context, r *wire.ReportMachineRequest) (*wire.ReportMachineResponse, error) {
	return s.m.ReportMachine(ctx, IdentityOf(ctx), r)
}

func (s machineService) Mirrored(ctx context.Context, r *wire.MirroredRequest) (*wire.MirroredResponse, error) {
	return s.m.Mirrored(ctx, IdentityOf(ctx), r)
}

func (s machineService) Upload(ctx context.Context, r *wire.UploadRequest) (*wire.UploadResponse, error) {
	return s.m.Upload(ctx, IdentityOf(ctx), r)
}

func (s machineService) FetchBundle(ctx context.Context, r *wire.FetchBundleRequest) (*wire.FetchBundleResponse, error) {
	return s.m.FetchBundle(ctx, IdentityOf(ctx), r)
}

func (s machineService) AskFleet(ctx context.Context, r *wire.AskFleetRequest) (*wire.AskFleetResponse, error) {
	return s.m.AskFleet(ctx, IdentityOf(ctx), r)
}

func (s machineService) LeaveFleet(ctx context.Context, r *wire.LeaveFleetRequest) (*wire.LeaveFleetResponse, error) {
	return s.m.LeaveFleet(ctx, IdentityOf(ctx), r)
}

func (s machineService) ListMachines(ctx context.Context, r *wire.ListMachinesRequest) (*wire.ListMachinesResponse, error) {
	return s.m.ListMachines(ctx, IdentityOf(ctx), r)
}

func (s machineService) RevokeMachine(ctx context.Context, r *wire.RevokeMachineRequest) (*wire.RevokeMachineResponse, error) {
	return s.m.RevokeMachine(ctx, IdentityOf(ctx), r)
}

// MachinePrefix begins every token of a machine. Its id follows, then the secret.
const MachinePrefix = tokenPrefix + string(MachineKind) + "_"

// machineDigits is how many characters a machine's id has.
const machineDigits = 16

// NewMachineToken draws an id and a token for a machine. Only the hash is stored.
func NewMachineToken() (id machines.ID, text string, hash floodmark.Digest) {
	var name [machineDigits / 2]byte
	var secret [secretBytes]byte
	// They never fail: without randomness the program crashes.
	_, _ = rand.Read(name[:])
	_, _ = rand.Read(secret[:])
	id = machines.ID(hex.EncodeToString(name[:]))
	text = MachinePrefix + string(id) + "_" + hex.EncodeToString(secret[:])
	return id, text, sha256.Sum256([]byte(text))
}

// MachineFinder finds machines by their tokens, in the fleet's book.
type MachineFinder struct {
	book machines.Book
	has  func(tenant string) bool
	// turns bounds how many machines are looked up at once, because anyone can send a made-up
	// token, and the agents need the database, too.
	turns chan struct{}
}

var _ People = (*MachineFinder)(nil)

// lookupsAtOnce is half of a journal's connections for reading.
const lookupsAtOnce = 4

// NewMachineFinder looks machines up in a book; has reports whether a tenant exists.
func NewMachineFinder(book machines.Book, has func(tenant string) bool) *MachineFinder {
	return &MachineFinder{book: book, has: has, turns: make(chan struct{}, lookupsAtOnce)}
}

// whyUnsure is the text for a machine that could not be looked up, and was not refused.
const whyUnsure = "who you are cannot be looked up at the moment; try again later"

// Find implements [People].
func (f *MachineFinder) Find(ctx context.Context, text string) (Identity, error) {
	rest := strings.TrimPrefix(text, MachinePrefix)
	id, secret, ok := strings.Cut(rest, "_")
	if !ok || len(id) != machineDigits || len(secret) != 2*secretBytes || strings.Trim(id+secret, "0123456789abcdef") != "" {
		return Identity{}, ErrNoToken
	}
	select {
	case f.turns <- struct{}{}:
	case <-ctx.Done():
		return Identity{Why: whyUnsure, Unsure: true}, ctx.Err()
	}
	m, state, err := f.book.Find(ctx, machines.ID(id))
	<-f.turns
	switch {
	case errors.Is(err, machines.ErrUnknown):
		return Identity{}, ErrNoToken
	case err != nil:
		return Identity{Why: whyUnsure, Unsure: true}, err
	}
	hash := sha256.Sum256([]byte(text))
	switch {
	case subtle.ConstantTimeCompare(m.Token[:], hash[:]) != 1 || !f.has(m.Tenant):
		return Identity{}, ErrNoToken
	case state != machines.Joined:
		return Identity{Why: machines.WhyEnded}, ErrNoToken
	}
	return Identity{Tenant: m.Tenant, Name: "machine " + string(m.ID), Channel: ByMachine, May: MayMachine, Machine: string(m.ID)}, nil
}
