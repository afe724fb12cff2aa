package console

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/service/httpapi"
)

// slow is the body of a request that does not end until it is closed.
type slow struct {
	reads, ends chan struct{}
}

func (s slow) Read([]byte) (int, error) {
	s.reads <- struct{}{}
	<-s.ends
	return 0, io.ErrUnexpectedEOF
}

// TestSlowLoginsKeepNobodyOut: requests that do not come to an end take no place of a login.
func TestSlowLoginsKeepNobodyOut(t *testing.T) {
	s := newSquare(t)
	body := slow{make(chan struct{}), make(chan struct{})}
	done := make(chan struct{})
	for range maxLoginsAtOnce {
		go func() {
			s.ask(http.MethodPost, loginPath, "", func(r *http.Request) { r.Body = io.NopCloser(body) })
			done <- struct{}{}
		}()
		<-body.reads
	}
	if _, status := s.enter("anna"); status != http.StatusOK {
		t.Errorf("while others are slow: %d", status)
	}
	close(body.ends)
	for range maxLoginsAtOnce {
		<-done
	}
}

// TestInventedCodesAreNoIncident: only a code that opened a page, or was about to, was in two hands.
// Strangers bring invented ones as often as they like.
func TestInventedCodesAreNoIncident(t *testing.T) {
	s := newSquare(t)
	for _, code := range []string{"nobody-1", "nobody-1", "nobody-1", "down-1", "down-1"} {
		s.enter(code)
	}
	if len(s.incidents) != 0 {
		t.Errorf("invented codes: %q", s.incidents)
	}
	token, _ := s.enter("anna-1")
	for range 3 {
		s.enter("anna-1")
	}
	if len(s.incidents) != 1 || s.status(token) != http.StatusUnauthorized {
		t.Errorf("a code that opened a page: %q", s.incidents)
	}
	s.Login = racing{s, "anna-2"}
	if _, status := s.enter("anna-2"); status != http.StatusUnauthorized || len(s.incidents) != 2 {
		t.Errorf("a code that came again while it was exchanged: %d, %q", status, s.incidents)
	}
}

// racing brings a code once more while it is exchanged.
type racing struct {
	*square

	code string
}

func (r racing) LogIn(ctx context.Context, back Returned) (httpapi.Identity, error) {
	if back.Code == r.code {
		r.enter(r.code)
	}
	return r.square.LogIn(ctx, back)
}

// TestOnePersonKeepsNobodyOut: the connections of one person beyond their limit make way, and those of
// others stay.
func TestOnePersonKeepsNobodyOut(t *testing.T) {
	r := &room{most: maxKnown + 2}
	enter := func(person string) *guest {
		ours, theirs := net.Pipe()
		t.Cleanup(func() { _, _ = ours.Close(), theirs.Close() })
		g := &guest{Conn: ours, in: r}
		if out := r.enter(g); out != nil {
			t.Fatalf("%s: there is no room", person)
		}
		known(context.WithValue(t.Context(), guestKey{}, net.Conn(g)), httpapi.Identity{Tenant: "acme", Name: person})
		return g
	}
	ben := enter("ben")
	var last *guest
	for range maxKnown + 1 {
		last = enter("eve")
	}
	if late := (&guest{in: r}); r.enter(late) != last || !ben.known.Load() {
		t.Error("the room is full of one person")
	}
}

// A deadlines writer records until when its answer has to be read.
type deadlines struct {
	*httptest.ResponseRecorder

	until []time.Time
}

func (w *deadlines) SetWriteDeadline(t time.Time) error {
	w.until = append(w.until, t)
	return nil
}

// TestUnreadAnswersEnd: what a stranger leaves unread ends, and a stream of a page does not.
func TestUnreadAnswersEnd(t *testing.T) {
	s := newSquare(t)
	if s.Server().HTTP2.MaxConcurrentStreams != maxAnswersAtOnce {
		t.Error("one connection has many answers unread")
	}
	for path, ends := range map[string]bool{"/": true, loginPath: true, logoutPath: true, "/floodmark.v1.OwnerService/Watch": false} {
		w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
		s.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, squareOrigin+path, http.NoBody))
		if len(w.until) != 1 || w.until[0].IsZero() == ends {
			t.Errorf("%s: %v", path, w.until)
		}
	}
}

// TestStrangersDoNotUseUpLogins: whatever strangers try, at few addresses or many, people log in again
// from where they did before.
func TestStrangersDoNotUseUpLogins(t *testing.T) {
	s := newSquare(t)
	if _, status := s.enter("anna-1"); status != http.StatusOK {
		t.Fatal(status)
	}
	annas := s.from
	for i := range 2 * maxTriers {
		s.from = netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), 4711).String()
		s.tries.allow(s.from)
	}
	s.from = "192.0.2.9:4711"
	if _, status := s.enter("eve-1"); status != http.StatusTooManyRequests {
		t.Errorf("a stranger: %d", status)
	}
	s.from = annas
	if _, status := s.enter("anna-2"); status != http.StatusOK {
		t.Errorf("from where anna logged in before: %d", status)
	}
	for i := range triesAtOnce {
		s.enter("nobody-" + strconv.Itoa(i))
	}
	if _, status := s.enter("anna-3"); status != http.StatusTooManyRequests {
		t.Errorf("without end: %d", status)
	}
}
