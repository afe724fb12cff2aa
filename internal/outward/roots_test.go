package outward_test

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/floodmark/floodmark/internal/outward"
)

// A text names authorities or is refused; none at all means those the machine trusts.
func TestRoots(t *testing.T) {
	s := httptest.NewTLSServer(http.NotFoundHandler())
	defer s.Close()
	text := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
	for name, roots := range map[string]func(string) (*x509.CertPool, error){"alone": outward.Roots, "beside": outward.RootsBeside} {
		pool, err := roots(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Certificate().Verify(x509.VerifyOptions{Roots: pool}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if pool, err := roots(""); pool != nil || err != nil {
			t.Errorf("%s: nothing named: %v, %v", name, pool, err)
		}
		for _, odd := range []string{" ", "\n", "x", "-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n"} {
			if pool, err := roots(odd); pool != nil || !errors.Is(err, outward.ErrNoCertificate) {
				t.Errorf("%s: %q: %v, %v", name, odd, pool, err)
			}
		}
	}
	if pool, err := outward.Pool(nil); pool != nil || !errors.Is(err, outward.ErrNoCertificate) {
		t.Errorf("an empty file: %v, %v", pool, err)
	}
}
