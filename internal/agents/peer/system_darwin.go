package peer

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// System is the table of this machine, asked by sysctl.
type System struct{}

var _ Table = System{}

// Now returns the present time in the units of [Process.Start].
func Now() uint64 { return uint64(time.Now().UnixMicro()) }

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
	var cred *unix.Xucred
	var inner, inner2 error
	err = raw.Control(func(fd uintptr) {
		pid, inner = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID)
		cred, inner2 = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	})
	if err = errors.Join(err, inner, inner2); err != nil || pid <= 0 {
		return 0, 0, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	return pid, int(cred.Uid), nil
}

// Look implements [Table].
func (System) Look(pid int) (Info, error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return Info{}, fmt.Errorf("%w: process %d: %w", ErrUnknown, pid, err)
	}
	began := k.Proc.P_starttime
	name, _, _ := bytes.Cut(k.Proc.P_comm[:], []byte{0})
	return Info{
		Process: Process{PID: pid, Start: uint64(began.Sec)*1e6 + uint64(began.Usec)},
		Parent:  int(k.Eproc.Ppid), UID: int(k.Eproc.Ucred.Uid), Name: string(name),
		Terminal: k.Eproc.Tdev != -1, Command: command(pid),
	}, nil
}

// command reads a process's arguments from the kernel's record: their number, the program, zeros,
// then the arguments. A process chooses its own arguments, so they may only be held against it.
func command(pid int) []string {
	b, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil || len(b) < 4 {
		return nil
	}
	count := int(binary.NativeEndian.Uint32(b))
	_, rest, _ := bytes.Cut(b[4:], []byte{0})
	words := strings.Split(string(bytes.TrimLeft(rest, "\x00")), "\x00")
	return words[:max(0, min(count, len(words)))]
}
