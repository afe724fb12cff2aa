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
// for days, and meanwhile its token may expire or be revoked.
const DefaultStill = 10 * time.Second

// An endedError says why a stream was ended: its caller lost the permission.
type endedError struct{ why *connect.Error }

func (e endedError) Error() string { return e.why.Error() }

type stillKey struct{}

// A Still identifies a caller again.
type Still struct {
	Find func() (Identity, error)
	// Gone is closed when Find is to be called at once; nil if that is never known.
	Gone <-chan struct{}
}

// WithStill stores how to identify the caller again while a stream lasts.
func WithStill(r *http.Request, s Still) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), stillKey{}, s))
}

// still returns a context that ends once the caller's permission is gone or cannot be checked. During
// a call that is no stream, it is checked only when the caller is known to be gone. The caller of still
// must call stop, which waits for the check under way.
func (g *guard) still(ctx context.Context, who Identity, path string, m method) (_ context.Context, stop func()) {
	caller, ok := ctx.Value(stillKey{}).(Still)
	if !ok || !m.stream && caller.Gone == nil {
		return ctx, func() {} // a local socket, where every connection is authenticated, or a short call
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var looks sync.WaitGroup
	looks.Go(func() {
		var ticks <-chan time.Time
		if m.stream {
			tick := time.NewTicker(or(g.opts.Still, DefaultStill))
			defer tick.Stop()
			ticks = tick.C
		}
		gone := caller.Gone
		for {
			select {
			case <-ctx.Done():
				return
			case <-gone:
				gone = nil
			case <-ticks:
			}
			now, err := caller.Find()
			if ctx.Err() != nil {
				return // the stream has ended, which is no change of permission
			}
			if err != nil && !errors.Is(err, ErrNoToken) {
				g.opts.failed(path, err)
			}
			if why := unlike(who, now, err, path, m.needs); why != nil {
				cancel(endedError{why})
				return
			}
		}
	})
	return ctx, func() { cancel(nil); looks.Wait() }
}

// unlike returns why a caller is not permitted any more; nil if it still is. now and err are the
// result of identifying it again.
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

// noLonger returns the lost permission if that is why the stream ended, else err.
func noLonger(ctx context.Context, err error) error {
	if ended, is := errors.AsType[endedError](context.Cause(ctx)); is {
		return ended.why
	}
	return err
}
