package mcpshare

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// When the server ends, every client gets an error. Clients that join then share one new start,
// which is delayed after several ends in a row.
func TestAServerThatEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		now := time.Unix(1, 0)
		h, server := newShared(t, Options{Now: func() time.Time { mu.Lock(); defer mu.Unlock(); return now }, Backoff: time.Minute})
		a, b := join(t, h, "{}"), join(t, h, "{}")
		first := server()
		a.call(t, first, "1", "x")
		_ = first.Close()
		for _, p := range []*person{a, b} {
			<-p.done
			if p.end == nil || !strings.Contains(p.end.Error(), "stopped") {
				t.Error(p.end)
			}
			if err := p.Write(t.Context(), &jsonrpc.Request{Method: "notifications/x"}); !errors.Is(err, mcp.ErrConnectionClosed) {
				t.Error(err)
			}
		}
		var joins sync.WaitGroup
		for range 20 {
			joins.Go(func() { join(t, h, "{}") })
		}
		joins.Wait()
		second := server()
		if second == first || h.Clients() != 20 {
			t.Errorf("%d clients", h.Clients())
		}
		_ = second.Close()
		synctest.Wait()
		if _, err := h.Join(t.Context()); err == nil || !strings.Contains(err.Error(), "again in 1m0s") {
			t.Errorf("right after its second end: %v", err)
		}
		mu.Lock()
		now = now.Add(2 * time.Minute)
		mu.Unlock()
		join(t, h, "{}")
		if server() == second {
			t.Error("it was not started again")
		}
	})
}

// A client that leaves ends nothing but its own calls.
func TestAClientThatLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, server := newShared(t, Options{})
		var looks sync.WaitGroup
		looks.Go(func() { _ = h.Clients() }) // while they come
		a, b := join(t, h, "{}"), join(t, h, "{}")
		f := server()
		looks.Wait()
		ofA := a.call(t, f, "1", "x")
		_ = a.Close()
		if got := f.hears("notifications/cancelled"); string(got.Params) != fmt.Sprintf(`{"requestId":%v}`, ofA.ID.Raw()) {
			t.Errorf("%s", got.Params)
		}
		f.say(result(b.call(t, f, "1", "x"), `{"ok":true}`))
		b.hears(t, `"ok":true`)
		if h.Clients() != 1 {
			t.Errorf("%d clients", h.Clients())
		}
	})
}

// A client that does not read is disconnected, and delays no other.
func TestADeafClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, server := newShared(t, Options{})
		deaf, err := h.Join(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		a := join(t, h, "{}")
		f := server()
		for range maxQueue + 1 {
			f.say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
			a.hears(t, "list_changed") // this client reads every message
			a.mu.Lock()
			a.heard = nil
			a.mu.Unlock()
		}
		f.say(result(a.call(t, f, "1", "x"), `{"ok":true}`))
		a.hears(t, `"ok":true`)
		for {
			if _, err := deaf.Read(t.Context()); err != nil {
				if !errors.Is(err, errDeaf) {
					t.Error(err)
				}
				break
			}
		}
		_ = deaf.Close()
	})
}

// A server that cannot be started gives an error, and stopping does not wait for it.
func TestAServerThatDoesNotStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _ := newShared(t, Options{Dial: func(context.Context) (mcp.Connection, error) { return nil, errors.New("no such program") }})
		if _, err := h.Join(t.Context()); err == nil || !strings.Contains(err.Error(), "no such program") {
			t.Error(err)
		}
		h, _ = newShared(t, Options{Dial: func(ctx context.Context) (mcp.Connection, error) { <-ctx.Done(); return nil, ctx.Err() }})
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := h.Join(ctx); err == nil || !strings.Contains(err.Error(), "still starting") {
			t.Error(err)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		if _, err := h.Join(t.Context()); !errors.Is(err, errClosed) {
			t.Error(err)
		}
	})
}
