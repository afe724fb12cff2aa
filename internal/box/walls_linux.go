package box

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Walls are those of a box in which nothing runs yet. The first process inside starts while the
// caller still reads what to run: that takes both of them a few milliseconds. It waits for the
// rules, and ends when this process does.
type Walls struct {
	err     error // why there are none
	cmd     *exec.Cmd
	tell    *os.File // the rules go in by it
	failed  *os.File // and what became of them comes out
	inside  *os.File // a socket: the listener of the proxy comes out
	bound   *group
	bounded []*bounded // the standard streams that are files
	waited  bool
}

// Begin starts the walls of a box. [Walls.Run] returns its errors. The caller stays on this thread
// until [Walls.End]: the kernel ends the box when the thread that began it ends.
func Begin() *Walls {
	runtime.LockOSThread()
	w := new(Walls)
	w.err = w.begin()
	return w
}

// End ends a box, also one that was never told what to run.
func (w *Walls) End() {
	if w.cmd != nil {
		w.kill()
	}
	w.bound.remove()
	runtime.UnlockOSThread()
}

func (w *Walls) begin() error {
	// What a parent left open is not handed down.
	if err := unix.CloseRange(3, ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return err
	}
	told, tell, err := os.Pipe()
	if err != nil {
		return err
	}
	failed, fail, err := os.Pipe()
	if err != nil {
		return err
	}
	inside, proxy, err := socketPair()
	if err != nil {
		return err
	}
	w.tell, w.failed, w.inside = tell, failed, inside
	cmd := &exec.Cmd{
		Path: "/proc/self/exe", Args: []string{insideName}, Env: []string{"GOMAXPROCS=1", "GOGC=off"},
		ExtraFiles: []*os.File{told, fail, proxy}, SysProcAttr: namespaces(),
	}
	if w.bounded, err = streams(cmd); err != nil {
		return err
	}
	if w.bound, err = newGroup(); err != nil {
		return err
	}
	if err := w.bound.begin(cmd); err != nil {
		return err
	}
	w.cmd = cmd
	for _, f := range []*os.File{told, fail, proxy} {
		_ = f.Close()
	}
	return nil
}

// wait returns when all processes of the box are gone.
func (w *Walls) wait() error {
	w.waited = true
	return w.cmd.Wait()
}

// kill ends the box, unless it has ended.
func (w *Walls) kill() {
	if !w.waited {
		_ = w.cmd.Process.Kill()
		_ = w.wait()
	}
}

// begin starts the first process of a box in its group. This thread must not be in it
// when the box ends.
func (g *group) begin(cmd *exec.Cmd) error {
	if err := g.enter(); err != nil {
		return err
	}
	err := cmd.Start()
	if err != nil {
		err = fmt.Errorf("this machine does not let you make a box: %w", err)
	}
	if left := g.leave(); left != nil && err == nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return left
	}
	return err
}

// namespaces are those of a box. Inside, the user keeps their number. For root other users keep
// theirs, too: without them, files of theirs in the project could not be written. No process inside
// can become one of them.
func namespaces() *syscall.SysProcAttr {
	users := []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
	groups := []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
	if os.Getuid() == 0 && mapsAll() {
		users = []syscall.SysProcIDMap{{Size: math.MaxUint32}}
		groups = users
	}
	const flags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
	return &syscall.SysProcAttr{
		Cloneflags:  flags,
		UidMappings: users,
		GidMappings: groups,
		AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_NET_BIND_SERVICE, unix.CAP_SETPCAP, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER},
		Pdeathsig:   syscall.SIGKILL,
		Setpgid:     true, // signals to the group arrive by this process, once
	}
}
