package console

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/wire"
)

func TestALinkWorksOnce(t *testing.T) {
	h := newHouse(t)
	code := h.invite(httpapi.OwnerMay)
	a, status := h.login(code)
	if status != http.StatusOK || a.May != httpapi.OwnerMay || a.OnlyShows != "" || a.Name != "user 1000" || !strings.HasPrefix(a.Token, tokenPrefix) {
		t.Fatalf("%d: %+v", status, a)
	}
	if w := h.status(a.Token); w.Code != http.StatusOK || h.served[len(h.served)-1].Channel != httpapi.ByConsole {
		t.Errorf("the token: %d, %+v", w.Code, h.served)
	}
	if _, status := h.login(a.Token); status != http.StatusUnauthorized {
		t.Errorf("the token as a code: %d", status)
	}
	if w := h.status(code); w.Code != http.StatusUnauthorized {
		t.Errorf("the code as a token: %d", w.Code)
	}
	if _, status := h.login(code); status != http.StatusUnauthorized {
		t.Errorf("the second time: %d", status)
	}
}

func TestALinkEnds(t *testing.T) {
	h := newHouse(t)
	for wait, want := range map[time.Duration]int{CodeTime - 1: http.StatusOK, CodeTime: http.StatusUnauthorized} {
		code := h.invite(httpapi.OwnerMay)
		h.now = h.now.Add(wait)
		if _, status := h.login(code); status != want {
			t.Errorf("after %v: %d, want %d", wait, status, want)
		}
	}
	first := h.invite(httpapi.OwnerMay)
	for range maxCodes {
		h.invite(httpapi.OwnerMay)
	}
	if _, status := h.login(first); status != http.StatusUnauthorized {
		t.Errorf("%d links later: %d", maxCodes, status)
	}
}

func TestWrongLinksEndAll(t *testing.T) {
	h := newHouse(t)
	for _, wrong := range []int{maxTries - 1, maxTries} {
		code := h.invite(httpapi.OwnerMay)
		for range wrong {
			if _, status := h.login("wrong"); status != http.StatusUnauthorized {
				t.Fatalf("a wrong code: %d", status)
			}
		}
		want := http.StatusOK
		if wrong == maxTries {
			want = http.StatusTooManyRequests
		}
		if _, status := h.login(code); status != want {
			t.Errorf("after %d wrong ones: %d, want %d", wrong, status, want)
		}
	}
	if len(h.incidents) != 1 || !strings.HasPrefix(h.incidents[0], "console-codes") {
		t.Errorf("incidents: %q", h.incidents)
	}
}

func TestOnlyAPersonOpens(t *testing.T) {
	h := newHouse(t)
	for name, who := range map[string]httpapi.Identity{
		"an agent": {Channel: httpapi.HookSocket, May: httpapi.MayEvents}, "a token": {Channel: httpapi.ByToken, May: httpapi.OwnerMay},
		"a person of a provider": {Channel: httpapi.ByProvider, May: httpapi.OwnerMay}, "a page": {Channel: httpapi.ByConsole, May: httpapi.OwnerMay},
	} {
		if _, err := h.OpenConsole(httpapi.AtTerminal(t.Context()), who, &wire.OpenConsoleRequest{}); err == nil {
			t.Errorf("%s opened the console", name)
		}
	}
	if _, err := h.OpenConsole(t.Context(), owner(httpapi.OwnerMay), &wire.OpenConsoleRequest{}); err == nil {
		t.Error("a script opened the console")
	}
	h.opts.Off = "not here"
	if _, err := h.OpenConsole(httpapi.AtTerminal(t.Context()), owner(httpapi.OwnerMay), &wire.OpenConsoleRequest{}); err == nil {
		t.Error("it was opened where there is none")
	}
	if h.at0() != "" {
		t.Error("it listens, and nobody opened it")
	}
}

func (h *house) at0() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.Console.at
}

