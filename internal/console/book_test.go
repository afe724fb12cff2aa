package console

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/service/httpapi"
)

// answers are one of each kind that the console gives.
func (h *house) answers(token string) map[string]*httptest.ResponseRecorder {
	list := map[string]*httptest.ResponseRecorder{
		"the page":          h.ask(http.MethodGet, "/", "", nil),
		"a file":            h.ask(http.MethodGet, "/index.html", "", nil),
		"no file":           h.ask(http.MethodGet, "/nothing.js", "", nil),
		"a login":           h.ask(http.MethodPost, loginPath, `{"code":"`+h.invite(httpapi.OwnerMay)+`"}`, nil),
		"a wrong login":     h.ask(http.MethodPost, loginPath, `{"code":"x"}`, nil),
		"an unread login":   h.ask(http.MethodPost, loginPath, `{`, nil),
		"the API":           h.status(token),
		"the API, unknown":  h.status("x"),
		"another method":    h.ask(http.MethodPut, "/", "", nil),
		"from another page": h.ask(http.MethodGet, "/index.html", "", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }),
	}
	h.at = shell
	list["an agent's"] = h.ask(http.MethodGet, "/", "", nil)
	h.at = browser
	return list
}

func TestATokenEnds(t *testing.T) {
	for name, c := range map[string]struct {
		change func(h *house, token string)
		want   int
	}{
		"used":           {func(h *house, token string) { h.pass(MaxIdle-1, token); h.pass(MaxIdle-1, token) }, http.StatusOK},
		"idle":           {func(h *house, _ string) { h.now = h.now.Add(MaxIdle) }, http.StatusUnauthorized},
		"old":            {func(h *house, token string) { h.pass(MaxAge, token) }, http.StatusUnauthorized},
		"closed":         {func(h *house, _ string) { h.closeAll() }, http.StatusUnauthorized},
		"a full house":   {func(h *house, _ string) { h.logins(maxTokens - 1) }, http.StatusOK},
		"too full house": {func(h *house, _ string) { h.now = h.now.Add(1); h.logins(maxTokens) }, http.StatusUnauthorized},
		"stopped":        {func(h *house, _ string) { _ = h.Stop(h.t.Context()) }, http.StatusUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			a, _ := h.login(h.invite(httpapi.OwnerMay))
			c.change(h, a.Token)
			if w := h.status(a.Token); w.Code != c.want {
				t.Errorf("%d, want %d", w.Code, c.want)
			}
			if n := len(h.book.open); n > maxTokens {
				t.Errorf("%d pages are logged in", n)
			}
		})
	}
}

// pass lets time go by in which a page asks for something now and then.
func (h *house) pass(d time.Duration, token string) {
	for until := h.now.Add(d); h.now.Before(until); {
		h.now = h.now.Add(min(MaxIdle-1, until.Sub(h.now)))
		h.status(token)
	}
}

func (h *house) logins(n int) {
	for range n {
		h.login(h.invite(httpapi.OwnerMay))
	}
}

func (h *house) closeAll() {
	h.t.Helper()
	code := h.invite(httpapi.OwnerMay)
	if a, err := h.CloseConsole(h.t.Context(), owner(httpapi.OwnerMay), nil); err != nil || a.GetEnded() != 1 {
		h.t.Errorf("%v, %v", a, err)
	}
	if _, status := h.login(code); status != http.StatusUnauthorized {
		h.t.Errorf("a link outlived --close: %d", status)
	}
}

// TestNothingIsKept: the book has no text of a code or a token.
func TestNothingIsKept(t *testing.T) {
	h := newHouse(t)
	a, _ := h.login(h.invite(httpapi.OwnerMay))
	code := h.invite(httpapi.OwnerMay)
	kept := fmt.Sprintf("%+v %+v", h.book.codes, h.book.spent)
	for _, o := range h.book.open {
		kept += fmt.Sprintf(" %+v", *o)
	}
	if !strings.Contains(kept, "user 1000") || strings.Contains(kept, code) || strings.Contains(kept, a.Token) {
		t.Errorf("a code or a token is kept: %s", kept)
	}
	other, _ := h.login(code)
	if other.Token == a.Token || len(a.Token) < len(tokenPrefix)+43 || len(code) < 43 { // 256 bits
		t.Errorf("%q and %q of %q", a.Token, other.Token, code)
	}
}

