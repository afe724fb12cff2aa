package box_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/box"
)

var given = flag.String("box", "", "the floodmark-box to try, for a user who cannot build one; empty: one that is built")

// A try is one command in a box, over a project with a few files.
type try struct {
	before map[string]string // files of the project; a value that begins with «-> » is a link
	change func(*box.Spec)
	run    string
	said   string            // a part of the output
	exit   int               // exit code, or minus a signal
	after  map[string]string // files afterwards; «gone» if there is none
}

func tries() map[string]try {
	return map[string]try{
		"exit code": {run: "exit 3", exit: 3},
		"code of a shell that was told of a signal": {run: "exit 143", exit: 143},
		"signal":                      {run: "kill -TERM $$", exit: -int(syscall.SIGTERM)},
		"no such program":             {run: "exec /no/such", exit: 127},
		"input":                       {run: "cat", said: "typed"},
		"one who is":                  {run: `test "$(id -u)" = ` + strings.TrimSpace(uid()) + ` && pwd`, said: "/p"},
		"no other process":            {run: `echo /proc/[0-9]*`, said: "/proc/1 "},
		"loopback works":              {run: `python3 -c 'import socket; s=socket.create_server(("127.0.0.1",0)); c=socket.create_connection(s.getsockname()); print("looped")'`, said: "looped"},
		"no disk is waited for":       {run: `grep upperdir= /proc/self/mounts | grep -vc volatile; echo ended`, said: "0\nended"},
		"hidden":                      {before: map[string]string{".env": "K=secret"}, change: func(s *box.Spec) { s.Hidden = []string{".env"} }, run: `cat .env; echo "[$(cat .env)]"`, said: "[]", after: map[string]string{".env": "K=secret"}},
		"files are kept":              {before: map[string]string{"a": "old", "gone": "x", "d/b": "b"}, run: `echo new > a; rm gone; mkdir e; echo c > e/c; echo b2 >> d/b; ln -s a l`, after: map[string]string{"a": "new\n", "gone": "", "e/c": "c\n", "d/b": "bb2\n", "l": "-> a"}},
		"a folder instead of a file":  {before: map[string]string{"a": "old"}, run: `rm a; mkdir a; echo x > a/b`, after: map[string]string{"a/b": "x\n"}},
		"a file instead of a folder":  {before: map[string]string{"d/b": "b", "d/e/f": "f"}, run: `rm -r d; echo x > d`, after: map[string]string{"d": "x\n"}},
		"a folder made anew":          {before: map[string]string{"d/b": "b", "d/c": "c"}, run: `rm -r d; mkdir d; echo x > d/c`, after: map[string]string{"d/b": "", "d/c": "x\n"}},
		"a folder in place of a link": {before: map[string]string{"l": "-> /etc"}, run: `rm l; mkdir l; echo x > l/y`, after: map[string]string{"l/y": "x\n"}},
		"guarded":                     {before: map[string]string{"AGENTS.md": "good"}, change: func(s *box.Spec) { s.Keep.Guarded = []string{"**/AGENTS.md"} }, run: `echo evil > AGENTS.md; rm -f AGENTS.md; echo ok > a`, said: "not kept", after: map[string]string{"AGENTS.md": "good", "a": "ok\n"}},
		"read only":                   {before: map[string]string{"a": "old"}, change: func(s *box.Spec) { s.ReadOnly = true }, run: `echo x > a || echo refused; touch /tmp/x && echo scratch`, said: "scratch", after: map[string]string{"a": "old"}},
		"shared":                      {change: func(s *box.Spec) { s.Temp = filepath.Join(filepath.Dir(s.Project), "tmp") }, run: `cat /tmp/left 2>/dev/null; echo left > /tmp/left`, after: map[string]string{"../tmp/left": "left\n"}},
		"in the background":           {before: map[string]string{"a": "old"}, change: func(s *box.Spec) { s.Temp = "/tmp/other"; *s = s.InBackground() }, run: `echo x > a; touch /tmp/x ~/.cache && echo scratch; exit 4`, said: "scratch", exit: 4, after: map[string]string{"a": "old"}},
		"not even a loopback":         {change: func(s *box.Spec) { s.NoNetwork = true }, run: `python3 -c 'import socket; socket.create_connection(("127.0.0.1",53))'; test "$(readlink /proc/self/ns/net)" != "` + network() + `" && grep -c : /proc/net/dev`, said: "unreachable\n1\n"},
		"left in the background":      {run: `sleep 100 & echo done`, said: "have ended with the command"},
		"asked the proxy":             {run: `curl -sS https://api.example/x; curl -s -m 5 http://Plain.Example:8080/; false`, said: "no network in the box: api.example:443, plain.example was wanted", exit: 1},
		"looked up":                   {run: `python3 -c 'import socket; socket.getaddrinfo("Git.Example.com", 22)'`, said: "no network in the box: git.example.com was wanted", exit: 1},
		"did without":                 {run: `getent hosts git.example.com; true`, after: map[string]string{"README": "hi"}},
		"memory ends":                 {change: func(s *box.Spec) { s.Memory = 256 << 20 }, run: `python3 -c 'x=bytearray(1<<30)' 2>&1 | grep -o MemoryError`, said: "MemoryError"},
		"a large file":                {change: func(s *box.Spec) { s.Disk = 1 << 20 }, run: `(head -c 9000000 /dev/zero > big); echo over; rm big`, said: "over", after: map[string]string{"big": ""}},
		"more than may be kept":       {change: func(s *box.Spec) { s.Disk = 1 << 20 }, run: `for i in 1 2 3; do head -c 900000 /dev/zero > f$i; done`, said: "was not kept", after: map[string]string{"f1": "", "f3": ""}},
		"first to go":                 {run: `cat /proc/self/oom_score_adj`, said: "1000"},
		"idle in the end":             {run: `until [ "$(cut -d' ' -f41 /proc/self/stat)" = 5 ]; do :; done; (while :; do :; done) & chrt -o 0 true || cut -d' ' -f41 /proc/$!/stat`, said: "5"},
		"nobody is left":              {run: `(setsid sleep 60 &) ; echo > made`, after: map[string]string{"made": "\n"}},
		"a file of another group":     othersGroup(),
		"committed":                   {run: `git init -q . 2>/dev/null; git add -A; git commit -qm x; git log --format=%an`, said: "somebody"},
	}
}

