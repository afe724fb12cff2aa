package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A terminal is a terminal that an agent runs at, with a person.
type terminal struct {
	w      *world
	master *os.File
	over   context.Context // ends when the agent has ended, or when it took too long

	mu    sync.Mutex
	drawn string        // since the person last looked
	grew  chan struct{} // closed when more is drawn
}

// width is so large that none of our lines is broken.
const width = 230

// redraws makes the terminal narrower, so that the agent draws the whole screen again.
func (x *terminal) redraws() {
	x.w.t.Helper()
	x.mu.Lock()
	x.drawn = ""
	x.mu.Unlock()
	if err := unix.IoctlSetWinsize(int(x.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 60, Col: width - 1}); err != nil {
		x.w.t.Fatal(err)
	}
}

// strokes matches control sequences and blanks, because agents draw a screen in pieces.
var strokes = regexp.MustCompile(`\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][0-9A-Z]|\x1b[0-9=>A-Za-z]|\s+`)

func letters(text string) string { return strokes.ReplaceAllString(text, "") }

// atTerminal starts an agent at a new terminal, and ends it with the test.
func (w *world) atTerminal(env []string, name string, args ...string) *terminal {
	w.t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	fd := int(master.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err = errors.Join(err, unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 60, Col: width})); err != nil {
		w.t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := untilTimeout(w.t)
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = w.project, w.variables("xterm-256color", env)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	_ = slave.Close() // the agent has its own copy
	over, ended := context.WithCancel(ctx)
	x := &terminal{w: w, master: master, over: over, grew: make(chan struct{})}
	var work sync.WaitGroup
	work.Go(x.read)
	work.Go(func() { defer ended(); _ = cmd.Wait() })
	w.t.Cleanup(func() {
		cancel()
		work.Wait()
		_ = master.Close()
		if w.t.Failed() {
			w.t.Logf("the screen: %s\nthe model read %q", tail(letters(x.drawn)), w.results())
		}
	})
	return x
}

// read keeps what is drawn until the other side is closed.
func (x *terminal) read() {
	buffer := make([]byte, 1<<16)
	for {
		n, err := x.master.Read(buffer)
		x.mu.Lock()
		x.drawn += string(buffer[:n])
		close(x.grew)
		x.grew = make(chan struct{})
		x.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// see waits until the agent has drawn these texts, one after another.
func (x *terminal) see(texts ...string) {
	x.w.t.Helper()
	for _, text := range texts {
		for !x.saw(letters(text)) {
			x.mu.Lock()
			grew := x.grew
			x.mu.Unlock()
			if x.saw(letters(text)) {
				break
			}
			select {
			case <-grew:
			case <-x.over.Done():
				x.w.t.Fatalf("it never showed %q", text)
			}
		}
	}
}

// find waits until something matching was drawn, ignoring blanks, and returns the first submatch.
func (x *terminal) find(form string) string {
	x.w.t.Helper()
	for re := regexp.MustCompile(form); ; {
		x.mu.Lock()
		grew, drawn := x.grew, letters(x.drawn)
		x.mu.Unlock()
		if m := re.FindStringSubmatch(drawn); m != nil {
			return m[1]
		}
		select {
		case <-grew:
		case <-x.over.Done():
			x.w.t.Fatalf("it never showed %s", form)
		}
	}
}

// saw reports whether a text was drawn, and forgets what was drawn before it.
func (x *terminal) saw(text string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	_, after, found := strings.Cut(letters(x.drawn), text)
	if found {
		x.drawn = after
	}
	return found
}

// again is the time after which a key is pressed again, because a key that is pressed while a
// window is being drawn may be lost.
const again = 3 * time.Second

// press presses a key until the condition is true.
func (x *terminal) press(key string, until func() bool) {
	x.w.t.Helper()
	for !until() {
		x.types(key)
		x.wait(until)
	}
}

func (x *terminal) types(keys string) {
	x.w.t.Helper()
	if _, err := x.master.WriteString(keys); err != nil {
		x.w.t.Fatal(err)
	}
}

// wait waits for a short time for a condition that is not drawn, and fails if the agent ends.
func (x *terminal) wait(until func() bool) {
	x.w.t.Helper()
	for end := time.Now().Add(again); !until() && time.Now().Before(end); {
		select {
		case <-x.over.Done():
			x.w.t.Fatal("the agent has ended")
		case <-time.After(again / 30):
		}
	}
}

// untilResults waits until the model has read that many results, without pressing a key.
func (x *terminal) untilResults(n int) {
	x.w.t.Helper()
	for !x.w.haveRead(n)() {
		x.wait(x.w.haveRead(n))
	}
}
