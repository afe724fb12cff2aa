package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// tty runs the real program at a terminal of its own, as a person would. STEPS
// is «-», or a file with one step a line:
//
//	see REGEXP   wait until that was printed since the last step; what its
//	             brackets match is kept
//	type TEXT    type it; {} stands for what was kept, <enter>, <esc> and
//	             <ctrl-c> for keys
//	do ARG…      run another program meanwhile
//	out REGEXP   wait until that went into the pipe
//
// With -pipe before STEPS standard output goes to a pipe: the person is at a
// terminal, what is printed is not.
func (s *scripts) tty(ts *testscript.TestScript, neg bool, args []string) {
	pipe := len(args) > 0 && args[0] == "-pipe"
	if pipe {
		args = args[1:]
	}
	if len(args) < 1 {
		ts.Fatalf("usage: tty [-pipe] STEPS ARG…")
	}
	l := ts.Value(lastKey{}).(*last)
	*l = last{}
	master, slave, err := openTerminal()
	ts.Check(err)
	defer master.Close()
	cmd := exec.CommandContext(s.ctx, "floodmark-real", args[1:]...)
	cmd.Dir, cmd.Env = ts.MkAbs("."), []string{"HOME=" + ts.Getenv("HOME"), "PATH=" + ts.Getenv("PATH"), "TERM=xterm-256color", "NO_COLOR=" + ts.Getenv("NO_COLOR")}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	seen := &screen{}
	if pipe {
		cmd.Stdout = &seen.piped
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	ts.Check(cmd.Start())
	ts.Check(slave.Close())
	var reading sync.WaitGroup
	reading.Go(func() { _, _ = io.Copy(&seen.all, master) }) // until the other side is closed
	var ended error
	over, end := context.WithCancel(context.Background())
	go func() {
		defer end()
		ended = cmd.Wait()
		reading.Wait()
	}()
	steps := ""
	if args[0] != "-" {
		steps = ts.ReadFile(args[0])
	}
	failed := seen.play(ts, over, master, steps)
	if failed != nil {
		_ = cmd.Process.Kill() // it may have ended by itself
	}
	<-over.Done()
	l.stdout.WriteString(seen.text())
	if pipe {
		l.stdout.Reset()
		l.stdout.WriteString(seen.piped.String())
	}
	fmt.Fprint(ts.Stdout(), l.stdout.String())
	l.code = cmd.ProcessState.ExitCode()
	if failed != nil {
		ts.Fatalf("%v", failed)
	}
	if (ended != nil) != neg {
		ts.Fatalf("exit code %d", l.code)
	}
}

// openTerminal opens a pseudo terminal.
func openTerminal() (master, slave *os.File, err error) {
	if master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		return nil, nil, err
	}
	fd := int(master.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err = errors.Join(err, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0), unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 100})); err != nil {
		return nil, nil, errors.Join(err, master.Close())
	}
	if slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		return nil, nil, errors.Join(err, master.Close())
	}
	return master, slave, nil
}

// A screen is what a terminal has shown.
type screen struct {
	all   lockedBuffer
	from  int          // where the next step looks
	piped lockedBuffer // what went into the pipe
}

func (t *screen) text() string {
	return strings.ReplaceAll(t.all.String(), "\r\n", "\n")
}

// play does the steps. over is done when the program has ended and everything it printed was read.
func (t *screen) play(ts *testscript.TestScript, over context.Context, f *os.File, steps string) error {
	kept := ""
	for line := range strings.Lines(steps) {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch verb {
		case "":
		case "see":
			m, err := t.see(over, regexp.MustCompile(rest))
			if err != nil {
				return err
			}
			if len(m) > 1 {
				kept = m[1]
			}
		case "type":
			keys := strings.NewReplacer("{}", kept, "<enter>", "\r", "<esc>", "\x1b", "<ctrl-c>", "\x03").Replace(rest)
			if _, err := f.WriteString(keys); err != nil {
				return err
			}
		case "out":
			if want := regexp.MustCompile(rest); !t.piped.until(over, want.MatchString) {
				return fmt.Errorf("never printed %s but\n%s", want, t.piped.String())
			}
		case "do":
			words := strings.Fields(rest)
			other := exec.Command(words[0], words[1:]...)
			other.Dir = ts.MkAbs(".")
			if out, err := other.CombinedOutput(); err != nil {
				return fmt.Errorf("%s: %w\n%s", rest, err, out)
			}
		default:
			return fmt.Errorf("unknown step %q", line)
		}
	}
	return nil
}

func (t *screen) see(over context.Context, want *regexp.Regexp) ([]string, error) {
	var found []string
	until := 0
	if !t.all.until(over, func(text string) bool {
		text = text[t.from:]
		if at := want.FindStringIndex(text); at != nil {
			found, until = want.FindStringSubmatch(text), at[1]
		}
		return found != nil
	}) {
		return nil, fmt.Errorf("never saw %s in\n%q", want, t.text())
	}
	t.from += until
	return found, nil
}
