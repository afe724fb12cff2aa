package people_test

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/floodmark/floodmark/internal/fleet/people"
)

// home is the address of the page.
const home = "https://console.example/"

func browsing(o *people.Options) {
	o.Browser = people.Browser{Redirect: home, Scopes: []string{"groups"}}
}

// drawn is what a page draws: 256 bits as text.
func drawn(letter string) string { return strings.Repeat(letter, 43) }

func challenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// leave goes to the provider and comes back.
func (h *hall) leave(t *testing.T) people.Return {
	t.Helper()
	r := people.Return{Verifier: drawn("v"), Nonce: drawn("n")}
	where, err := h.people.Where(t.Context(), people.Leaving{State: drawn("s"), Nonce: r.Nonce, Challenge: challenge(r.Verifier)})
	if err != nil {
		t.Fatal(err)
	}
	back, err := h.Visit(where)
	if err != nil || back.Get("state") != drawn("s") {
		t.Fatalf("%v, %v", back, err)
	}
	r.Code = back.Get("code")
	return r
}

func (h *hall) returns(t *testing.T, r people.Return) (people.Person, error) {
	synctest.Wait()
	return h.people.LogIn(t.Context(), r)
}

func TestAPersonLogsInWithABrowser(t *testing.T) {
	for _, secret := range []string{"", "s3cret & more"} {
		synctest.Test(t, func(t *testing.T) {
			h := newHall(t, func(o *people.Options) { browsing(o); o.Browser.Secret = secret })
			h.Secret(url.QueryEscape(secret)) // as a form, says RFC 6749
			h.Browse(h.good(nil))
			who, err := h.returns(t, h.leave(t))
			if err != nil || who.Name != "anna" || who.Tenant != "acme" || !who.Ends.Equal(h.clock().Add(time.Hour)) {
				t.Errorf("%+v, %v", who, err)
			}
		})
	}
}

// What a page asks the provider for, to the letter.
func TestWhereABrowserGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t, browsing)
		where, err := h.people.Where(t.Context(), people.Leaving{State: drawn("s"), Nonce: drawn("n"), Challenge: drawn("c")})
		if err != nil {
			t.Fatal(err)
		}
		at, err := url.Parse(where)
		want := url.Values{
			"response_type": {"code"}, "client_id": {"floodmark"}, "redirect_uri": {home}, "scope": {"openid groups"}, "state": {drawn("s")}, "nonce": {drawn("n")},
			"code_challenge": {drawn("c")}, "code_challenge_method": {"S256"},
		}
		if err != nil || !strings.HasPrefix(where, h.URL+"/auth?") || !reflect.DeepEqual(at.Query(), want) {
			t.Errorf("%s, %v", where, err)
		}
		for _, odd := range []string{"", drawn("s") + "s", drawn("s")[1:], strings.Repeat("&", 43), strings.Repeat("é", 43)} {
			for _, l := range []people.Leaving{{odd, drawn("n"), drawn("c")}, {drawn("s"), odd, drawn("c")}, {drawn("s"), drawn("n"), odd}} {
				if where, err := h.people.Where(t.Context(), l); !errors.Is(err, people.ErrNobody) || where != "" {
					t.Errorf("%+v: %q, %v", l, where, err)
				}
			}
		}
	})
}

