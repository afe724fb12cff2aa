package box

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// For root the kernel does not count processes per user. So a box of root is a control group, which
// limits the number of its processes and, if the group can, its memory.

// A group bounds how many processes a box has. A nil group has no bound.
type group struct {
	dir, parent string
	// threads says that single threads can enter the group, as in the older of the two versions of
	// control groups.
	threads bool
}

// newGroup makes a group for this process's box. For other users than root it returns nil.
func newGroup() (*group, error) {
	if os.Getuid() != 0 {
		return nil, nil //nolint:nilnil // the kernel counts the processes of this user
	}
	parent, threads, err := pidsGroup()
	if err != nil {
		return nil, err
	}
	sweep(parent)
	g := &group{dir: filepath.Join(parent, groupName+strconv.Itoa(os.Getpid())), parent: parent, threads: threads}
	if err := os.Mkdir(g.dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) { // one may be left of a killed process with this number
		return nil, fmt.Errorf("as root a box needs a control group of its own: %w", err)
	}
	return g, nil
}

// limit sets the limits of the group, before the box is told what to run.
func (g *group) limit(s *Spec) error {
	if g == nil {
		return nil
	}
	if memory, err := s.memory(); err == nil {
		_ = os.WriteFile(filepath.Join(g.dir, "memory.max"), []byte(strconv.FormatUint(memory, 10)), 0) // not every group counts memory
	}
	return g.write(g.dir, "pids.max", s.Processes)
}

func (g *group) write(dir, name string, value int) error {
	if err := os.WriteFile(filepath.Join(dir, name), []byte(strconv.Itoa(value)), 0); err != nil {
		return fmt.Errorf("as root a box needs a control group of its own: %w", err)
	}
	return nil
}

// enter puts this thread, and so the processes it starts, into the group. That takes no time. To
// move another process into a group, the kernel waits for all others, which takes some ten
// milliseconds.
func (g *group) enter() error {
	if g == nil || !g.threads {
		return nil
	}
	return g.write(g.dir, "tasks", 0)
}

// leave takes this thread out of the group again. The processes it started stay.
func (g *group) leave() error {
	if g == nil || !g.threads {
		return nil
	}
	return g.write(g.parent, "tasks", 0)
}

// take puts the first process of a box into the group, if it did not start there.
func (g *group) take(pid int) error {
	if g == nil || g.threads {
		return nil
	}
	return g.write(g.dir, "cgroup.procs", pid)
}

// remove removes a group whose box has ended.
func (g *group) remove() {
	if g != nil {
		_ = os.Remove(g.dir)
	}
}

const groupName = "floodmark-box-"

// sweep removes the groups of boxes that were killed.
func sweep(parent string) {
	dirs, _ := filepath.Glob(filepath.Join(parent, groupName+"*"))
	for _, dir := range dirs {
		pid, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(dir), groupName))
		if err == nil && errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
			_ = os.Remove(dir)
		}
	}
}

// pidsGroup returns the group of this process that can bound processes, in either version of
// control groups. In the older version, threads is true.
func pidsGroup() (dir string, threads bool, err error) {
	const mounted = "/sys/fs/cgroup"
	data, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", false, err
	}
	for line := range strings.Lines(string(data)) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) != 3 {
			continue
		}
		if part[1] == "pids" {
			return filepath.Join(mounted, "pids", part[2]), true, nil
		}
		if at := filepath.Join(mounted, part[2]); part[1] == "" && offersPids(at) {
			return at, false, nil
		}
	}
	return "", false, errors.New("as root a box needs a control group of its own, and this machine has none for processes")
}

// offersPids reports whether the groups in a group can limit the number of their processes.
func offersPids(dir string) bool {
	data, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
	return err == nil && strings.Contains(" "+strings.TrimSpace(string(data))+" ", " pids ")
}

// In the box of an ordinary user only the user's first group is known. The kernel then refuses to
// change a file of another group with the error «value too large», which would not help a person.

// ofOneGroup returns an error if files of the owner in the project belong to another group. It
// checks the project's folder and its direct entries.
func (s *Spec) ofOneGroup() error {
	if s.ReadOnly || os.Getuid() == 0 {
		return nil
	}
	names := []string{s.Project}
	entries, err := os.ReadDir(s.Project)
	if err != nil {
		return err
	}
	for _, e := range entries {
		names = append(names, filepath.Join(s.Project, e.Name()))
	}
	for _, p := range names {
		info, err := os.Lstat(p)
		if err != nil {
			continue // it went away
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) == os.Getuid() && int(st.Gid) != os.Getgid() {
			return fmt.Errorf("%s belongs to group %d, and a box can write files of your group %d alone: chgrp -hR %d %s", p, st.Gid, os.Getgid(), os.Getgid(), s.Project)
		}
	}
	return nil
}

// mapsAll reports whether all users and groups are mapped, as they are outside of other user
// namespaces.
func mapsAll() bool {
	for _, file := range []string{"/proc/self/uid_map", "/proc/self/gid_map"} {
		data, err := os.ReadFile(file)
		if err != nil || strings.Join(strings.Fields(string(data)), " ") != "0 0 4294967295" {
			return false
		}
	}
	return true
}
