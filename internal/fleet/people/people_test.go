package people_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"
	"go.uber.org/goleak"

	"github.com/floodmark/floodmark/internal/fleet/people"
	"github.com/floodmark/floodmark/internal/fleet/people/oidctest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A hall is a provider and the verifier of its tokens, with one clock.
type hall struct {
	*oidctest.Provider
	people *people.Provider

	mu  sync.Mutex // guards now
	now time.Time
}

func (h *hall) clock() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *hall) later(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(d)
}

func newHall(t testing.TB, change func(*people.Options)) *hall {
	t.Helper()
	h := &hall{Provider: oidctest.InMemory(), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	t.Cleanup(h.Close)
	o := people.Options{Issuer: h.URL, ClientID: "floodmark", TenantClaim: "org", Now: h.clock, Dial: h.Dial}
	change(&o)
	var err error
	if h.people, err = people.New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.people.Close)
	return h
}

func plain(*people.Options) {}

// good returns the claims of a valid token, with changes. A nil value removes the claim.
func (h *hall) good(change map[string]any) map[string]any {
	c := h.Claims("floodmark", h.clock())
	for name, value := range change {
		c[name] = value
		if value == nil {
			delete(c, name)
		}
	}
	return c
}

// find verifies a token, once the last fetch of keys has ended: a token that comes at that very
// moment is checked with the fetched keys.
func (h *hall) find(t *testing.T, token string) (people.Person, error) {
	synctest.Wait()
	return h.people.Find(t.Context(), token)
}

func (h *hall) finds(t *testing.T, what, token string) {
	t.Helper()
	if _, err := h.find(t, token); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

func (h *hall) refuses(t *testing.T, what, token string) {
	t.Helper()
	who, err := h.find(t, token)
	if !errors.Is(err, people.ErrNobody) || !reflect.DeepEqual(who, people.Person{}) {
		t.Errorf("%s: %+v, %v", what, who, err)
	}
	if err != nil && len(token) > 40 && strings.Contains(err.Error(), token[:40]) {
		t.Errorf("%s: the error quotes the token: %v", what, err)
	}
}

func TestAPersonIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t, plain)
		who, err := h.find(t, h.Sign(h.good(nil)))
		want := people.Person{Tenant: "acme", Name: "anna", Groups: []string{"engineering", "oncall"}, Ends: h.clock().Add(time.Hour)}
		if err != nil || !who.Ends.Equal(want.Ends) {
			t.Fatalf("%+v, %v", who, err)
		}
		who.Ends = want.Ends
		if !reflect.DeepEqual(who, want) {
			t.Errorf("%+v, want %+v", who, want)
		}
		for name, c := range map[string]struct {
			change map[string]any
			want   []string
		}{
			"one group as a text":  {map[string]any{"groups": "oncall"}, []string{"oncall"}},
			"words are no list":    {map[string]any{"groups": "admin oncall"}, []string{"admin oncall"}},
			"commas are no list":   {map[string]any{"groups": "admin,oncall"}, []string{"admin,oncall"}},
			"no groups":            {map[string]any{"groups": nil}, nil},
			"two audiences":        {map[string]any{"aud": []string{"other", "floodmark"}, "azp": "floodmark"}, []string{"engineering", "oncall"}},
			"a clock that is fast": {map[string]any{"iat": h.clock().Add(people.Skew).Unix()}, []string{"engineering", "oncall"}},
		} {
			if who, err := h.find(t, h.Sign(h.good(c.change))); err != nil || !reflect.DeepEqual(who.Groups, c.want) {
				t.Errorf("%s: %+v, %v", name, who, err)
			}
		}
	})
}

// Correctly signed tokens whose claims must be refused.
func TestClaimsThatProveNoIdentity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t, plain)
		many := make([]string, people.MaxGroups+1)
		for i := range many {
			many[i] = fmt.Sprint(i)
		}
		for name, change := range map[string]map[string]any{
			"another issuer":            {"iss": "https://evil.example"},
			"issuer with a slash":       {"iss": h.URL + "/"},
			"no issuer":                 {"iss": nil},
			"another audience":          {"aud": "billing"},
			"no audience":               {"aud": nil},
			"audience begins alike":     {"aud": "floodmark-test"},
			"for another client":        {"azp": "billing"},
			"two audiences, no party":   {"aud": []string{"floodmark", "billing"}},
			"ended":                     {"exp": h.clock().Add(-time.Second).Unix()},
			"ends now":                  {"exp": h.clock().Unix()},
			"no end":                    {"exp": nil},
			"no beginning":              {"iat": nil},
			"from the future":           {"iat": h.clock().Add(people.Skew + time.Second).Unix()},
			"too old":                   {"iat": h.clock().Add(-people.DefaultMaxAge - time.Second).Unix()},
			"not yet":                   {"nbf": h.clock().Add(people.Skew + time.Second).Unix()},
			"no tenant":                 {"org": nil},
			"empty tenant":              {"org": ""},
			"tenant is null":            {"org": json.RawMessage("null")},
			"two tenants":               {"org": []string{"acme", "beta"}},
			"tenant is a number":        {"org": 7},
			"tenant with a NUL":         {"org": "acme\x00"},
			"long tenant":               {"org": strings.Repeat("a", people.MaxClaimBytes+1)},
			"no name":                   {"sub": nil},
			"name that steers":          {"sub": "anna\x1b[2J"},
			"name with a blank":         {"sub": " anna"},
			"name turned around":        {"sub": "anna\u202e"},
			"name with an empty letter": {"sub": "anna\u3164"},
			"name with another blank":   {"sub": "anna\u00a0b"},
			"name with a selector":      {"sub": "anna\ufe0f"},
			"tenant with empty letters": {"org": "acme\u2800"},
			"groups in an object":       {"groups": map[string]any{"admin": true}},
			"a group that is a number":  {"groups": []any{"oncall", 7}},
			"a group that is null":      {"groups": []any{nil}},
			"a group that is empty":     {"groups": []any{""}},
			"groups null":               {"groups": json.RawMessage("null")},
			"too many groups":           {"groups": many},
			"a logout":                  {"events": map[string]any{"http://schemas.openid.net/event/backchannel-logout": map[string]any{}}},
			"tenant in capital letters": {"ORG": "beta"},
		} {
			h.refuses(t, name, h.Sign(h.good(change)))
		}
	})
}

