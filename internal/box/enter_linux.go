package box

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/floodmark/floodmark/internal/box/boxhole"
)

// The descriptors that the outer process passes in, besides the standard streams.
const (
	fromOutside = 3
	toOutside   = 4
	toProxy     = 5
)

// Enter is the main function of the first process inside a box. It builds what the command will
// see, gives up all its rights, runs the command, and ends when the command has ended. Then the
// kernel ends all other processes inside.
func Enter() {
	runtime.LockOSThread() // capabilities belong to a thread
	out := os.NewFile(toOutside, "outside")
	// The command gets neither this descriptor nor those with the locks that this process shares.
	_ = unix.CloseRange(toOutside, ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC)
	var names lookups
	status, err := enter(&names)
	end := ending{Status: uint32(status), Hosts: names.list(), Left: stillRunning()}
	if err != nil {
		end.Why = err.Error()
	}
	_ = json.NewEncoder(out).Encode(end)
	os.Exit(0)
}

func enter(names *lookups) (syscall.WaitStatus, error) {
	in := os.NewFile(fromOutside, "inside")
	var h handed
	rules := json.NewDecoder(in)
	if err := rules.Decode(&h); err != nil {
		return 0, fmt.Errorf("the rules of the box did not arrive: %w", err)
	}
	h.Spec.busy = h.Busy
	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"hold what it shares", h.Spec.hold},
		{"limit it", h.Spec.limit},
		{"build what it shows", h.Spec.build},
		{"bring up its loopback", h.Spec.loopback},
		{"answer for names", func() error { return names.listen(h.Spec) }},
		{"tell of its proxy", h.proxy},
		{"close itself", func() error {
			var r ready
			if err := rules.Decode(&r); err != nil {
				return err
			}
			return errors.Join(in.Close(), h.Spec.close(r.Hidden))
		}},
		{"give up its rights", surrender},
	} {
		if err := step.do(); err != nil {
			return 0, fmt.Errorf("the box cannot %s: %w", step.what, err)
		}
	}
	return h.run(names)
}

// proxy passes the listener of the proxy to the outside, and closes it inside.
func (h *handed) proxy() error {
	if h.Spec.NoNetwork {
		return unix.Close(toProxy)
	}
	at, err := boxhole.Listen(toProxy)
	if h.Env = append(h.Env, boxhole.Variables(at)...); h.Spec.Mirror.Set != "" {
		h.Env = pointed(h.Env, at)
	}
	return errors.Join(err, unix.Close(toProxy))
}

// run starts the command and waits for its end. It also reaps other processes of the box that end
// meanwhile.
func (h *handed) run(names *lookups) (syscall.WaitStatus, error) {
	got := make(chan os.Signal, 16)
	signal.Notify(got, passed()...)
	if err := os.Chdir(h.Dir); err != nil {
		return 0, err
	}
	path, err := find(h.Args[0], h.Env)
	if err != nil {
		return 0, err
	}
	pid, err := h.begin(path)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", h.Args[0], err)
	}
	go names.serve()
	go func() {
		for sig := range got {
			if number, ok := sig.(syscall.Signal); ok {
				_ = syscall.Kill(-pid, number)
			}
		}
	}()
	time.AfterFunc(idleAfter, makeIdle)
	for {
		var status syscall.WaitStatus
		ended, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return 0, err
		case ended == pid && (status.Exited() || status.Signaled()):
			return status, nil
		}
	}
}

// stillRunning reports whether processes are running that the command did not wait for.
func stillRunning() bool {
	for {
		switch ended, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); {
		case err == syscall.EINTR || err == nil && ended > 0:
		default:
			return err == nil
		}
	}
}

// begin starts the command from a thread of its own, which has no capabilities and a low priority.
// This thread keeps its priority, so that it notices the end of the command also on a busy machine.
func (h *handed) begin(path string) (pid int, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // for good: the thread ends with this function
		if err = surrender(); err == nil {
			// The filter is in effect for all threads.
			err = errors.Join(filter(), lower())
		}
		if err == nil {
			pid, err = syscall.ForkExec(path, h.Args, &syscall.ProcAttr{
				Env: h.Env, Files: []uintptr{0, 1, 2},
				Sys: &syscall.SysProcAttr{Setpgid: true, Foreground: h.Terminal > 0, Ctty: h.Terminal - 1},
			})
		}
	}()
	<-done
	return pid, err
}

// limit bounds what the box uses of the machine. It also makes the box the first to be killed when
// memory runs out.
func (s *Spec) limit() error {
	if err := os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0); err != nil {
		return err
	}
	memory, err := s.memory()
	if err != nil {
		return err
	}
	for resource, most := range map[int]uint64{
		unix.RLIMIT_NPROC: uint64(s.Processes), unix.RLIMIT_CORE: 0,
		unix.RLIMIT_DATA: memory, unix.RLIMIT_FSIZE: uint64(s.Disk), unix.RLIMIT_MEMLOCK: 64 << 10,
		unix.RLIMIT_NICE: 0, unix.RLIMIT_RTPRIO: 0, // no process inside can raise its priority
	} {
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return err
		}
	}
	return nil
}

// memory returns how many bytes one process may have: what the spec says, or three quarters of the
// machine's memory. A process above the limit gets an error. If many processes below it use up the
// memory, the kernel kills them first.
func (s *Spec) memory() (uint64, error) {
	if s.Memory > 0 {
		return uint64(s.Memory), nil
	}
	var info unix.Sysinfo_t
	err := unix.Sysinfo(&info)
	return info.Totalram * uint64(info.Unit) / 4 * 3, err
}

// loopback brings up the loopback, the only network inside.
func (s *Spec) loopback() error {
	if s.NoNetwork {
		return nil
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	req, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	req.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, req)
}

// surrender gives up all capabilities for good, and the keys of the user who began the box.
func surrender() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	for right := uintptr(0); right <= unix.CAP_LAST_CAP; right++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, right, 0, 0, 0); err != nil && err != unix.EINVAL {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return err
	}
	// The filter refuses every call on keys, too. If the owner's number of keyrings is used up,
	// this call fails and the filter is the only wall.
	_, err := unix.KeyctlInt(unix.KEYCTL_JOIN_SESSION_KEYRING, 0, 0, 0, 0)
	if err != nil && err != unix.ENOSYS && err != unix.EDQUOT {
		return err
	}
	// No process inside can read this process or act for it.
	return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
}

// find returns the program that a command names, found as a shell would find it.
func find(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	path := "/usr/local/bin:/usr/bin:/bin"
	for _, v := range env {
		if rest, ok := strings.CutPrefix(v, "PATH="); ok {
			path = rest
		}
	}
	for _, dir := range filepath.SplitList(path) {
		p := filepath.Join(dir, name)
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return p, nil
		}
	}
	return "", fmt.Errorf("%s: it is not in the box", name)
}
