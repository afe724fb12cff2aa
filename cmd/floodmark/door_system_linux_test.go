package main

import (
	"errors"
	"fmt"
	"syscall"
)

// reserveAddress returns an address at which a monitor can listen later. A socket that is bound to
// the address but does not listen reserves it: the kernel gives the port only to a socket that asks
// for this port.
func reserveAddress() (address string, release func(), err error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return "", nil, err
	}
	release = func() { _ = syscall.Close(fd) } // nothing was written to it
	err = errors.Join(syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1), syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	if err != nil {
		release()
		return "", nil, err
	}
	at, err := syscall.Getsockname(fd)
	if err != nil {
		release()
		return "", nil, err
	}
	return fmt.Sprintf("127.0.0.1:%d", at.(*syscall.SockaddrInet4).Port), release, nil
}
