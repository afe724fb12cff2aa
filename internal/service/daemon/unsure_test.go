package daemon

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"connectrpc.com/connect"

	"github.com/floodmark/floodmark/internal/fleet/machines"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/wire"
)

// A faultyBook is a book whose database is away now and then.
type faultyBook struct {
	machines.Book
	away atomic.Bool
}

func (b *faultyBook) Find(ctx context.Context, id machines.ID) (machines.Machine, machines.State, error) {
	if b.away.Load() {
		return machines.Machine{}, "", errors.New("the database does not answer")
	}
	return b.Book.Find(ctx, id)
}

// A laptop whose fleet has lost its database for a while is not told that it was
// revoked, for its owner would leave: it waits and comes back.
func TestFleetWithoutDatabaseRevokesNobody(t *testing.T) {
	book := &faultyBook{}
	f := newFleet(t, func(o *Options) {
		book.Book = o.Machines
		o.Machines = book
	})
	r := newLaptop(t, t.TempDir(), func(*Options) {})
	got := r.join(t, f, "acme")
	book.away.Store(true)
	r.contact()
	if line := r.line(t); !strings.Contains(line, "try again later") || strings.Contains(line, "REVOKED") || strings.Contains(line, "leave") {
		t.Errorf("%q", line)
	}
	_, err := f.laptop(httpapi.MachinePrefix+got.GetMachine()+"_"+strings.Repeat("0", 64)).ReportMachine(t.Context(), &wire.ReportMachineRequest{})
	if connect.CodeOf(err) != connect.CodeUnavailable {
		t.Errorf("%v", err)
	}
	book.away.Store(false)
	r.work(t, "s")
	if r.contact(); !f.copied(r, "acme", got.GetMachine()) {
		t.Errorf("it is not back: %q", r.line(t))
	}
}
