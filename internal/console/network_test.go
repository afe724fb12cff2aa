package console

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/wire"
)

// A square is a console on the network. Its people are those whom a code names.
type square struct {
	*Network
	t         *testing.T
	now       time.Time
	from      string // the address of every caller
	incidents []string
	served    []httpapi.Identity
	asked     int // how often the provider was asked
}

const squareOrigin = "https://console.example"

func newSquare(t *testing.T) *square {
	t.Helper()
	s := &square{t: t, now: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC), from: "192.0.2.1:4711"}
	s.Network = NewNetwork(NetworkOptions{
		API: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			who := httpapi.IdentityOf(r.Context())
			s.served = append(s.served, who)
			if who.May == 0 {
				w.WriteHeader(http.StatusUnauthorized)
			}
		}),
		Login: s, Origin: squareOrigin, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return s.now },
		Incident: func(_ context.Context, kind, text string) { s.incidents = append(s.incidents, kind+": "+text) },
	})
	return s
}

// Where implements [Login].
func (s *square) Where(_ context.Context, l Leaving) (string, error) {
	s.asked++
	if l.State == "" {
		return "", httpapi.ErrNoToken
	}
	return "https://login.example/?state=" + l.State, nil
}

// LogIn implements [Login]: a code is a name, and more behind a hyphen.
func (s *square) LogIn(_ context.Context, r Returned) (httpapi.Identity, error) {
	s.asked++
	name, _, _ := strings.Cut(r.Code, "-")
	switch name {
	case "down":
		return httpapi.Identity{}, errors.New("dial tcp 10.1.2.3: refused")
	case "nobody":
		return httpapi.Identity{Why: "you are nobody here"}, httpapi.ErrNoToken
	}
	return httpapi.Identity{Tenant: "acme", Name: name, Channel: httpapi.ByProvider, May: httpapi.OwnerMay | httpapi.MayEvents | httpapi.MayEnrol, Ends: s.now.Add(time.Hour)}, nil
}

// ask sends a request as our own page would, changed by change.
func (s *square) ask(method, path, body string, change func(*http.Request)) *httptest.ResponseRecorder {
	s.t.Helper()
	r := httptest.NewRequestWithContext(s.t.Context(), method, squareOrigin+path, strings.NewReader(body))
	r.TLS, r.RemoteAddr = &tls.ConnectionState{}, s.from
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Origin", squareOrigin)
	}
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// enter brings a code.
func (s *square) enter(code string) (token string, status int) {
	s.t.Helper()
	w := s.ask(http.MethodPost, loginPath, fmt.Sprintf(`{"code":%q,"verifier":"v","nonce":"n"}`, code), nil)
	var a admission
	if w.Code == http.StatusOK {
		if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
			s.t.Fatal(err)
		}
	}
	return a.Token, w.Code
}

func (s *square) status(token string) int {
	s.t.Helper()
	return s.ask(http.MethodPost, wire.OwnerServiceStatusProcedure, "{}", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }).Code
}

// TestAPageOfTheNetwork may do what its person may, and nothing that takes this machine.
func TestAPageOfTheNetwork(t *testing.T) {
	s := newSquare(t)
	token, status := s.enter("anna")
	if status != http.StatusOK || s.status(token) != http.StatusOK {
		t.Fatalf("%d, %+v", status, s.served)
	}
	who := s.served[0]
	if who.Name != "oidc:anna" || who.Tenant != "acme" || who.Channel != httpapi.ByConsole || who.Here || who.May != pageMay || httpapi.Present(t.Context(), who) || httpapi.Present(httpapi.AtTerminal(t.Context()), who) {
		t.Errorf("%+v", who)
	}
	other, _ := s.enter("ben")
	out := s.ask(http.MethodPost, logoutPath, "", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+other) })
	if out.Code != http.StatusNoContent || s.status(other) != http.StatusUnauthorized || s.status(token) != http.StatusOK {
		t.Errorf("logged out: %d", out.Code)
	}
	for code, want := range map[string]int{"nobody": http.StatusUnauthorized, "down": http.StatusServiceUnavailable} {
		if token, status := s.enter(code); status != want || token != "" {
			t.Errorf("%s: %d", code, status)
		}
	}
	if _, status := s.enter("anna"); status != http.StatusUnauthorized || len(s.incidents) != 1 || s.status(token) != http.StatusUnauthorized {
		t.Errorf("a code twice: %d, %q", status, s.incidents)
	}
}

