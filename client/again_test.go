package client_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/client"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/httpapi"
)

// A fleet is some nodes, each with a manner of its own, and what they were asked.
type fleet struct {
	urls []string
	pool *x509.CertPool

	mu    sync.Mutex // guards asked
	asked []int      // which node; negative if it was said to be asked again
}

// manners of nodes.
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
	f := &fleet{pool: x509.NewCertPool()}
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
			return hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Allow}}, nil
		})
		f.add(t, judge, manner)
	}
	return f
}

// count is how often they were asked.
func (f *fleet) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.asked)
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
	s := httptest.NewUnstartedServer(h)
	s.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
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
	return dial(t, f.urls[0], client.Options{Also: f.urls[1:], TLS: &tls.Config{RootCAs: f.pool}}) //nolint:gosec // Dial raises the version
}

// An event that one node does not judge is judged by another, at most three times,
// and every try but the first says that it is one.
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
		f := newFleet(t, c.manners...)
		reply, _ := f.dial(t).Handle(t.Context(), event())
		if reply.Decision.Verdict != c.want || !slices.Equal(f.asked, c.asked) {
			t.Errorf("%s: %v, asked %v, want %v", name, reply.Decision.Verdict, f.asked, c.asked)
		}
	}
}

// Who answered is asked first the next time.
func TestStaysWithWhoAnswers(t *testing.T) {
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
}

// A node that takes its time is not asked twice: somebody may be thinking about it.
func TestNoTryBesideAnother(t *testing.T) {
	f := newFleet(t, sleeps, judges)
	ctx, cancel := context.WithCancel(t.Context())
	var leaves sync.WaitGroup
	leaves.Go(func() {
		defer cancel()
		for end := time.Now().Add(20 * time.Second); f.count() == 0 && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(300 * time.Millisecond) // long enough to ask the other
	})
	reply, err := f.dial(t).Handle(ctx, event())
	leaves.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	if reply.Decision.Verdict != floodmark.Restrict || err == nil || len(f.asked) != 1 {
		t.Errorf("%v, %v, asked %v", reply, err, f.asked)
	}
}

// A local socket has one monitor behind it.
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
