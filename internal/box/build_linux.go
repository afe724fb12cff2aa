package box

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

var (
	//go:embed data/system.txt
	systemList string
	//go:embed data/home.txt
	homeList string
	//go:embed data/caches.txt
	cacheList string
)

// build makes what the command sees: an empty root, and in it only what is named.
func (s *Spec) build() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := unix.Mount("root", s.root(), "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755,size=256m"); err != nil {
		return err
	}
	for _, step := range []func() error{s.system, s.devices, s.processes, s.folders, s.homes, s.repository, s.project} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// close hides the secrets that the outer process found meanwhile, and makes the new root the only
// one.
func (s *Spec) close(hidden []string) error {
	for _, name := range hidden {
		if err := s.hide(filepath.Join(s.Project, name)); err != nil {
			return err
		}
	}
	return s.turn()
}

// at returns where a path of the box is while its root is built.
func (s *Spec) at(p string) string { return filepath.Join(s.root(), p) }

// empty is a folder that is empty, also in a box. It is needed because an overlay without an upper
// layer needs two lower ones.
const empty = "/mnt"

// system shows the machine's programs, read-only.
func (s *Spec) system() error {
	if err := os.Mkdir(s.at(empty), 0o755); err != nil {
		return err
	}
	for _, p := range lines(systemList) {
		if err := s.show(p); err != nil {
			return err
		}
	}
	return nil
}

