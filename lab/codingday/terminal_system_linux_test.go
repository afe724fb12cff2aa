package codingday

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// takeTerminal gives this process a new terminal, because the monitor shows codes only to a process
// that has a terminal.
func takeTerminal(t *testing.T) {
	t.Helper()
	if _, err := syscall.Setsid(); err != nil {
		t.Fatalf("this process cannot have a terminal of its own: %v; use .ci/coding-live", err)
	}
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fd := int(master.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err = errors.Join(err, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)); err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { runtime.KeepAlive(master); runtime.KeepAlive(slave) }) // closing them would hang up on this process
}
