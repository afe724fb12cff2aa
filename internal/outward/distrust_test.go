package outward

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"testing"
)

// Each reason not to trust a connection has its own text, also deep inside another error. No other
// error is taken for one of them.
func TestDistrust(t *testing.T) {
	for want, err := range map[string]error{
		"its certificate is for another host":                            x509.HostnameError{Certificate: &x509.Certificate{}},
		SignedByNobody:                                                   &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}},
		"its certificate has expired, or is not valid yet":               x509.CertificateInvalidError{Reason: x509.Expired},
		"its certificate is not valid":                                   x509.CertificateInvalidError{Reason: x509.TooManyIntermediates},
		"it does not speak TLS there (write http only for this machine)": tls.RecordHeaderError{},
		"no encrypted connection came about":                             tls.AlertError(40),
	} {
		if got := Distrust(fmt.Errorf("one: %w", &url.Error{Op: "Post", URL: "https://x.example", Err: err})); got != want {
			t.Errorf("%T: %q, want %q", err, got, want)
		}
	}
	for err, want := range map[error]string{
		&tls.CertificateVerificationError{Err: errors.New("odd")}: "its certificate is not valid",
		http.ErrSchemeMismatch: "it does not speak TLS there (write http only for this machine)",
		errors.New("http: server gave HTTP response to HTTPS client"): "it does not speak TLS there (write http only for this machine)",
		errors.New("remote error: tls: handshake failure"):            "no encrypted connection came about",
		errors.New("EOF"): "", syscall.ECONNREFUSED: "", error(nil): "",
	} {
		if got := Distrust(err); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
}

func TestUnreached(t *testing.T) {
	for want, err := range map[string]error{
		"x.example:8 is not on this machine, and http goes no further": fmt.Errorf("dial: %w", ErrNotHere),
		"no address is known for x.example":                            &url.Error{Err: &net.DNSError{Name: "x.example"}},
		"nothing listens at x.example:8":                               &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED},
		"the connection to x.example:8 broke off":                      errors.New("secret"),
	} {
		if got := Unreached(err, "x.example:8"); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
	if got := Unreached(&net.DNSError{}, "x.example"); got != "no address is known for x.example" {
		t.Errorf("%q", got)
	}
}
