package peer

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Kin is the table of this machine for a caller that traces the same ancestors again and again, as
// a daemon does at every hook. It keeps their files of /proc open. Such a file always describes the
// process for which it was opened. After that process has ended, reading it fails, even if the
// number is used again. So Kin remembers nothing that can become outdated, and can distinguish a
// process from a later one with the same number. It is safe for concurrent use.
type Kin struct {
	System

	mu    sync.Mutex // guards what is below; never held while reading
	known map[int]*relative
	turn  uint64 // how many processes were opened so far
}

// A relative is a process whose files are open. They are closed when nothing refers to them any
// more.
type relative struct {
	stat, cmdline *os.File
	turn          uint64 // when it was opened
}

// maxKin bounds the processes whose files are kept open, two for each.
const maxKin = 128

// Local returns the table of this machine.
func Local() Table { return &Kin{known: map[int]*relative{}} }

var _ tracer = (*Kin)(nil)

// trace returns a process with its ancestors. It makes sure that each is the parent of the one
// before. If the parent's files were open before trace began, reading them proves it, because the
// parent has not ended since. If they had to be opened, trace reads the child once more and checks
// that it still names this parent.
func (k *Kin) trace(pid int) (Peer, error) {
	k.mu.Lock()
	began := k.turn
	k.mu.Unlock()
	self, err := k.Look(pid)
	if err != nil {
		return Peer{}, err
	}
	p := Peer{Info: self}
	again := func() (Info, error) { return k.glance(pid) } // reads the process before once more
	for at := self; at.Parent > 0; {
		if len(p.Ancestors) >= maxAncestors {
			return Peer{}, tooDeep(pid)
		}
		r, up, err := k.parent(at.Parent)
		if err != nil {
			return Peer{}, err
		}
		if up.Start > at.Start {
			return Peer{}, tooYoung(up.PID)
		}
		if r.turn > began {
			if now, err := again(); err != nil || now.Process != at.Process || now.Parent != at.Parent {
				return Peer{}, errChanged
			}
		}
		p.Ancestors = append(p.Ancestors, up)
		at, again = up, func() (Info, error) { return r.glance(up.PID) }
	}
	return p, nil
}

// parent reads about a process through its open files. If these belong to a process that has ended,
// it opens new ones.
func (k *Kin) parent(pid int) (r *relative, up Info, err error) {
	for range 2 {
		if r, err = k.relative(pid); err != nil {
			break
		}
		if up, err = r.look(pid); err == nil {
			return r, up, nil
		}
		k.forget(pid, r)
	}
	return nil, Info{}, fmt.Errorf("%w: process %d: %w", errChanged, pid, err)
}

// relative returns the open files of a process.
func (k *Kin) relative(pid int) (*relative, error) {
	k.mu.Lock()
	r := k.known[pid]
	k.mu.Unlock()
	if r != nil {
		return r, nil
	}
	dir := "/proc/" + strconv.Itoa(pid)
	r = &relative{}
	var err error
	if r.stat, err = os.Open(dir + "/stat"); err == nil {
		r.cmdline, err = os.Open(dir + "/cmdline")
	}
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.turn++
	r.turn = k.turn
	if len(k.known) >= maxKin {
		for old, o := range k.known {
			if o.turn+maxKin/2 < r.turn { // about half of them, the oldest
				delete(k.known, old)
			}
		}
	}
	k.known[pid] = r
	return r, nil
}

// forget drops a process that has ended.
func (k *Kin) forget(pid int, r *relative) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.known[pid] == r {
		delete(k.known, pid)
	}
}

// glance reads the line /proc/PID/stat of a process, and nothing else.
func (k *Kin) glance(pid int) (Info, error) {
	line, err := readOnce("/proc/"+strconv.Itoa(pid)+"/stat", maxStatBytes)
	if err != nil {
		return Info{}, err
	}
	return parseStat(line)
}

// glance reads only /proc/PID/stat of the process, from the file that is already open.
func (r *relative) glance(pid int) (Info, error) {
	var room [maxStatBytes]byte
	line, err := readAgain(r.stat, room[:])
	if err != nil {
		return Info{}, err
	}
	info, err := parseStat(line)
	if err == nil && info.PID != pid {
		err = errChanged
	}
	return info, err
}

// look reads everything but the user, which is not needed of an ancestor.
func (r *relative) look(pid int) (Info, error) {
	info, err := r.glance(pid)
	if err != nil {
		return Info{}, err
	}
	var room [maxCommandBytes]byte
	if b, err := readAgain(r.cmdline, room[:]); err == nil {
		info.Command = strings.Split(strings.TrimRight(string(b), "\x00"), "\x00")
	}
	info.UID = -1
	return info, nil
}

// readAgain reads the present beginning of an open file of /proc.
func readAgain(f *os.File, b []byte) ([]byte, error) {
	n, err := unix.Pread(int(f.Fd()), b, 0)
	for errors.Is(err, unix.EINTR) {
		n, err = unix.Pread(int(f.Fd()), b, 0)
	}
	runtime.KeepAlive(f)
	if err != nil {
		return nil, err
	}
	return b[:n], nil
}
