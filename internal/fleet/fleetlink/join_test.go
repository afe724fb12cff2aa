package fleetlink

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"connectrpc.com/connect"

	"github.com/floodmark/floodmark/wire"
)

// A laptop sends nothing except over trusted TLS.
func TestTrust(t *testing.T) {
	f := newFakeFleet(t)
	for _, address := range []string{"http://floodmark.example", "floodmark.example", "https://", "https://u:p@floodmark.example", "https://floodmark.example?x=1", "ftp://floodmark.example"} {
		if _, err := Dial(address, "", "t"); err == nil {
			t.Errorf("%s is dialled", address)
		}
	}
	m, err := Enrol(t.Context(), f.url, "", "secret-credential", &wire.EnrolRequest{}, f.now())
	if err == nil || strings.Contains(err.Error(), "secret") || len(f.tokens) > 0 {
		t.Errorf("a fleet that nobody vouches for: %+v, %v", m, err)
	}
	if err == nil || !strings.HasSuffix(err.Error(), "; name the file with its certificate authority with --ca") {
		t.Errorf("no word of what to do: %v", err)
	}
	if _, err := Dial(f.url, "no certificate", "t"); err == nil {
		t.Error("an authority without a certificate")
	}
	moved := httptest.NewTLSServer(http.RedirectHandler(f.url, http.StatusTemporaryRedirect))
	t.Cleanup(moved.Close)
	ca := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: moved.Certificate().Raw}))
	if _, err := Enrol(t.Context(), moved.URL, ca+f.ca, "credential", &wire.EnrolRequest{}, f.now()); err == nil || len(f.tokens) > 0 {
		t.Errorf("a redirect was followed: %v", err)
	}
}

// The error of a failed join says what to do.
func TestWhyNotJoined(t *testing.T) {
	c := &Caller{Base: "https://fleet.example", host: "fleet.example"}
	unknown := x509.UnknownAuthorityError{}
	for name, got := range map[string]string{
		"name the file with its certificate authority with --ca": c.whyNot(unknown, false), "not signed by whom you named; name the file with the right authority": c.whyNot(unknown, true),
		"nothing listens at fleet.example": c.whyNot(syscall.ECONNREFUSED, false),
	} {
		if !strings.Contains(got, name) {
			t.Errorf("%q is not in %q", name, got)
		}
	}
	for code, want := range map[connect.Code]string{connect.CodeUnauthenticated: "the fleet does not know what you showed", connect.CodePermissionDenied: "what you showed may not enrol laptops; it takes a token"} {
		f := newFakeFleet(t)
		f.set(func() { f.refuses = connect.NewError(code, errors.New("no")) })
		if _, err := Enrol(t.Context(), f.url, f.ca, "credential", &wire.EnrolRequest{}, f.now()); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v: %v", code, err)
		}
	}
}

// A membership is stored only if it can be read again.
func TestEnrolled(t *testing.T) {
	f := newFakeFleet(t)
	key := member().Keys[0]
	long := strings.Repeat("x", maxText+1)
	for name, c := range map[string]struct {
		given *wire.EnrolResponse
		ok    bool
	}{
		"good": {&wire.EnrolResponse{Machine: "m1", Token: "t", Tenant: "acme", BundleKeys: []string{key}}, true}, "no tenant, no keys": {&wire.EnrolResponse{Machine: "m1", Token: "t"}, true},
		"nothing": {&wire.EnrolResponse{}, false}, "no token": {&wire.EnrolResponse{Machine: "m1"}, false}, "two lines": {&wire.EnrolResponse{Machine: "m\n1", Token: "t"}, false},
		"long": {&wire.EnrolResponse{Machine: long, Token: "t"}, false}, "long tenant": {&wire.EnrolResponse{Machine: "m", Token: "t", Tenant: long}, false},
		"no key": {&wire.EnrolResponse{Machine: "m", Token: "t", BundleKeys: []string{"x"}}, false}, "many keys": {&wire.EnrolResponse{Machine: "m", Token: "t", BundleKeys: slices.Repeat([]string{key}, 99)}, false},
	} {
		f.set(func() { f.enrols = c.given })
		m, err := Enrol(t.Context(), f.url, f.ca, "credential", &wire.EnrolRequest{}, f.now())
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
		path := filepath.Join(t.TempDir(), "fleet.json")
		if err := m.Save(path); err != nil {
			t.Fatal(err)
		}
		if _, is, err := Load(path); is != c.ok {
			t.Errorf("%s: read again: %v, %v", name, is, err)
		}
	}
}
