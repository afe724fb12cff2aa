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

// Walls are the walls of a box in which nothing runs yet. Starting the first process inside takes a
// few milliseconds, and so does reading what to run, so the two are done at the same time. The
// process waits for the rules, and ends when this process ends.
type Walls struct {
	err     error // why the walls could not be made
	cmd     *exec.Cmd
	tell    *os.File // for the rules
	failed  *os.File // for the ending
	inside  *os.File // a socket for the listener of the proxy
	bound   *group
	bounded []*bounded // the standard streams that are files
	waited  bool
}

// Begin starts the walls of a box. If that fails, [Walls.Run] returns the error. The caller must
// stay on this thread until [Walls.End], because the kernel ends the box when the thread that
// started it ends.
func Begin() *Walls {
	runtime.LockOSThread()
	w := new(Walls)
	w.err = w.begin()
	return w
}

// End ends a box, also if it was never told what to run.
func (w *Walls) End() {
	if w.cmd != nil {
		w.kill()
	}
	w.bound.remove()
	runtime.UnlockOSThread()
}

func (w *Walls) begin() error {
	// Files that a parent left open are not passed to the box.
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

// wait waits until all processes of the box are gone.
func (w *Walls) wait() error {
	w.waited = true
	return w.cmd.Wait()
}

// kill ends the box, if it has not ended.
func (w *Walls) kill() {
	if !w.waited {
		_ = w.cmd.Process.Kill()
		_ = w.wait()
	}
}

// begin starts the first process of a box in the group. This thread leaves the group again, because
// it must not be in it when the box ends.
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

// namespaces returns the attributes for a process in new namespaces. Inside, the user keeps their
// number. For root all other users keep theirs, too, because otherwise files of other users in the
// project could not be written. No process inside can become another user.
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
		Setpgid:     true, // signals to the group are passed on by this process, once
	}
}
