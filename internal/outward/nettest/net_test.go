package nettest_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/floodmark/floodmark/internal/outward/nettest"
)

// A server and its client are durably blocked as soon as neither has anything to do, also while a
// request waits. Time passes for both.
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
	cancel() // no listener accepts
	if _, err := n.Dial(ctx, "tcp", other.Addr().String()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := other.Close(); err != nil {
		t.Error(err)
	}
}

// dialled returns both ends of a connection.
func dialled(t *testing.T) (near, far net.Conn) {
	t.Helper()
	n := nettest.New()
	l := n.Listen()
	defer l.Close()
	taken := make(chan net.Conn, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			t.Error(err)
		}
		taken <- c
	}()
	near, err := n.Dial(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	far = <-taken
	t.Cleanup(func() { near.Close(); far.Close() })
	return near, far
}

// A deadline ends a read that waits, also if it is set meanwhile. After a later deadline is set,
// reading works again.
func TestDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := dialled(t)
		began := time.Now()
		for _, set := range []func(time.Time) error{near.SetReadDeadline, near.SetDeadline} {
			if err := set(time.Now().Add(time.Second)); err != nil {
				t.Fatal(err)
			}
			if _, err := near.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("got %v", err)
			}
			_ = near.SetDeadline(time.Time{})
		}
		go func() {
			time.Sleep(time.Second)
			_ = near.SetReadDeadline(time.Unix(1, 0))
		}()
		if _, err := near.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("it took %s", took)
		}
		_ = near.SetReadDeadline(time.Time{})
		if _, err := far.Write([]byte("x")); err != nil {
			t.Error(err)
		}
		if n, err := near.Read(make([]byte, 9)); n != 1 || err != nil {
			t.Errorf("read %d, %v", n, err)
		}
		_ = near.SetWriteDeadline(time.Now().Add(time.Second))
		if n, err := near.Write(make([]byte, 64<<10+1)); n != 64<<10 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("wrote %d, %v", n, err)
		}
	})
}

// Bytes that were written before an end was closed are read, then the end. A write that cannot be
// read any more fails, also if it waits.
func TestClosedEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := dialled(t)
		if _, err := near.Write([]byte("last")); err != nil {
			t.Fatal(err)
		}
		failed := make(chan error)
		go func() {
			_, err := far.Write(make([]byte, 64<<10+1))
			failed <- err
		}()
		synctest.Wait()
		if err := near.Close(); err != nil {
			t.Error(err)
		}
		if err := <-failed; !errors.Is(err, syscall.EPIPE) {
			t.Errorf("a write that waited: %v", err)
		}
		text, err := io.ReadAll(far)
		if string(text) != "last" || err != nil {
			t.Errorf("%q, %v", text, err)
		}
		if _, err := near.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
			t.Errorf("read at a closed end: %v", err)
		}
		if _, err := near.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
			t.Errorf("written at a closed end: %v", err)
		}
	})
}
