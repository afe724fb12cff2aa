//go:build !linux

package peer

import (
	"errors"
	"net/netip"
)

// OfTCP returns an error, because it is not supported here.
func OfTCP(_, _ netip.AddrPort, _ []int, _ Process) (Process, error) {
	return Process{}, errors.ErrUnsupported
}

func tcpPeer(_, _ netip.AddrPort, _ []int, _ Process) (Process, int, error) {
	return Process{}, 0, errors.ErrUnsupported
}

// Listens is not known here.
func Listens(Peer) bool { return true }
