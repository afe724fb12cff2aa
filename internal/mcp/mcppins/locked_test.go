//go:build unix

package mcppins

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/floodmark/floodmark/internal/store/wholefile"
)

// Many at once in one process lose nothing.
func TestManyAtOnce(t *testing.T) {
	b := openBook(t)
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			name := fmt.Sprint("s", i)
			if v, err := b.See(context.Background(), name, "c", []Definition{tool(name, "do_"+name, "x")}); err != nil || v[0].Held {
				t.Error(v, err)
			}
		})
	}
	wg.Wait()
	list, err := b.Entries()
	if err != nil || len(list) != 24 {
		t.Error(len(list), err)
	}
}

// A process that cannot get the lock in time holds everything.
func TestLockedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := openBook(t)
		see(t, b, tool("calc", "sum", "adds"))
		free, err := wholefile.Lock(context.Background(), b.path+".lock")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
		defer cancel()
		defs := []Definition{tool("calc", "sum", "adds"), tool("calc", "product", "multiplies")}
		if v, err := b.See(ctx, "calc", "run calc", defs); err == nil || !v[0].Held || !v[1].Held {
			t.Errorf("%+v, %v", v, err)
		}
		// Known definitions need no lock.
		held(t, see(t, b, defs[0])[0], "", "")
		if err := free(); err != nil {
			t.Fatal(err)
		}
		held(t, see(t, b, defs...)[1], "", "")
	})
}
