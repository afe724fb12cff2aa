package mcplogin_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// inside is a server on this machine that the owner did not name and no login may reach.
func inside(t *testing.T) (address string, reached *atomic.Int32) {
	t.Helper()
	reached = new(atomic.Int32)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reached.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{}`))
	}))
	t.Cleanup(s.Close)
	return s.URL, reached
}

// A harm changes a world, and lists the texts of which the owner must read one.
type harm struct {
	bend func(w *world, inside string)
	want string
}

// hostileServers returns attacks by servers.
func hostileServers() map[string]harm {
	return map[string]harm{
		"its description is elsewhere": {func(w *world, inside string) {
			w.server.Challenge = func() string { return `Bearer resource_metadata="` + inside + `/meta"` }
		}, "not where it is itself"},
		"another issuer than the owner named": {func(w *world, inside string) {
			w.server.Meta = func(m map[string]any) { m["authorization_servers"] = []string{inside} }
		}, "does not let"},
		"an issuer inside": {func(w *world, inside string) {
			w.at.Issuer = ""
			w.server.Meta = func(m map[string]any) {
				m["authorization_servers"] = []string{strings.Replace(inside, "http:", "https:", 1)}
			}
		}, "closed network"},
		"an issuer inside, in the clear": {func(w *world, inside string) {
			w.at.Issuer = ""
			w.server.Meta = func(m map[string]any) { m["authorization_servers"] = []string{inside} }
		}, "is not https"},
		"a cloud's own address": {func(w *world, _ string) {
			w.at.Issuer = ""
			w.server.Meta = func(m map[string]any) { m["authorization_servers"] = []string{"https://169.254.169.254/latest"} }
		}, "no issuer that could log you in|does not say how to log in|closed network|metadata"},
		"it is described as another": {func(w *world, _ string) {
			w.at.Issuer = ""
			w.server.Meta = func(m map[string]any) { m["resource"] = "https://bank.example/mcp" }
		}, "does not say how to log in"},
		"no issuer": {func(w *world, _ string) {
			w.server.Meta = func(m map[string]any) { m["authorization_servers"] = []string{} }
		}, "names no issuer"},
	}
}

// hostileIssuers returns attacks by issuers.
func hostileIssuers() map[string]harm {
	return map[string]harm{
		"the issuer is another": {func(w *world, _ string) {
			w.issuer.Meta = func(m map[string]any) { m["issuer"] = "https://bank.example" }
		}, "another issuer"},
		"no PKCE": {func(w *world, _ string) {
			w.issuer.Meta = func(m map[string]any) { delete(m, "code_challenge_methods_supported") }
		}, "does not say how"},
		"weak PKCE": {func(w *world, _ string) {
			w.issuer.Meta = func(m map[string]any) { m["code_challenge_methods_supported"] = []string{"plain"} }
		}, "S256"},
		"a token endpoint inside": {func(w *world, inside string) {
			w.issuer.Meta = func(m map[string]any) { m["token_endpoint"] = inside + "/token" }
		}, "token endpoint: "},
		"a token endpoint inside, by TLS": {func(w *world, inside string) {
			w.issuer.Meta = func(m map[string]any) { m["token_endpoint"] = strings.Replace(inside, "http:", "https:", 1) }
		}, "you did not name it"},
		"a registration inside": {func(w *world, inside string) {
			w.issuer.Meta = func(m map[string]any) { m["registration_endpoint"] = strings.Replace(inside, "http:", "https:", 1) }
		}, "does not register us"},
		"a login page that is a script": {func(w *world, _ string) {
			w.issuer.Meta = func(m map[string]any) { m["authorization_endpoint"] = "javascript:alert(1)//x" }
		}, "does not say how|none"},
		"a login page in a file": {func(w *world, _ string) {
			w.issuer.Meta = func(m map[string]any) { m["authorization_endpoint"] = "file:///etc/passwd" }
		}, "does not say how|none"},
	}
}

// hostileAnswers returns attacks by the address that the owner's browser comes back with.
func hostileAnswers() map[string]harm {
	return map[string]harm{
		"an answer of another issuer": {func(w *world, _ string) { w.issuer.Back = func(v url.Values) { v.Set("iss", "https://bank.example") } }, "nothing was accepted"},
		"an answer of nobody":         {func(w *world, _ string) { w.issuer.Back = func(v url.Values) { v.Del("iss") } }, "nothing was accepted"},
		"a no": {func(w *world, _ string) {
			w.issuer.Back = func(v url.Values) { v.Del("code"); v.Set("error", "access_denied") }
		}, "access_denied"},
		"a no in words of its own": {func(w *world, _ string) {
			w.issuer.Back = func(v url.Values) { v.Del("code"); v.Set("error", "SECRET-WORDS") }
		}, "no reason that has a name"},
		"a code of somebody else": {func(w *world, _ string) { w.issuer.Back = func(v url.Values) { v.Set("code", "stolen") } }, "invalid_grant"},
	}
}

// A hostile server or issuer gets no visit of the owner's browser, no code and no token, and cannot
// cause a request to a closed network.
func TestHostileDocuments(t *testing.T) {
	all := hostileServers()
	maps.Copy(all, hostileIssuers())
	maps.Copy(all, hostileAnswers())
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			address, reached := inside(t)
			c.bend(w, address)
			err := w.login(t)
			if err == nil {
				t.Fatal("logged in")
			}
			fits := false
			for part := range strings.SplitSeq(c.want, "|") {
				fits = fits || strings.Contains(err.Error(), part)
			}
			if !fits || strings.Contains(err.Error(), "SECRET") || strings.Contains(err.Error(), "\x1b") {
				t.Errorf("%v", err)
			}
			if reached.Load() > 0 {
				t.Error("somebody inside was reached")
			}
			if _, err := os.Stat(w.path); err == nil {
				t.Error("something was kept")
			}
		})
	}
}

// Answers without the state of this login change nothing, and the login goes on.
func TestStateIsChecked(t *testing.T) {
	w := newWorld(t)
	err := w.loginBy(t, func(address string) {
		u, err := url.Parse(address)
		if err != nil {
			t.Error(err)
			return
		}
		back := u.Query().Get("redirect_uri")
		for _, forged := range []string{back, back + "?code=evil", back + "?code=evil&state=x", back + "?error=access_denied", back + "/../callback?code=evil&state=" + u.Query().Get("state")} {
			if status, page, err := browse(t.Context(), forged); err != nil || status != http.StatusBadRequest || strings.Contains(page, "evil") {
				t.Errorf("%s: %d, %v", forged, status, err)
			}
		}
		if status, page, err := browse(t.Context(), address); err != nil || status != http.StatusOK || strings.Contains(page, "code-") {
			t.Errorf("the real one: %d, %v", status, err)
		}
		if status, _, err := browse(t.Context(), back+"?code=evil&state="+u.Query().Get("state")); err == nil && status == http.StatusOK {
			t.Error("a second answer was taken")
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A token is never sent to another host, even if the token endpoint or the server redirects later:
// the endpoints of the login are used.
func TestNoTokenElsewhere(t *testing.T) {
	w := newWorld(t)
	if err := w.login(t); err != nil {
		t.Fatal(err)
	}
	address, reached := inside(t)
	// The server and the issuer turn evil after the login.
	w.server.Challenge = func() string { return `Bearer resource_metadata="` + address + `", error="invalid_token"` }
	w.server.Meta = func(m map[string]any) { m["authorization_servers"] = []string{address} }
	w.issuer.Meta = func(m map[string]any) { m["token_endpoint"] = address + "/token" }
	w.issuer.End(true)
	if _, err := w.knock(t, w.book.Holder(w.at)); err == nil {
		t.Error("it went on")
	}
	if reached.Load() > 0 {
		t.Error("somebody else was reached")
	}
	// A redirect of a token endpoint is not followed.
	w = newWorld(t)
	w.issuer.Moved = address
	if err := w.login(t); err == nil || reached.Load() > 0 {
		t.Errorf("sent on: %v, %d", err, reached.Load())
	}
}
