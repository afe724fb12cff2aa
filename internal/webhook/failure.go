package webhook

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/floodmark/floodmark/internal/outward"
	"github.com/floodmark/floodmark/verify"
)

// failure words what went wrong on the way, and whether it may pass. Nothing the
// other side sent is in the words.
func (h *Hook) failure(ctx context.Context, err error) (_ *verify.Failure, again bool) {
	switch {
	case ctx.Err() != nil || errors.Is(err, os.ErrDeadlineExceeded):
		return &verify.Failure{Kind: verify.TimedOut, Text: "it did not answer within " + seconds(h.limit)}, false
	case errors.Is(err, outward.ErrNotHere):
		return &verify.Failure{Kind: verify.Unreachable, Text: h.url.Host + " is not on this machine, and http goes no further"}, false
	}
	if text := distrust(err); text != "" {
		return &verify.Failure{Kind: verify.Untrusted, Text: "the connection to " + h.url.Host + " cannot be trusted: " + text}, false
	}
	if dns := (*net.DNSError)(nil); errors.As(err, &dns) {
		return &verify.Failure{Kind: verify.Unreachable, Text: "no address is known for " + h.url.Hostname()}, true
	}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return &verify.Failure{Kind: verify.Unreachable, Text: "nothing listens at " + h.url.Host}, true
	case strings.Contains(err.Error(), "server response headers exceeded"):
		return &verify.Failure{Kind: verify.TooLarge, Text: "the headers of its answer are longer than 16 KB"}, false
	case strings.Contains(err.Error(), "malformed HTTP"):
		return &verify.Failure{Kind: verify.Malformed, Text: "its answer was not understood: it is not HTTP"}, false
	}
	return &verify.Failure{Kind: verify.Unreachable, Text: "the connection to " + h.url.Host + " broke off"}, true
}

// distrust says why a certificate or an encrypted connection was refused, or
// nothing.
func distrust(err error) string {
	var (
		host    x509.HostnameError
		signed  x509.UnknownAuthorityError
		invalid x509.CertificateInvalidError
		record  tls.RecordHeaderError
		alert   tls.AlertError
		other   *tls.CertificateVerificationError
	)
	switch {
	case errors.As(err, &host):
		return "its certificate is for another host"
	case errors.As(err, &signed):
		return "its certificate is signed by nobody this machine trusts (name who signs it in «ca:» if it is your own)"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "its certificate has expired, or is not valid yet"
	case errors.As(err, &invalid), errors.As(err, &other):
		return "its certificate is not valid"
	case errors.As(err, &record), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return "it does not speak TLS there (write http only for this machine)"
	case errors.As(err, &alert), strings.Contains(err.Error(), "tls: "):
		return "no encrypted connection came about"
	}
	return ""
}

func seconds(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.3g s", d.Seconds())
}