// Parsers differ in reading a duplicate claim.
func TestClaimsThatStandTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t, plain)
		data, err := json.Marshal(h.good(nil))
		if err != nil {
			t.Fatal(err)
		}
		for _, more := range []string{
			`"org":"beta"`, `"groups":["admin"]`, `"sub":"ben"`, `"exp":99999999999`, `"Iss":"` + h.URL + `"`, `"\u006frg":"beta"`,
		} {
			h.refuses(t, more, h.SignBytes([]byte(strings.TrimSuffix(string(data), "}")+","+more+"}")))
			h.refuses(t, more+" first", h.SignBytes([]byte("{"+more+","+string(data[1:]))))
		}
		for _, text := range []string{"", "null", "[]", `"x"`, string(data) + string(data), string(data[:len(data)-1])} {
			h.refuses(t, text, h.SignBytes([]byte(text)))
		}
		if _, err := h.find(t, h.SignBytes(data)); err != nil {
			t.Error(err)
		}
	})
}

// Invalid signatures, each over valid claims.
func TestSignaturesThatProveNoIdentity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t, plain)
		claims, err := json.Marshal(h.good(nil))
		if err != nil {
			t.Fatal(err)
		}
		id, public := h.Public()
		der, err := x509.MarshalPKIXPublicKey(public)
		if err != nil {
			t.Fatal(err)
		}
		jwk, err := json.Marshal(jose.JSONWebKey{Key: public, KeyID: id, Algorithm: "ES256"})
		if err != nil {
			t.Fatal(err)
		}
		part := base64.RawURLEncoding.EncodeToString
		unsigned := func(head string) string { return part([]byte(head)) + "." + part(claims) + "." }
		other := oidctest.InMemory()
		defer other.Close()
		mine, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		withKey := broughtAlong(t, mine, id, claims)
		good := h.SignBytes(claims)
		parts := strings.Split(good, ".")
		forged := bytes.Replace(claims, []byte("acme"), []byte("beta"), 1)
		for name, token := range map[string]string{
			"none":                         unsigned(`{"alg":"none"}`),
			"none with a kid":              unsigned(`{"alg":"none","kid":"` + id + `"}`),
			"None":                         unsigned(`{"alg":"None"}`),
			"no algorithm":                 unsigned(`{}`),
			"HS256 with the public DER":    oidctest.Sign(jose.HS256, der, id, claims),
			"HS256 with the public JWK":    oidctest.Sign(jose.HS256, jwk, id, claims),
			"kid of this, key of another":  oidctest.Sign(jose.ES256, mine, id, claims),
			"another issuer's whole token": other.SignBytes(claims),
			"a key the token brings":       withKey,
			"an unknown key":               oidctest.Sign(jose.ES256, mine, "key-9", claims),
			"other claims":                 parts[0] + "." + part(forged) + "." + parts[2],
			"no signature":                 parts[0] + "." + parts[1] + ".",
			"half a token":                 parts[0] + "." + parts[1],
			"a JSON signature":             `{"payload":"` + parts[1] + `","protected":"` + parts[0] + `","signature":"` + parts[2] + `"}`,
			"nothing":                      "",
			"a machine's token":            "fm_owner_" + strings.Repeat("0", 64),
			"too long":                     good + strings.Repeat("A", people.MaxTokenBytes),
		} {
			h.refuses(t, name, token)
			h.later(time.Second) // so that keys may be asked for
		}
		if _, err := h.find(t, good); err != nil {
			t.Error(err)
		}
	})
}

// broughtAlong returns a token that contains the key that it is signed with.
func broughtAlong(t *testing.T, secret *ecdsa.PrivateKey, id string, claims []byte) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: secret, KeyID: id}}, &jose.SignerOptions{EmbedJWK: true})
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(claims)
	if err != nil {
		t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}