// TestRoles: no page may do more than who opened it.
func TestRoles(t *testing.T) {
	h := newHouse(t)
	for _, may := range []httpapi.May{httpapi.MayView, httpapi.MayView | httpapi.MayApprove, httpapi.OwnerMay, httpapi.OwnerMay | httpapi.MayEvents | httpapi.MayMachine} {
		a, _ := h.login(h.invite(may))
		if want := may & httpapi.OwnerMay; a.May != want || h.status(a.Token).Body.String() != want.String() {
			t.Errorf("opened with %v it may %v", may, a.May)
		}
	}
	shows, err := h.OpenConsole(httpapi.AtTerminal(t.Context()), owner(httpapi.OwnerMay), &wire.OpenConsoleRequest{OnlyShows: true})
	if err != nil || shows.GetOnlyShows() == "" {
		t.Fatalf("%v, %v", shows, err)
	}
	_, code, _ := strings.Cut(shows.GetLink(), "=")
	if a, _ := h.login(code); a.May != httpapi.MayView || a.OnlyShows == "" {
		t.Errorf("a console that only shows: %+v", a)
	}
}

// TestUntold: where the system does not tell who connects, the console only shows.
func TestUntold(t *testing.T) {
	h := newHouse(t)
	before, _ := h.login(h.invite(httpapi.OwnerMay))
	h.untold = true
	if a, _ := h.login(h.invite(httpapi.OwnerMay)); a.May != httpapi.MayView || a.OnlyShows != untold {
		t.Errorf("%+v", a)
	}
	if w := h.status(before.Token); w.Body.String() != "view" {
		t.Errorf("a token from before may %q", w.Body)
	}
}

// requests are one of each kind that the console answers.
func (h *house) requests(code, token string) map[string]func() int {
	return map[string]func() int{
		"the page": func() int { return h.ask(http.MethodGet, "/", "", nil).Code },
		"a file":   func() int { return h.ask(http.MethodGet, "/index.html", "", nil).Code },
		"login":    func() int { _, status := h.login(code); return status },
		"the API":  func() int { return h.status(token).Code },
	}
}

// TestStrangers: an agent's process and another user's get nothing, not even a file, whatever they
// hold; what they tried is written down, and the owner's link still works.
func TestStrangers(t *testing.T) {
	for name, change := range map[string]func(h *house){
		"the agent itself": func(h *house) { h.at = 20 },
		"an agent's shell": func(h *house) { h.at = shell },
		"another user":     func(h *house) { h.user = me + 1 },
		"nobody known":     func(h *house) { h.at = 99 },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			a, _ := h.login(h.invite(httpapi.OwnerMay))
			code := h.invite(httpapi.OwnerMay)
			change(h)
			tried := 0
			for what, request := range h.requests(code, a.Token) {
				if status := request(); status != http.StatusForbidden {
					t.Errorf("%s: %d", what, status)
				}
				tried++
			}
			if len(h.incidents) != tried {
				t.Errorf("%d tries, written down: %q", tried, h.incidents)
			}
			h.at, h.user = browser, me
			if _, status := h.login(code); status != http.StatusOK {
				t.Errorf("the owner's link afterwards: %d", status)
			}
		})
	}
}

// TestABrowserBecomesAnAgents: a process is judged at each request, also on an old connection.
func TestABrowserBecomesAnAgents(t *testing.T) {
	h := newHouse(t)
	a, _ := h.login(h.invite(httpapi.OwnerMay))
	h.guarded.NoteItself(h.tree.Trace(t, browser))
	if w := h.status(a.Token); w.Code != http.StatusForbidden {
		t.Errorf("%d", w.Code)
	}
}

