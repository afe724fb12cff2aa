package webhook

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
)

// CheckURL parses an address. It accepts https to any host, and http only to this machine, because
// an attacker in the network could turn a denial into an approval.
func CheckURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case text == "":
		return nil, errors.New("there is no address (write url: https://verifier.example/verify)")
	case err != nil:
		return nil, errors.New("this is no address (write https://verifier.example/verify)")
	case u.User != nil:
		return nil, errors.New("the address holds a name or a password (send it as a header: Authorization: \"Bearer ${VERIFIER_TOKEN}\")")
	case u.Host == "" || u.Hostname() == "" || u.Opaque != "":
		return nil, errors.New("the address has no host (write https://verifier.example/verify)")
	case u.Fragment != "":
		return nil, errors.New("what stands behind # is never sent (leave it out)")
	case u.Scheme == "https":
		return u, nil
	case u.Scheme != "http":
		return nil, fmt.Errorf("%q is neither https nor http", u.Scheme)
	case !local(u.Hostname()):
		return nil, errors.New("http goes only to this machine, 127.0.0.1, ::1 or localhost: anybody on the way could turn a no into a yes (write https)")
	}
	return u, nil
}

func local(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// Our own headers.
const (
	headerSeed      = "X-OpenClaw-Signature"  // hex HMAC-SHA256 of the body
	headerOurs      = "X-Floodmark-Signature" // the same under our own name
	headerID        = "Webhook-Id"            // Standard Webhooks
	headerTime      = "Webhook-Timestamp"
	headerSignature = "Webhook-Signature"
)

// CheckHeader refuses an invalid header name, and the names of our own headers.
func CheckHeader(name string) error {
	if name == "" || strings.Trim(name, "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") != "" {
		return fmt.Errorf("%.40q is no name of a header", name)
	}
	own := []string{
		headerSeed, headerOurs, headerID, headerTime, headerSignature, "Content-Type", "Content-Length", "Content-Encoding", "Host",
		"Connection", "Transfer-Encoding", "Trailer", "Te", "Upgrade", "Expect", "Proxy-Connection", "Keep-Alive", "Accept", "Accept-Encoding",
	}
	if slices.ContainsFunc(own, func(o string) bool { return strings.EqualFold(o, name) }) {
		return fmt.Errorf("the header %s is set by floodmark itself (leave it out)", name)
	}
	return nil
}
