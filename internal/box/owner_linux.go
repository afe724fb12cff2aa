package box

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

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
