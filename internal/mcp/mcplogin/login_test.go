package mcplogin_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/floodmark/floodmark/internal/mcp/mcplogin"
	"github.com/floodmark/floodmark/internal/mcp/mcplogin/issuertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A world is a server with its issuer, and a book.
type world struct {
	issuer *issuertest.Issuer
	server *issuertest.Resource
	book   *mcplogin.Book
	path   string
	at     mcplogin.Server

	mu  sync.Mutex // guards now
	now time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{issuer: issuertest.New(t), path: filepath.Join(t.TempDir(), "state", "logins.json"), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	w.server = issuertest.NewResource(t, w.issuer, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
	w.book = mcplogin.Open(w.path, func() time.Time { w.mu.Lock(); defer w.mu.Unlock(); return w.now })
	w.at = mcplogin.Server{Name: "tracker", URL: w.server.URL, Issuer: w.issuer.URL}
	return w
}

func (w *world) later(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// browse opens an address as a browser does, and follows redirects.
func browse(ctx context.Context, address string) (int, string, error) {
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return 0, "", err
	}
	res, err := c.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	page, err := io.ReadAll(res.Body)
	return res.StatusCode, string(page), err
}

// login logs in with a browser that opens the address that the owner is shown.
func (w *world) login(t *testing.T) error {
	t.Helper()
	return w.loginBy(t, func(address string) { _, _, _ = browse(t.Context(), address) })
}

func (w *world) loginBy(t *testing.T, browser func(address string)) error {
	t.Helper()
	var opened sync.WaitGroup
	defer opened.Wait()
	return w.book.Login(t.Context(), w.at, mcplogin.Desk{Show: func(_, address string) { opened.Go(func() { browser(address) }) }})
}

// knock sends the server a request with the holder's token.
func (w *world) knock(t *testing.T, h *mcplogin.Holder) (int, error) {
	t.Helper()
	token, err := h.Show(t.Context())
	for again := false; ; again = true {
		if err != nil {
			return 0, err
		}
		req, err2 := http.NewRequestWithContext(t.Context(), http.MethodPost, w.server.URL, http.NoBody)
		if err2 != nil {
			t.Fatal(err2)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		res, err2 := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
		if err2 != nil {
			t.Fatal(err2)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusUnauthorized || again {
			return res.StatusCode, nil
		}
		token, err = h.Refused(t.Context(), token)
	}
}

// A browser that is logged in already comes back before the wait begins.
func TestABrowserIsBackAtOnce(t *testing.T) {
	w := newWorld(t)
	if err := w.book.Login(t.Context(), w.at, mcplogin.Desk{Show: func(_, address string) { _, _, _ = browse(t.Context(), address) }}); err != nil {
		t.Error(err)
	}
}

func TestLogin(t *testing.T) {
	w := newWorld(t)
	h := w.book.Holder(w.at)
	if token, err := h.Show(t.Context()); token != "" || err != nil {
		t.Errorf("before the login: %q, %v", token, err)
	}
	if _, err := w.knock(t, h); !errors.Is(err, mcplogin.ErrWanted) || !strings.Contains(err.Error(), "floodmark mcp login tracker") {
		t.Errorf("before the login: %v", err)
	}
	if s, err := w.book.State(w.at); err != nil || s.In || !s.Wanted {
		t.Errorf("before the login: %+v, %v", s, err)
	}
	if err := w.login(t); err != nil {
		t.Fatal(err)
	}
	if status, err := w.knock(t, h); status != http.StatusOK || err != nil {
		t.Errorf("after the login: %d, %v", status, err)
	}
	if s, err := w.book.State(w.at); err != nil || !s.In || s.Wanted || s.Issuer != w.issuer.URL {
		t.Errorf("after the login: %+v, %v", s, err)
	}
	info, err := os.Stat(w.path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info.Mode(), err)
	}
	// An issuer takes a second use of a refresh token for a theft.
	w.issuer.End(false)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if status, err := w.knock(t, w.book.Holder(w.at)); status != http.StatusOK || err != nil {
				t.Errorf("renewed: %d, %v", status, err)
			}
		})
	}
	all.Wait()
	if w.issuer.Stolen > 0 || w.issuer.Asked("POST /token") != 2 {
		t.Errorf("%d used twice, %d times asked", w.issuer.Stolen, w.issuer.Asked("POST /token"))
	}
	was, told, err := w.book.Logout(t.Context(), w.at)
	if !was || !told || err != nil || !slices.Equal(w.issuer.Ended(), []string{"access_token", "refresh_token"}) {
		t.Errorf("logout: %v, %v, %v, %v", was, told, err, w.issuer.Ended())
	}
	if token, err := h.Show(t.Context()); token != "" || err != nil {
		t.Errorf("after the logout: %q, %v", token, err)
	}
	if was, _, err := w.book.Logout(t.Context(), w.at); was || err != nil {
		t.Errorf("logout again: %v, %v", was, err)
	}
}

