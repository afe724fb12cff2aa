package box

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// insideName is what a box calls itself when it begins again inside its walls.
const insideName = "floodmark-box (inside)"

// Inside reports whether this process is a box that was begun inside its walls.
// Then [Enter] is all it has to do.
func Inside() bool { return os.Args[0] == insideName }

// A handed is the outer process's message to the inner one.
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

// A ready is its second message, when the command may start: the inner process builds while the
// outer one prepares that.
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
func (w *Walls) Run(s *Spec, args, env []string, dir string) (End, error) {
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
	if w.cmd == nil {
		return End{}, cmp.Or(w.err, errors.New("the box has no walls"))
	}
	h := handed{Spec: s.inner(), Args: args, Env: append(environment(env), "HOME="+s.Home), Dir: dir, Terminal: terminal()}
	defer takeBack(h.Terminal)
	locks, busy := s.takeShared()
	h.Busy = busy
	defer func() {
		for _, f := range locks {
			_ = f.Close()
		}
	}()
	return w.run(s, h)
}

// inner returns what the inner process needs of the rules. What may be kept is not part of it, and
// secrets are searched outside, unless the project is copied.
func (s *Spec) inner() *Spec {
	in := *s
	in.Keep = Keep{}
	if !in.ReadOnly {
		in.Secret = nil
	}
	return &in
}

// run tells the first process inside what to do and waits for its end.
func (w *Walls) run(s *Spec, h handed) (End, error) {
	hole, err := s.hole()
	if err == nil {
		err = w.bound.limit(s)
	}
	if err != nil {
		return End{}, err
	}
	for _, b := range w.bounded {
		b.left.Store(s.Disk)
	}
	way := &way{hole: hole, inside: w.inside}
	way.open()
	defer way.close()
	full, err := s.admit(w.cmd.Process, h, w.bound, json.NewEncoder(w.tell))
	if err != nil {
		w.kill()
		if why := new(ending); json.NewDecoder(io.LimitReader(w.failed, maxEnding)).Decode(why) == nil && why.Why != "" {
			err = errors.New(why.Why) // it has ended before, with a better reason
		}
		return End{}, err
	}
	_ = w.tell.Close()
	stop := pass(w.cmd.Process)
	defer stop()
	err = w.wait() // also if the message could not be written
	if full() {
		return End{}, ErrFull
	}
	if w.cmd.ProcessState == nil {
		return End{}, err
	}
	var end ending
	if json.NewDecoder(io.LimitReader(w.failed, maxEnding)).Decode(&end) != nil {
		status, _ := w.cmd.ProcessState.Sys().(syscall.WaitStatus) // it is nothing else on Linux
		return End{Status: status}, nil                            // it was killed
	}
	if end.Why != "" {
		return End{}, errors.New(end.Why)
	}
	return End{Status: syscall.WaitStatus(end.Status), Hosts: way.wanted(end.Hosts), Left: end.Left}, nil
}

// admit sends the inner process all that it needs, and bounds it. The returned function ends the
// watch of the disk and reports whether that was full.
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

// prepare makes the folders of a box. It removes what an earlier box left there. Writes that were
// about to be moved in are finished by the caller, who can lock out other boxes of the project;
// until then there is no box.
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
		os.Exit(shellSignal + int(status.Signal())) // an ignored signal ends no process
	}
	os.Exit(status.ExitStatus())
}
