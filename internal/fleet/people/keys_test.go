package people_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/floodmark/floodmark/internal/fleet/people"
	"github.com/floodmark/floodmark/internal/fleet/people/oidctest"
)

// A new key is accepted at once. A withdrawn key is refused after KeysFor, although the library
// would trust it until it finds another one.
func TestKeysAreRotated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t, plain)
		before := h.Sign(h.good(nil))
		if _, err := h.find(t, before); err != nil {
			t.Fatal(err)
		}
		h.Rotate("key-2")
		h.later(2 * time.Second)
		h.finds(t, "a new key", h.Sign(h.good(nil)))
		h.finds(t, "the old key beside it", before)
		h.Withdraw()
		h.later(people.KeysFor)
		h.refuses(t, "a withdrawn key", before)
		h.finds(t, "the key that is left", h.Sign(h.good(nil)))
	})
}

// While the provider does not answer, its last keys are accepted for a while. Before its first
// answer every token is refused.
func TestAProviderThatIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t, plain)
		h.Down(true)
		if _, err := h.find(t, h.Sign(h.good(nil))); !errors.Is(err, people.ErrUnreached) {
			t.Errorf("before it answered: %v", err)
		}
		h.Down(false)
		h.later(time.Minute)
		h.finds(t, "once it answers", h.Sign(h.good(nil)))
		h.Down(true)
		h.later(people.KeysFor)
		h.finds(t, "its last keys", h.Sign(h.good(nil)))
		h.later(people.KeysFor)
		h.finds(t, "its last keys, later", h.Sign(h.good(nil)))
		h.later(people.KeysWithout)
		if _, err := h.find(t, h.Sign(h.good(nil))); !errors.Is(err, people.ErrUnreached) {
			t.Errorf("after an hour: %v", err)
		}
		h.Down(false)
		h.later(time.Minute)
		h.finds(t, "it answers again", h.Sign(h.good(nil)))
	})
}

// Tokens with invented keys neither flood the provider nor keep other people out.
func TestInventedKeysAreNoFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t, plain)
		good := h.Sign(h.good(nil))
		if _, err := h.find(t, good); err != nil {
			t.Fatal(err)
		}
		mine, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		claims := []byte(`{"iss":"x"}`)
		for i := range 200 {
			if _, err := h.find(t, oidctest.Sign(jose.ES256, mine, "key-"+string(rune('a'+i%26)), claims)); err == nil {
				t.Fatal("let in")
			}
		}
		if n := h.Asked(); n > 10 {
			t.Errorf("asked for keys %d times", n)
		}
		if _, err := h.find(t, good); err != nil {
			t.Errorf("somebody honest: %v", err)
		}
	})
}

func TestOptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := func() time.Time { return time.Unix(0, 0) }
		for name, o := range map[string]people.Options{
			"http":         {Issuer: "http://login.example", ClientID: "f", Now: now},
			"no address":   {Issuer: "login", ClientID: "f", Now: now},
			"a query":      {Issuer: "https://login.example?x=1", ClientID: "f", Now: now},
			"a password":   {Issuer: "https://a:b@login.example", ClientID: "f", Now: now},
			"no client":    {Issuer: "https://login.example", Now: now},
			"no clock":     {Issuer: "https://login.example", ClientID: "f"},
			"tenant twice": {Issuer: "https://login.example", ClientID: "f", Now: now, Tenant: "a", TenantClaim: "org"},
		} {
			if _, err := people.New(o); err == nil {
				t.Error(name)
			}
		}
		// An unverified email may be another person's.
		h := newHall(t, func(o *people.Options) {
			o.NameClaim, o.TenantClaim, o.Tenant, o.Audience = "email", "", "acme", "https://floodmark.example"
		})
		said := map[string]any{"email": "anna@firm.example", "aud": "https://floodmark.example", "org": nil}
		h.refuses(t, "an unverified email", h.Sign(h.good(said)))
		said["email_verified"] = "true"
		h.refuses(t, "a text for a yes", h.Sign(h.good(said)))
		said["email_verified"] = true
		if who, err := h.find(t, h.Sign(h.good(said))); err != nil || who.Name != "anna@firm.example" || who.Tenant != "acme" {
			t.Errorf("%+v, %v", who, err)
		}
		said["aud"] = "floodmark"
		h.refuses(t, "the client where an audience is set", h.Sign(h.good(said)))
	})
}

func FuzzFind(f *testing.F) {
	h := newHall(f, plain)
	good := h.Sign(h.good(nil))
	f.Add(good)
	f.Add("a.b.c")
	f.Add(`{"payload":""}`)
	f.Fuzz(func(t *testing.T, token string) {
		// Several base64 texts can stand for the same bytes.
		if who, err := h.people.Find(t.Context(), token); err == nil && (who.Name != "anna" || who.Tenant != "acme" || !strings.HasPrefix(token, good[:strings.LastIndex(good, ".")])) {
			t.Errorf("let in by %q", token)
		}
		h.later(time.Millisecond)
	})
}

// Tokens with invented keys cannot make the provider look silent, and so keep a withdrawn key
// alive.
func TestAFloodKeepsNoWithdrawnKeyAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t, plain)
		before := h.Sign(h.good(nil))
		if _, err := h.find(t, before); err != nil {
			t.Fatal(err)
		}
		h.Rotate("key-2")
		h.Withdraw()
		h.later(people.KeysFor)
		mine, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 20 {
			if _, err := h.find(t, oidctest.Sign(jose.ES256, mine, "key-"+string(rune('a'+i)), []byte(`{"iss":"x"}`))); err == nil {
				t.Fatal("let in")
			}
		}
		if who, err := h.find(t, before); err == nil {
			t.Errorf("a withdrawn key lets in %+v", who)
		}
	})
}

// A request that is cancelled during the first query to the provider does not keep others out.
func TestACancelledRequestKeepsNoOthersOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t, plain)
		good := h.Sign(h.good(nil))
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		_, _ = h.people.Find(gone, good)
		if _, err := h.people.Find(t.Context(), good); err != nil {
			t.Errorf("the next: %v", err)
		}
	})
}
