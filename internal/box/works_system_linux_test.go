package box_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/box"
	"github.com/floodmark/floodmark/internal/box/boxspec"
	"github.com/floodmark/floodmark/internal/project/workspace"
)

// works plays every row of the page, and checks that what the page says of a box is what happens in
// one.
func (p *programs) works(t *testing.T) {
	shipped, err := catalog.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir() // shared, as by the boxes of one session
	for _, r := range rows(t) {
		if r.judged {
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			for _, program := range r.needs {
				if _, err := exec.LookPath(program); err != nil {
					t.Skipf("there is no %s here; seen: %s", program, r.seen)
				}
			}
			if r.ordinary && os.Getuid() == 0 {
				t.Skip("not for root")
			}
			s := r.lay(t)
			spec, err := boxspec.For(shipped, catalog.Places{Project: s.Project, Home: s.Home}, workspace.New(workspace.Options{}), filepath.Join(filepath.Dir(filepath.Dir(s.Project)), "box"))
			if err != nil {
				t.Fatal(err)
			}
			spec.Author, spec.Mail, spec.Cache, spec.Git = s.Author, s.Mail, cache, workspace.Shared(s.Project)
			if r.background {
				*spec = spec.InBackground()
			}
			exit, out := p.play(t, spec, r)
			if exit != r.exit {
				t.Errorf("exit %d, want %d: %.2000s", exit, r.exit, out)
			}
			for _, want := range r.said {
				if !strings.Contains(out, want) {
					t.Errorf("it did not say %q: %.2000s", want, out)
				}
			}
			r.outside(t, s, r.after)
		})
	}
}

// lay makes the project of a row, in a new home folder or outside of the real one.
func (r row) lay(t *testing.T) *box.Spec {
	t.Helper()
	s := room(t)
	names := strings.NewReplacer("HOST_PORT", host(t, "tcp", "127.0.0.1:0"), "HOST_FREE", free(t),
		"HOST_SOCKET", host(t, "unix", filepath.Join(s.Home, "db.sock")), "HOST_HOME", s.Home)
	for name, text := range r.files {
		put(t, filepath.Join(s.Project, name), names.Replace(text))
	}
	r.outside(t, s, r.before)
	if real, err := os.UserHomeDir(); r.ownHome && err == nil {
		s.Home = real
	}
	return s
}

// outside runs a script of the row without a box.
func (r row) outside(t *testing.T, s *box.Spec, script string) {
	t.Helper()
	if script == "" {
		return
	}
	c := exec.CommandContext(t.Context(), "bash", "-euc", script)
	c.Dir, c.Env = s.Project, append(os.Environ(), "HOME="+filepath.Dir(s.Project), "GIT_CONFIG_NOSYSTEM=1")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// host listens outside of the box, and greets every connection.
func host(t *testing.T, network, at string) string {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), network, at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, "hello from the host\n")
			_ = c.Close()
		}
	}()
	if a, ok := ln.Addr().(*net.TCPAddr); ok {
		return strconv.Itoa(a.Port)
	}
	return at
}

// free returns a port without a listener.
func free(t *testing.T) string {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	return strconv.Itoa(ln.Addr().(*net.TCPAddr).Port)
}

// play runs the call in a box, with variables that name keys and displays.
func (p *programs) play(t *testing.T, s *box.Spec, r row) (int, string) {
	t.Helper()
	c, _ := p.boxed(t, s, "bash", "-c", r.call)
	sock := filepath.Join(filepath.Dir(s.Project), "db.sock")
	c.Env = append(os.Environ(), "HOME="+s.Home, "DISPLAY=:0", "WAYLAND_DISPLAY=wayland-0", "SSH_AUTH_SOCK="+sock, "DOCKER_HOST=unix://"+sock)
	if !r.dial {
		said, exit := result(c)
		return exit, said
	}
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	first, err := lines.ReadString('\n')
	_, port, ready := strings.Cut(strings.TrimSpace(first), "ready ")
	if err != nil || !ready {
		t.Fatalf("%q, %v", first, err)
	}
	if there, err := new(net.Dialer).DialContext(t.Context(), "tcp", "127.0.0.1:"+port); err == nil {
		_ = there.Close()
		t.Error("a server in a box is reached from outside")
	}
	_ = in.Close()
	rest, _ := io.ReadAll(lines)
	_ = c.Wait()
	return exitOf(c), first + string(rest)
}

// BenchmarkLarge shows how a box grows with the files of a project, and with those that
// its command changes.
//
//	go test ./internal/box -run - -bench Large -benchtime 5x
func BenchmarkLarge(b *testing.B) {
	program := *given
	if program == "" {
		program = filepath.Join(b.TempDir(), "floodmark-box")
		if out, err := exec.Command("go", "build", "-o", program, "../../cmd/floodmark-box").CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	}
	p := newPrograms(b, program)
	for _, files := range []int{5_000, 50_000} {
		root, err := filepath.EvalSymlinks(b.TempDir())
		if err != nil {
			b.Fatal(err)
		}
		s := &box.Spec{Project: filepath.Join(root, "home", "p"), Home: filepath.Join(root, "home"), Folder: filepath.Join(root, "box")}
		for i := range files {
			dir := filepath.Join(s.Project, strconv.Itoa(i/100))
			if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), []byte("text\n"), 0o600)); err != nil {
				b.Fatal(err)
			}
		}
		for _, changed := range []int{0, 500} {
			run := []string{"bash", "-c", "ls -d [0-9]*/* | head -" + strconv.Itoa(changed) + " | while read f; do echo x >> $f; done"}
			if changed == 0 {
				run = []string{"true"}
			}
			b.Run(strconv.Itoa(files)+" files/"+strconv.Itoa(changed)+" changed", func(b *testing.B) {
				for b.Loop() {
					c, _ := p.boxed(b, s, run...)
					if out, err := c.CombinedOutput(); err != nil {
						b.Fatalf("%v: %s", err, out)
					}
				}
			})
		}
	}
}
