package peer

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"net"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// System is the table of this machine, read from /proc.
type System struct{}

var _ Table = System{}

// maxCommandBytes bounds what is read of a process's command line.
const maxCommandBytes = 4096

// maxStatBytes is more than the kernel writes to a process's line.
const maxStatBytes = 1024

// ticksPerSecond is the unit in which the kernel tells times to programs, on every machine.
const ticksPerSecond = 100

// Now returns the present time in the units of [Process.Start].
func Now() uint64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		return math.MaxUint64 // nothing began after that
	}
	return uint64(t.Nano()) / (1e9 / ticksPerSecond)
}

// Of returns the number and the user of the process that opened a connection, as the kernel
// recorded them when it did.
func Of(c net.Conn) (pid, uid int, err error) {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return 0, 0, fmt.Errorf("%w: not a local socket", ErrUnknown)
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return 0, 0, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	var cred *unix.Ucred
	var inner error
	err = raw.Control(func(fd uintptr) {
		cred, inner = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err = errors.Join(err, inner); err != nil {
		return 0, 0, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	if cred.Pid <= 0 {
		return 0, 0, fmt.Errorf("%w: it is outside this process namespace", ErrUnknown)
	}
	return int(cred.Pid), int(cred.Uid), nil
}

// Look implements [Table].
func (System) Look(pid int) (Info, error) {
	dir := "/proc/" + strconv.Itoa(pid)
	stat, err := readOnce(dir+"/stat", maxStatBytes)
	if err != nil {
		return Info{}, fmt.Errorf("%w: process %d: %w", ErrUnknown, pid, err)
	}
	info, err := parseStat(stat)
	if err != nil {
		return Info{}, fmt.Errorf("%w: process %d: %w", ErrUnknown, pid, err)
	}
	var owner unix.Stat_t
	if err := unix.Stat(dir, &owner); err != nil {
		return Info{}, fmt.Errorf("%w: process %d: %w", ErrUnknown, pid, err)
	}
	info.UID = int(owner.Uid)
	info.Command = command(dir + "/cmdline")
	return info, nil
}

// parseStat reads a line of /proc/PID/stat. The name is in brackets and may itself contain brackets
// and spaces, so the last closing bracket ends it.
func parseStat(stat []byte) (Info, error) {
	open, shut := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if open < 0 || shut < open {
		return Info{}, errors.New("no name in its line")
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(stat[:open])))
	if err != nil {
		return Info{}, errors.New("no number in its line")
	}
	const state, ppid, tty, start = 0, 1, 4, 19 // proc(5), counted from behind the name
	var f [start + 1]string
	n := 0
	for word := range strings.FieldsSeq(string(stat[shut+1:])) {
		if n == len(f) {
			break
		}
		f[n] = word
		n++
	}
	if n < len(f) {
		return Info{}, errors.New("its line is too short")
	}
	if f[state] == "Z" || f[state] == "X" {
		return Info{}, errors.New("it has ended")
	}
	parent, err := strconv.Atoi(f[ppid])
	began, err2 := strconv.ParseUint(f[start], 10, 64)
	terminal, err3 := strconv.Atoi(f[tty])
	if err := errors.Join(err, err2, err3); err != nil {
		return Info{}, errors.New("its line is not one")
	}
	return Info{
		Process: Process{PID: pid, Start: began}, Parent: parent,
		Name: string(stat[open+1 : shut]), Terminal: terminal != 0,
	}, nil
}

// command reads a process's arguments. A process chooses its own arguments, so they may only be
// held against it.
func command(file string) []string {
	b, err := readOnce(file, maxCommandBytes)
	if err != nil {
		return nil // unreadable arguments are none
	}
	return strings.Split(strings.TrimRight(string(b), "\x00"), "\x00")
}

// readOnce reads the beginning of a file of /proc. It needs three system calls instead of the
// library's ten, because it is called for every ancestor at every hook.
func readOnce(file string, limit int) ([]byte, error) {
	fd, err := unix.Open(file, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	b := make([]byte, limit)
	n, err := unix.Read(fd, b)
	for errors.Is(err, unix.EINTR) {
		n, err = unix.Read(fd, b)
	}
	if err := errors.Join(err, unix.Close(fd)); err != nil {
		return nil, err
	}
	return b[:n], nil
}
