package httpapi_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/wire"
)

// uploads accepts uploads, and has no other methods.
type uploads struct{ httpapi.Machines }

func (uploads) Upload(context.Context, httpapi.Identity, *wire.UploadRequest) (*wire.UploadResponse, error) {
	return &wire.UploadResponse{Outcome: "kept"}, nil
}

const uploadURL = "http://test/" + wire.MachineServiceName + "/Upload"

// byHeader lets a test choose the calling machine by a header.
func byHeader(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tenant, name, _ := strings.Cut(r.Header.Get("As"), "/")
		who := httpapi.Identity{Tenant: tenant, Name: name, Machine: name, Channel: httpapi.ByMachine, May: httpapi.MayMachine}
		h.ServeHTTP(w, r.WithContext(httpapi.WithIdentity(r.Context(), who)))
	})
}

// A machine with many large, unfinished uploads does not delay others, and its bytes are given
// back.
func TestSlowMachinesDelayNoOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := serveInMemory(t, byHeader(httpapi.NewMachineHandler(uploads{}, httpapi.Options{MaxBody: time.Minute})))
		var slow sync.WaitGroup
		ctx, stop := context.WithCancel(t.Context())
		begin := func(who string) {
			var sent atomic.Bool
			in := strings.NewReader(strings.Repeat(" ", httpapi.MaxMachineBytes-1))
			body := io.MultiReader(in, readerFunc(func([]byte) (int, error) { sent.Store(true); <-ctx.Done(); return 0, ctx.Err() }))
			slow.Go(func() {
				r, err := http.NewRequestWithContext(ctx, http.MethodPost, uploadURL, body)
				if err != nil {
					t.Error(err)
					return
				}
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("As", who)
				if resp, err := c.Do(r); err == nil {
					_ = resp.Body.Close() // the response is a refusal
				}
			})
			synctest.Wait() // it has sent everything that it will send
			if !sent.Load() {
				t.Errorf("%s still sends", who)
			}
		}
		for range 8 {
			begin("acme/m1")
		}
		large := `{"session":"cw==","tombstone":"` + strings.Repeat("AAAA", 1<<18) + `"}`
		for _, who := range []string{"acme/m2", "beta/m3"} {
			if _, said := post(t, c, uploadURL, large, "As", who); !strings.Contains(said, "kept") {
				t.Errorf("%s: %.200s", who, said)
			}
		}
		stop()
		slow.Wait()
		synctest.Wait()
		if _, said := post(t, c, uploadURL, large, "As", "acme/m1"); !strings.Contains(said, "kept") {
			t.Errorf("what it held does not come back: %.200s", said)
		}
	})
}

// A readerFunc is an io.Reader made of one function.
type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
