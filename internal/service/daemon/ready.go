package daemon

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"
)

// The paths that load balancers probe on every network door, without a token: whether this process
// lives, and whether it could judge an event now.
const (
	livePath  = "/livez"
	readyPath = "/readyz"
)

const (
	readyEvery  = time.Second
	readyWithin = 2 * time.Second // bounds one look at the journal
	readyFor    = 5 * time.Second // how long a look is valid, because the next one may hang
)

// A readiness tells whether the journal would take an event now. Its zero value is not ready.
type readiness struct {
	now func() time.Time
	// look asks the journal; nil for a store in a file.
	look func(context.Context) error
	// but says how many tenants are refused here although the node is ready; it may be nil.
	but func() string

	mu     sync.Mutex // guards all below
	well   time.Time  // when the journal was last found ready; zero after a failed look
	ending bool
}

func (d *Daemon) newReadiness() *readiness {
	r := &readiness{now: d.opts.Now, but: d.rings.Refusals}
	if j, ok := d.store.Journal.(interface{ Ready(context.Context) error }); ok {
		r.look = j.Ready
	}
	return r
}

// run looks at the journal until ctx ends.
func (r *readiness) run(ctx context.Context) error {
	if r.look == nil {
		return nil
	}
	tick := time.NewTicker(readyEvery)
	defer tick.Stop()
	for {
		r.check(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (r *readiness) check(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	at := r.now()
	err := r.look(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.well = time.Time{}
		return
	}
	r.well = at
}

// end marks the node as stopping: load balancers send it nothing new.
func (r *readiness) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ending = true
}

// why returns why no event can be judged, in words fit for the public; empty if one can.
func (r *readiness) why() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	age := r.now().Sub(r.well)
	switch {
	case r.ending:
		return "stopping"
	case r.look != nil && (r.well.IsZero() || age > readyFor || age < -readyFor):
		return "no database takes writes"
	}
	return ""
}

// ServeHTTP implements [http.Handler].
func (r *readiness) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	if why := r.why(); why != "" {
		http.Error(w, why, http.StatusServiceUnavailable)
		return
	}
	text := "ready\n"
	if r.but != nil {
		if but := r.but(); but != "" {
			text += but + "\n"
		}
	}
	_, _ = io.WriteString(w, text) // the client may be gone
}

// probes answers load balancers and passes all other requests on.
func (r *readiness) probes(next http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET "+readyPath, r)
	mux.HandleFunc("GET "+livePath, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "alive\n") // the client may be gone
	})
	mux.Handle("/", next)
	return mux
}
