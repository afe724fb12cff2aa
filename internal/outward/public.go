package outward

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"github.com/floodmark/floodmark/internal/address"
)

// ErrNotPublic says that an address which a stranger named is one of this machine
// or of a private network.
var ErrNotPublic = errors.New("the address is not public, and you did not name it")

// dialNamed reaches those that were named, and strangers only at public
// addresses. What a name means is looked at when it is dialled: it may mean
// something else each time it is asked for.
func (o Options) dialNamed(ctx context.Context, network, host string) (net.Conn, error) {
	local, named := o.Named[host]
	dialer := &net.Dialer{Timeout: o.DialTime, Control: func(_, to string, _ syscall.RawConn) error {
		switch {
		case named && local && !here(to):
			return fmt.Errorf("%s: %w", to, ErrNotHere)
		case !named && !public(to):
			return fmt.Errorf("%s: %w", host, ErrNotPublic)
		}
		return nil
	}}
	return dialer.DialContext(ctx, network, host)
}

// public reports whether an address, as it is about to be dialled, is one of the
// open network.
func public(to string) bool {
	at, err := netip.ParseAddrPort(to)
	return err == nil && address.Public(at.Addr())
}
