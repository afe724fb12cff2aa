package machinestest

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/fleet/machines"
)

// A token for enrolling can be used exactly as often as allowed, also by many at once, and the uses
// of each tenant are counted separately.
func uses(t *testing.T, b machines.Book) {
	token, other := floodmark.DigestOf("token"), floodmark.DigestOf("other")
	var work sync.WaitGroup
	var used atomic.Int64
	for range 8 {
		work.Go(func() {
			for range 4 {
				ok, err := b.Use(t.Context(), "acme", token, 7)
				if err != nil {
					t.Error(err)
				}
				if ok {
					used.Add(1)
				}
			}
		})
	}
	work.Wait()
	if n := used.Load(); n != 7 {
		t.Errorf("it was used %d times, want 7", n)
	}
	for _, one := range []struct {
		tenant string
		token  floodmark.Digest
		most   int64
		want   bool
	}{{"acme", token, 7, false}, {"acme", token, 8, true}, {"acme", token, 8, false}, {"beta", token, 1, true}, {"beta", token, 1, false}, {"acme", other, 1, true}, {"acme", floodmark.DigestOf("none"), 0, false}} {
		if ok, err := b.Use(t.Context(), one.tenant, one.token, one.most); ok != one.want || err != nil {
			t.Errorf("%+v: %v, %v", one, ok, err)
		}
	}
}
