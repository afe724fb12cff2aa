//go:build !linux

package main

import "github.com/rogpeppe/go-internal/testscript"

// tty needs the pseudo terminals of Linux.
func (*scripts) tty(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Fatalf("there is no pseudo terminal here; begin the script with [!linux] skip")
}
