package httpapi_test

import (
	"context"
	"crypto/tls"
	"net/http"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/floodmark/floodmark/internal/httpapi"
	"github.com/floodmark/floodmark/wire"
)

// watching is an owner whose Watch goes on until its caller is gone.
type watching struct{ fakeOwner }

func (watching) Watch(ctx context.Context, _ httpapi.Identity, _ *wire.WatchRequest, send func(*wire.WatchResponse) error) error {
	if err := send(&wire.WatchResponse{}); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// A stream ends when the token it was begun with does: who was let go does not
// listen for ever.
func TestStreamsEndWithTheirToken(t *testing.T) {
	a := newAuthority(t)
	tokens := openTokens(t, tokenPath(t))
	o := httpapi.Options{Still: 10 * time.Millisecond}
	mux := http.NewServeMux()
	mux.Handle("/"+wire.OwnerServiceName+"/", httpapi.NewOwnerHandler(watching{}, o))
	addr := serveTLS(t, httpapi.Access(httpapi.Finders{Tokens: tokens}, o, mux), httpapi.ServerTLS(a.server(), nil))
	web := tlsCaller(t, addr, &tls.Config{RootCAs: a.pool(), MinVersion: tls.VersionTLS13})
	text, made := create(t, tokens, httpapi.Token{Kind: httpapi.OwnerKind, Name: "anna", May: httpapi.MayView})
	r := connect.NewRequest(&wire.WatchRequest{})
	r.Header().Set("Authorization", "Bearer "+text)
	stream, err := connect.NewClient[wire.WatchRequest, wire.WatchResponse](web, "https://test"+wire.OwnerServiceWatchProcedure).CallServerStream(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if !stream.Receive() {
		t.Fatal(stream.Err())
	}
	time.Sleep(50 * time.Millisecond) // it is looked several times, and nothing happens
	if err := tokens.Revoke(made.ID); err != nil {
		t.Fatal(err)
	}
	if stream.Receive() || connect.CodeOf(stream.Err()) != connect.CodeUnauthenticated {
		t.Errorf("it goes on: %v", stream.Err())
	}
}
