//go:build !linux

package main

import (
	"errors"

	"github.com/rogpeppe/go-internal/testscript"
)

// tty needs the pseudo terminals of Linux.
func (*scripts) tty(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Fatalf("there is no pseudo terminal here; begin the script with [!linux] skip")
}

// reserveAddress needs the sockets of Linux.
func reserveAddress() (address string, release func(), err error) {
	return "", nil, errors.New("no address can be reserved here; begin the script with [!linux] skip")
}
