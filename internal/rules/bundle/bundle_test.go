package bundle_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/rules/bundle"
	"github.com/floodmark/floodmark/internal/rules/bundle/bundletest"
)

// A sealed bundle opens with the key that signed it and with no other.
func TestSealAndOpen(t *testing.T) {
	want := bundletest.Bundle("acme", 7)
	sealed := bundletest.Sealed(t, want)
	got, err := bundle.Open(sealed, bundletest.Keys())
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v, %v", got, err)
	}
	if again := bundletest.Sealed(t, got); !bytes.Equal(again, sealed) {
		t.Error("a bundle has two encodings")
	}
	other, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, keys := range map[string][]ed25519.PublicKey{"none": nil, "another": {other}, "short": {bundletest.Keys()[0][:31]}, "empty": {nil}} {
		if _, err := bundle.Open(sealed, keys); !errors.Is(err, bundle.ErrUnknownKey) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A bundle that names another key has no signature by the trusted one.
	forged := bytes.Clone(sealed)
	copy(forged[len("floodmark bundle 1\n"):], other)
	if _, err := bundle.Open(forged, []ed25519.PublicKey{other}); !errors.Is(err, bundle.ErrSignature) {
		t.Errorf("another key in front: %v", err)
	}
}

// Not one bit of a sealed bundle can be changed, cut off or added.
func TestEveryByteIsSigned(t *testing.T) {
	sealed := bundletest.Sealed(t, bundletest.Bundle("acme", 7))
	for i := range sealed {
		for bit := range 8 {
			bad := bytes.Clone(sealed)
			bad[i] ^= 1 << bit
			if b, err := bundle.Open(bad, bundletest.Keys()); err == nil {
				t.Fatalf("byte %d bit %d: %+v", i, bit, b)
			}
		}
		if _, err := bundle.Open(sealed[:i], bundletest.Keys()); err == nil {
			t.Fatalf("cut off at %d", i)
		}
	}
	if _, err := bundle.Open(append(bytes.Clone(sealed), 'x'), bundletest.Keys()); err == nil {
		t.Error("something follows")
	}
}

// A signature of the same bytes for another purpose is not valid for a bundle.
func TestDomain(t *testing.T) {
	sealed := bundletest.Sealed(t, bundletest.Bundle("acme", 7))
	head := len("floodmark bundle 1\n") + ed25519.PublicKeySize
	body := sealed[head+ed25519.SignatureSize:]
	bad := bytes.Clone(sealed)
	copy(bad[head:], ed25519.Sign(bundletest.Key(), body))
	if _, err := bundle.Open(bad, bundletest.Keys()); !errors.Is(err, bundle.ErrSignature) {
		t.Error(err)
	}
}

