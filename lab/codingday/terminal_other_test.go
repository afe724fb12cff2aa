//go:build !linux

package codingday

import "testing"

// takeTerminal skips the test, because the machine that .ci/coding-live makes is Linux.
func takeTerminal(t *testing.T) {
	t.Helper()
	t.Skip("a live day needs Linux")
}
