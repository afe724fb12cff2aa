package machinestest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/floodmark/floodmark/internal/fleet/machines"
)

// All lists all machines of a tenant, page by page.
func All(ctx context.Context, b machines.Book, tenant string) (list []machines.Status, err error) {
	for one, err := range machines.Each(ctx, b, tenant) {
		if err != nil {
			return list, err
		}
		list = append(list, one)
	}
	return list, nil
}

// Pages are full, without gaps, and in order, also if machines join or end meanwhile.
func pages(t *testing.T, b machines.Book) {
	const n = machines.MaxPage + 6
	for i := range n {
		id := machines.ID(fmt.Sprintf("%04d", 7919*i%10000)) // in no order
		Enrolled(t, b, "acme", id)
		if i%2 == 0 {
			Enrolled(t, b, "beta", "b"+id)
		}
		if i%10 == 3 {
			if err := b.End(t.Context(), "acme", id, machines.Left, "x", now()); err != nil {
				t.Fatal(err)
			}
		}
	}
	ids := func(p machines.Page) (list []machines.ID) {
		t.Helper()
		page, err := b.List(t.Context(), "acme", p)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range page {
			list = append(list, m.ID)
			if p.Joined && m.State != machines.Joined || m.Tenant != "acme" {
				t.Errorf("%+v", m)
			}
		}
		return list
	}
	all, err := All(t.Context(), b, "acme")
	if err != nil || len(all) != n || !slices.IsSortedFunc(all, func(a, b machines.Status) int { return cmp.Compare(a.ID, b.ID) }) {
		t.Errorf("%d machines, %v", len(all), err)
	}
	if got := ids(machines.Page{Most: 10 * n}); len(got) != machines.MaxPage {
		t.Errorf("%d machines at once", len(got))
	}
	if got := ids(machines.Page{Most: 3, After: all[4].ID}); !slices.Equal(got, []machines.ID{all[5].ID, all[6].ID, all[7].ID}) {
		t.Errorf("%v", got)
	}
	if got := append(ids(machines.Page{Most: 3, After: all[n-1].ID}), ids(machines.Page{})...); len(got) != 0 {
		t.Errorf("%v", got)
	}
	if got := ids(machines.Page{Most: n, Joined: true}); len(got) != n-7 {
		t.Errorf("%d are joined, want %d", len(got), n-7)
	}
}
