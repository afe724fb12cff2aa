package escape

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/floodmark/floodmark/internal/box"
)

// A world is a throw-away home with a project in it, and things outside it that an attempt could
// reach: listeners, a process, a key.
type world struct {
	ctx                 context.Context // of the attempt
	root, home, project string
	names               map[string]string // HOST_… in commands

	mu    sync.Mutex
	heard bool // guarded by mu

	victim  *exec.Cmd
	speak   io.Writer  // the victim's input
	answer  io.Reader  // the victim's output, which repeats its input
	files   []*os.File // inherited by attempts as 7, 8 and 9
	pipes   []*os.File
	closers []io.Closer

	listeners []net.Addr
}

// longest is how long one attempt may take. A box runs at the lowest priority, so on a busy machine
// it may need long; only one that hangs reaches this limit.
const longest = 10 * time.Minute

// newWorld makes a world for one attempt, below a folder.
func newWorld(ctx context.Context, root string, from *pattern, a Attempt) (*world, error) {
	w := &world{ctx: ctx, root: root, home: filepath.Join(root, "home"), names: map[string]string{}}
	w.project = filepath.Join(w.home, "ws")
	steps := []func() error{func() error { return from.copyTo(w.home) }, w.links, w.listen, w.descriptors}
	if a.Worked[0] == "dead" || strings.Contains(a.Command, "HOST_PID") || strings.Contains(a.Command, "/proc/") {
		steps = append(steps, w.someone)
	}
	if strings.Contains(a.Command, "HOST_KEY") {
		steps = append(steps, w.key)
	}
	for _, step := range steps {
		if err := step(); err != nil {
			w.close()
			return nil, err
		}
	}
	return w, nil
}

// links makes links in the project: some lead out of it, and some have a name that agents or git
// obey and lead to a file with another name.
func (w *world) links() error {
	for _, name := range []string{"links", ".git/hooks"} {
		if err := os.MkdirAll(filepath.Join(w.project, name), 0o700); err != nil {
			return err
		}
	}
	return errors.Join(os.Symlink("../.ssh/id_ed25519", filepath.Join(w.project, "link")),
		os.Symlink(w.home, filepath.Join(w.project, "links", "home")),
		os.Symlink("docs/rules.txt", filepath.Join(w.project, "GEMINI.md")),
		os.Symlink("../../src/check.sh", filepath.Join(w.project, ".git", "hooks", "post-merge")))
}

// late makes a secret that did not exist when the rules of the box were written.
func (w *world) late() error {
	return os.WriteFile(filepath.Join(w.project, "src", "late.key"), []byte("late-secret\n"), 0o600)
}

