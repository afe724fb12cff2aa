// Package outward makes HTTP clients that reach one server which the owner named, and no other
// host. They use no proxy, because a daemon's environment must not decide that. They follow no
// redirect, because an answer from elsewhere is not the named server's.
package outward

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// ErrNotHere says that an address which must be on this machine is not.
var ErrNotHere = errors.New("the address is not on this machine, and http goes no further")

// Options describe a client.
type Options struct {
	// Here limits the client to this machine, whatever address a name resolves to.
	Here bool
	// Roots are the authorities that may sign the server's certificate; nil for those that the
	// machine trusts.
	Roots *x509.CertPool
	// DialTime bounds the time to connect. HeaderBytes bounds the head of an answer.
	DialTime    time.Duration
	HeaderBytes int64
	// Idle is how many idle connections are kept, for at most IdleTime. AtOnce bounds all
	// connections; zero means no bound.
	Idle, AtOnce int
	IdleTime     time.Duration
	// HTTP2 says that HTTP/2 is used if the server can.
	HTTP2 bool
	// Named lists the hosts, as host:port, that may have an address which is not public. A host
	// with the value true must be on this machine. All other hosts must have a public address. If
	// Named is nil, there is no such check.
	Named map[string]bool
	// Dial connects instead of the machine's own network, without any check of addresses. Nil means
	// that network. Tests use a network in memory.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Client returns a client for one server.
func Client(o Options) *http.Client {
	dialer := &net.Dialer{Timeout: o.DialTime}
	if o.Here {
		dialer.Control = func(_, address string, _ syscall.RawConn) error {
			if !here(address) {
				return fmt.Errorf("%s: %w", address, ErrNotHere)
			}
			return nil
		}
	}
	dial := dialer.DialContext
	if o.Named != nil {
		dial = o.dialNamed
	}
	if o.Dial != nil {
		dial = o.Dial
	}
	return &http.Client{
		Transport: &http.Transport{
			DialContext:            dial,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.Roots},
			TLSHandshakeTimeout:    o.DialTime,
			ForceAttemptHTTP2:      o.HTTP2,
			MaxResponseHeaderBytes: o.HeaderBytes,
			MaxIdleConnsPerHost:    o.Idle,
			MaxConnsPerHost:        o.AtOnce, // further requests wait
			IdleConnTimeout:        o.IdleTime,
			DisableCompression:     true, // bytes are counted as they were sent
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// here reports whether an address that is about to be dialled is on this machine.
func here(address string) bool {
	to, err := netip.ParseAddrPort(address)
	return err == nil && to.Addr().Unmap().IsLoopback()
}
