package hookrun

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A house is an account with the real daemon beside the hook program.
type house struct {
	t         *testing.T
	home, bin string
}

func newHouse(t *testing.T) house {
	t.Helper()
	dir, err := os.MkdirTemp("", "fm") //nolint:usetesting // the name of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	h := house{t, filepath.Join(dir, "home"), filepath.Join(dir, "bin")}
	for _, folder := range []string{h.home, h.bin} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", h.bin+"/", "../../../cmd/floodmark", "../../../cmd/floodmark-hook").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Cleanup(func() {
		h.stop()
		_ = os.RemoveAll(dir) // the system removes what is left
	})
	return h
}

// daemons returns the processes of this house's daemon.
func (h house) daemons() []int {
	var pids []int
	all, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		h.t.Fatal(err)
	}
	for _, exe := range all {
		if at, err := os.Readlink(exe); err != nil || at != filepath.Join(h.bin, daemonName) {
			continue // another user's, or gone
		}
		if pid, err := strconv.Atoi(strings.Split(exe, "/")[2]); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (h house) stop() {
	for _, pid := range h.daemons() {
		_ = syscall.Kill(pid, syscall.SIGTERM) // it may have ended
	}
	h.until("the daemon ends", func() bool { return len(h.daemons()) == 0 })
}

func (h house) until(what string, is func() bool) {
	h.t.Helper()
	h.t.Logf("until %s", what)
	for !is() {
		time.Sleep(10 * time.Millisecond) // the daemon is not our child, so nothing reports its end
	}
}

// hook runs one hook, as the account would.
func (h house) hook(env map[string]string, args ...string) called {
	var out, errs strings.Builder
	s := &starter{
		uid: os.Getuid(), home: func() (string, error) { return h.home, nil },
		executable: func() (string, error) { return filepath.Join(h.bin, "floodmark-hook"), nil },
	}
	get := func(name string) string { return env[name] }
	exit := Run("floodmark-hook", args, Edge{Getenv: get, Stdin: strings.NewReader(starts), Stdout: &out, Stderr: &errs, starter: s})
	return called{out.String(), errs.String(), exit}
}

const starts = `{"hook_event_name":"SessionStart","session_id":"s","source":"startup","cwd":"/p"}`

func (h house) own() map[string]string { return map[string]string{"HOME": h.home} }

func TestTheDaemonIsStartedIfNeeded(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it builds and starts the real daemon")
	}
	h := newHouse(t)
	h.manyAtOnce() // on an account that never had a daemon
	h.stop()
	var cold, worked []time.Duration
	for range 5 {
		began := time.Now()
		if got := h.hook(h.own(), "codex", "SessionStart"); got != (called{}) {
			t.Fatalf("%+v", got)
		}
		cold = append(cold, time.Since(began))
		worked = append(worked, h.worked())
		h.alone()
		h.stop()
	}
	t.Logf("with the daemon's start: %v, of which it worked %v", cold, worked)
}

// worked returns how long the daemon has used a processor.
func (h house) worked() time.Duration {
	h.t.Helper()
	const perTick = 10 * time.Millisecond
	var all time.Duration
	for _, pid := range h.daemons() {
		data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil {
			h.t.Fatal(err)
		}
		fields := strings.Fields(string(data[strings.LastIndex(string(data), ")")+1:]))
		for _, field := range fields[11:13] { // user time and system time
			n, err := strconv.Atoi(field)
			if err != nil {
				h.t.Fatal(err)
			}
			all += time.Duration(n) * perTick
		}
	}
	return all
}

// alone checks that there is one daemon, and that it shares nothing with us.
func (h house) alone() {
	h.t.Helper()
	pids := h.daemons()
	if len(pids) != 1 {
		h.t.Fatalf("%d daemons", len(pids))
	}
	proc := "/proc/" + strconv.Itoa(pids[0])
	env, err := os.ReadFile(proc + "/environ")
	if err != nil {
		h.t.Fatal(err)
	}
	want := []string{"HOME=" + h.home, "PATH=/usr/local/bin:/usr/bin:/bin", ""}
	if got := strings.Split(string(env), "\x00"); !slices.Equal(got, want) {
		h.t.Errorf("it knows %q", got)
	}
	for fd, want := range []string{"/dev/null", "/dev/null", "/dev/null"} {
		if at, err := os.Readlink(proc + "/fd/" + strconv.Itoa(fd)); err != nil || at != want {
			h.t.Errorf("its file %d is %s, %v", fd, at, err)
		}
	}
	if sid, err := syscall.Getpgid(pids[0]); err != nil || sid != pids[0] {
		h.t.Errorf("it is in the group %d, %v", sid, err)
	}
}

// manyAtOnce starts hooks together: they start one daemon.
func (h house) manyAtOnce() {
	h.t.Helper()
	began := time.Now()
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			if got := h.hook(h.own(), "codex", "SessionStart"); got != (called{}) {
				h.t.Errorf("%+v", got)
			}
		})
	}
	all.Wait()
	h.t.Logf("six at once, the first ever: %v", time.Since(began))
	h.until("one daemon is left", func() bool { return len(h.daemons()) == 1 })
	if got := h.hook(h.own(), "codex", "SessionStart"); got != (called{}) {
		h.t.Errorf("and it answers: %+v", got)
	}
}
