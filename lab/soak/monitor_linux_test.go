package soak

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/floodmark/floodmark/client"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/wire"
)

// startWithin is how long a program that is being killed may take to end on a busy machine.
const startWithin = 30 * time.Second

// logVariable is the environment variable that bounds the size of SQLite's log.
const logVariable = "FLOODMARK_FAULT_LOG_BYTES"

// A running is one process of the real program.
type running struct {
	t     *testing.T
	paths config.Paths
	cmd   *exec.Cmd
	out   *said
	ended chan struct{} // closed when the process is gone
	file  string        // the program writes the point at which it ends here
}

// A said collects what a program prints. It can be read while the program runs.
type said struct {
	mu   sync.Mutex // guards the fields below
	b    bytes.Buffer
	grew chan struct{} // closed by the next write; nil if no test waits for one
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.grew != nil {
		close(s.grew)
		s.grew = nil
	}
	return s.b.Write(p)
}

// until waits until the printed text is enough. It returns false if the program ended before.
func (s *said) until(ended <-chan struct{}, enough func(text string) bool) bool {
	for {
		s.mu.Lock()
		text := s.b.String()
		if s.grew == nil {
			s.grew = make(chan struct{})
		}
		grew := s.grew
		s.mu.Unlock()
		if enough(text) {
			return true
		}
		select {
		case <-grew:
		case <-ended:
			return enough(s.String())
		}
	}
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// launch starts the monitor in a folder, with fault as FLOODMARK_FAULT.
func launch(t *testing.T, dir, fault string, more ...string) *running {
	t.Helper()
	r := &running{t: t, paths: config.DirPaths(dir), out: &said{}, ended: make(chan struct{}), file: filepath.Join(dir, "fault")}
	_ = os.Remove(r.file)
	r.cmd = exec.Command(program(t, "floodmark"), append([]string{"serve", "--dir", dir}, more...)...)
	// With a small bound the log is moved into the store often. A test may set another one.
	r.cmd.Env = append([]string{logVariable + "=1000000"}, os.Environ()...)
	r.cmd.Env = append(r.cmd.Env, "FLOODMARK_FAULT="+fault, "FLOODMARK_FAULT_FILE="+r.file)
	r.cmd.Stdout, r.cmd.Stderr = r.out, r.out
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = r.cmd.Wait() // how it ended is in ProcessState
		close(r.ended)
	}()
	t.Cleanup(func() { r.kill() })
	return r
}

// ready waits until the monitor answers events. It returns false if the program ended before.
func (r *running) ready() bool {
	return r.out.until(r.ended, func(text string) bool { return strings.Contains(text, "floodmark answers on") })
}

// until calls so again and again until it returns true. It is for states that the program does not
// print.
func (r *running) until(what string, so func() bool) {
	r.t.Helper()
	for end := patience(r.t); !so(); {
		select {
		case <-r.ended:
			if !so() {
				r.t.Fatalf("the program ended before %s:\n%s", what, tail(r.out.String()))
			}
			return
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(end) {
			r.t.Fatalf("waited in vain for %s; the program says\n%s", what, tail(r.out.String()))
		}
	}
}

// serve starts a monitor and waits until it answers. If it does not start, the test fails.
func serve(t *testing.T, dir, fault string, more ...string) *running {
	t.Helper()
	r := launch(t, dir, fault, more...)
	if !r.ready() {
		t.Fatalf("the monitor did not start:\n%s", r.out)
	}
	return r
}

// gone waits for the end of the program. It returns false if the program does not end in time.
func (r *running) gone(within time.Duration) bool {
	select {
	case <-r.ended:
		return true
	case <-time.After(within):
		return false
	}
}

// kill kills the program and waits for its end.
func (r *running) kill() {
	_ = r.cmd.Process.Kill() // it may be gone already
	<-r.ended
}

// stop asks the program to end, and waits.
func (r *running) stop() error {
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	<-r.ended
	if !r.cmd.ProcessState.Success() {
		return fmt.Errorf("%s\n%s", r.cmd.ProcessState, r.out)
	}
	return nil
}

// killed reports whether the process ended by SIGKILL.
func (r *running) killed() bool {
	status, ok := r.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// endedAt returns the point at which the process ended itself, or the empty string.
func (r *running) endedAt() string {
	data, err := os.ReadFile(r.file)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// owner returns a client for the owner's requests. This process may make them because it reports no
// events.
func (r *running) owner() (wire.OwnerServiceClient, func()) {
	c, err := client.Dial(r.paths.OwnerSocket, client.Options{})
	if err != nil {
		r.t.Fatal(err)
	}
	return c.Owner(), c.Close
}

// verify checks every chain, as «floodmark journal verify» does.
func (r *running) verify(ctx context.Context) (*wire.VerifyReport, error) {
	o, end := r.owner()
	defer end()
	stream, err := o.Verify(ctx, &wire.VerifyRequest{})
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	var report *wire.VerifyReport
	for stream.Receive() {
		if got := stream.Msg().GetReport(); got != nil {
			report = got
		}
	}
	if report == nil && stream.Err() == nil {
		return nil, errors.New("no report")
	}
	return report, stream.Err()
}

// runCommand runs another command of the real program.
func runCommand(t *testing.T, args ...string) (out string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program(t, "floodmark"), args...)
	data, _ := cmd.CombinedOutput() // how it ended is in ProcessState
	return string(data), cmd.ProcessState.ExitCode()
}

// put writes a file of an installation.
func put(t *testing.T, file, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}
