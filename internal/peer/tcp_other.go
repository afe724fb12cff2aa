//go:build !linux

package peer

import (
	"errors"
	"net/netip"
)

// OfTCP cannot be told here.
func OfTCP(_, _ netip.AddrPort, _ []int, _ Process) (Process, error) {
	return Process{}, errors.ErrUnsupported
}