// listen opens every listener that an attempt could send «leak» to.
func (w *world) listen() error {
	w.names["HOST_IP"] = address()
	abstract := w.name()
	w.names["HOST_ABSTRACT"] = abstract
	w.names["HOST_TMP"] = filepath.Join(w.root, "tmp-outside")
	w.names["HOST_TMPSOCK"] = filepath.Join(w.names["HOST_TMP"], "sock")
	w.names["HOST_SHM"] = abstract
	w.names["HOST_DOCKER"] = filepath.Join(w.home, ".docker/run/docker.sock")
	for _, l := range []struct{ network, at, name string }{
		{"tcp", "127.0.0.1:0", "HOST_TCP"},
		{"tcp", ":0", "HOST_ALL"},
		{"tcp", "[::1]:0", "HOST_TCP6"},
		{"unix", "@" + abstract, ""},
		{"unix", w.names["HOST_TMPSOCK"], ""},
		{"unix", filepath.Join(w.home, ".agent/sock"), ""},
		{"unix", filepath.Join(w.project, "project.sock"), ""},
		{"unix", filepath.Join(w.home, ".local/bin/tool.sock"), ""},
		{"unix", filepath.Join(w.home, "main/.git/ipc"), ""},
		{"unix", w.names["HOST_DOCKER"], ""},
	} {
		ln, err := new(net.ListenConfig).Listen(w.ctx, l.network, l.at)
		if err != nil {
			if l.name == "HOST_TCP6" {
				w.names[l.name] = "1"
				continue
			}
			return err
		}
		w.closers = append(w.closers, ln)
		w.listeners = append(w.listeners, ln.Addr())
		if a, ok := ln.Addr().(*net.TCPAddr); ok {
			w.names[l.name] = strconv.Itoa(a.Port)
		}
		go w.accept(ln)
	}
	packets, err := new(net.ListenConfig).ListenPacket(w.ctx, "udp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	w.closers = append(w.closers, packets)
	w.listeners = append(w.listeners, packets.LocalAddr())
	if a, ok := packets.LocalAddr().(*net.UDPAddr); ok {
		w.names["HOST_UDP"] = strconv.Itoa(a.Port)
	}
	go w.receive(packets)
	return errors.Join(w.pipe(filepath.Join(w.project, "project.pipe")), w.pipe(filepath.Join(w.home, ".local/bin/tool.pipe")))
}

// pipe makes and opens a named pipe.
func (w *world) pipe(at string) error {
	if err := unix.Mkfifo(at, 0o600); err != nil {
		return err
	}
	f, err := os.OpenFile(at, os.O_RDWR, 0) // reading and writing, so that it has no end of file
	if err != nil {
		return err
	}
	w.closers = append(w.closers, f)
	w.pipes = append(w.pipes, f)
	return nil
}

// drain reads what was written to the pipes so far.
func (w *world) drain() {
	for _, f := range w.pipes {
		_, _ = f.Write([]byte("settle")) // without it the read could block
		b := make([]byte, 4096)
		n, _ := f.Read(b)
		w.hear(b[:n])
	}
}

// name returns a name that only this world has.
func (w *world) name() string {
	return "canary-" + strconv.Itoa(os.Getpid()) + "-" + filepath.Base(filepath.Dir(w.root)) + "-" + filepath.Base(w.root)
}

// accept reads connections one at a time, so that a later one is only read after all earlier ones.
func (w *world) accept(ln net.Listener) {
	for {
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		b := make([]byte, 4096)
		_ = conn.SetReadDeadline(time.Now().Add(time.Second))
		n, _ := conn.Read(b)
		w.hear(b[:n])
		_ = conn.Close()
	}
}

func (w *world) receive(p net.PacketConn) {
	b := make([]byte, 4096)
	for {
		n, from, err := p.ReadFrom(b)
		if err != nil {
			return
		}
		w.hear(b[:n])
		_, _ = p.WriteTo([]byte("heard"), from)
	}
}

// settle returns when everything sent so far was read: it sends something itself and waits until
// that was read.
func (w *world) settle() {
	for _, to := range w.listeners {
		conn, err := new(net.Dialer).DialContext(w.ctx, to.Network(), to.String())
		if err != nil {
			continue
		}
		_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
		_, _ = conn.Write([]byte("settle"))
		_, _ = conn.Read(make([]byte, 8))
		_ = conn.Close()
	}
}

func (w *world) hear(b []byte) {
	if bytes.Contains(b, []byte("leak")) {
		w.mu.Lock()
		w.heard = true
		w.mu.Unlock()
	}
}

func address() string {
	list, _ := net.InterfaceAddrs()
	for _, a := range list {
		if ip, ok := a.(*net.IPNet); ok && !ip.IP.IsLoopback() && ip.IP.To4() != nil {
			return ip.IP.String()
		}
	}
	return "127.0.0.1"
}

// descriptors opens files that a careless parent process would leave open for its children.
func (w *world) descriptors() error {
	for _, f := range []struct {
		name string
		flag int
	}{{"", os.O_RDONLY}, {"fd-target", os.O_RDWR}, {"secret-fd", os.O_RDONLY}} {
		file, err := os.OpenFile(filepath.Join(w.home, f.name), f.flag, 0)
		if err != nil {
			return err
		}
		w.files = append(w.files, file)
		w.closers = append(w.closers, file)
	}
	return nil
}

// someone starts a process outside the box that has a secret.
func (w *world) someone() (err error) {
	w.victim = exec.CommandContext(w.ctx, "bash", "-c", "exec -a canary-host-cat cat")
	w.victim.Env = []string{"TOPSECRET=hostenv-secret", "PATH=" + os.Getenv("PATH")}
	if w.speak, err = w.victim.StdinPipe(); err != nil {
		return err
	}
	if w.answer, err = w.victim.StdoutPipe(); err != nil {
		return err
	}
	if err := w.victim.Start(); err != nil {
		return err
	}
	w.names["HOST_PID"] = strconv.Itoa(w.victim.Process.Pid)
	w.names["HOST_NAME"], _ = os.Hostname()
	w.names["HOST_MNT"], _ = os.Readlink("/proc/self/ns/mnt")
	return nil
}

// key puts a secret into the session's keyring.
func (w *world) key() error {
	w.names["HOST_KEY"] = w.name()
	id, err := unix.AddKey("user", w.names["HOST_KEY"], []byte("keyring-secret"), unix.KEY_SPEC_SESSION_KEYRING)
	if err == nil { // some machines have no keyring
		w.closers = append(w.closers, key(id))
	}
	return nil
}

type key int

// Close removes the key from the session's keyring.
func (k key) Close() error {
	_, err := unix.KeyctlInt(unix.KEYCTL_UNLINK, int(k), unix.KEY_SPEC_SESSION_KEYRING, 0, 0)
	return err
}

func (w *world) close() {
	if w.victim != nil && w.victim.Process != nil {
		_ = w.victim.Process.Kill()
		_ = w.victim.Wait()
	}
	for _, c := range w.closers {
		_ = c.Close()
	}
}

// environment returns the environment of a careless agent.
func (w *world) environment() []string {
	keep := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "HOME=") || strings.HasPrefix(v, "SSH_AUTH_SOCK=") || strings.HasPrefix(v, "DBUS_SESSION") || strings.HasPrefix(v, "WAYLAND_") || strings.HasPrefix(strings.ToLower(v), "http_proxy=")
	})
	sock := filepath.Join(w.home, ".agent/sock")
	return append(keep, "HOME="+w.home, "AGENT_TOKEN=agentenv-secret", "SSH_AUTH_SOCK="+sock, "DBUS_SESSION_BUS_ADDRESS=unix:path="+sock,
		"WAYLAND_DISPLAY="+sock, "http_proxy=http://127.0.0.1:"+w.names["HOST_TCP"])
}

