package nettest_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/floodmark/floodmark/internal/outward/nettest"
)

// A whole server with its client is at rest as soon as neither has anything to do, also
// while a request waits; time passes for both.
func TestAServerInABubble(t *testing.T) {
	for name, start := range map[string]func(*httptest.Server){"http": (*httptest.Server).Start, "https": (*httptest.Server).StartTLS} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := nettest.New()
				s := n.Server(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					time.Sleep(time.Hour)
					_, _ = io.WriteString(w, "late")
				}))
				start(s)
				defer s.Close()
				web := s.Client()
				web.Transport.(*http.Transport).DialContext = n.Dial
				defer web.CloseIdleConnections()
				began := time.Now()
				resp, err := web.Get(s.URL)
				if err != nil {
					t.Fatal(err)
				}
				text, err := io.ReadAll(resp.Body)
				if err != nil || string(text) != "late" || time.Since(began) != time.Hour || resp.Body.Close() != nil {
					t.Errorf("%q, %v after %s", text, err, time.Since(began))
				}
			})
		})
	}
}

func TestWhereNothingListens(t *testing.T) {
	n := nettest.New()
	one, other := n.Listen(), n.Listen()
	if one.Addr().String() == other.Addr().String() {
		t.Errorf("both are at %s", one.Addr())
	}
	if err := one.Close(); err != nil {
		t.Error(err)
	}
	if err := one.Close(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed twice: %v", err)
	}
	if _, err := one.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("accepted: %v", err)
	}
	for _, at := range []string{one.Addr().String(), "news.example:80"} {
		if _, err := n.Dial(t.Context(), "tcp", at); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("%s: %v", at, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // nobody accepts
	if _, err := n.Dial(ctx, "tcp", other.Addr().String()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := other.Close(); err != nil {
		t.Error(err)
	}
}