// TestStrangersOfTheNetwork: what another page, name or method asks for is refused before anything
// else, and the page is in no frame. Every answer says so to the browser.
func TestStrangersOfTheNetwork(t *testing.T) {
	s := newSquare(t)
	token, _ := s.enter("anna")
	asked := s.asked
	set := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	posts := map[string]func(*http.Request){
		"another name":         func(r *http.Request) { r.Host = "evil.example" },
		"another port":         func(r *http.Request) { r.Host = "console.example:7443" },
		"a name before":        func(r *http.Request) { r.Host = "console.example.evil.example" },
		"no TLS":               func(r *http.Request) { r.TLS = nil },
		"another origin":       set("Origin", "https://evil.example"),
		"no origin":            func(r *http.Request) { r.Header.Del("Origin") },
		"a null origin":        set("Origin", "null"),
		"http":                 set("Origin", "http://console.example"),
		"two origins":          func(r *http.Request) { r.Header.Add("Origin", squareOrigin) },
		"two tokens":           func(r *http.Request) { r.Header["Authorization"] = []string{"Bearer " + token, "Bearer " + token} },
		"another site":         set("Sec-Fetch-Site", "cross-site"),
		"another of this site": set("Sec-Fetch-Site", "same-site"),
	}
	for name, change := range posts {
		for _, path := range []string{loginPath, beginPath, logoutPath, wire.OwnerServiceStatusProcedure} {
			w := s.ask(http.MethodPost, path, `{}`, change)
			if w.Code != http.StatusForbidden || len(s.served) != 0 || s.asked != asked {
				t.Errorf("%s at %s: %d %s", name, path, w.Code, w.Body)
			}
			if h := w.Header(); !strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors 'none'") || h.Get("X-Frame-Options") != "DENY" || h.Get("Access-Control-Allow-Origin") != "" || h.Get("Set-Cookie") != "" {
				t.Errorf("%s at %s: %v", name, path, h)
			}
		}
	}
	for name, change := range map[string]func(*http.Request){
		"a frame": set("Sec-Fetch-Dest", "iframe"), "fetched": set("Sec-Fetch-Mode", "cors"), "another name": func(r *http.Request) { r.Host = "evil.example" },
	} {
		if w := s.ask(http.MethodGet, "/", "", change); w.Code != http.StatusForbidden {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
	back := func(r *http.Request) {
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		r.Header.Set("Sec-Fetch-Mode", "navigate")
		r.Header.Set("Sec-Fetch-Dest", "document")
	}
	if w := s.ask(http.MethodGet, "/?code=c&state=s", "", back); w.Code != http.StatusOK || w.Header().Get("Location") != "" {
		t.Errorf("back from the provider: %d", w.Code)
	}
	if w := s.ask(http.MethodGet, "/", "", func(r *http.Request) { r.Host = "console.example:443" }); w.Code != http.StatusOK {
		t.Errorf("with the port of https: %d", w.Code)
	}
	for path, method := range map[string]string{"/": http.MethodPost, loginPath: http.MethodGet, beginPath: http.MethodGet, wire.OwnerServiceStatusProcedure: http.MethodGet} {
		if w := s.ask(method, path, "", nil); w.Code != http.StatusMethodNotAllowed {
			t.Errorf("%s %s: %d", method, path, w.Code)
		}
	}
}

// TestWhatALoginMaySend: the two steps take our page's JSON, within their limits.
func TestWhatALoginMaySend(t *testing.T) {
	s := newSquare(t)
	long := func(n int) string { return `{"code":"` + strings.Repeat("c", n-len(`{"code":""}`)) + `"}` }
	for body, want := range map[string]int{
		long(maxReturnBytes): http.StatusOK, long(maxReturnBytes + 1): http.StatusBadRequest, "": http.StatusBadRequest, "[]": http.StatusBadRequest, `{"code":1}`: http.StatusBadRequest,
		`{"code":"x","redirect":"https://evil.example/"}`: http.StatusBadRequest,
	} {
		if w := s.ask(http.MethodPost, loginPath, body, nil); w.Code != want {
			t.Errorf("%.60s: %d, want %d", body, w.Code, want)
		}
	}
	if w := s.ask(http.MethodPost, beginPath, `{"state":"s","nonce":"n","challenge":"c"}`, nil); w.Code != http.StatusOK || w.Body.String() != `{"go":"https://login.example/?state=s"}` {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := s.ask(http.MethodPost, beginPath, `{"state":"s","redirect_uri":"https://evil.example/"}`, nil); w.Code != http.StatusBadRequest {
		t.Errorf("a redirect of the page's own: %d", w.Code)
	}
	if w := s.ask(http.MethodPost, beginPath, "{}", nil); w.Code != http.StatusUnauthorized || !strings.Contains(w.Body.String(), "load it again") {
		t.Errorf("nothing: %d %s", w.Code, w.Body)
	}
	if w := s.ask(http.MethodPost, beginPath, "{}", func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }); w.Code != http.StatusUnsupportedMediaType {
		t.Errorf("no JSON: %d", w.Code)
	}
}

// TestTriesAtTheNetwork: one address cannot ask the provider without end, nor keep others out.
func TestTriesAtTheNetwork(t *testing.T) {
	s := newSquare(t)
	for i := range triesAtOnce {
		if _, status := s.enter(fmt.Sprintf("nobody-%d", i)); status != http.StatusUnauthorized {
			t.Fatalf("try %d: %d", i, status)
		}
	}
	for _, from := range []string{"192.0.2.1:4712", "[::ffff:192.0.2.1]:4712"} {
		s.from = from
		if _, status := s.enter("anna-1"); status != http.StatusTooManyRequests || s.asked != triesAtOnce {
			t.Errorf("one more from %s: %d", from, status)
		}
	}
	s.from = "192.0.2.2:4711"
	if _, status := s.enter("anna-2"); status != http.StatusOK {
		t.Errorf("another address: %d", status)
	}
	s.from, s.now = "192.0.2.1:4711", s.now.Add(2*time.Second)
	if _, status := s.enter("anna-3"); status != http.StatusOK {
		t.Errorf("later: %d", status)
	}
	for i := range triesAtOnce {
		s.from = fmt.Sprintf("[2001:db8::%x]:4711", i+1)
		s.enter(fmt.Sprintf("nobody-six-%d", i))
	}
	s.from = "[2001:db8::ffff]:4711"
	if _, status := s.enter("anna-4"); status != http.StatusTooManyRequests {
		t.Errorf("the same network of IPv6: %d", status)
	}
	few := newTries(func() time.Time { return s.now })
	for i := range maxTriers + 1 {
		from := fmt.Sprintf("10.0.%d.%d:1", i/256, i%256)
		s.now = s.now.Add(100 * time.Millisecond)
		if got := few.allow(from); got != (i < maxTriers) && len(few.of) > maxTriers {
			t.Fatalf("address %d: %v, %d are counted", i, got, len(few.of))
		}
	}
}

// TestPagesOfAPerson: one person has so many pages, and no more people log in than there is room.
func TestPagesOfAPerson(t *testing.T) {
	s := newSquare(t)
	enter := func(code string) (string, error) {
		s.now = s.now.Add(time.Millisecond)
		if _, err := s.book.spend(code); err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(code, "-")
		return s.book.enter(code, seat{who: httpapi.Identity{Name: name}}, s.now.Add(time.Hour))
	}
	bens, err := enter("ben")
	if err != nil {
		t.Fatal(err)
	}
	first, err := enter("anna-first")
	for i := range maxPagesPerson - 1 {
		if _, err := enter(fmt.Sprintf("anna-%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	_, _, there := s.book.find(first, false)
	if _, last := enter("anna-last"); err != nil || last != nil || !there {
		t.Fatal(err, last, there)
	}
	if _, _, there := s.book.find(first, false); there {
		t.Error("the one that was idle longest is still there")
	}
	if _, _, there := s.book.find(bens, true); !there {
		t.Error("another person was logged out")
	}
	for i := 0; len(s.book.open) < maxPages; i++ {
		if _, err := enter(fmt.Sprintf("p%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := enter("late"); !errors.Is(err, errFull) {
		t.Errorf("beyond the limit: %v", err)
	}
	if _, err := enter("anna-more"); err != nil {
		t.Errorf("one in the place of another: %v", err)
	}
	s.now = s.now.Add(time.Hour)
	if _, _, there := s.book.find(bens, true); there || len(s.book.open) != 0 {
		t.Errorf("after an hour there are %d pages", len(s.book.open))
	}
}

// TestCodesThatWereSpent: a code is spent before it is exchanged, and known for as long as it may work.
func TestCodesThatWereSpent(t *testing.T) {
	s := newSquare(t)
	for i := range maxSpent {
		if _, err := s.book.spend(fmt.Sprintf("spent-%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.book.spent) != maxSpent {
		t.Errorf("%d codes are known", len(s.book.spent))
	}
	if _, err := s.book.spend("one more"); err != nil || len(s.book.spent) != maxSpent {
		t.Errorf("%v, %d codes are known", err, len(s.book.spent))
	}
	if _, err := s.book.enter("spent-7", seat{}, s.now.Add(time.Hour)); err != nil {
		t.Error(err)
	}
	if _, err := s.book.spend("spent-8"); !errors.Is(err, errCodeTwice) {
		t.Errorf("%v", err)
	}
	if _, err := s.book.enter("spent-8", seat{}, s.now); !errors.Is(err, errCodeTwice) {
		t.Errorf("a code that came again before it was exchanged: %v", err)
	}
	s.now = s.now.Add(spentTime)
	if _, err := s.book.enter("spent-9", seat{}, s.now); !errors.Is(err, errCodeTwice) {
		t.Errorf("a code that was exchanged too late: %v", err)
	}
}
