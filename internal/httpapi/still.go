package httpapi

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"connectrpc.com/connect"
)

// DefaultStill is how often the permission of a stream's caller is checked again. A stream may last
// for days, and its token may expire or be revoked.
const DefaultStill = 10 * time.Second

// An endedError is why a stream ended whose caller lost its permission.
type endedError struct{ why *connect.Error }

func (e endedError) Error() string { return e.why.Error() }

type stillKey struct{}

// withStill stores how to identify the caller again.
func withStill(r *http.Request, find func() (Identity, error)) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), stillKey{}, find))
}

// still ends the context it returns once the caller's permission is gone or cannot be checked. The
// caller of still calls stop, which waits.
func (g *guard) still(ctx context.Context, who Identity, path string, needs May) (_ context.Context, stop func()) {
	find, ok := ctx.Value(stillKey{}).(func() (Identity, error))
	if !ok {
		return ctx, func() {} // a local socket, where every connection is authenticated
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
			if ctx.Err() != nil {
				return // the caller has gone, which is no change of permission
			}
			if err != nil && !errors.Is(err, ErrNoToken) {
				g.opts.failed(path, err)
			}
			if why := unlike(who, now, err, path, needs); why != nil {
				cancel(endedError{why})
				return
			}
		}
	})
	return ctx, func() { cancel(nil); looks.Wait() }
}

// unlike returns why a caller would not be permitted any more; nil if it still is. Err is the error
// of identifying it again.
func unlike(before, now Identity, err error, path string, needs May) *connect.Error {
	switch {
	case err != nil && !errors.Is(err, ErrNoToken):
		return connect.NewError(connect.CodeUnavailable, errors.New(cmp.Or(now.Why, whyUnsure)))
	case err != nil:
		return connect.NewError(connect.CodeUnauthenticated, errors.New("nobody known: "+cmp.Or(now.Why, "the token has ended or was revoked; log in again")))
	case now.Tenant != before.Tenant || now.Name != before.Name:
		return connect.NewError(connect.CodeUnauthenticated, errors.New("nobody known: what you showed is somebody else's by now; log in again"))
	case !now.May.Has(needs):
		return refusal(now, path, needs)
	}
	return nil
}

// noLonger returns why a stream was ended, if a lost permission is why.
func noLonger(ctx context.Context, err error) error {
	if ended, is := errors.AsType[endedError](context.Cause(ctx)); is {
		return ended.why
	}
	return err
}
