package box

import (
	"os"
	"path/filepath"
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

// makeIdle makes all that runs in the box idle, and returns when that is so. What
// an idle process starts is idle too, and none of them gets a priority back.
func makeIdle() {
	debug.SetGCPercent(100) // this process collected nothing, to start in less time
	for clean := 0; clean < 2; clean++ {
		if idleOnce() > 0 {
			clean = -1
		}
		time.Sleep(idleAgain)
	}
}

// idleOnce makes idle what it finds, and says how much that was.
func idleOnce() (made int) {
	tasks, _ := filepath.Glob("/proc/[0-9]*/task/[0-9]*")
	for _, t := range tasks {
		id, err := strconv.Atoi(filepath.Base(t))
		if err != nil || filepath.Base(filepath.Dir(filepath.Dir(t))) == strconv.Itoa(os.Getpid()) {
			continue
		}
		const idle = 5
		param := struct{ priority int32 }{}
		if policy, _, e := unix.Syscall(unix.SYS_SCHED_GETSCHEDULER, uintptr(id), 0, 0); e != 0 || policy == idle {
			continue
		}
		if _, _, e := unix.Syscall(unix.SYS_SCHED_SETSCHEDULER, uintptr(id), idle, uintptr(unsafe.Pointer(&param))); e == 0 {
			made++
		}
	}
	return made
}
