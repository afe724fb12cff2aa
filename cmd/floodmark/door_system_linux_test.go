package main

import (
	"errors"
	"fmt"
	"syscall"
)

// reserveAddress finds an address that a monitor can listen at later. A socket that is
// bound and does not listen holds it meanwhile: the kernel gives its port to no socket
// that wants any port, and lets a listener that asks for this one have it.
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
