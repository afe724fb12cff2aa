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

// For the machine's administrator the kernel counts no processes per user, so
// there a box is a control group with a number of its own. Where memory can be
// counted there too, it is.

// A group bounds how many processes a box has. Nil bounds none.
type group struct {
	dir, parent string
	// threads says that one thread can enter it, as in the older of the two ways in which
	// kernels arrange groups.
	threads bool
}

// newGroup makes one for this process's box.
func newGroup() (*group, error) {
	if os.Getuid() != 0 {
		return nil, nil //nolint:nilnil // there the kernel counts
	}
	parent, threads, err := pidsGroup()
	if err != nil {
		return nil, err
	}
	sweep(parent)
	g := &group{dir: filepath.Join(parent, groupName+strconv.Itoa(os.Getpid())), parent: parent, threads: threads}
	if err := os.Mkdir(g.dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) { // of one that was killed and had this number
		return nil, fmt.Errorf("as root a box needs a control group of its own: %w", err)
	}
	return g, nil
}

// limit bounds the box, before it is told what to run.
func (g *group) limit(s *Spec) error {
	if g == nil {
		return nil
	}
	if memory, err := s.memory(); err == nil {
		_ = os.WriteFile(filepath.Join(g.dir, "memory.max"), []byte(strconv.FormatUint(memory, 10)), 0) // not every group counts it
	}
	return g.write(g.dir, "pids.max", s.Processes)
}

func (g *group) write(dir, name string, value int) error {
	if err := os.WriteFile(filepath.Join(dir, name), []byte(strconv.Itoa(value)), 0); err != nil {
		return fmt.Errorf("as root a box needs a control group of its own: %w", err)
	}
	return nil
}

// enter puts this thread into the group, and so what it starts. That takes no time; to put
// another process into one, the kernel waits for all others, some ten milliseconds.
func (g *group) enter() error {
	if g == nil || !g.threads {
		return nil
	}
	return g.write(g.dir, "tasks", 0)
}

// leave takes this thread out of the group again, and leaves there what it started.
func (g *group) leave() error {
	if g == nil || !g.threads {
		return nil
	}
	return g.write(g.parent, "tasks", 0)
}

// take puts the first process of a box into the group, if it did not begin there.
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

// sweep removes the groups of boxes that were killed before they could.
func sweep(parent string) {
	dirs, _ := filepath.Glob(filepath.Join(parent, groupName+"*"))
	for _, dir := range dirs {
		pid, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(dir), groupName))
		if err == nil && errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
			_ = os.Remove(dir)
		}
	}
}

// pidsGroup is the group of this process that bounds processes, in either of the
// two ways in which kernels arrange them. In the older one threads can be in groups.
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

// offersPids reports whether groups below one may bound processes.
func offersPids(dir string) bool {
	data, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
	return err == nil && strings.Contains(" "+strings.TrimSpace(string(data))+" ", " pids ")
}

// An ordinary user can show a box only their first group. The kernel then refuses to change a file
// of another group, with the error «value too large», which would not help a person.

// ofOneGroup refuses a project of which the owner's files belong to another group.
// It looks at the folder and what lies right in it.
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

// mapsAll reports whether all users and groups are known here, as outside of other
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
