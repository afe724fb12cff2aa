package outward

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"strings"
	"syscall"
)

// SignedByNobody is what [Distrust] says of a certificate from an unknown authority. A caller whose
// users can name an authority may add how to do that.
const SignedByNobody = "its certificate is signed by nobody this machine trusts"

// SignedByOthers is said instead of [SignedByNobody] if the user has named an authority.
const SignedByOthers = "its certificate is not signed by whom you named"

// Distrust says to people why a certificate or an encrypted connection was refused. It returns an
// empty string if err is about something else.
func Distrust(err error) string {
	var (
		host    x509.HostnameError
		signed  x509.UnknownAuthorityError
		invalid x509.CertificateInvalidError
		record  tls.RecordHeaderError
		alert   tls.AlertError
		other   *tls.CertificateVerificationError
	)
	switch {
	case err == nil:
		return ""
	case errors.As(err, &host):
		return "its certificate is for another host"
	case errors.As(err, &signed):
		return SignedByNobody
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "its certificate has expired, or is not valid yet"
	case errors.As(err, &invalid), errors.As(err, &other):
		return "its certificate is not valid"
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return "it does not speak TLS there (write http only for this machine)"
	case errors.As(err, &alert), strings.Contains(err.Error(), "tls: "):
		return "no encrypted connection came about"
	}
	return ""
}

// Unreached says to people why a host could not be reached, or why the connection broke off. It
// does not show the text of err, which may contain an address that is a secret.
func Unreached(err error, host string) string {
	name, _, split := net.SplitHostPort(host)
	if split != nil {
		name = host
	}
	switch dns := (*net.DNSError)(nil); {
	case errors.Is(err, ErrNotHere):
		return host + " is not on this machine, and http goes no further"
	case errors.As(err, &dns):
		return "no address is known for " + name
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens at " + host
	}
	return "the connection to " + host + " broke off"
}
