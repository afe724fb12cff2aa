// Package outward reaches one server that the owner named, and no other: by no
// proxy, because the environment of a daemon is not where that is decided, and
// following no redirect, because an answer from elsewhere is not that server's.
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

// Options are what a client is made of.
type Options struct {
	// Here reaches this machine only, whatever names mean.
	Here bool
	// Roots sign the server's certificate; nil for those the machine trusts.
	Roots *x509.CertPool
	// DialTime bounds reaching the server, HeaderBytes the head of an answer.
	DialTime    time.Duration
	HeaderBytes int64
	// Idle connections are kept for IdleTime; AtOnce bounds all of them, zero
	// does not.
	Idle, AtOnce int
	IdleTime     time.Duration
	// HTTP2 is spoken where the server does.
	HTTP2 bool
	// Named are the only ones, as host:port, that may have any address; true for
	// one that must be on this machine. All others must have a public address.
	// Nil names none and bounds nothing.
	Named map[string]bool
	// Dial connects in the place of the machine's own network, whatever the other
	// fields say about addresses; nil for that network. Tests have one in memory.
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
			MaxConnsPerHost:        o.AtOnce, // requests beyond that wait
			IdleConnTimeout:        o.IdleTime,
			DisableCompression:     true, // what is counted is what was sent
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// here reports whether an address, as it is about to be dialled, is on this
// machine.
func here(address string) bool {
	to, err := netip.ParseAddrPort(address)
	return err == nil && to.Addr().Unmap().IsLoopback()
}
