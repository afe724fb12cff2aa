package box

import (
	"errors"
	"os"
	"runtime/debug"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A box begins with a low priority, so that a short command ends soon also on a busy machine. A
// longer command only gets time that nothing else wants, so that a thousand busy processes in a box
// take less than one outside.
const (
	lowPriority = 10
	idleAfter   = time.Second
	idleAgain   = 200 * time.Millisecond
	idleLater   = 2 * time.Second
)

// lower gives this thread a low priority, unless its priority is lower already.
func lower() error {
	const best = 20 // the system call returns 20 minus the nice value
	is, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil || best-is >= lowPriority {
		return err
	}
	return unix.Setpriority(unix.PRIO_PROCESS, 0, lowPriority)
}

// makeIdle makes all processes in the box idle, again and again. The processes that an idle process
// starts are idle, too, and none can raise its priority.
func makeIdle() {
	debug.SetGCPercent(100) // garbage collection was off, so that this process starts faster
	for {
		if idleOnce() {
			time.Sleep(idleAgain)
		} else {
			time.Sleep(idleLater)
		}
	}
}

// idleOnce makes the processes that it finds idle, and reports whether there were any that were
// not. It reads one process at a time and makes it idle at once. A process that forks and ends
// would be gone after a whole list was read; but its child has a higher number and is read next.
func idleOnce() (found bool) {
	self := strconv.Itoa(os.Getpid())
	_ = oneByOne("/proc", func(process string) {
		if process == self {
			return
		}
		if idle(process) {
			found = true
		}
		_ = oneByOne("/proc/"+process+"/task", func(thread string) {
			if idle(thread) {
				found = true
			}
		})
	})
	return found
}

// oneByOne calls tell for each number in a folder of /proc as soon as it is read.
func oneByOne(folder string, tell func(number string)) error {
	fd, err := unix.Open(folder, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	// The buffer has room for one entry with a number, or for the longest other name.
	buffer := make([]byte, 40)
	for {
		n, err := unix.ReadDirent(fd, buffer)
		if errors.Is(err, unix.EINVAL) && len(buffer) < 4096 { // a longer name
			buffer = make([]byte, 2*len(buffer))
			continue
		}
		if err != nil || n <= 0 {
			return err
		}
		_, _, names := unix.ParseDirent(buffer[:n], -1, nil)
		for _, name := range names {
			if name[0] >= '1' && name[0] <= '9' {
				tell(name)
			}
		}
	}
}

// idle makes a thread idle, and reports whether it was not idle before.
func idle(thread string) bool {
	id, err := strconv.Atoi(thread)
	if err != nil {
		return false
	}
	const policyIdle = 5
	param := struct{ priority int32 }{}
	if policy, _, e := unix.Syscall(unix.SYS_SCHED_GETSCHEDULER, uintptr(id), 0, 0); e != 0 || policy == policyIdle {
		return e != 0 // it has ended, and may have started another
	}
	_, _, _ = unix.Syscall(unix.SYS_SCHED_SETSCHEDULER, uintptr(id), policyIdle, uintptr(unsafe.Pointer(&param)))
	return true
}