// Each limit is checked at its value and one beyond.
func TestLimits(t *testing.T) {
	change := func(f func(*bundle.Bundle)) bundle.Bundle {
		b := bundletest.Bundle("acme", 7)
		f(&b)
		return b
	}
	for name, c := range map[string]struct{ good, bad func(*bundle.Bundle) }{
		"policy":  {func(b *bundle.Bundle) { b.Policy = make([]byte, bundle.MaxPolicyBytes) }, func(b *bundle.Bundle) { b.Policy = make([]byte, bundle.MaxPolicyBytes+1) }},
		"empty":   {func(b *bundle.Bundle) { b.Policy = []byte("x") }, func(b *bundle.Bundle) { b.Policy = nil }},
		"note":    {func(b *bundle.Bundle) { b.Note = strings.Repeat("n", bundle.MaxNoteBytes) }, func(b *bundle.Bundle) { b.Note += strings.Repeat("n", bundle.MaxNoteBytes) }},
		"lines":   {func(b *bundle.Bundle) { b.Note = "" }, func(b *bundle.Bundle) { b.Note = "a\nb" }},
		"hidden":  {func(b *bundle.Bundle) { b.Note = "«äö»" }, func(b *bundle.Bundle) { b.Note = "a\u202eb" }},
		"tenant":  {func(b *bundle.Bundle) { b.Tenant = "" }, func(b *bundle.Bundle) { b.Tenant = "a b" }},
		"version": {func(b *bundle.Bundle) { b.Version = bundle.MaxVersion }, func(b *bundle.Bundle) { b.Version = bundle.MaxVersion + 1 }},
		"first":   {func(b *bundle.Bundle) { b.Version = 1 }, func(b *bundle.Bundle) { b.Version = 0 }},
		"floor":   {func(b *bundle.Bundle) { b.Floor = b.Version }, func(b *bundle.Bundle) { b.Floor = b.Version + 1 }},
		"ground":  {func(b *bundle.Bundle) { b.Floor = 1 }, func(b *bundle.Bundle) { b.Floor = 0 }},
		"valid":   {func(b *bundle.Bundle) { b.ValidUntil = b.Made.Add(bundle.MaxValid) }, func(b *bundle.Bundle) { b.ValidUntil = b.Made.Add(bundle.MaxValid + time.Second) }},
		"order":   {func(b *bundle.Bundle) { b.ValidUntil = b.Made.Add(time.Second) }, func(b *bundle.Bundle) { b.ValidUntil = b.Made }},
		"seconds": {func(b *bundle.Bundle) { b.Made = b.Made.Local() }, func(b *bundle.Bundle) { b.Made = b.Made.Add(1) }},
		"never":   {func(*bundle.Bundle) {}, func(b *bundle.Bundle) { b.Made, b.ValidUntil = time.Time{}, time.Time{} }},
	} {
		sealed, err := change(c.good).Seal(bundletest.Key())
		if err != nil || len(sealed) > bundle.MaxSealedBytes {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := bundle.Open(sealed, bundletest.Keys()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := change(c.bad).Seal(bundletest.Key()); !errors.Is(err, bundle.ErrMalformed) {
			t.Errorf("%s, one beyond: %v", name, err)
		}
	}
	if _, err := bundletest.Bundle("acme", 1).Seal(nil); err == nil {
		t.Error("sealed without a key")
	}
	if _, err := bundle.Open(make([]byte, bundle.MaxSealedBytes+1), bundletest.Keys()); !errors.Is(err, bundle.ErrMalformed) {
		t.Error(err)
	}
}

// A bundle is used only for its tenant, as its version, above the floor, and before it expires.
func TestUsable(t *testing.T) {
	b, at := bundletest.Bundle("acme", 7), bundletest.At()
	for _, c := range []struct {
		tenant         string
		version, floor uint64
		now            time.Time
		want           error
	}{
		{"acme", 7, 0, at, nil},
		{"acme", 7, 7, b.ValidUntil.Add(-1), nil},
		{"beta", 7, 0, at, bundle.ErrOther},
		{"acme", 6, 0, at, bundle.ErrOther},
		{"acme", 0, 0, at, bundle.ErrOther},
		{"acme", 7, 8, at, bundle.ErrWithdrawn},
		{"acme", 7, 0, b.ValidUntil, bundle.ErrExpired},
	} {
		if err := b.Usable(c.tenant, c.version, c.floor, c.now); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if (bundle.Bundle{}).Usable("", 0, 0, time.Time{}) == nil {
		t.Error("the zero bundle can be used")
	}
}

// Keys are read in the form in which they are shown, and no error shows a key.
func TestKeys(t *testing.T) {
	secret, public, err := bundle.NewKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	private, err := bundle.ParsePrivate(secret)
	if err != nil || !private.Public().(ed25519.PublicKey).Equal(public) {
		t.Fatal(err)
	}
	if got, err := bundle.ParseKey(bundle.FormatKey(public)); err != nil || !got.Equal(public) {
		t.Fatal(err)
	}
	for _, text := range []string{"", "x", bundle.FormatKey(public) + "\n", strings.TrimSpace(secret), bundle.FormatKey(public[:31])} {
		if _, err := bundle.ParseKey(text); err == nil {
			t.Errorf("%q is taken for a public key", text)
		}
	}
	for _, text := range []string{"", bundle.FormatKey(public), secret[:len(secret)-4], "x" + secret} {
		if _, err := bundle.ParsePrivate(text); err == nil || len(text) > 20 && strings.Contains(err.Error(), text[10:]) {
			t.Errorf("%v", err)
		}
	}
}

func FuzzOpen(f *testing.F) {
	sealed, err := bundletest.Bundle("acme", 7).Seal(bundletest.Key())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sealed)
	f.Add(sealed[:100])
	f.Add([]byte("floodmark bundle 1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := bundle.Claims(data)
		if err != nil {
			if !errors.Is(err, bundle.ErrMalformed) {
				t.Fatal(err)
			}
			return
		}
		// A bundle that can be read is in the one encoding that its author made.
		again, err := b.Seal(bundletest.Key())
		if err != nil {
			t.Fatal(err)
		}
		head := len(again) - (len(data) - 115)
		if head != 115 || !bytes.Equal(again[head:], data[115:]) {
			t.Fatal("a bundle has two encodings")
		}
		if _, err := bundle.Open(data, bundletest.Keys()); err == nil && !bytes.Equal(again, data) {
			t.Fatal("opened what nobody signed")
		}
	})
}