// A token is renewed before it expires. If it cannot be renewed any more, the error says what to
// do, without any text of the issuer.
func TestRenewAndEnd(t *testing.T) {
	w := newWorld(t)
	if err := w.login(t); err != nil {
		t.Fatal(err)
	}
	h := w.book.Holder(w.at)
	first, err := h.Show(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.later(time.Hour - time.Second)
	second, err := h.Show(t.Context())
	if err != nil || second == first || second == "" {
		t.Errorf("not renewed: %v", err)
	}
	w.issuer.End(true)
	_, err = w.knock(t, h)
	if !errors.Is(err, mcplogin.ErrWanted) || strings.Contains(err.Error(), "SECRET") || strings.Contains(err.Error(), second) {
		t.Errorf("ended: %v", err)
	}
	if s, err := w.book.State(w.at); err != nil || !s.Wanted {
		t.Errorf("ended: %+v, %v", s, err)
	}
	if err := w.login(t); err != nil {
		t.Fatal(err)
	}
	if s, err := w.book.State(w.at); err != nil || s.Wanted || !s.In {
		t.Errorf("logged in again: %+v, %v", s, err)
	}
}

// A login is valid for one server, at one address and with one issuer.
func TestHoldsForOne(t *testing.T) {
	w := newWorld(t)
	if err := w.login(t); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*mcplogin.Server){
		"address": func(s *mcplogin.Server) { s.URL = "https://elsewhere.example/mcp" },
		"issuer":  func(s *mcplogin.Server) { s.Issuer = "https://elsewhere.example" },
		"client":  func(s *mcplogin.Server) { s.ClientID = "another" },
		"name":    func(s *mcplogin.Server) { s.Name = "another" },
	} {
		at := w.at
		change(&at)
		if token, err := w.book.Holder(at).Show(t.Context()); token != "" || err != nil {
			t.Errorf("another %s: a token is shown, %v", name, err)
		}
	}
	if err := os.Chmod(w.path, 0o644); err != nil {
		t.Fatal(err)
	}
	if token, err := w.book.Holder(w.at).Show(t.Context()); token != "" || err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a file that others read: %v", err)
	}
}

// Logins with a client that was registered by hand, and without a person.
func TestClientsByHand(t *testing.T) {
	w := newWorld(t)
	port := freePort(t)
	w.at.ClientID = "by-hand"
	w.issuer.Know("by-hand", "http://127.0.0.1:"+port+"/callback")
	var opened sync.WaitGroup
	err := w.book.Login(t.Context(), w.at, mcplogin.Desk{Port: number(t, port), Show: func(_, address string) {
		opened.Go(func() { _, _, _ = browse(t.Context(), address) })
	}})
	opened.Wait()
	if err != nil || w.issuer.Asked("POST /register") != 0 {
		t.Errorf("by hand: %v", err)
	}
	w.issuer.Machine = [2]string{"robot", "oil can/&"}
	at := mcplogin.Server{Name: "robot", URL: w.server.URL, Issuer: w.issuer.URL, ClientID: "robot", Secret: func() (string, error) { return "oil can/&", nil }, Machine: true}
	unescaped := w.issuer.Machine
	w.issuer.Machine = [2]string{unescaped[0], url.QueryEscape(unescaped[1])}
	h := w.book.Holder(at)
	if status, err := w.knock(t, h); status != http.StatusOK || err != nil {
		t.Errorf("a machine: %d, %v", status, err)
	}
	w.issuer.End(true)
	if status, err := w.knock(t, h); status != http.StatusOK || err != nil {
		t.Errorf("a machine again: %d, %v", status, err)
	}
	w.issuer.Machine = [2]string{"robot", "other"}
	w.issuer.End(true)
	if _, err := w.knock(t, h); !errors.Is(err, mcplogin.ErrWanted) || strings.Contains(err.Error(), "oil") || strings.Contains(err.Error(), "SECRET") {
		t.Errorf("a machine that is not known: %v", err)
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u.Port()
}
