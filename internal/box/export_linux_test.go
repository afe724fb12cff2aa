package box

import (
	"os"
	"path/filepath"
)

// Bubblewrap returns the command line by which bubblewrap shows what a box shows. Bubblewrap 0.8
// has no overlay, so the project itself is shown.
func (s *Spec) Bubblewrap(program string) []string {
	args := []string{program, "--unshare-all", "--die-with-parent", "--tmpfs", "/"}
	show := func(p string) {
		if to, err := os.Readlink(p); err == nil {
			args = append(args, "--symlink", to, p)
		} else if _, err := os.Stat(p); err == nil {
			args = append(args, "--ro-bind", p, p)
		}
	}
	for _, p := range lines(systemList) {
		show(p)
	}
	args = append(args, "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run", "--tmpfs", "/var/tmp", "--tmpfs", "/tmp", "--tmpfs", s.Home)
	for _, name := range lines(homeList) {
		show(filepath.Join(s.Home, name))
	}
	return append(args, "--bind", s.Project, s.Project, "--chdir", s.Project)
}
