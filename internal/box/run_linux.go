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

// insideName is the program name of a box that starts itself again inside its walls.
const insideName = "floodmark-box (inside)"

// Inside reports whether this process was started inside the walls of a box. Then it only has to
// call [Enter].
func Inside() bool { return os.Args[0] == insideName }

// A handed is the first message of the outer process to the inner one.
type handed struct {
	Spec *Spec    `json:"spec"`
	Args []string `json:"args"`
	Env  []string `json:"env"`
	Dir  string   `json:"dir"`
	// Busy are the shared folders that another box is using.
	Busy []string `json:"busy,omitempty"`
	// Terminal is the number, plus one, of the standard stream that is a terminal whose keys send
	// signals to this command; zero if there is none.
	Terminal int `json:"terminal,omitempty"`
}

// A ready is the second message: the command may start. It is a message of its own, so that the
// inner process can set up the box while the outer one still searches for secrets.
type ready struct {
	Hidden []string `json:"hidden"`
}

// Run runs a command in a box, in the given folder, with this process's standard streams. It
// returns when all processes of the box are gone; the files that they wrote are then in the box's
// folder. An error means that nothing has run.
//
// The command has its own process group. A signal to this process or its group is passed on to that
// group once. If this process is killed, the whole box is.
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

// inner returns the part of the rules that the inner process needs. It does not decide what may be
// kept. It also does not search for secrets, unless it copies the project.
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
			err = errors.New(why.Why) // the inner process ended first, with a better reason
		}
		return End{}, err
	}
	_ = w.tell.Close()
	stop := pass(w.cmd.Process)
	defer stop()
	err = w.wait() // also if the messages could not be written
	if full() {
		return End{}, ErrFull
	}
	if w.cmd.ProcessState == nil {
		return End{}, err
	}
	var end ending
	if json.NewDecoder(io.LimitReader(w.failed, maxEnding)).Decode(&end) != nil {
		status, _ := w.cmd.ProcessState.Sys().(syscall.WaitStatus) // always this type on Linux
		return End{Status: status}, nil                            // the inner process was killed
	}
	if end.Why != "" {
		return End{}, errors.New(end.Why)
	}
	return End{Status: syscall.WaitStatus(end.Status), Hosts: way.wanted(end.Hosts), Left: end.Left}, nil
}

// admit sends the inner process everything that it needs, and bounds it. The returned function ends
// the watch of the disk and reports whether the disk was full.
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

// An ending is the message of the first process inside when it ends: why nothing ran, or how the
// command ended. Its exit code could not say that.
type ending struct {
	Why    string   `json:"why,omitempty"`
	Status uint32   `json:"status"`
	Hosts  []string `json:"hosts,omitempty"`
	Left   bool     `json:"left,omitempty"`
}

const maxEnding = 1 << 16 // the size of a pipe, so that writing never waits

// prepare makes the folders of a box, and removes what an earlier box left there. If an earlier box
// was still moving files in, prepare returns an error. The caller must finish that first, because
// it can lock out other boxes of the project.
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
		// A command may have removed the right to write, or given it to all.
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

// Clear removes what a box left in its folder, unless files are still to be moved in.
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

// passed returns the signals that a box passes on to its command.
func passed() []os.Signal {
	return []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM}
}

// pass passes signals that end or stop a command on to the box.
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

// shellSignal is what shells add to the number of a signal that ended a command.
const shellSignal = 128

// EndAs ends this process in the way that a command ended.
func EndAs(status syscall.WaitStatus) {
	if status.Signaled() {
		signal.Reset(status.Signal())
		runtime.LockOSThread() // so that this thread gets the signal before the next line
		_ = unix.Tgkill(os.Getpid(), unix.Gettid(), status.Signal())
		os.Exit(shellSignal + int(status.Signal())) // an ignored signal ends no process
	}
	os.Exit(status.ExitStatus())
}