// command returns an attempt's command with the names of this world filled in.
func (w *world) command(a Attempt) string {
	names := make([]string, 0, len(w.names))
	for n := range w.names {
		names = append(names, n)
	}
	slices.SortFunc(names, func(x, y string) int { return len(y) - len(x) }) // HOST_TCP6 before HOST_TCP
	text := a.Command
	for _, n := range names {
		text = strings.ReplaceAll(text, n, w.names[n])
	}
	return text
}

// attempt runs a command, or two at once, and returns their output.
func (w *world) attempt(a Attempt, run func(number int) (said, not string)) (said, not string) {
	if !a.Twice {
		return run(0)
	}
	var other, otherNot string
	var both sync.WaitGroup
	both.Go(func() { other, otherNot = run(1) })
	said, not = run(0)
	both.Wait()
	return said + other, cmp.Or(not, otherNot)
}

// run runs a program in this world and returns its output. not says why it was not run to its end;
// empty if it was.
func (w *world) run(ctx context.Context, program []string) (said, not string) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	c := exec.CommandContext(ctx, program[0], program[1:]...)
	c.Dir, c.Env, c.WaitDelay = w.project, w.environment(), time.Second
	c.ExtraFiles = append(make([]*os.File, 4, 7), w.files...) // 7, 8, 9
	out := &editor{w: w}
	c.Stdout, c.Stderr = out, out
	_ = c.Run()
	said = out.said.String()
	if ctx.Err() != nil {
		return said, "it was not done in time"
	}
	if c.ProcessState.ExitCode() == box.Refused && strings.Contains(said, "nothing ran") {
		return said, (&NoBoxError{Said: said}).Error()
	}
	return said, ""
}

// An editor collects the output of a command. When the output has a line EDIT, it replaces the
// project's secrets.
type editor struct {
	said bytes.Buffer
	w    *world
	done bool
}

func (e *editor) Write(p []byte) (int, error) {
	n, _ := e.said.Write(p) // it never fails
	if !e.done && bytes.Contains(e.said.Bytes(), []byte("EDIT\n")) {
		e.done = true
		at, secret := filepath.Join(e.w.project, ".env"), []byte("KEY=edited-secret\n")
		return n, errors.Join(os.WriteFile(at+".tmp", secret, 0o600), os.Rename(at+".tmp", at),
			os.WriteFile(filepath.Join(e.w.project, "src", "new.key"), secret, 0o600))
	}
	return n, nil
}

// worked reports whether an attempt reached its goal.
func (w *world) worked(a Attempt, said string) bool {
	at := ""
	if len(a.Worked) > 1 {
		at = filepath.Join(w.home, a.Worked[1])
	}
	switch a.Worked[0] {
	case "sent":
		w.settle()
		w.drain()
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.heard
	case "said":
		return strings.Contains(said, a.Worked[1])
	case "has", "lacks", "source":
		data, err := os.ReadFile(at)
		found := err == nil && bytes.Contains(data, []byte(a.Worked[2]))
		return found == (a.Worked[0] != "lacks")
	case "exists":
		_, err := os.Lstat(at)
		return err == nil
	case "link":
		_, err := os.Readlink(at)
		return err == nil
	case "setuid":
		info, err := os.Lstat(at)
		return err == nil && info.Mode()&os.ModeSetuid != 0
	case "alive":
		return runs(a.Worked[1])
	case "dead":
		// Ask for output: a process that was told to end gives none, even if it still exists.
		_, _ = w.speak.Write([]byte("settle"))
		_, err := w.answer.Read(make([]byte, 8))
		return err != nil
	}
	return true // a kind that is not listed shows nothing
}

// runs reports whether a process with a name runs, and kills it.
func runs(name string) (found bool) {
	list, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, p := range list {
		data, err := os.ReadFile(p)
		if err == nil && bytes.HasPrefix(data, []byte(name+"\x00")) {
			found = true
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(p))); err == nil {
				end(pid)
			}
		}
	}
	return found
}

// end kills a process and waits until it is gone. On a busy machine it still exists for a while,
// and the next attempt would be blamed for it.
func end(pid int) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return // the process is gone
	}
	defer func() { _ = unix.Close(fd) }() // nothing was written
	if unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) == nil {
		for {
			if _, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1); !errors.Is(err, unix.EINTR) {
				return
			}
		}
	}
}