// show makes a path of the machine visible, read-only. A path that does not exist is left out. A
// link is copied, so that it leads to what the box shows. Sockets, pipes and devices are left out,
// because they would lead out of the box.
func (s *Spec) show(p string) error {
	info, err := os.Lstat(p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := folder(filepath.Dir(s.at(p))); err != nil {
		return err
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := os.Readlink(p)
		if err != nil {
			return err
		}
		return os.Symlink(to, s.at(p))
	case info.IsDir() && !below(p, "/etc"):
		return s.through(p)
	case info.Mode().IsRegular() && info.Size() <= maxCopied:
		return s.copied(p)
	case info.Mode().IsRegular() || info.IsDir(): // no program listens below /etc, and a plain mount costs less
		return s.bind(p, p, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
	}
	return nil
}

// through shows a folder of the machine by an overlay without an upper layer. In an overlay every
// socket and pipe is a new one, so they do not lead to the programs outside that listen there. In a
// plain mount they would.
func (s *Spec) through(p string) error {
	err := s.mount(p, "overlay", unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, "userxattr,lowerdir="+layer(p)+":"+layer(s.at(empty)))
	if !errors.Is(err, unix.EINVAL) {
		return err
	}
	// If something is mounted in the folder, its entries are shown one by one.
	if mounts, look := mountsInside(p); look != nil || len(mounts) == 0 {
		return errors.Join(err, look)
	}
	entries, err := os.ReadDir(p)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := s.show(filepath.Join(p, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// maxCopied is the size up to which a file is copied, because a copy costs less than a mount then.
const maxCopied = 64 << 10

// copied shows a small file of the system by a copy. A file that the owner may not read is left
// out. Dozens of files are copied before each command, so copied makes few system calls; package os
// makes twice as many.
func (s *Spec) copied(p string) error {
	from, err := unix.Open(p, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err == unix.EACCES || err == unix.EPERM {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p, err)
	}
	defer func() { _ = unix.Close(from) }()
	if s.buffer == nil {
		s.buffer = make([]byte, maxCopied)
	}
	to, err := unix.Open(s.at(p), unix.O_WRONLY|unix.O_CREAT|unix.O_TRUNC|unix.O_CLOEXEC, 0o444)
	if err != nil {
		return fmt.Errorf("%s: %w", p, err)
	}
	return errors.Join(copyDescriptor(from, to, s.buffer), unix.Close(to))
}

// copyDescriptor copies everything that can be read from one descriptor to another.
func copyDescriptor(from, to int, buffer []byte) error {
	for {
		n, err := unix.Read(from, buffer)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return err
		}
		for rest := buffer[:n]; len(rest) > 0; {
			n, err := unix.Write(to, rest)
			if err != nil && err != unix.EINTR {
				return err
			}
			rest = rest[max(n, 0):]
		}
	}
}

// bind shows a file or folder of the machine at a path. Programs in the box cannot remove the
// attributes.
func (s *Spec) bind(from, to string, attributes uint64) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if err := point(s.at(to), info.IsDir()); err != nil {
		return err
	}
	if err := unix.Mount(from, s.at(to), "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("%s: %w", to, err)
	}
	return s.restrict(to, attributes)
}

// restrict sets attributes of everything that is mounted at a path or below it.
func (s *Spec) restrict(p string, attributes uint64) error {
	attr := unix.MountAttr{Attr_set: attributes}
	if err := unix.MountSetattr(unix.AT_FDCWD, s.at(p), unix.AT_RECURSIVE, &attr); err != nil {
		return fmt.Errorf("%s: %w", p, err)
	}
	return nil
}

// point makes a file or folder on which something can be mounted.
func point(p string, isFolder bool) error {
	if isFolder {
		return folder(p)
	}
	if err := folder(filepath.Dir(p)); err != nil {
		return err
	}
	fd, err := unix.Open(p, unix.O_CREAT|unix.O_RDONLY|unix.O_CLOEXEC, 0o644)
	if err != nil {
		return &fs.PathError{Op: "open", Path: p, Err: err}
	}
	return unix.Close(fd)
}

// folder makes a folder and those above it. The folders above usually exist, so it tries the last
// one first; [os.MkdirAll] would check all of them.
func folder(p string) error {
	err := unix.Mkdir(p, 0o755)
	if err == nil || err == unix.EEXIST {
		return nil
	}
	return os.MkdirAll(p, 0o755)
}

// devices shows the devices that give access to nothing.
func (s *Spec) devices() error {
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		if err := s.bind("/dev/"+name, "/dev/"+name, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC); err != nil {
			return err
		}
	}
	for name, to := range map[string]string{"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2", "ptmx": "pts/ptmx"} {
		if err := os.Symlink(to, s.at("/dev/"+name)); err != nil {
			return err
		}
	}
	if err := s.mount("/dev/pts", "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620"); err != nil {
		return err
	}
	return s.mount("/dev/shm", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777,size=10%")
}

// mount mounts a new file system at a path.
func (s *Spec) mount(p, kind string, flags uintptr, options string) error {
	if err := folder(s.at(p)); err != nil {
		return err
	}
	if err := unix.Mount(kind, s.at(p), kind, flags, options); err != nil {
		return fmt.Errorf("%s: %w", p, err)
	}
	return nil
}

// processes shows the processes of the box, and makes the kernel's files read-only.
func (s *Spec) processes() error {
	return s.mount("/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC|unix.MS_RDONLY, "")
}

// homes makes a home folder that has only toolchains and settings of git. Files that are written
// there end with the box.
func (s *Spec) homes() error {
	if err := s.mount(s.Home, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=700,size=1g"); err != nil {
		return err
	}
	for _, name := range lines(homeList) {
		p := filepath.Join(s.Home, name)
		if !straight(p) {
			continue // it does not exist, or a link leads elsewhere
		}
		if err := s.show(p); err != nil {
			return err
		}
	}
	text := "[user]\n\tname = " + quote(s.Author) + "\n\temail = " + quote(s.Mail) + "\n[safe]\n\tbareRepository = explicit\n[core]\n\tfsmonitor = false\n" +
		"[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[transfer]\n\tunpackLimit = 1000000\n" // because packs are not kept
	if err := os.WriteFile(s.at(filepath.Join(s.Home, ".gitconfig")), []byte(text), 0o644); err != nil {
		return err
	}
	return s.caches()
}

// straight reports whether a path exists and no link is on the way to it. Most paths do not exist,
// which takes only one lookup.
func straight(p string) bool {
	var st unix.Stat_t
	if unix.Lstat(p, &st) != nil {
		return false
	}
	there, err := filepath.EvalSymlinks(p)
	return err == nil && there == p
}

// quote returns a value as it is written in git's settings.
func quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", " ").Replace(text) + `"`
}

// repository shows the folder that a worktree shares with others, read-only. It is left out if a
// link is on the way, because the link could lead to a folder that was not named.
func (s *Spec) repository() error {
	if s.Git == "" || !straight(s.Git) {
		return nil // then only git does not work
	}
	return s.show(s.Git)
}

// project shows the project with a layer above it that takes the writes. The command cannot
// distinguish it from the project itself.
func (s *Spec) project() error {
	if s.ReadOnly {
		return s.snapshot()
	}
	err := s.overlay(s.Project, s.Project, s.upper(), s.work())
	if errors.Is(err, unix.EINVAL) {
		if mounts, look := mountsInside(s.Project); look != nil || len(mounts) > 0 {
			err = errors.Join(look, s.compose(mounts))
		}
	}
	return err
}

// overlay shows a folder with a layer above it that takes the writes.
//
// The layer is mounted volatile, because otherwise the kernel would sync its whole disk when the
// box ends. It does not have to survive a power cut: files to keep are moved into the project, and
// are synced there like others. The kernel marks a volatile layer as not to be used again, even if
// the mount failed. We remove the mark, and use the layer again as long as the machine runs.
func (s *Spec) overlay(at, lower, upper, work string) error {
	dir, err := os.Open(filepath.Dir(work))
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := errors.Join(Remove(dir, filepath.Base(work), 0), os.Mkdir(work, 0o700)); err != nil {
		return err
	}
	return s.mount(at, "overlay", unix.MS_NOSUID|unix.MS_NODEV,
		"userxattr,volatile,lowerdir="+layer(lower)+",upperdir="+layer(upper)+",workdir="+layer(work))
}

// layer returns a path as it is written in the options of an overlay.
func layer(p string) string {
	return strings.NewReplacer(`\`, `\\`, ":", `\:`, ",", `\,`).Replace(p)
}

// hide makes a file or folder of the box empty.
func (s *Spec) hide(p string) error {
	info, err := os.Lstat(s.at(p))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return s.mount(p, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC|unix.MS_RDONLY, "mode=755,size=4k")
	case !info.Mode().IsRegular():
		return nil // a link leads only to what the box shows
	}
	if err := unix.Mount("/dev/null", s.at(p), "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("%s: %w", p, err)
	}
	return s.restrict(p, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOEXEC)
}

// folders makes the folders that programs expect to be able to write to.
func (s *Spec) folders() error {
	for _, p := range []string{"/run", "/var/tmp"} {
		if err := s.mount(p, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777,size=256m"); err != nil {
			return err
		}
	}
	if s.Temp == "" {
		return s.mount("/tmp", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777,size=25%")
	}
	return s.share(s.Temp, s.Temp, "/tmp")
}

// turn makes the new root the root of the box, and detaches the machine's.
func (s *Spec) turn() error {
	if err := unix.Sethostname([]byte("box")); err != nil {
		return err
	}
	if err := s.restrict("/", 0); err != nil {
		return err
	}
	if err := os.Chdir(s.root()); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return err
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return err
	}
	if err := os.Chdir("/"); err != nil {
		return err
	}
	return unix.Mount("", "/", "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, "")
}
