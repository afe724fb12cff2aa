package box_test

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/box"
	"github.com/floodmark/floodmark/internal/box/boxticket"
)

// programs start commands by floodmark-box, with tickets as a monitor writes them.
type programs struct {
	box  string
	desk *boxticket.Desk
	// undid counts commands that were undone.
	undid atomic.Int64
}

func newPrograms(t testing.TB, box string) *programs {
	t.Helper()
	desk, err := boxticket.NewDesk(boxticket.Folder(os.Getuid()), os.Getuid(), "test", rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return &programs{box: box, desk: desk}
}

// boxed returns a command that runs another in a box, and the name of its ticket.
func (p *programs) boxed(t testing.TB, s *box.Spec, command ...string) (*exec.Cmd, string) {
	t.Helper()
	now := time.Now()
	name, err := p.desk.Mint(boxticket.Order{Spec: *s, Session: "s", Call: "c", Command: command, Expires: now.Add(time.Minute)}, now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.desk.Forget(name) })
	c := exec.CommandContext(t.Context(), p.box, append([]string{"--ticket", name, "--"}, command...)...)
	c.Dir = s.Project
	return c, name
}

// start runs a shell command in a box and returns its exit code, or minus its
// signal, and its output.
func (p *programs) start(t *testing.T, s *box.Spec, command string) (int, string) {
	t.Helper()
	c, _ := p.boxed(t, s, "bash", "-c", command)
	c.Stdin = strings.NewReader("typed")
	out, exit := result(c)
	return exit, out
}

func result(c *exec.Cmd) (string, int) {
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	_ = c.Run()
	return out.String(), exitOf(c)
}

func exitOf(c *exec.Cmd) int {
	status := c.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return -int(status.Signal())
	}
	return status.ExitStatus()
}

// room returns a spec with a new project.
func room(t *testing.T) *box.Spec {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &box.Spec{Project: filepath.Join(root, "home", "p"), Home: filepath.Join(root, "home"), Author: "somebody", Mail: "a@b.example"}
	put(t, filepath.Join(s.Project, "sub", "README"), "hi")
	return s
}

