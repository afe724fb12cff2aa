package daemon

import (
	"testing"
	"time"
)

// wait gives something time to come true.
func wait(t *testing.T, what string, ok func() bool) {
	t.Helper()
	t.Logf("waits for %s", what)
	for !ok() {
		time.Sleep(10 * time.Millisecond)
	}
}

// eventually waits until something is so.
func eventually(t *testing.T, what string, so func() bool) { t.Helper(); wait(t, what, so) }
