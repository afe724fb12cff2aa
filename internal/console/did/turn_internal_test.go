package did

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
)

// TestTenantsTakeTurns: however many callers of one tenant wait, a caller of another is next but one.
func TestTenantsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New(Options{})
		end, err := d.turn(t.Context(), "acme")
		if err != nil {
			t.Fatal(err)
		}
		var order []string
		wait := func(tenant string) {
			go func() {
				end, err := d.turn(t.Context(), tenant)
				if err != nil {
					t.Error(err)
					return
				}
				order = append(order, tenant) // one at a time
				end()
			}()
			synctest.Wait()
		}
		for range 5 {
			wait("acme")
		}
		wait("beta")
		gone, hangUp := context.WithCancel(t.Context())
		hangUp()
		if _, err := d.turn(gone, "acme"); err == nil {
			t.Error("a caller who hung up has a turn")
		}
		end()
		synctest.Wait()
		if at := slices.Index(order, "beta"); len(order) != 6 || at < 0 || at > 1 {
			t.Errorf("the order: %v", order)
		}
		if len(d.folding) != 0 || len(d.tenants["acme"]) != 0 {
			t.Error("a turn did not end")
		}
	})
}