func TestLimitsOfALogin(t *testing.T) {
	h := newHouse(t)
	room := maxLoginBytes - len(`{"code":""}`)
	for name, c := range map[string]struct {
		kind, body string
		want       int
	}{
		"at the limit":    {"application/json", `{"code":"` + strings.Repeat("x", room) + `"}`, http.StatusUnauthorized},
		"beyond it":       {"application/json", `{"code":"` + strings.Repeat("x", room+1) + `"}`, http.StatusBadRequest},
		"a form":          {"application/x-www-form-urlencoded", "code=x", http.StatusUnsupportedMediaType},
		"plain text":      {"text/plain", `{"code":"x"}`, http.StatusUnsupportedMediaType},
		"without a kind":  {"", `{"code":"x"}`, http.StatusUnsupportedMediaType},
		"an unknown word": {"application/json", `{"code":"x","may":["admin"]}`, http.StatusBadRequest},
		"a list":          {"application/json", `["x"]`, http.StatusBadRequest},
		"nothing":         {"application/json", ``, http.StatusBadRequest},
		"an empty code":   {"application/json", `{}`, http.StatusUnauthorized},
	} {
		h.invite(httpapi.OwnerMay) // counts wrong codes anew
		w := h.ask(http.MethodPost, loginPath, c.body, func(r *http.Request) { r.Header.Set("Content-Type", c.kind) })
		if w.Code != c.want || !strings.Contains(w.Body.String(), `{"error":"`) {
			t.Errorf("%s: %d, want %d: %s", name, w.Code, c.want, w.Body)
		}
	}
}

// TestTheRoomIsBounded: what is not known to be the owner's makes way.
func TestTheRoomIsBounded(t *testing.T) {
	r := &room{most: maxConnections}
	guests := make([]*guest, maxConnections+2)
	for i := range guests {
		guests[i] = &guest{in: r}
	}
	for i, g := range guests[:maxConnections] {
		g.known.Store(i == 0)
		if out := r.enter(g); out != nil {
			t.Fatalf("connection %d: another was closed", i)
		}
	}
	if out := r.enter(guests[maxConnections]); out != guests[1] {
		t.Error("one too many: not the oldest unknown one was closed")
	}
	for _, g := range r.open {
		g.known.Store(true)
	}
	if out := r.enter(guests[maxConnections+1]); out != guests[maxConnections+1] || len(r.open) != maxConnections {
		t.Error("among the owner's own: not the new one was closed")
	}
}

// TestPagesAreKinds: every built file can be served, and is.
func TestPagesAreKinds(t *testing.T) {
	h := newHouse(t)
	for _, name := range builtFiles(t) {
		w := h.ask(http.MethodGet, "/"+strings.TrimSuffix(name, ".gz"), "", func(r *http.Request) { r.Header.Set("Accept-Encoding", "gzip, br") })
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") == "" {
			t.Errorf("%s: %d", name, w.Code)
		}
		plain := h.ask(http.MethodGet, "/"+strings.TrimSuffix(name, ".gz"), "", nil)
		if plain.Code != http.StatusOK || plain.Header().Get("Content-Encoding") != "" || plain.Body.Len() == 0 {
			t.Errorf("%s, not compressed: %d", name, plain.Code)
		}
		keeps := w.Header().Get("Cache-Control") != "no-store"
		if keeps != hashed(strings.TrimSuffix(name, ".gz")) {
			t.Errorf("%s: Cache-Control is %q", name, w.Header().Get("Cache-Control"))
		}
	}
	for _, path := range []string{"/nothing", "/assets", "/assets/", "/../console.go", "/%2e%2e/console.go", "//index.html", "/index.html/", "/login.html", "/floodmark", "/dist/index.html"} {
		if w := h.ask(http.MethodGet, path, "", nil); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}

func TestHashedNames(t *testing.T) {
	for name, want := range map[string]bool{
		"assets/index-hbho4j4a.js": true, "assets/style-ijvps1ao.css": true, "assets/a-b-AbCd_-12.js": true,
		"index.html": false, "index-hbho4j4a.js": false, "assets/index.js": false, "assets/-hbho4j4a.js": true, "assets/index-hbho4j4.js": false,
	} {
		if hashed(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}
