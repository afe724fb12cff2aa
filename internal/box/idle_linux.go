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

// A box begins with a low priority, so that a short command ends soon on a busy
// machine too. What runs longer only gets the time that nothing else wants: then
// a thousand busy processes in a box take less than one outside.
const (
	lowPriority = 10
	idleAfter   = time.Second
	idleAgain   = 200 * time.Millisecond
	idleLater   = 2 * time.Second
)

// lower gives this thread a low priority, unless it has a lower one.
func lower() error {
	const best = 20 // the kernel counts down from there
	is, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil || best-is >= lowPriority {
		return err
	}
	return unix.Setpriority(unix.PRIO_PROCESS, 0, lowPriority)
}

// makeIdle makes all that runs in the box idle, and goes on looking: what an idle
// process starts is idle too, and none of them gets a priority back.
func makeIdle() {
	debug.SetGCPercent(100) // this process collected nothing, to start in less time
	for {
		if idleOnce() {
			time.Sleep(idleAgain)
		} else {
			time.Sleep(idleLater)
		}
	}
}

// idleOnce makes idle what it finds, and reports whether there was something. It reads
// one process at a time and makes it idle at once: one that forks and ends is gone
// when a whole list is read, but what it left has a higher number and is next.
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

// oneByOne tells of the numbers in a folder of /proc, each when it is read.
func oneByOne(folder string, tell func(number string)) error {
	fd, err := unix.Open(folder, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	// Room for one entry with a number, and for the longest name beside the numbers.
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

// idle makes a thread idle, and reports whether it was not.
func idle(thread string) bool {
	id, err := strconv.Atoi(thread)
	if err != nil {
		return false
	}
	const policyIdle = 5
	param := struct{ priority int32 }{}
	if policy, _, e := unix.Syscall(unix.SYS_SCHED_GETSCHEDULER, uintptr(id), 0, 0); e != 0 || policy == policyIdle {
		return e != 0 // it has ended, and may have left another
	}
	_, _, _ = unix.Syscall(unix.SYS_SCHED_SETSCHEDULER, uintptr(id), policyIdle, uintptr(unsafe.Pointer(&param)))
	return true
}
