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

// streams gives a command this process's standard streams. Through /proc a command can open the
// file behind a descriptor again: to read what was in a log before, to empty it, or to write to its
// input. So files stay outside, and the command has pipes. A folder would be a way out and is
// refused. It returns the streams that are files: nothing is written to them until they have a
// bound.
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

// bounded writes to a file what a box may write to one.
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
