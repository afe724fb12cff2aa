//go:build !unix

package console

import "net"

// hungUp returns false: this system is not supported.
func hungUp(net.Conn) bool { return false }
