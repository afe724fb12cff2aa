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

// build makes what the command sees: an empty root, and in it what is named.
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

// close hides the secrets that the outer process found meanwhile, and closes its hold on the
// machine's files.
func (s *Spec) close(hidden []string) error {
	for _, name := range hidden {
		if err := s.hide(filepath.Join(s.Project, name)); err != nil {
			return err
		}
	}
	return s.turn()
}

// at returns a path as it is while the root is built.
func (s *Spec) at(p string) string { return filepath.Join(s.root(), p) }

// empty is a folder that is empty, in a box too. An overlay without an upper layer needs two below.
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

// show makes a path of the machine visible, read-only. What is not there is not
// shown; a link is copied, so that it leads to what is shown; a socket, a pipe or
// a device would lead out.
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
	case info.Mode().IsRegular() || info.IsDir(): // nothing listens below /etc, and a plain mount costs less
		return s.bind(p, p, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
	}
	return nil
}

// through shows a folder of the machine by an overlay that has no upper layer. In an overlay every
// socket and pipe is a new one, so those that programs outside listen to lead nowhere; in a plain
// mount they would lead to these programs.
func (s *Spec) through(p string) error {
	err := s.mount(p, "overlay", unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, "userxattr,lowerdir="+layer(p)+":"+layer(s.at(empty)))
	if !errors.Is(err, unix.EINVAL) {
		return err
	}
	// If something is mounted in it, it is shown piece by piece.
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

// maxCopied is how large a copied file may be: up to there a copy costs less than a mount does.
const maxCopied = 64 << 10

// copied shows a small file of the system by a copy. What the owner may not read
// is not shown. There are dozens before each command, so the kernel is asked no more
// than is needed: package os asks it twice as often.
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

// copyDescriptor copies what one descriptor gives to another.
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

// bind shows a file or folder of the machine at a path, with attributes that
// cannot be taken off inside.
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

// restrict sets attributes of all that is mounted at a path and below it.
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

// folder makes one, and those above it. Those above it are mostly there: [os.MkdirAll]
// would look at all of them.
func folder(p string) error {
	err := unix.Mkdir(p, 0o755)
	if err == nil || err == unix.EEXIST {
		return nil
	}
	return os.MkdirAll(p, 0o755)
}

// devices shows those that lead nowhere.
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

// processes shows those inside, and makes the kernel's files read-only.
func (s *Spec) processes() error {
	return s.mount("/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC|unix.MS_RDONLY, "")
}

// homes makes a home that is empty but for toolchains and git's settings. What
// is written there ends with the box.
func (s *Spec) homes() error {
	if err := s.mount(s.Home, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=700,size=1g"); err != nil {
		return err
	}
	for _, name := range lines(homeList) {
		p := filepath.Join(s.Home, name)
		if !straight(p) {
			continue // nothing there, or a way to somewhere else
		}
		if err := s.show(p); err != nil {
			return err
		}
	}
	text := "[user]\n\tname = " + quote(s.Author) + "\n\temail = " + quote(s.Mail) + "\n[safe]\n\tbareRepository = explicit\n[core]\n\tfsmonitor = false\n" +
		"[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[transfer]\n\tunpackLimit = 1000000\n" // packs are not kept
	if err := os.WriteFile(s.at(filepath.Join(s.Home, ".gitconfig")), []byte(text), 0o644); err != nil {
		return err
	}
	return s.caches()
}

// straight reports whether a path exists and no link leads there. Most paths asked for do not
// exist, which one lookup tells.
func straight(p string) bool {
	var st unix.Stat_t
	if unix.Lstat(p, &st) != nil {
		return false
	}
	there, err := filepath.EvalSymlinks(p)
	return err == nil && there == p
}

// quote writes a value of git's settings.
func quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", " ").Replace(text) + `"`
}

// repository shows the part of git that a worktree shares with others, read-only. A link on the way
// could lead to a folder that was not named.
func (s *Spec) repository() error {
	if s.Git == "" || !straight(s.Git) {
		return nil // without it git does not work; all else does
	}
	return s.show(s.Git)
}

// project shows the project: what is written goes to a layer above it, which the
// command cannot tell from the project itself.
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

// overlay shows a folder with a layer above it that takes the writes. The kernel would sync the
// whole disk of the layer when the box ends. So the layer is mounted volatile: it need not outlive
// the machine, and what is to be kept of it is moved into the project, and written there as other
// files are. The kernel marks a volatile layer as one not to be used again, also where it could not
// be mounted; we use it again as long as the machine runs.
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

// layer writes a path among the options of an overlay.
func layer(p string) string {
	return strings.NewReplacer(`\`, `\\`, ":", `\:`, ",", `\,`).Replace(p)
}

// hide shows a file or folder empty.
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
		return nil // a link leads to what is shown, or to nothing
	}
	if err := unix.Mount("/dev/null", s.at(p), "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("%s: %w", p, err)
	}
	return s.restrict(p, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOEXEC)
}

// folders makes those that programs expect to write to.
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

// turn makes what was built the root, and detaches the machine's.
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
