package httpapi_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"

	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/wire"
)

// watching is an owner whose Watch continues until its caller is gone.
type watching struct{ fakeOwner }

func (watching) Watch(ctx context.Context, _ httpapi.Identity, _ *wire.WatchRequest, send func(*wire.WatchResponse) error) error {
	if err := send(&wire.WatchResponse{}); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// A changing finder finds a person, for whom the identity provider later reports other groups.
type changing struct {
	mu    sync.Mutex
	looks int
	now   httpapi.Identity
	err   error
}

func (c *changing) Find(context.Context, string) (httpapi.Identity, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.looks++
	return c.now, c.err
}

func (c *changing) become(now httpapi.Identity, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now, c.err = now, err
}

func (c *changing) looked() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.looks
}

// watchAs begins a stream with a token, and returns it after its first message.
func watchAs(t *testing.T, f httpapi.Finders, token string) *connect.ServerStreamForClient[wire.WatchResponse] {
	t.Helper()
	a := newAuthority(t)
	o := httpapi.Options{}
	mux := http.NewServeMux()
	mux.Handle("/"+wire.OwnerServiceName+"/", httpapi.NewOwnerHandler(watching{}, o))
	m := newMemory()
	run(t, httpapi.Access(f, o, mux), tls.NewListener(m, httpapi.ServerTLS(a.server(), nil)))
	web := caller(t, m.dial, &tls.Config{RootCAs: a.pool(), MinVersion: tls.VersionTLS13})
	r := connect.NewRequest(&wire.WatchRequest{})
	r.Header().Set("Authorization", "Bearer "+token)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // in case the stream does not end
	t.Cleanup(cancel)
	stream, err := connect.NewClient[wire.WatchRequest, wire.WatchResponse](web, "https://test"+wire.OwnerServiceWatchProcedure).CallServerStream(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stream.Close() })
	if !stream.Receive() {
		t.Fatal(stream.Err())
	}
	synctest.Wait()
	return stream
}

// A stream ends when its token ends.
func TestStreamsEndWithTheirToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tokens := openTokens(t, tokenPath(t))
		text, made := create(t, tokens, httpapi.Token{Kind: httpapi.OwnerKind, Name: "anna", May: httpapi.MayView})
		stream := watchAs(t, httpapi.Finders{Tokens: tokens}, text)
		if err := tokens.Revoke(made.ID); err != nil {
			t.Fatal(err)
		}
		if stream.Receive() || connect.CodeOf(stream.Err()) != connect.CodeUnauthenticated || !strings.Contains(stream.Err().Error(), "has ended or was revoked") {
			t.Errorf("%v", stream.Err())
		}
	})
}

// A stream continues while its caller is unchanged, and says why it ends: that a provider is down
// is another reason than a revoked token.
func TestStreamsSayWhyTheyEnd(t *testing.T) {
	anna := httpapi.Identity{Tenant: "acme", Name: "anna", Channel: httpapi.ByProvider, May: httpapi.MayView}
	other, less := anna, anna
	other.Name, less.May = "ben", httpapi.MayPolicy
	for what, c := range map[string]struct {
		now  httpapi.Identity
		err  error
		code connect.Code
		says string
	}{
		"away":         {httpapi.Identity{Why: "the identity provider does not answer; try again"}, errors.New("away"), connect.CodeUnavailable, "the identity provider does not answer"},
		"not known":    {httpapi.Identity{}, errors.New("the disk"), connect.CodeUnavailable, "cannot be looked up at the moment"},
		"over":         {httpapi.Identity{Why: "the token proves nobody: it has ended"}, httpapi.ErrNoToken, connect.CodeUnauthenticated, "nobody known: the token proves nobody: it has ended"},
		"another":      {other, nil, connect.CodeUnauthenticated, "somebody else's by now"},
		"without role": {less, nil, connect.CodePermissionDenied, "anna may not do this: it takes the role viewer"},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				who := &changing{now: anna}
				stream := watchAs(t, httpapi.Finders{Tokens: openTokens(t, tokenPath(t)), People: who}, "a.b.c")
				began := who.looked()
				time.Sleep(3 * httpapi.DefaultStill)
				if synctest.Wait(); who.looked() != began+3 {
					t.Fatalf("looked %d times", who.looked()-began)
				}
				who.become(c.now, c.err)
				if stream.Receive() || connect.CodeOf(stream.Err()) != c.code || !strings.Contains(stream.Err().Error(), c.says) {
					t.Errorf("%v", stream.Err())
				}
			})
		})
	}
}
