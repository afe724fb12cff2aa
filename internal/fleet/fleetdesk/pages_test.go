package fleetdesk

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/floodmark/floodmark/internal/fleet/machines"
	"github.com/floodmark/floodmark/internal/fleet/machines/machinestest"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/wire"
)

// Laptops are listed some at a time, however long their reports: each once, in one
// order, while others join.
func TestMachinesAreListedInPages(t *testing.T) {
	desk, who := deskOf(), httpapi.Identity{Tenant: "acme", May: httpapi.MayView}
	const n = 2*machines.MaxPage + 5
	report, err := proto.Marshal(&wire.ReportMachineRequest{Version: strings.Repeat("x", machines.MaxReportBytes-100)})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		id := machines.ID(fmt.Sprintf("%05d", 2*i))
		machinestest.Enrolled(t, desk.Book, "acme", id)
		if err := desk.Book.Report(t.Context(), "acme", id, now(), report); err != nil {
			t.Fatal(err)
		}
	}
	machinestest.Enrolled(t, desk.Book, "beta", "00001")
	seen, after := map[string]bool{}, ""
	for pages := 1; ; pages++ {
		page, err := desk.ListMachines(t.Context(), who, &wire.ListMachinesRequest{After: after, Most: 1 << 30})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(page.GetMachines()); got > machines.MaxPage || proto.Size(page) > machines.MaxPage*(machines.MaxReportBytes+1024) {
			t.Fatalf("%d machines, %d bytes at once", got, proto.Size(page))
		}
		for _, m := range page.GetMachines() {
			if m.GetId() <= after || seen[m.GetId()] || m.GetId() == "00001" {
				t.Errorf("%s follows %s", m.GetId(), after)
			}
			after, seen[m.GetId()] = m.GetId(), true
		}
		if page.GetNext() == "" {
			break
		}
		if page.GetNext() != after || pages > 5 {
			t.Fatalf("page %d goes on behind %q, and ends at %q", pages, page.GetNext(), after)
		}
		machinestest.Enrolled(t, desk.Book, "acme", machines.ID(fmt.Sprintf("0000%dx", pages))) // before what comes next
	}
	if len(seen) != n {
		t.Errorf("%d of %d are listed", len(seen), n)
	}
}