// A command in a box gives the same output and ends in the same way as without a box.
func (p *programs) alike(t *testing.T) {
	for name, run := range map[string]string{
		"output":             `echo out; echo err >&2`,
		"exit code":          `exit 7`,
		"no such program":    `no-such-program`,
		"not to be run":      `sub/README`,
		"signal":             `kill -KILL $$`,
		"a pipe that closes": `yes | head -1; echo ${PIPESTATUS[0]}`,
		"folder":             `basename "$PWD"; ls`,
		"subfolder":          `cd sub && pwd | sed 's/.*home//'; cat README`,
		"input":              `read a; echo "<$a>"; cat`,
		"no input left":      `cat >/dev/null; read a || echo end`,
		"bytes":              `head -c 300000 /dev/zero | tr '\0' x | md5sum; printf '\377\000x'`,
		"environment":        `echo "$LANG|$USER|$FORCE_COLOR|$0|$#"`,
		"who":                `id -u; id -g; umask`,
		"no terminal":        `test -t 0 || test -t 1 || echo none`,
		"limits":             `ulimit -n`,
		"children":           `(exit 3) & wait $!; echo $?`,
		"trap at the end":    `trap 'echo bye' EXIT; exit 5`,
		"words":              `printf '%s\n' 'a b' "c'd" '$e' "$(printf 'x\ny')"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := room(t)
			plain := exec.CommandContext(t.Context(), "bash", "-c", run)
			plain.Dir = s.Project
			boxed, _ := p.boxed(t, s, "bash", "-c", run)
			for _, c := range []*exec.Cmd{plain, boxed} {
				c.Env = append(os.Environ(), "LANG=C.UTF-8", "USER=somebody", "FORCE_COLOR=1")
				c.Stdin = strings.NewReader("typed\nmore")
			}
			want, wantExit := result(plain)
			if got, exit := result(boxed); got != want || exit != wantExit {
				t.Errorf("in the box %d, %q; without %d, %q", exit, got, wantExit, want)
			}
		})
	}
}

// Signals to the group reach the command once; killing the group leaves nothing.
func (p *programs) signals(t *testing.T) {
	for name, c := range map[string]struct {
		run    string
		signal syscall.Signal
		want   string
		exit   int
	}{
		"counted":    {`n=0; trap 'n=$((n+1))' TERM; echo ready; sleep 1 & wait; sleep 0.5; echo $n; exit 9`, syscall.SIGTERM, "1\n", 9},
		"terminated": {`echo ready; exec sleep 100`, syscall.SIGTERM, "", -int(syscall.SIGTERM)},
		"hung up":    {`echo ready; sleep 100`, syscall.SIGHUP, "", -int(syscall.SIGHUP)},
		"user's":     {`trap 'echo got; exit 3' USR1; echo ready; sleep 100 & wait`, syscall.SIGUSR1, "got\n", 3},
		"killed":     {`sleep 100 & echo ready; sleep 100`, syscall.SIGKILL, "", -int(syscall.SIGKILL)},
	} {
		for _, boxed := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := room(t)
				cmd, ticket := p.boxed(t, s, "bash", "-c", c.run)
				if !boxed {
					cmd = exec.CommandContext(t.Context(), "bash", "-c", c.run)
				}
				cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
				out, err := cmd.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				// Output that comes before the end of the command is passed on at once.
				first := make([]byte, len("ready\n"))
				if _, err := io.ReadFull(out, first); err != nil || string(first) != "ready\n" {
					t.Fatalf("%q, %v", first, err)
				}
				if err := syscall.Kill(-cmd.Process.Pid, c.signal); err != nil {
					t.Fatal(err)
				}
				rest, _ := io.ReadAll(out) // ends when no process has the output open
				_ = cmd.Wait()
				if exit := exitOf(cmd); string(rest) != c.want || exit != c.exit {
					t.Errorf("in a box: %v: %d, %q; want %d, %q", boxed, exit, rest, c.exit, c.want)
				}
				if state, _, err := p.desk.Read(ticket); boxed && (err != nil || (state == boxticket.Lost) != (c.signal == syscall.SIGKILL)) {
					t.Errorf("state %v, %v", state, err)
				}
			})
		}
	}
}

// The monitor learns what a box did.
func (p *programs) outcomes(t *testing.T) {
	s := room(t)
	s.Keep.Guarded = []string{"**/AGENTS.md"}
	c, name := p.boxed(t, s, "bash", "-c", `echo new > a; rm sub/README; echo evil > AGENTS.md; getent hosts Example.org; kill -TERM $$`)
	said, exit := result(c)
	state, o, err := p.desk.Read(name)
	if err != nil || state != boxticket.Ran || exit != -15 || o.Signal != 15 || o.Session != "s" || o.Call != "c" || o.Cut || o.Left {
		t.Fatalf("%v, %+v, %v, %d: %s", state, o, err, exit, said)
	}
	const hash = "7aa7a5359173d05b63cfd682e3c38487f3cb4f7f1d60659fe59fab1505977d4c" // of «new» and a line break
	want := []boxticket.Change{
		{Path: "AGENTS.md", Kind: "file", Refused: "something runs or obeys it without being asked to"},
		{Path: "a", Kind: "file", SHA256: hash},
		{Path: "sub/README", Kind: "gone"},
	}
	if !slices.Equal(o.Changes, want) || !slices.Equal(o.Hosts, []string{"example.org"}) {
		t.Errorf("%+v", o)
	}
	if !strings.Contains(said, "not kept: AGENTS.md") || !strings.Contains(said, "no network in the box: example.org") {
		t.Errorf("the agent is told %q", said)
	}
	if look(filepath.Join(s.Project, "a")) != "new\n" {
		t.Error("nothing was moved in")
	}
	if left, _ := filepath.Glob(filepath.Join(boxticket.Folder(os.Getuid()), name+".box*")); len(left) > 0 {
		t.Errorf("%q is left", left)
	}
	again := exec.CommandContext(t.Context(), c.Path, c.Args[1:]...)
	if said, exit := result(again); exit != box.Refused || !strings.Contains(said, "used before") {
		t.Errorf("the same ticket again: %d, %s", exit, said)
	}
	s.Project = filepath.Join(s.Project, "missing")
	c, name = p.boxed(t, s, "true")
	c.Dir = ""
	said, exit = result(c)
	if state, o, err := p.desk.Read(name); err != nil || state != boxticket.Refused || exit != box.Refused || o.Why == "" {
		t.Errorf("%v, %+v, %v, %d, %s", state, o, err, exit, said)
	}
}

// A box also works if another sandbox has mounted something in the project.
func (p *programs) mounted(t *testing.T) {
	s := room(t)
	s.Hidden = []string{"secret", "cfg/secret"}
	for name, text := range map[string]string{"a": "old", "gone/x": "x", "cfg/secret": "K", "secret": "K", "link": "-> a"} {
		put(t, filepath.Join(s.Project, name), text)
	}
	for _, name := range []string{"closed", "open"} {
		if err := os.Mkdir(filepath.Join(s.Project, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(s.Home, ".local/lib/plain/a"), "tool")
	put(t, filepath.Join(s.Home, ".local/lib/over/a"), "beneath")
	const run = `cat ~/.local/lib/*/a; cat secret cfg/secret link; echo new > a; rm -r gone; echo x > open/x; cat open/there; echo x > closed/x; mkdir d; echo y > d/y; mv d e; rmdir open; ls -A | tr '\n' ' '`
	c, name := p.boxed(t, s, "bash", "-c", run)
	const mounts = `mount -t tmpfs none ../.local/lib/over && echo above > ../.local/lib/over/a && mount -t tmpfs none open && echo there > open/there && mount --bind closed closed && mount -o remount,bind,ro closed && exec "$@"`
	outer := exec.CommandContext(t.Context(), "unshare", append([]string{"--user", "--map-current-user", "--keep-caps", "--mount", "bash", "-c", mounts, "bash"}, c.Args...)...)
	outer.Dir = s.Project
	said, exit := result(outer)
	state, o, err := p.desk.Read(name)
	if err != nil || state != boxticket.Ran || exit != 0 {
		t.Fatalf("%v, %+v, %v, %d: %s", state, o, err, exit, said)
	}
	for _, want := range []string{"above\ntool", "old", "there", "closed/x: Read-only", "'open': Device or resource busy", "a cfg closed e link open secret sub"} {
		if !strings.Contains(said, want) || strings.Contains(said, "K") {
			t.Errorf("%q is not in %q", want, said)
		}
	}
	var changed []string
	for _, c := range o.Changes {
		changed = append(changed, c.Kind+" "+c.Path+" "+c.Refused)
	}
	if want := []string{"file a ", "folder e ", "file e/y ", "gone gone ", "file open/x "}; !slices.Equal(changed, want) || o.Unmoved != "" {
		t.Errorf("%q, want %q; %s", changed, want, o.Unmoved)
	}
	for name, want := range map[string]string{"a": "new\n", "e/y": "y\n", "gone/x": "", "secret": "K", "cfg/secret": "K", "link": "-> a"} {
		if got := look(filepath.Join(s.Project, name)); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// If two boxes of a session run at once, the second sees what was in /tmp before, and leaves
// nothing there.
func (p *programs) besideAnother(t *testing.T) {
	t.Parallel()
	s := room(t)
	root := filepath.Dir(s.Home)
	s.Temp, s.Cache = filepath.Join(root, "tmp"), filepath.Join(root, "cache")
	put(t, filepath.Join(s.Temp, "there"), "before")
	t.Cleanup(func() { // so that the folder can be removed
		_ = os.Chmod(s.Temp, 0o700)
		_ = os.Chmod(filepath.Join(s.Cache, "own"), 0o700)
	})
	other, out := p.begin(t, s, `echo begun; read a`)
	in, err := other.StdinPipe()
	if err == nil {
		err = other.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	const run = `cat /tmp/there; echo x > /tmp/mine; echo x > ~/.cache/mine; chmod 500 /tmp ~/.cache; echo`
	if exit, said := p.start(t, s, run); exit != 0 || !strings.Contains(said, "before") {
		t.Errorf("exit %d, %s", exit, said)
	}
	_ = in.Close()
	_ = other.Wait()
	if look(filepath.Join(s.Temp, "mine"))+look(filepath.Join(s.Cache, "own", "mine")) != "" {
		t.Error("a box wrote to what another had")
	}
	// Once it is alone again, it does write there, also if the folder's mode was changed.
	for range 2 {
		if exit, said := p.start(t, s, run); exit != 0 || look(filepath.Join(s.Temp, "mine")) != "x\n" || look(filepath.Join(s.Cache, "own", "mine")) != "x\n" {
			t.Errorf("exit %d, %s", exit, said)
		}
	}
}

// A command gets the standard streams, but not the files behind them.
func (p *programs) streams(t *testing.T) {
	t.Parallel()
	s := room(t)
	at := func(name string) string { return filepath.Join(filepath.Dir(s.Home), name) }
	put(t, at("input"), "given")
	put(t, at("log"), "earlier\n")
	in, err := os.Open(at("input"))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	log, err := os.OpenFile(at("log"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	c, _ := p.boxed(t, s, "bash", "-c", `echo evil 3>&1 >> /proc/self/fd/0; cat; for i in 1 2 3; do echo out; echo err >&2; done
python3 -c 'import os; print(os.read(os.open("/proc/self/fd/1",os.O_RDONLY|os.O_NONBLOCK),99))' 2>/dev/null; : > /proc/self/fd/1; exit 3`)
	c.Stdin, c.Stdout, c.Stderr = in, log, log
	_ = c.Run()
	said := look(at("log"))
	if exitOf(c) != 3 || look(at("input")) != "given" || !strings.HasPrefix(said, "earlier\n") || strings.Count(said, "earlier") != 1 || !strings.Contains(said, "given") || !strings.Contains(said, "out\nerr\nout\nerr\n") {
		t.Errorf("exit %d, input %q, log %q", exitOf(c), look(at("input")), said)
	}
	put(t, at("secret"), "K")
	folder, err := os.Open(s.Project)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	c, _ = p.boxed(t, s, "bash", "-c", `cat /proc/self/fd/0/../../secret`)
	c.Stdin = folder
	if said, exit := result(c); exit != box.Refused || strings.Contains(said, "K") {
		t.Errorf("a folder as input: exit %d, %s", exit, said)
	}
}

// begin prepares a shell command in a box, with its output to read.
func (p *programs) begin(t *testing.T, s *box.Spec, command string) (*exec.Cmd, io.Reader) {
	t.Helper()
	c, _ := p.boxed(t, s, "bash", "-c", command)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	return c, out
}
