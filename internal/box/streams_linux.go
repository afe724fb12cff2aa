package box

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// streams gives a command this process's standard streams. If one is a file, the command gets a
// pipe instead, because through /proc it could open the file again: to read what was in a log
// before, to empty it, or to write to its input. A folder would be a way out, so it is refused.
// streams returns the output streams that are files; nothing can be written to them until their
// bound is set.
func streams(cmd *exec.Cmd) (files []*bounded, err error) {
	var was [3]os.FileInfo
	for i, f := range []*os.File{os.Stdin, os.Stdout, os.Stderr} {
		info, err := f.Stat()
		if err != nil {
			return nil, err
		}
		if info.IsDir() || info.Mode()&(os.ModeDevice|os.ModeCharDevice) == os.ModeDevice {
			return nil, fmt.Errorf("standard stream %d is a folder or a disk", i)
		}
		was[i] = info
	}
	file := func(to io.Writer) *bounded {
		b := &bounded{to: to}
		files = append(files, b)
		return b
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if was[0].Mode().IsRegular() {
		cmd.Stdin = struct{ io.Reader }{os.Stdin}
	}
	if was[1].Mode().IsRegular() {
		cmd.Stdout = file(os.Stdout)
	}
	if was[2].Mode().IsRegular() {
		cmd.Stderr = file(os.Stderr)
		if os.SameFile(was[1], was[2]) {
			cmd.Stderr = cmd.Stdout // one pipe, so that lines stay in order
		}
	}
	return files, nil
}

// A bounded writes to a file, up to as many bytes as a box may write.
type bounded struct {
	to   io.Writer
	left atomic.Int64
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.left.Add(-int64(len(p))) < 0 {
		return 0, errors.Join(errors.New("the command has said too much"), syscall.EFBIG)
	}
	return b.to.Write(p)
}

// terminal returns the number, plus one, of the standard stream that is a terminal with this
// process's group in the foreground; zero if there is none.
func terminal() int {
	for fd := range 3 {
		if group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err == nil && group == unix.Getpgrp() {
			return fd + 1
		}
	}
	return 0
}

// takeBack makes this process's group the foreground group of a terminal again, which the command's
// group was. Otherwise the next command of the same shell could not read from it.
func takeBack(terminal int) {
	if terminal == 0 {
		return
	}
	signal.Ignore(syscall.SIGTTOU) // the signal would stop a process in the background
	defer signal.Reset(syscall.SIGTTOU)
	_ = unix.IoctlSetPointerInt(terminal-1, unix.TIOCSPGRP, unix.Getpgrp())
}