// What is brought back by another than the page that left, twice, or for somebody else.
func TestReturnsThatProveNoPerson(t *testing.T) {
	for what, c := range map[string]struct {
		claims map[string]any
		change func(*people.Return)
	}{
		"another verifier":        {nil, func(r *people.Return) { r.Verifier = drawn("w") }},
		"another nonce":           {nil, func(r *people.Return) { r.Nonce = drawn("m") }},
		"no nonce":                {nil, func(r *people.Return) { r.Nonce = "" }},
		"no verifier":             {nil, func(r *people.Return) { r.Verifier = "" }},
		"no code":                 {nil, func(r *people.Return) { r.Code = "" }},
		"a code of nobody":        {nil, func(r *people.Return) { r.Code = "code-77" }},
		"a code that is too long": {nil, func(r *people.Return) { r.Code = strings.Repeat("c", people.MaxCodeBytes+1) }},
		"a token without nonce":   {map[string]any{"nonce": ""}, nil},
		"another's nonce":         {map[string]any{"nonce": drawn("m")}, nil},
		"another client's token":  {map[string]any{"aud": "grafana"}, nil},
		"another issuer's token":  {map[string]any{"iss": "https://evil.example"}, nil},
		"an expired token":        {map[string]any{"exp": 1}, nil},
		"an old token":            {map[string]any{"iat": 1}, nil},
		"a person without tenant": {map[string]any{"org": nil}, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := newHall(t, browsing)
			h.Browse(h.good(c.claims))
			r := h.leave(t)
			if c.change != nil {
				c.change(&r)
			}
			if who, err := h.returns(t, r); !errors.Is(err, people.ErrNobody) || !reflect.DeepEqual(who, people.Person{}) {
				t.Errorf("%s: %+v, %v", what, who, err)
			}
		})
	}
}

func TestACodeWorksOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t, browsing)
		h.Browse(h.good(nil))
		r := h.leave(t)
		if _, err := h.returns(t, r); err != nil {
			t.Fatal(err)
		}
		if who, err := h.returns(t, r); !errors.Is(err, people.ErrNobody) {
			t.Errorf("%+v, %v", who, err)
		}
	})
}

// A provider that is down, or a monitor without logins of browsers, tells nobody who they are.
func TestNoLoginWithABrowser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t, plain)
		if where, err := h.people.Where(t.Context(), people.Leaving{State: drawn("s"), Nonce: drawn("n"), Challenge: drawn("c")}); !errors.Is(err, people.ErrUnreached) || where != "" {
			t.Errorf("without a redirect: %q, %v", where, err)
		}
		if who, err := h.returns(t, people.Return{Code: "c", Verifier: drawn("v"), Nonce: drawn("n")}); !errors.Is(err, people.ErrUnreached) {
			t.Errorf("without a redirect: %+v, %v", who, err)
		}
		h.finds(t, "a token of a program", h.Sign(h.good(nil)))
		h = newHall(t, browsing)
		h.Browse(h.good(nil))
		r := h.leave(t)
		h.Down(true)
		if who, err := h.returns(t, r); !errors.Is(err, people.ErrUnreached) {
			t.Errorf("down: %+v, %v", who, err)
		}
		h = newHall(t, func(o *people.Options) { browsing(o); o.Browser.Secret = "wrong" })
		h.Secret("right")
		h.Browse(h.good(nil))
		if who, err := h.returns(t, h.leave(t)); !errors.Is(err, people.ErrUnreached) || strings.Contains(err.Error(), "wrong") {
			t.Errorf("another secret: %+v, %v", who, err)
		}
	})
}

// A provider that asked for the password long ago, or does not say when, is not believed if it has
// to have asked just now.
func TestWhenThePasswordWasAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t, func(o *people.Options) { browsing(o); o.Browser.Asked = 10 * time.Minute })
		where, err := h.people.Where(t.Context(), people.Leaving{State: drawn("s"), Nonce: drawn("n"), Challenge: drawn("c")})
		if err != nil || !strings.Contains(where, "max_age=600&") {
			t.Errorf("%s, %v", where, err)
		}
		at := func(d time.Duration) int64 { return h.clock().Add(-d).Unix() }
		for what, c := range map[string]struct {
			said any
			ok   bool
		}{
			"now": {at(0), true}, "at the limit": {at(11 * time.Minute), true}, "before": {at(11*time.Minute + time.Second), false}, "never": {nil, false}, "a text": {"now", false},
			"a fast clock": {at(-time.Minute), true}, "later": {at(-time.Minute - time.Second), false},
		} {
			h.Browse(h.good(map[string]any{"auth_time": c.said}))
			if who, err := h.returns(t, h.leave(t)); (err == nil) != c.ok || !c.ok && !errors.Is(err, people.ErrNobody) {
				t.Errorf("%s: %+v, %v", what, who, err)
			}
		}
	})
}
