package client_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/client"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/service/httpapi"
)

// A fleet is some nodes, each with its own behaviour, and the record of which were asked. They are
// reached in memory, because a synctest bubble allows no sockets.
type fleet struct {
	urls  []string
	pool  *x509.CertPool
	nodes map[string]*pipes // by address

	mu    sync.Mutex // guards asked
	asked []int      // number of the node; negative if the event was marked as a retry
}

// How a node behaves.
const (
	judges  = iota
	dies    // in the middle of a call
	refuses // because it could not judge
	strange // does not know the caller
	sleeps
	vanishes // with all its connections
)

func newFleet(t *testing.T, manners ...int) *fleet {
	t.Helper()
	f := &fleet{pool: x509.NewCertPool(), nodes: map[string]*pipes{}}
	for i, manner := range manners {
		judge := hooksFunc(func(ctx context.Context, _ string, ev hook.Event) (hook.Reply, error) {
			n := i + 1
			if ev.Retry {
				n = -n
			}
			f.mu.Lock()
			f.asked = append(f.asked, n)
			f.mu.Unlock()
			switch manner {
			case dies:
				panic(http.ErrAbortHandler)
			case refuses:
				return hook.Reply{}, errors.New("no journal")
			case sleeps:
				<-ctx.Done()
				return hook.Reply{}, ctx.Err()
			}
			return hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free}}, nil
		})
		f.add(t, judge, manner)
	}
	return f
}

func (f *fleet) add(t *testing.T, judge hooksFunc, manner int) {
	t.Helper()
	h := daemon(judge)
	if manner == strange {
		h = httpapi.NewHookHandler(judge, httpapi.Options{})
	}
	if manner == dies {
		h = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer func() { panic(http.ErrAbortHandler) }()
			daemon(judge).ServeHTTP(httptest.NewRecorder(), r)
		})
	}
	l := &pipes{address: fmt.Sprint("127.0.0.1:", len(f.urls)+1), conns: make(chan net.Conn), closed: make(chan struct{})}
	f.nodes[l.address] = l
	s := &httptest.Server{Listener: l, EnableHTTP2: true, Config: &http.Server{Handler: h, ErrorLog: log.New(io.Discard, "", 0)}} //nolint:gosec // a test's own
	if manner == vanishes {
		s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			daemon(judge).ServeHTTP(httptest.NewRecorder(), r)
			s.CloseClientConnections()
			<-r.Context().Done()
		})
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	f.pool.AddCert(s.Certificate())
	f.urls = append(f.urls, s.URL)
}

func (f *fleet) dial(t *testing.T) *client.Client {
	t.Helper()
	c := dial(t, f.urls[0], client.Options{Also: f.urls[1:], TLS: &tls.Config{RootCAs: f.pool}}) //nolint:gosec // Dial raises the version
	c.DialBy(func(ctx context.Context, _, address string) (net.Conn, error) { return f.nodes[address].dial(ctx) })
	return c
}

// pipes is a listener in memory.
type pipes struct {
	address string
	conns   chan net.Conn
	once    sync.Once
	closed  chan struct{}
}

func (p *pipes) dial(ctx context.Context) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.conns <- far:
		return near, nil
	case <-p.closed:
		return nil, syscall.ECONNREFUSED
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements [net.Listener].
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// Addr implements [net.Listener].
func (p *pipes) Addr() net.Addr { return (*address)(p) }

type address pipes

func (*address) Network() string  { return "tcp" }
func (a *address) String() string { return a.address }

// An event that one node does not judge is judged by another, after at most three tries. Every try
// but the first is marked as a retry.
func TestTriesAgain(t *testing.T) {
	for name, c := range map[string]struct {
		manners []int
		asked   []int
		want    floodmark.Verdict
	}{
		"the first answers":     {[]int{judges, judges}, []int{1}, floodmark.Allow},
		"it dies":               {[]int{dies, judges}, []int{1, -2}, floodmark.Allow},
		"it vanishes":           {[]int{vanishes, judges}, []int{1, -2}, floodmark.Allow},
		"it cannot judge":       {[]int{refuses, judges}, []int{1, -2}, floodmark.Allow},
		"two of three":          {[]int{dies, refuses, judges}, []int{1, -2, -3}, floodmark.Allow},
		"three tries, no more":  {[]int{refuses, refuses, refuses, judges}, []int{1, -2, -3}, floodmark.Restrict},
		"one address":           {[]int{refuses}, []int{1, -1, -1}, floodmark.Restrict},
		"who is not let in":     {[]int{strange, judges}, nil, floodmark.Restrict},
		"no answer but a death": {[]int{dies}, []int{1, -1, -1}, floodmark.Restrict},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(t, c.manners...)
			reply, _ := f.dial(t).Handle(t.Context(), event())
			if reply.Decision.Verdict != c.want || !slices.Equal(f.asked, c.asked) {
				t.Errorf("%s: %v, asked %v, want %v", name, reply.Decision.Verdict, f.asked, c.asked)
			}
		})
	}
}

// The node that answered is asked first the next time.
func TestStaysWithWhoAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, dies, judges, judges)
		c := f.dial(t)
		for range 2 {
			if reply, err := c.Handle(t.Context(), event()); err != nil || reply.Decision.Verdict != floodmark.Allow {
				t.Fatal(reply, err)
			}
		}
		if want := []int{1, -2, 2}; !slices.Equal(f.asked, want) {
			t.Errorf("asked %v, want %v", f.asked, want)
		}
	})
}

// A slow node is not asked twice at once, because a person may be thinking about the question.
func TestNoTryBesideAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, sleeps, judges)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(client.DefaultTimeout/2, cancel) // long enough to ask the other node
		reply, err := f.dial(t).Handle(ctx, event())
		f.mu.Lock()
		defer f.mu.Unlock()
		if reply.Decision.Verdict != floodmark.Restrict || err == nil || len(f.asked) != 1 {
			t.Errorf("%v, %v, asked %v", reply, err, f.asked)
		}
	})
}

// A local socket belongs to one monitor, so it has no other addresses.
func TestOtherAddressesAreOfAFleet(t *testing.T) {
	for _, also := range []string{"http://firm.example", "/run/other.sock", ""} {
		if _, err := client.Dial("https://firm.example", client.Options{Also: []string{also}}); err == nil {
			t.Errorf("%q was taken", also)
		}
	}
	if _, err := client.Dial("/run/hook.sock", client.Options{Also: []string{"https://firm.example"}}); err == nil {
		t.Error("a socket with other addresses was taken")
	}
	n := 0
	path := serve(t, daemon(func(context.Context, string, hook.Event) (hook.Reply, error) {
		n++
		return hook.Reply{}, errors.New("no journal")
	}))
	if reply, _ := dial(t, path, client.Options{}).Handle(t.Context(), event()); n != 1 || reply.Decision.Verdict != floodmark.Restrict {
		t.Errorf("a local socket was asked %d times", n)
	}
}
