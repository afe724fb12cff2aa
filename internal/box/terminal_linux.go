package box

import (
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// terminal returns which standard stream is the terminal that this process is in
// the foreground of, plus one; zero if none is.
func terminal() int {
	for fd := range 3 {
		if group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err == nil && group == unix.Getpgrp() {
			return fd + 1
		}
	}
	return 0
}

// takeBack makes this process's group the one that the keys of a terminal send
// signals to, which was the command's: what follows in the same shell may read.
func takeBack(terminal int) {
	if terminal == 0 {
		return
	}
	signal.Ignore(syscall.SIGTTOU) // it would stop a process in the background
	defer signal.Reset(syscall.SIGTTOU)
	_ = unix.IoctlSetPointerInt(terminal-1, unix.TIOCSPGRP, unix.Getpgrp())
}
