package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestFiveMinutes runs the five minutes of docs/guide/first-look.md word for word, in one shell at
// a terminal, and compares the output. Only the ticket of a question differs. It is taken from the
// output of the command before.
func TestFiveMinutes(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts real programs and waits for them")
	}
	for _, program := range []string{"script", "curl", "bash", "sha256sum"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("%s is missing: install it", program)
		}
	}
	page, err := os.ReadFile("../../docs/guide/first-look.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := shortFolder(t)
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "bin")+"/", ".", "../floodmark-hook").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	sh := newTerminal(t, dir)
	commands, printed := 0, ""
	for _, f := range fences(string(page)) {
		if f.info != startFence {
			continue
		}
		for _, p := range strings.Split("\n"+strings.ReplaceAll(f.text, "\\\n", ""), "\n$ ")[1:] {
			command, want, _ := strings.Cut(p, "\n")
			printed = sh.run(withTicket(command, printed))
			commands++
			if err := sameOutput(strings.TrimSpace(spaces(want)), strings.TrimSpace(spaces(printed))); want != "" && err != nil {
				t.Fatalf("line %d: %s\n%v", f.line, command, err)
			}
		}
	}
	if commands < 20 {
		t.Errorf("%d commands were run", commands)
	}
	checkDrawing(t, filepath.Join(dir, "monday.svg"))
}

// spaces returns a text with runs of spaces that align columns shortened to two.
func spaces(s string) string { return regexp.MustCompile(`(?m) {2,}(\S)`).ReplaceAllString(s, "  $1") }

// withTicket returns a command with the ticket that was just printed in place of the example's.
func withTicket(command, printed string) string {
	m := regexp.MustCompile(`floodmark approve (t-[0-9a-f-]+)`).FindStringSubmatch(printed)
	if m == nil {
		return command
	}
	return strings.Replace(command, "approve t-0199aabb-ccdd", "approve "+m[1], 1)
}

// checkDrawing draws the picture if a program for that is installed, and keeps the result for
// people to look at.
func checkDrawing(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil || !strings.HasPrefix(string(data), "<svg") {
		t.Fatalf("no drawing: %v", err)
	}
	if keep := os.Getenv("FLOODMARK_KEEP_DRAWING"); keep != "" {
		if err := os.WriteFile(keep, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if tool, err := exec.LookPath("rsvg-convert"); err == nil {
		if out, err := exec.CommandContext(t.Context(), tool, file, "-o", file+".png").CombinedOutput(); err != nil {
			t.Errorf("it cannot be drawn: %v\n%s", err, out)
		}
	}
}

// shortFolder makes a folder with a path that is short enough for sockets.
func shortFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "fm-*") //nolint:usetesting // the test's own folder is too deep for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func newTerminal(t *testing.T, dir string) *terminalShell {
	t.Helper()
	return terminalOf(t, dir, "bash --norc --noprofile")
}

// terminalOf runs a shell, by its command line, at a terminal.
func terminalOf(t *testing.T, dir, shell string) *terminalShell {
	t.Helper()
	cmd := exec.CommandContext(untilTimeout(t), "script", "-qefc", shell, "/dev/null")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH"), "HOME=" + dir, "PS1=", "PS2=", "NO_COLOR=1", "TERM=dumb", "HISTFILE=/dev/null", "COLUMNS=100"}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &terminalShell{t: t, in: in, lines: make(chan string, 1024)}
	go func() {
		defer close(s.lines)
		for r := bufio.NewScanner(out); r.Scan(); {
			s.lines <- strings.TrimRight(r.Text(), "\r")
		}
	}()
	t.Cleanup(func() {
		fmt.Fprintln(in, "kill $(jobs -p) 2>/dev/null; wait; exit")
		for range s.lines { // until the shell has gone
		}
		_ = cmd.Wait()
	})
	s.run("stty -echo; set +m; bind 'set enable-bracketed-paste off' 2>/dev/null; true")
	return s
}

// A terminalShell is a shell at a terminal, so that it behaves as for a person.
type terminalShell struct {
	t     *testing.T
	in    io.Writer
	lines chan string
	n     int
}

// run types a command and then the answers to its questions, and returns what was printed.
func (s *terminalShell) run(command string, answers ...string) string {
	s.t.Helper()
	s.n++
	end := fmt.Sprintf("end-of-command-%d", s.n)
	mark := fmt.Sprintf("echo %s-of-command-%d", "end", s.n)
	switch {
	case strings.Contains(command, "\n"):
		command += "\n" + mark
	case strings.HasSuffix(command, "&"):
		command += " " + mark
	default: // on the same line, because programs such as sudo read lines that are typed ahead
		command += "; " + mark
	}
	for _, line := range append([]string{command}, answers...) {
		fmt.Fprintln(s.in, line)
	}
	var got []string
	for line := range s.lines {
		if strings.HasSuffix(line, end) && !strings.Contains(line, "echo") {
			return strings.Join(append(got, strings.TrimSuffix(line, end)), "\n")
		}
		got = append(got, line)
	}
	s.t.Fatalf("the shell ended at %s\n%s", command, strings.Join(got, "\n"))
	return ""
}
