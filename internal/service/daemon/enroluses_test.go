package daemon

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"connectrpc.com/connect"

	"github.com/floodmark/floodmark/internal/fleet/machines/machinestest"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/wire"
)

// A token enrols as many laptops as it may and no more, also if all come at once;
// one that does not say so enrols one. Each that comes too late is written down.
func TestATokenEnrolsAsManyAsItMay(t *testing.T) {
	t.Parallel()
	f := newFleet(t, func(*Options) {})
	good := &wire.EnrolRequest{Name: "x", JournalKey: f.d.keys.Signing.Public}
	for uses, want := range map[int64]int64{0: 1, 1: 1, 3: 3} {
		text, _, err := f.tokens.Create(httpapi.Token{Kind: httpapi.EnrolKind, Tenant: "acme", Name: "setup", Uses: uses})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.laptop(text).Enrol(t.Context(), &wire.EnrolRequest{Name: "a\nb", JournalKey: good.GetJournalKey()}); connect.CodeOf(err) != connect.CodeInvalidArgument {
			t.Errorf("what is refused uses nothing: %v", err)
		}
		var work sync.WaitGroup
		var enrolled atomic.Int64
		for range 6 {
			work.Go(func() {
				_, err := f.laptop(text).Enrol(t.Context(), good)
				if err == nil {
					enrolled.Add(1)
				} else if connect.CodeOf(err) != connect.CodeFailedPrecondition || !strings.Contains(err.Error(), "--uses N") {
					t.Errorf("%v", err)
				}
			})
		}
		work.Wait()
		if got := enrolled.Load(); got != want {
			t.Errorf("uses %d: %d laptops enrolled, want %d", uses, got, want)
		}
	}
	list, err := machinestest.All(t.Context(), f.book, "acme")
	if err != nil || len(list) != 5 {
		t.Errorf("%d laptops, %v", len(list), err)
	}
	if !strings.Contains(f.said("acme"), "machine-refused") || strings.Contains(f.said("beta"), "machine-refused") {
		t.Errorf("%s", f.said("acme"))
	}
}
