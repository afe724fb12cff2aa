package outward

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
)

// ErrNotPublic says that an address which a stranger named is one of this machine
// or of a network that is nobody else's.
var ErrNotPublic = errors.New("the address is not public, and you did not name it")

// dialNamed reaches those that were named, and strangers only where anybody could
// reach them. What a name means is looked at when it is dialled: it may mean
// something else each time it is asked for.
func (o Options) dialNamed(ctx context.Context, network, address string) (net.Conn, error) {
	local, named := o.Named[address]
	dialer := &net.Dialer{Timeout: o.DialTime, Control: func(_, to string, _ syscall.RawConn) error {
		switch {
		case named && local && !here(to):
			return fmt.Errorf("%s: %w", to, ErrNotHere)
		case !named && !public(to):
			return fmt.Errorf("%s: %w", address, ErrNotPublic)
		}
		return nil
	}}
	return dialer.DialContext(ctx, network, address)
}

// public reports whether an address, as it is about to be dialled, is one of the
// open network, by the registries of special addresses (RFC 6890 and after).
func public(address string) bool {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return false
	}
	ip := to.Addr().Unmap()
	if ip.Zone() != "" || !ip.IsGlobalUnicast() || ip.IsPrivate() {
		return false
	}
	within := []string{"2000::/3", "0.0.0.0/0"}
	without := []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
	}
	return in(ip, within) && !in(ip, without)
}

func in(ip netip.Addr, prefixes []string) bool {
	for _, text := range prefixes {
		if netip.MustParsePrefix(text).Contains(ip) {
			return true
		}
	}
	return false
}