// TestNoCookies: none is set, and none is read.
func TestNoCookies(t *testing.T) {
	h := newHouse(t)
	a, _ := h.login(h.invite(httpapi.OwnerMay))
	for name, w := range h.answers(a.Token) {
		if len(w.Header().Values("Set-Cookie")) > 0 {
			t.Errorf("%s sets a cookie", name)
		}
	}
	for _, name := range []string{"token", "session", "Authorization"} {
		w := h.ask(http.MethodPost, wire.OwnerServiceStatusProcedure, "{}", func(r *http.Request) {
			r.AddCookie(&http.Cookie{Name: name, Value: a.Token})
		})
		if w.Code != http.StatusUnauthorized {
			t.Errorf("the token as the cookie %s: %d", name, w.Code)
		}
	}
	for _, path := range []string{wire.OwnerServiceStatusProcedure + "?token=" + a.Token, wire.OwnerServiceStatusProcedure + "?access_token=" + a.Token} {
		if w := h.ask(http.MethodPost, path, "{}", nil); w.Code != http.StatusUnauthorized {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}

// TestOtherTokens: what an agent, a machine or the owner has for the network opens nothing here.
func TestOtherTokens(t *testing.T) {
	h := newHouse(t)
	a, _ := h.login(h.invite(httpapi.OwnerMay))
	secret := strings.TrimPrefix(a.Token, tokenPrefix)
	for _, said := range []string{
		"", "Bearer", "Bearer ", "Basic " + a.Token, "Bearer fm_agent_" + secret, "Bearer fm_owner_" + secret, "Bearer fm_machine_" + secret,
		"Bearer " + secret, "Bearer " + tokenPrefix, "Bearer  " + a.Token, "Bearer " + a.Token + " ", "Bearer " + a.Token + "x", a.Token,
	} {
		w := h.ask(http.MethodPost, wire.OwnerServiceStatusProcedure, "{}", func(r *http.Request) { r.Header.Set("Authorization", said) })
		if w.Code != http.StatusUnauthorized {
			t.Errorf("%q: %d", said, w.Code)
		}
	}
}

// A sender is a request as some page or program sends it.
type sender struct {
	name   string
	change func(*http.Request)
	page   bool // what is right for the page
	rest   bool // and for files, login and API
}

// all makes several changes.
func all(of ...func(*http.Request)) func(*http.Request) {
	return func(r *http.Request) {
		for _, f := range of {
			f(r)
		}
	}
}

func senders() []sender {
	set := func(name string, values ...string) func(*http.Request) {
		return func(r *http.Request) { r.Header[name] = values }
	}
	host := func(name string) func(*http.Request) {
		return func(r *http.Request) { r.Host = name; r.Header.Del("Origin") }
	}
	return []sender{
		{"our own page", all(), true, true},
		{"a program that is no browser", all(set("Sec-Fetch-Site"), set("Origin")), true, true},
		{"by the name localhost, which is ::1 too", all(host("localhost:4711")), false, false},
		{"a name led here", host("evil.example:4711"), false, false},
		{"a name led here, without a port", host("evil.example"), false, false},
		{"another port", host("127.0.0.1:80"), false, false},
		{"without a port", host("127.0.0.1"), false, false},
		{"another address", host("127.0.0.2:4711"), false, false},
		{"an address of six", host("[::1]:4711"), false, false},
		{"a dot behind", host("localhost.:4711"), false, false},
		{"a name that begins so", host("127.0.0.1:4711.evil.example"), false, false},
		{"another site", set("Sec-Fetch-Site", "cross-site"), false, false},
		{"the same site, another port", set("Sec-Fetch-Site", "same-site"), false, false},
		{"typed by a person", set("Sec-Fetch-Site", "none"), true, false},
		{"two sites", set("Sec-Fetch-Site", "same-origin", "cross-site"), false, false},
		{"another origin", set("Origin", "http://evil.example"), false, false},
		{"the origin of a file", set("Origin", "null"), false, false},
		{"a dev server", set("Origin", "http://127.0.0.1:3000"), false, false},
		{"with TLS", set("Origin", "https://127.0.0.1:4711"), false, false},
		{"the other of our names", set("Origin", "http://localhost:4711"), false, false},
		{"two origins", set("Origin", "http://127.0.0.1:4711", "http://evil.example"), false, false},
		{"two tokens", func(r *http.Request) { r.Header["Authorization"] = []string{"Bearer a", "Bearer b"} }, false, false},
		{"in a frame", set("Sec-Fetch-Dest", "iframe"), false, true},
		{"as a script", set("Sec-Fetch-Mode", "no-cors"), false, true},
	}
}

// TestWhoseRequest: a browser says which page asks.
func TestWhoseRequest(t *testing.T) {
	for _, c := range senders() {
		t.Run(c.name, func(t *testing.T) {
			h := newHouse(t)
			a, _ := h.login(h.invite(httpapi.OwnerMay))
			code := h.invite(httpapi.OwnerMay)
			if got := h.ask(http.MethodGet, "/", "", c.change).Code; (got == http.StatusOK) != c.page {
				t.Errorf("the page: %d", got)
			}
			rest := map[string]int{
				"a file": h.ask(http.MethodGet, "/index.html", "", c.change).Code,
				"login":  h.ask(http.MethodPost, loginPath, `{"code":"`+code+`"}`, c.change).Code,
				"the API": h.ask(http.MethodPost, wire.OwnerServiceStatusProcedure, "{}", all(func(r *http.Request) {
					r.Header.Set("Authorization", "Bearer "+a.Token)
				}, c.change)).Code,
			}
			for what, got := range rest {
				if got != http.StatusOK && c.rest || got != http.StatusForbidden && !c.rest {
					t.Errorf("%s: %d", what, got)
				}
			}
		})
	}
}

func TestMethods(t *testing.T) {
	h := newHouse(t)
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions, http.MethodTrace} {
		for path, want := range map[string]string{"/": http.MethodGet, "/index.html": http.MethodGet, loginPath: http.MethodPost, wire.OwnerServiceStatusProcedure: http.MethodPost} {
			if w := h.ask(method, path, "", nil); (w.Code != http.StatusMethodNotAllowed) != (method == want) {
				t.Errorf("%s %s: %d", method, path, w.Code)
			}
		}
	}
}

// TestHeaders: every answer says the same to the browser, refusals and errors too.
func TestHeaders(t *testing.T) {
	h := newHouse(t)
	a, _ := h.login(h.invite(httpapi.OwnerMay))
	for name, w := range h.answers(a.Token) {
		for header, want := range map[string]string{
			"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "X-Frame-Options": "DENY", "Cache-Control": "no-store",
		} {
			if got := w.Header().Values(header); !slices.Equal(got, []string{want}) {
				t.Errorf("%s: %s is %q", name, header, got)
			}
		}
		for header := range w.Header() {
			if strings.HasPrefix(header, "Access-Control-") {
				t.Errorf("%s: another page may read it: %s", name, header)
			}
		}
	}
	for _, part := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'"} {
		if !slices.Contains(strings.Split(policy, "; "), part) {
			t.Errorf("the policy has no %q", part)
		}
	}
	if strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") || strings.Contains(policy, "http") {
		t.Errorf("the policy lets more in: %s", policy)
	}
}

// A timed writer notes until when the request may be read.
type timed struct {
	*httptest.ResponseRecorder
	until time.Time
}

// SetReadDeadline is for http.ResponseController.
func (w *timed) SetReadDeadline(at time.Time) error {
	w.until = at
	return nil
}

// TestEveryRequestEnds: also one whose rest is never sent, whether it is answered or refused.
func TestEveryRequestEnds(t *testing.T) {
	h := newHouse(t)
	for _, at := range []int{browser, shell} {
		h.at = at
		for _, path := range []string{pagePath, loginPath, "/nothing"} {
			w := &timed{ResponseRecorder: httptest.NewRecorder()}
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1:4711"+path, strings.NewReader("{}"))
			local, remote := net.TCPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:4711")), net.TCPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:5000"))
			h.door.ServeHTTP(w, r.WithContext(withLine(r.Context(), addressed{ours: local, theirs: remote})))
			if w.until.IsZero() {
				t.Errorf("process %d, %s: %d, and its rest is waited for", at, path, w.Code)
			}
		}
	}
}
