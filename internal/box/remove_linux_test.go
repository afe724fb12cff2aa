package box

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// deep makes nested folders, deeper than a path can name and than there are descriptors.
func deep(t *testing.T, at string) {
	t.Helper()
	if err := os.MkdirAll(at, 0o700); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Open(at, unix.O_PATH|unix.O_DIRECTORY, 0)
	for range descriptors + 10 {
		name := strings.Repeat("d", 100)
		if err == nil {
			err = unix.Mkdirat(fd, name, 0o700)
		}
		if err != nil {
			t.Fatal(err)
		}
		next, e := unix.Openat(fd, name, unix.O_PATH|unix.O_DIRECTORY, 0)
		_ = unix.Close(fd)
		fd, err = next, e
	}
	_ = unix.Close(fd)
}

const descriptors = 100

// Every tree that a command can leave can be removed.
func TestRemove(t *testing.T) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	few := syscall.Rlimit{Cur: descriptors, Max: limit.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit) })
	s := &Spec{Folder: t.TempDir()}
	deep(t, filepath.Join(s.upper(), "a"))
	for _, name := range []string{"closed/x/y", "moved-1/f", "moved-2/f"} {
		if err := os.MkdirAll(filepath.Join(s.upper(), name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink("/", filepath.Join(s.upper(), "closed", "x", "link")), os.Chmod(filepath.Join(s.upper(), "closed", "x"), 0)); err != nil {
		t.Fatal(err)
	}
	dir, err := os.Open(s.Folder)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if err := Remove(dir, "written", 10); !errors.Is(err, ErrLeft) {
		t.Errorf("%v", err)
	}
	if err := s.Clear(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(s.Folder); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
	if err := Remove(dir, "missing", 0); err != nil {
		t.Error(err)
	}
}

// Files that an earlier box began to move in are neither removed nor shown to another command. The
// process that has the project's lock finishes that first.
func TestNothingRunsBeforeAnEarlierBoxIsFinished(t *testing.T) {
	root := t.TempDir()
	s := &Spec{Project: filepath.Join(root, "home", "p"), Home: filepath.Join(root, "home"), Folder: filepath.Join(root, "box")}
	left := filepath.Join(s.upper(), "a")
	for _, p := range []string{s.Project, left} {
		if err := os.MkdirAll(p, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	plan := filepath.Join(s.Folder, "in.plan")
	if err := os.WriteFile(plan, []byte(`{"steps":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if !s.Writes().Pending() {
		t.Fatal("nothing is to be finished")
	}
	if _, err := new(Walls).Run(s, []string{"true"}, nil, s.Project); err == nil || !strings.Contains(err.Error(), "still to be moved in") {
		t.Errorf("%v", err)
	}
	for _, p := range []string{plan, left} {
		if _, err := os.Lstat(p); err != nil {
			t.Error(err)
		}
	}
}
