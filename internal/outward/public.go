package outward

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"github.com/floodmark/floodmark/internal/text/address"
)

// ErrNotPublic says that a host which the owner did not name has an address of this machine or of a
// private network.
var ErrNotPublic = errors.New("the address is not public, and you did not name it")

// dialNamed connects to hosts in Named, and to other hosts only at public addresses. The address is
// checked when it is dialled, because a name may resolve to another address each time.
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

// public reports whether an address that is about to be dialled is public.
func public(to string) bool {
	at, err := netip.ParseAddrPort(to)
	return err == nil && address.Public(at.Addr())
}
