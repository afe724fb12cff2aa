package hookrun

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Only the account's own monitor is started. Variables do not choose another.
func TestVariablesChooseNoDaemon(t *testing.T) {
	s := &starter{uid: 1000, home: func() (string, error) { return "/home/dev", nil }}
	const usual, runtime = "/home/dev/.local/state/floodmark/run/hook.sock", "/run/user/1000/floodmark/hook.sock"
	for path, want := range map[string]string{
		usual:                                "HOME=/home/dev PATH=/usr/local/bin:/usr/bin:/bin",
		runtime:                              "HOME=/home/dev XDG_RUNTIME_DIR=/run/user/1000 PATH=/usr/local/bin:/usr/bin:/bin",
		"/run/user/1001/floodmark/hook.sock": "",
		"/run/floodmark/hook.sock":           "",
		"/tmp/evil/.local/state/floodmark/run/hook.sock":        "",
		"/home/dev/try/run/hook.sock":                           "",
		"/home/dev/../dev/.local/state/floodmark/run/hook.sock": "",
	} {
		for _, env := range []map[string]string{{}, {"HOME": "/tmp/evil", "PATH": "/tmp/evil", "LD_PRELOAD": "x"}, {"XDG_CONFIG_HOME": "/home/dev/.config/"}} {
			got, err := s.variables(path, func(name string) string { return env[name] })
			if strings.Join(got, " ") != want || (err == nil) != (want != "") {
				t.Errorf("%s with %v: %q, %v", path, env, got, err)
			}
		}
	}
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"} {
		if got, err := s.variables(usual, func(n string) string { return map[string]string{name: "/tmp/evil"}[n] }); err == nil {
			t.Errorf("%s: %q", name, got)
		}
	}
	for _, home := range []func() (string, error){
		func() (string, error) { return "", errors.New("no such user") },
		func() (string, error) { return "relative", nil },
	} {
		if got, err := (&starter{home: home}).variables(usual, func(string) string { return "" }); err == nil {
			t.Errorf("%q", got)
		}
	}
}

// The home folder comes only from the system's list of users. An account that is not in the list
// has none, even if HOME is set.
func TestHomeIsNoVariable(t *testing.T) {
	const users = "root:x:0:0:root:/root:/bin/sh\n#dev:x:1000:1000::/tmp/evil:/bin/sh\n+:x:1000:1000::/tmp/evil:/bin/sh\n" +
		":x:1000:1000::/tmp/evil:/bin/sh\nx:1000:1000::/tmp/evil:/bin/sh\ndev:x:1000:1000:Dev,,,:/home/dev:/bin/sh\ntwin:x:1000:1000::/tmp/evil:/bin/sh\n"
	for uid, want := range map[int]string{0: "/root", 1000: "/home/dev", 100: "", 54321: ""} {
		if got, err := homeIn(strings.NewReader(users), uid); got != want || (err == nil) != (want != "") {
			t.Errorf("%d: %q, %v", uid, got, err)
		}
	}
	if got, err := homeIn(strings.NewReader(strings.Repeat("x", maxUsers)+"\n"+users), 1000); err == nil {
		t.Errorf("a list that cannot be read: %q", got)
	}
	const nobody = 1<<31 - 7
	if got, err := homeOf(nobody); err == nil {
		t.Errorf("nobody lives in %q", got)
	}
}

// The daemon's program is the one beside ours, if no other user can write to it.
func TestTheProgramBesideUs(t *testing.T) {
	dir := t.TempDir()
	bin, away := filepath.Join(dir, "bin"), filepath.Join(dir, "away")
	for _, folder := range []string{bin, away} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	self, daemon := filepath.Join(bin, "floodmark-hook"), filepath.Join(bin, daemonName)
	if err := os.WriteFile(self, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(away, "floodmark-hook")); err != nil {
		t.Fatal(err)
	}
	at := func(file string) (string, error) {
		return (&starter{executable: func() (string, error) { return file, nil }}).program()
	}
	if got, err := at(self); err == nil {
		t.Errorf("there is none: %s", got)
	}
	for mode, good := range map[os.FileMode]bool{0o755: true, 0o500: true, 0o644: false, 0o775: false, 0o757: false} {
		if err := errors.Join(os.WriteFile(daemon, nil, 0o700), os.Chmod(daemon, mode)); err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{self, filepath.Join(away, "floodmark-hook")} {
			got, err := at(file)
			if (err == nil) != good || good && filepath.Base(filepath.Dir(got)) != "bin" {
				t.Errorf("%v, %s: %s, %v", mode, file, got, err)
			}
		}
		if err := os.Remove(daemon); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(daemon, 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := at(self); err == nil {
		t.Errorf("a folder is no program: %s", got)
	}
	if got, err := (&starter{executable: func() (string, error) { return "", errors.New("gone") }}).program(); err == nil {
		t.Error(got)
	}
}

// If the daemon does not start, the answer is a denial within the deadline.
func TestFailedStartIsANo(t *testing.T) {
	dir, err := os.MkdirTemp("", "fm") //nolint:usetesting // the name of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	s := &starter{
		home:       func() (string, error) { return dir, nil },
		executable: func() (string, error) { return filepath.Join(dir, "floodmark-hook"), nil },
	}
	for name, program := range map[string]string{"fails": "#!/bin/sh\nexit 1\n", "no program": "\x00", "waits": "#!/bin/sh\nexec sleep 1\n"} {
		for _, file := range []string{"floodmark-hook", daemonName} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(program), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		var out, errs strings.Builder
		env := map[string]string{"HOME": dir}
		exit := Run("floodmark-hook", []string{"-deadline", "300ms", "codex", "PreToolUse"}, Edge{
			Getenv: func(name string) string { return env[name] }, Stdin: strings.NewReader("{}"), Stdout: &out, Stderr: &errs, starter: s,
		})
		if got := (called{out.String(), errs.String(), exit}); !refused("codex", "PreToolUse", got) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Wake starts nothing if there is a listener, or if the place is unusual.
func TestWake(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hook.sock")
	none := func(string) string { return "" }
	if err := Wake(t.Context(), path, none); err == nil || !strings.Contains(err.Error(), "floodmark serve") || !strings.Contains(err.Error(), "not the usual place") {
		t.Errorf("no monitor listens: %v", err)
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := Wake(t.Context(), path, none); err != nil {
		t.Errorf("somebody listens: %v", err)
	}
}
