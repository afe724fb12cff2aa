package main

import (
	"crypto/sha256"
	"testing"
)

// The first run of a contender must not set the number of runs in a slice. A step of the kernel was
// once timed in slices of a single run, because its first run was slow: 239 µs instead of 21.
func TestTheFirstRunSetsNoSlice(t *testing.T) {
	first := true
	n, err := calibrate(contender{run: func(n int) error {
		size := 1 << 10 * n
		if first {
			size, first = 32<<20, false
		}
		sha256.Sum256(make([]byte, size))
		return nil
	}})
	if err != nil || n < 50 {
		t.Errorf("a kilobyte is hashed %d times in a slice (%v)", n, err)
	}
}