func network() string {
	name, _ := os.Readlink("/proc/self/ns/net")
	return name
}

// othersGroup returns a try that changes a file of another group. Root can have such a file. Other
// users use one of their own further groups, if they have one, and are refused.
func othersGroup() try {
	groups, _ := os.Getgroups()
	give := func(gid int) func(*box.Spec) {
		return func(s *box.Spec) { _ = os.Chown(filepath.Join(s.Project, "shared"), -1, gid) }
	}
	c := try{before: map[string]string{"shared": "old"}, run: `echo new > shared`, after: map[string]string{"shared": "new\n"}}
	if os.Getuid() == 0 {
		c.change = give(12345)
		return c
	}
	for _, g := range groups {
		if g != os.Getgid() {
			c.change, c.exit, c.said, c.after["shared"] = give(g), box.Refused, "chgrp", "old"
		}
	}
	return c
}

func uid() string {
	out, _ := exec.Command("id", "-u").Output()
	return string(out)
}

// A command in a box does the same to the project as without a box.
func TestBox(t *testing.T) {
	if told := os.Getenv(childOf); told != "" {
		var c child
		if err := json.Unmarshal([]byte(told), &c); err != nil {
			t.Fatal(err)
		}
		if err := c.do(); err != nil {
			t.Fatal(err)
		}
		return
	}
	program := *given
	if program == "" {
		program = filepath.Join(t.TempDir(), "floodmark-box")
		if out, err := exec.Command("go", "build", "-o", program, "../../cmd/floodmark-box").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	p := newPrograms(t, program)
	t.Run("alike", p.alike)
	t.Run("signals", p.signals)
	t.Run("outcomes", p.outcomes)
	t.Run("mounted", p.mounted)
	t.Run("killed", p.killed)
	t.Run("beside another", p.besideAnother)
	t.Run("works", p.works)
	t.Run("streams", p.streams)
	t.Run("granted", p.granted)
	t.Run("whole", p.whole)
	t.Run("packages", p.packages)
	t.Run("undone", p.undone)
	t.Run("full disk", p.fullDisk)
	t.Run("killed in the middle", p.killedInTheMiddle)
	for name, c := range tries() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			s := &box.Spec{Project: filepath.Join(root, "home", "p"), Home: filepath.Join(root, "home"), Folder: filepath.Join(root, "box"), Author: "somebody", Mail: "a@b.example"}
			for p, text := range c.before {
				put(t, filepath.Join(s.Project, p), text)
			}
			put(t, filepath.Join(s.Project, "README"), "hi")
			if c.change != nil {
				c.change(s)
			}
			exit, said := p.start(t, s, c.run)
			if exit != c.exit || !strings.Contains(said, c.said) {
				t.Errorf("exit %d, want %d; said %q, want %q", exit, c.exit, said, c.said)
			}
			for p, want := range c.after {
				if got := look(filepath.Join(s.Project, p)); got != want {
					t.Errorf("%s: %q, want %q", p, got, want)
				}
			}
		})
	}
}

// A box that is killed at any moment leaves no process, no mount and no part of what it wrote, and
// the next box in its folder works.
func (p *programs) killed(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &box.Spec{Project: filepath.Join(root, "home", "p"), Home: filepath.Join(root, "home"), Folder: filepath.Join(root, "box")}
	put(t, filepath.Join(s.Project, "README"), "hi")
	const command = `echo one > one; (setsid bash -c 'echo two > two; exec sleep 600' &); until [ -s two ]; do :; done; echo begun`
	for i := range 24 {
		c, out := p.begin(t, s, command+"; exec sleep 600")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if i%4 == 3 { // while it runs
			if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		} else { // while it starts
			time.Sleep(time.Duration(i) * 2 * time.Millisecond)
		}
		if i%2 == 1 { // a stopped box cannot clean up by itself
			_ = c.Process.Signal(syscall.SIGSTOP)
		}
		_ = c.Process.Kill()
		_, _ = io.Copy(io.Discard, out) // ends when the last process has closed it
		_ = c.Wait()
		if mounts, err := os.ReadFile("/proc/self/mountinfo"); err != nil || strings.Contains(string(mounts), root) {
			t.Errorf("a mount is left: %v", err)
		}
		for _, p := range []string{"one", "two"} {
			if look(filepath.Join(s.Project, p)) != "" {
				t.Errorf("%d: %s of a box that was killed is in the project", i, p)
			}
		}
	}
	if exit, said := p.start(t, s, command); exit != 0 || look(filepath.Join(s.Project, "two")) != "two\n" {
		t.Errorf("the next box: exit %d, %s", exit, said)
	}
}

func put(t *testing.T, p, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if to, ok := strings.CutPrefix(text, "-> "); ok {
		if err := os.Symlink(to, p); err != nil {
			t.Fatal(err)
		}
	} else if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func look(p string) string {
	if to, err := os.Readlink(p); err == nil {
		return "-> " + to
	}
	data, _ := os.ReadFile(p)
	return string(data)
}
