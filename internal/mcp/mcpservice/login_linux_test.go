package mcpservice

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/floodmark/floodmark/internal/mcp/mcplogin"
	"github.com/floodmark/floodmark/internal/mcp/mcplogin/issuertest"
	"github.com/floodmark/floodmark/internal/setup/config"
)

// A server that needs a login can be used once the owner has logged in, even by clients that
// connected earlier. Its tokens are renewed, and no client, journal or note contains one.
func TestServerThatWantsALogin(t *testing.T) {
	behind := server("wiki", "wiki", nil)
	t.Cleanup(func() { // what it could not be told any more without a token
		for session := range behind.Sessions() {
			_ = session.Close()
		}
	})
	issuer := issuertest.New(t)
	wiki := issuertest.NewResource(t, issuer, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return behind }, nil))
	file := config.GatewayServer{Name: "wiki", URL: wiki.URL, OAuth: &config.GatewayLogin{Issuer: issuer.URL}}
	var wall clock
	logins := mcplogin.Open(filepath.Join(t.TempDir(), "logins.json"), wall.now)
	r := runWith(t, func(o *Options) { o.Logins, o.now = logins, wall.now }, child("one"), file)
	c := r.connect(t, "anna", "", nil)
	if said, err := call(t.Context(), c, "one__echo", "x"); err != nil || said != "x" {
		t.Errorf("the other server: %q, %v", said, err)
	}
	_, err := call(t.Context(), c, "wiki__echo", "x")
	if err == nil || !strings.Contains(err.Error(), "floodmark mcp login wiki") {
		t.Errorf("before the login: %v", err)
	}
	at, ok := LoginAt(file)
	if !ok {
		t.Fatal("nobody can log in")
	}
	logIn(t, logins, at)
	wall.minutes.Add(1) // the pause after it could not be started is over
	if said, err := call(t.Context(), c, "wiki__echo", "y"); err != nil || said != "y" {
		t.Errorf("after the login: %q, %v", said, err)
	}
	// The client does not notice the end of a token that can be renewed.
	issuer.End(false)
	if said, err := call(t.Context(), c, "wiki__echo", "z"); err != nil || said != "z" {
		t.Errorf("renewed: %q, %v", said, err)
	}
	// If the server asks for a login elsewhere during a session, no request is sent there.
	wiki.Challenge = func() string { return `Bearer resource_metadata="http://127.0.0.1:1/meta", error="invalid_token"` }
	issuer.End(true)
	_, err = call(t.Context(), c, "wiki__echo", "x")
	if err == nil || !strings.Contains(err.Error(), "floodmark mcp login wiki") || strings.Contains(err.Error(), "SECRET") {
		t.Errorf("asked for a login: %v", err)
	}
	if state, err := logins.State(at); err != nil || !state.Wanted {
		t.Errorf("the owner is not told: %+v, %v", state, err)
	}
	tokens := slices.DeleteFunc(wiki.Shown(), func(s string) bool { return s == "" })
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, text := range append(slices.Clone(r.notes), err.Error(), r.judge.text()) {
		for _, token := range append(tokens, "SECRET-WORDS") {
			if strings.Contains(text, token) {
				t.Errorf("a token or a server's own words are in %.100q", text)
			}
		}
	}
	if len(tokens) == 0 {
		t.Error("no token was shown")
	}
}

// A clock stands still unless a test moves it.
type clock struct{ minutes atomic.Int64 }

func (c *clock) now() time.Time {
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(c.minutes.Load()) * time.Minute)
}

// logIn logs in as the owner, with a browser that opens the address it is shown.
func logIn(t *testing.T, logins *mcplogin.Book, at mcplogin.Server) {
	t.Helper()
	var browser sync.WaitGroup
	err := logins.Login(t.Context(), at, mcplogin.Desk{Show: func(_, address string) {
		browser.Go(func() {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
			if err != nil {
				t.Error(err)
				return
			}
			res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
			if err != nil {
				t.Error(err)
				return
			}
			_ = res.Body.Close()
		})
	}})
	browser.Wait()
	if err != nil {
		t.Fatal(err)
	}
}
