package box

import (
	"errors"
	"fmt"
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

// group puts the first process of a box into a group that bounds how many there
// are, and returns what removes it.
func (s *Spec) group(pid int) (remove func(), err error) {
	if os.Getuid() != 0 {
		return func() {}, nil
	}
	parent, err := pidsGroup()
	if err != nil {
		return nil, err
	}
	sweep(parent)
	dir := filepath.Join(parent, groupName+strconv.Itoa(pid))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, fmt.Errorf("as root a box needs a control group of its own: %w", err)
	}
	remove = func() { _ = os.Remove(dir) } // it is empty once the box has ended
	if memory, err := s.memory(); err == nil {
		_ = os.WriteFile(filepath.Join(dir, "memory.max"), []byte(strconv.FormatUint(memory, 10)), 0) // not every group counts it
	}
	for _, f := range []struct {
		name  string
		value int
	}{{"pids.max", s.Processes}, {"cgroup.procs", pid}} {
		if err := os.WriteFile(filepath.Join(dir, f.name), []byte(strconv.Itoa(f.value)), 0); err != nil {
			remove()
			return nil, fmt.Errorf("as root a box needs a control group of its own: %w", err)
		}
	}
	return remove, nil
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
// two ways in which kernels arrange them.
func pidsGroup() (string, error) {
	const mounted = "/sys/fs/cgroup"
	data, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(data)) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) != 3 {
			continue
		}
		if part[1] == "pids" {
			return filepath.Join(mounted, "pids", part[2]), nil
		}
		if at := filepath.Join(mounted, part[2]); part[1] == "" && offersPids(at) {
			return at, nil
		}
	}
	return "", errors.New("as root a box needs a control group of its own, and this machine has none for processes")
}

// offersPids reports whether groups below one may bound processes.
func offersPids(dir string) bool {
	data, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
	return err == nil && strings.Contains(" "+strings.TrimSpace(string(data))+" ", " pids ")
}

// An ordinary user can show a box no group but the first of their own. The kernel
// then refuses to change a file of another group, with a number too large for its
// type, which would help nobody.

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
