package box

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// inside is what a box calls itself when it begins again inside its walls.
const inside = "floodmark-box (inside)"

// Inside reports whether this process is a box that was begun inside its walls.
// Then [Enter] is all it has to do.
func Inside() bool { return os.Args[0] == inside }

// A handed is what the outer process tells the inner one.
type handed struct {
	Spec *Spec    `json:"spec"`
	Args []string `json:"args"`
	Env  []string `json:"env"`
	Dir  string   `json:"dir"`
	// Busy are the shared folders that another box has.
	Busy []string `json:"busy,omitempty"`
	// Terminal is the standard stream that is a terminal whose keys send signals
	// to this command, plus one; zero: none is.
	Terminal int `json:"terminal,omitempty"`
}

// A ready is what it tells it afterwards, when nothing is in the way of the command
// any more: the inner process builds while the outer one sees to that.
type ready struct {
	Hidden []string `json:"hidden"`
}

// Run runs a command in a box, in the given folder, with this process's standard
// streams, and returns when all of its processes are gone. What it wrote lies in
// the box's folder then. An error means that nothing has run.
//
// The command is a process group of its own. A signal to this process or its
// group is handed on to that group, once; if this process is killed, all of the
// box is.
func Run(s *Spec, args, env []string, dir string) (End, error) {
	if err := s.check(); err != nil {
		return End{}, err
	}
	if len(args) == 0 {
		return End{}, errors.New("there is no command to run")
	}
	if !below(dir, s.Project) && !below(dir, "/tmp") {
		dir = s.Project
	}
	if err := s.prepare(); err != nil {
		return End{}, err
	}
	// What a parent left open is not handed down.
	if err := unix.CloseRange(3, ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return End{}, err
	}
	// The kernel ends the box when the thread that began it ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	h := handed{Spec: s, Args: args, Env: append(environment(env), "HOME="+s.Home), Dir: dir, Terminal: terminal()}
	defer takeBack(h.Terminal)
	locks, busy := s.takeShared()
	h.Busy = busy
	defer func() {
		for _, f := range locks {
			_ = f.Close()
		}
	}()
	return s.start(h, locks)
}

// start begins the first process inside and waits for its end.
// That process has the locks, too: they hold as long as the box does, also if this
// process is killed.
func (s *Spec) start(h handed, locks []*os.File) (End, error) {
	told, tell, err := os.Pipe()
	if err != nil {
		return End{}, err
	}
	failed, fail, err := os.Pipe()
	if err != nil {
		return End{}, err
	}
	way, proxy, err := s.openWay()
	if err != nil {
		return End{}, err
	}
	cmd := &exec.Cmd{
		Path: "/proc/self/exe", Args: []string{inside}, Env: []string{"GOMAXPROCS=1", "GOGC=off"},
		ExtraFiles: append([]*os.File{told, fail, proxy}, locks...), SysProcAttr: walls(),
	}
	bound, err := s.group()
	if err = cmp.Or(err, s.streams(cmd)); err != nil {
		return End{}, err
	}
	defer bound.remove()
	if err := bound.begin(cmd); err != nil {
		return End{}, err
	}
	for _, f := range []*os.File{told, fail, proxy} {
		_ = f.Close()
	}
	way.open()
	defer way.close()
	full, err := s.admit(cmd.Process, h, bound, json.NewEncoder(tell))
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if why := new(ending); json.NewDecoder(io.LimitReader(failed, maxEnding)).Decode(why) == nil && why.Why != "" {
			err = errors.New(why.Why) // it has ended before, and knows better
		}
		return End{}, err
	}
	_ = tell.Close()
	stop := pass(cmd.Process)
	defer stop()
	err = cmd.Wait() // also where what was said could not be written
	if full() {
		return End{}, ErrFull
	}
	if cmd.ProcessState == nil {
		return End{}, err
	}
	var end ending
	if json.NewDecoder(io.LimitReader(failed, maxEnding)).Decode(&end) != nil {
		status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus) // it is nothing else on Linux
		return End{Status: status}, nil                          // it was killed
	}
	if end.Why != "" {
		return End{}, errors.New(end.Why)
	}
	return End{Status: syscall.WaitStatus(end.Status), Hosts: way.wanted(end.Hosts), Left: end.Left}, nil
}

