package console

import (
	"context"
	"io"
	"net/http"
	"testing"

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
