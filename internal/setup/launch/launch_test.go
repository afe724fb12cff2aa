package launch

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A unit names the program to start, and an edit of its file by hand is noticed.
func TestUnits(t *testing.T) {
	home := t.TempDir()
	u := (&Unit{Program: "/opt/a b/floodmark", Dir: "/x%", Home: home}).Systemd()
	if len(u.Files) != 1 || !strings.Contains(u.Files[0].Text, "ExecStart=\"/opt/a b/floodmark\" serve --dir /x%%\n") || !strings.Contains(u.Files[0].Text, "\nWantedBy=default.target\n") {
		t.Fatalf("%+v", u.Files)
	}
	f := u.Files[0]
	for _, c := range []struct {
		name string
		do   func() error
		want State
	}{
		{"nothing", func() error { return nil }, Absent},
		{"written", func() error { return f.Write(false) }, Same},
		{"again", func() error { return f.Write(false) }, Same},
		{"of another version", func() error { return os.WriteFile(f.Path, []byte(seal(f.Text+"# older\n")), 0o600) }, Older},
		{"replaced", func() error { return f.Write(false) }, Same},
		{"edited", func() error { return os.WriteFile(f.Path, []byte(f.Text+"# mine\n"), 0o600) }, Changed},
	} {
		if err := c.do(); err != nil || f.State() != c.want {
			t.Errorf("%s: %s, %v", c.name, f.State(), err)
		}
	}
	if err := f.Write(false); !errors.Is(err, ErrChanged) {
		t.Errorf("a file that somebody edited is written over: %v", err)
	}
	if err := f.Write(true); err != nil || f.State() != Same {
		t.Error(err)
	}
	if text := (&Unit{Program: "/f", Home: home}).Launchd().Files[0].Text; !strings.Contains(text, "<string>/f</string>\n    <string>serve</string>") {
		t.Error(text)
	}
}

// Tail returns whole lines.
func TestTail(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(file, []byte("one\ntwo\nthree\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for most, want := range map[int64]string{100: "one\ntwo\nthree\n", 14: "one\ntwo\nthree\n", 11: "two\nthree\n", 8: "three\n"} {
		if got, err := Tail(file, most); got != want || err != nil {
			t.Errorf("%d: %q, %v", most, got, err)
		}
	}
	if lastWords(file) != "three" || lastWords(file+"no") != "it said nothing" {
		t.Error(lastWords(file))
	}
	if err := os.WriteFile(file, []byte("level=INFO\nfloodmark: it is wrong\n  mend it\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := lastWords(file); !strings.HasPrefix(got, "it is wrong") || !strings.HasSuffix(got, "mend it") {
		t.Errorf("%q", got)
	}
}

// Stop ends a listener only if it is a monitor of this user.
func TestStopLeavesOthersAlone(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	if ran, err := Stop(t.Context(), socket); ran || err != nil {
		t.Errorf("nobody listens: %v, %v", ran, err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if ran, err := Stop(t.Context(), socket); ran || !errors.Is(err, ErrStranger) {
		t.Errorf("this test itself was to be ended: %v, %v", ran, err)
	}
}

// Without a service manager the log is a file. With systemd it is the journal.
func TestLogs(t *testing.T) {
	s := InBackground(Background{Log: "/l"}, "", func(context.Context) bool { return false })
	if got := strings.Join(s.LogCommand(5, true), " "); got != "tail -n 5 -f /l" {
		t.Error(got)
	}
	s.Name = "systemd"
	if got := strings.Join(s.LogCommand(5, false), " "); got != "journalctl --user --unit floodmark.service --no-pager --lines 5" {
		t.Error(got)
	}
}

// manager puts a systemctl on PATH that records its arguments, and fails if they begin with no.
func manager(t *testing.T, no string) (told func() string) {
	t.Helper()
	if runtime.GOOS == "darwin" {
		t.Skip("there it is launchd")
	}
	dir := t.TempDir()
	script := "#!/bin/sh\necho \"$*\" >>" + dir + "/told\ncase \"$*\" in \"" + no + "\"*) echo broken; exit 1;; esac\n"
	if err := os.WriteFile(filepath.Join(dir, "systemctl"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	return func() string {
		text, _ := os.ReadFile(filepath.Join(dir, "told")) // it is missing before the first command
		return string(text)
	}
}

// If a manager answers, it runs the monitor from a unit that Floodmark writes.
func TestByManager(t *testing.T) {
	told, home := manager(t, "--user cat"), t.TempDir()
	ready := func(context.Context) bool { return strings.Contains(told(), "enable --now") }
	s := InBackground(Background{}, filepath.Join(home, "no.sock"), ready).ByManager(t.Context(), &Unit{Program: "/f", Home: home})
	unit := filepath.Join(home, ".config/systemd/user/floodmark.service")
	if err := s.Start(t.Context()); err != nil || s.Name != "systemd" {
		t.Fatalf("%s: %v", s.Name, err)
	}
	if text, err := os.ReadFile(unit); err != nil || !strings.Contains(string(text), "ExecStart=/f serve\n") {
		t.Errorf("%s, %v", text, err)
	}
	if ran, err := s.Stop(t.Context()); !ran || err != nil || !strings.Contains(told(), "disable --now") {
		t.Errorf("%v, %v\n%s", ran, err, told())
	}
	if _, err := os.Stat(unit); err == nil {
		t.Error("the unit stays")
	}
}

// The unit of a package is used as it is. If the manager refuses, the error says why, and no unit
// is left.
func TestWhatAManagerRefuses(t *testing.T) {
	told, home := manager(t, "--user enable"), t.TempDir()
	s := InBackground(Background{}, filepath.Join(home, "no.sock"), func(context.Context) bool { return false }).ByManager(t.Context(), &Unit{Program: "/f", Home: home})
	if err := s.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("%v\n%s", err, told())
	}
	if _, err := os.Stat(filepath.Join(home, ".config")); err == nil {
		t.Error("a unit was written though there is one")
	}
	manager(t, "--user show-environment")
	if s := InBackground(Background{}, "", nil).ByManager(t.Context(), &Unit{Home: home}); s.Name != "background" {
		t.Errorf("a manager that does not answer is used: %s", s.Name)
	}
}
