package httpapi

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"connectrpc.com/connect"
)

// DefaultStill is how often it is looked whether who listens to a stream would be
// let in still. A stream may last for days, and a token ends or is revoked.
const DefaultStill = 10 * time.Second

// errNoLonger ends a stream whose caller is nobody any more.
var errNoLonger = errors.New("nobody known: the token has ended or was revoked; log in again")

type stillKey struct{}

// withStill lets it be found out once more who calls.
func withStill(r *http.Request, find func() (Identity, error)) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), stillKey{}, find))
}

// still ends the context it returns when its caller is not permitted what it
// needed any more. Whoever calls it calls stop, which waits.
func (g *guard) still(ctx context.Context, who Identity, needs May) (_ context.Context, stop func()) {
	find, ok := ctx.Value(stillKey{}).(func() (Identity, error))
	if !ok {
		return ctx, func() {} // a local socket, where every connection is looked at
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var looks sync.WaitGroup
	looks.Go(func() {
		tick := time.NewTicker(or(g.opts.Still, DefaultStill))
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			now, err := find()
			if err != nil || !now.May.Has(needs) || now.Tenant != who.Tenant || now.Name != who.Name {
				cancel(errNoLonger)
				return
			}
		}
	})
	return ctx, func() { cancel(nil); looks.Wait() }
}

// noLonger is why a stream was ended, if that is why.
func noLonger(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, errNoLonger) {
		return connect.NewError(connect.CodeUnauthenticated, cause)
	}
	return err
}
