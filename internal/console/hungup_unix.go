//go:build unix

package console

import (
	"net"
	"syscall"
)

// hungUp reports whether the other end of a connection was closed. It reads nothing.
func hungUp(conn net.Conn) (gone bool) {
	if g, ok := conn.(*guest); ok {
		conn = g.Conn
	}
	s, ok := conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return true
	}
	err = raw.Control(func(fd uintptr) { // not Read, which waits for a Read under way
		n, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK)
		gone = n == 0 && err == nil || err == syscall.ECONNRESET
	})
	return gone || err != nil
}
