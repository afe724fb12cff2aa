package people_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/floodmark/floodmark/internal/fleet/people"
	"github.com/floodmark/floodmark/internal/fleet/people/oidctest"
)

func (h *hall) login() people.Login {
	return people.Login{Issuer: h.URL, ClientID: "floodmark"}.By(h.Dial)
}

// A person logs in by a code in a browser. The token is one the monitor accepts, and is renewed
// without the person.
func TestLogIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t, plain)
		l := h.login()
		h.LogIn(h.good(nil))
		f, err := l.Begin(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if f.Code != oidctest.UserCode || f.Page != h.URL+"/go" || !strings.Contains(f.Ready, f.Code) {
			t.Errorf("%+v", f)
		}
		pass, err := f.Wait(t.Context())
		if err != nil || !pass.Ends.Equal(h.clock().Add(time.Hour)) || pass.Refresh == "" {
			t.Fatalf("%+v, %v", pass, err)
		}
		if who, err := h.find(t, pass.Token); err != nil || who.Name != "anna" {
			t.Errorf("%+v, %v", who, err)
		}
		h.later(2 * time.Hour)
		h.refuses(t, "a token that has ended", pass.Token)
		h.LogIn(h.good(nil))
		next, err := l.Renew(t.Context(), nil, pass.Refresh)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.find(t, next.Token); err != nil {
			t.Error(err)
		}
		if _, err := l.Renew(t.Context(), nil, "another"); err == nil || !strings.Contains(err.Error(), "the login is over there") {
			t.Errorf("another's: %v", err)
		}
	})
}

func TestLogInDenied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t, plain)
		h.LogIn(nil)
		f, err := h.login().Begin(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if pass, err := f.Wait(t.Context()); err == nil || err.Error() != "you said no there" || pass != (people.Pass{}) {
			t.Errorf("%+v, %v", pass, err)
		}
		h.Down(true)
		if _, err := h.login().Begin(t.Context(), nil); err == nil {
			t.Error("a provider that is down")
		}
	})
}

// A login expires, even if the provider sends no expiry.
func TestALoginEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t, plain)
		for says, want := range map[time.Duration]time.Duration{-1: 15 * time.Minute, 10 * time.Minute: 10 * time.Minute, 24 * time.Hour: time.Hour} {
			h.Lives(says)
			began := time.Now()
			f, err := h.login().Begin(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			f.Close()
			if !f.Ends.Equal(began.Add(want)) {
				t.Errorf("a code for %s ends in %s", says, f.Ends.Sub(began))
			}
		}
	})
}

func TestDiscover(t *testing.T) {
	said := ""
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == people.LoginPath && said != "" {
			_, _ = w.Write([]byte(said))
			return
		}
		http.NotFound(w, r)
	}))
	defer s.Close()
	defer http.DefaultClient.CloseIdleConnections()
	want := people.Login{Issuer: "https://login.example", ClientID: "f", Audience: "a", Scopes: []string{"groups"}}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	said = string(text)
	if got, err := people.Discover(t.Context(), s.Client(), s.URL+"/"); err != nil || got.Issuer != want.Issuer || got.Audience != "a" {
		t.Errorf("%+v, %v", got, err)
	}
	for _, said = range []string{"", "{}", "x", `{"issuer":"http://login.example","clientId":"f"}`, `{"issuer":"https://login.example"}`, strings.Repeat(" ", 65<<10) + string(text)} {
		if _, err := people.Discover(t.Context(), s.Client(), s.URL); err == nil {
			t.Errorf("%.60q", said)
		}
	}
	for page, ok := range map[string]bool{
		"https://login.example/device?code=A": true, "http://login.example/device": false, "javascript:alert(1)": false,
		"https://login.example/\x1b[2J": false, "": false, "https://a:b@login.example": false,
	} {
		if (people.CheckPage(page) == nil) != ok {
			t.Errorf("%q", page)
		}
	}
}
