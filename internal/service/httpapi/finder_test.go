package httpapi_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/floodmark/floodmark/internal/fleet/machines"
	"github.com/floodmark/floodmark/internal/service/httpapi"
)

// slowBook counts concurrent look-ups, and blocks them until released.
type slowBook struct {
	machines.Book
	may            chan struct{}
	now, most, all atomic.Int64
}

func (b *slowBook) Find(context.Context, machines.ID) (machines.Machine, machines.State, error) {
	b.all.Add(1)
	n := b.now.Add(1)
	defer b.now.Add(-1)
	for old := b.most.Load(); n > old && !b.most.CompareAndSwap(old, n); old = b.most.Load() {
	}
	<-b.may
	return machines.Machine{}, "", machines.ErrUnknown
}

// However many made-up machine tokens arrive, only a few are looked up at once. Other texts are not
// looked up at all.
func TestFewMachinesAreLookedUpAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &slowBook{may: make(chan struct{})}
		f := httpapi.NewMachineFinder(b, func(string) bool { return true })
		var calls sync.WaitGroup
		for range 200 {
			calls.Go(func() {
				if who, err := f.Find(t.Context(), httpapi.MachinePrefix+strings.Repeat("0", 16)+"_"+strings.Repeat("a", 64)); err == nil || who.May != 0 {
					t.Errorf("%+v, %v", who, err)
				}
			})
		}
		synctest.Wait()
		if n := b.now.Load(); n != 4 {
			t.Errorf("%d wait at once", n)
		}
		close(b.may)
		calls.Wait()
		if most := b.most.Load(); most != 4 || b.all.Load() != 200 {
			t.Errorf("%d at once, %d in all", most, b.all.Load())
		}
		_, _ = f.Find(t.Context(), httpapi.MachinePrefix+strings.Repeat("\x00", 16)+"_"+strings.Repeat("a", 64))
		if b.all.Load() != 200 {
			t.Error("no token, and it is looked up")
		}
	})
}