// begin starts the first process of a box in its group. This thread must not be in it
// when the box ends.
func (g *group) begin(cmd *exec.Cmd) error {
	if err := g.enter(); err != nil {
		return err
	}
	err := cmd.Start()
	if err != nil {
		err = fmt.Errorf("this machine lets nobody make a box: %w", err)
	}
	if left := g.leave(); left != nil && err == nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return left
	}
	return err
}

// admit tells the inner process all that it has to know, and bounds it. It returns what
// ends the look at the disk and says whether that was full.
func (s *Spec) admit(p *os.Process, h handed, bound *group, tell *json.Encoder) (full func() bool, err error) {
	if err := tell.Encode(h); err != nil {
		return nil, err
	}
	hidden, err := s.secrets()
	if err != nil {
		return nil, err
	}
	if err := bound.take(p.Pid); err != nil {
		return nil, err
	}
	if full, err = s.guardDisk(func() { _ = p.Kill() }); err != nil {
		return nil, err
	}
	if err = tell.Encode(ready{Hidden: hidden}); err != nil {
		full()
	}
	return full, err
}

// An ending is what the first process inside tells of itself: why nothing ran,
// or how the command ended, which its own exit code cannot say.
type ending struct {
	Why    string   `json:"why,omitempty"`
	Status uint32   `json:"status"`
	Hosts  []string `json:"hosts,omitempty"`
	Left   bool     `json:"left,omitempty"`
}

const maxEnding = 1 << 16 // what a pipe holds, so that writing it never waits

// walls are the namespaces of a box. Inside, the user is who he is outside. For the
// administrator others are who they are, too: without them, files of theirs in the
// project could not be written. Nobody inside can become one of them.
func walls() *syscall.SysProcAttr {
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

// prepare makes the folders of a box. What an earlier box left there is removed: it is
// not this command's. What was about to be moved in is finished by the caller, who can
// keep other boxes of the project waiting; until then there is no box.
func (s *Spec) prepare() error {
	if s.Writes().Pending() {
		return errors.New("what an earlier box wrote is still to be moved in")
	}
	if err := s.Clear(); err != nil {
		return err
	}
	for _, p := range []string{s.root(), s.upper(), s.Temp, s.Cache} {
		if p == "" {
			continue
		}
		// A command may have taken the right to write away, or given it to all.
		if err := errors.Join(os.MkdirAll(p, 0o700), os.Chmod(p, 0o700)); err != nil {
			return err
		}
	}
	if err := s.ofOneGroup(); err != nil {
		return err
	}
	for _, p := range []string{s.Project, s.Folder, s.Temp, s.Cache} {
		if p == "" {
			continue
		}
		there, err := filepath.EvalSymlinks(p)
		if err != nil {
			return err
		}
		if there != p {
			return fmt.Errorf("%s is reached by a link: name %s instead", p, there)
		}
	}
	return nil
}

// Clear removes what a box leaves in its folder, unless that is still to be moved
// in.
func (s *Spec) Clear() error {
	if s.Writes().Pending() {
		return nil
	}
	dir, err := os.Open(s.Folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer dir.Close()
	for _, p := range []string{s.work(), s.upper(), s.root(), s.beneath(), s.parts(), s.beside()} {
		err = errors.Join(err, Remove(dir, filepath.Base(p), 0))
	}
	return err
}

func (s *Spec) root() string  { return filepath.Join(s.Folder, "root") }
func (s *Spec) upper() string { return filepath.Join(s.Folder, "written") }
func (s *Spec) work() string  { return filepath.Join(s.Folder, "work") }

// passed are the signals that a box hands on to its command.
func passed() []os.Signal {
	return []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM}
}

// pass hands signals that end or stop a command on to the box.
func pass(p *os.Process) (stop func()) {
	got := make(chan os.Signal, 16)
	signal.Notify(got, passed()...)
	go func() {
		for sig := range got {
			_ = p.Signal(sig)
		}
	}()
	return func() { signal.Stop(got); close(got) }
}

// shellSignal is what shells add to a signal that ended a command.
const shellSignal = 128

// EndAs ends this process as a command ended.
func EndAs(status syscall.WaitStatus) {
	if status.Signaled() {
		signal.Reset(status.Signal())
		runtime.LockOSThread() // this thread gets it before the next line
		_ = unix.Tgkill(os.Getpid(), unix.Gettid(), status.Signal())
		os.Exit(shellSignal + int(status.Signal())) // nobody ends by a signal that is ignored
	}
	os.Exit(status.ExitStatus())
}
