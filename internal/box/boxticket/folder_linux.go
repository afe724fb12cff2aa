package boxticket

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/floodmark/floodmark/internal/box"
)

// A folder is an open folder of tickets that was checked. All files are opened relative to it, so
// that later changes to the folders above do not matter.
type folder struct {
	dir *os.File
	uid int
}

// makeFolder opens the folder of tickets and makes it first if it is missing.
func makeFolder(path string, uid int) (*folder, error) {
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return openFolder(path, uid)
}

// openFolder opens the folder of tickets. It follows no link on the way, and
// refuses a folder in which another user could have put something.
func openFolder(path string, uid int) (*folder, error) {
	if !filepath.IsAbs(path) || path != filepath.Clean(path) {
		return nil, fmt.Errorf("the folder of tickets is no whole path: %q", path)
	}
	at, err := unix.Open("/", unix.O_DIRECTORY|unix.O_CLOEXEC|unix.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, part := range parts {
		if err := checkParent(at, uid); err != nil {
			_ = unix.Close(at)
			return nil, fmt.Errorf("above %s: %w", filepath.Join("/", filepath.Join(parts[:i+1]...)), err)
		}
		next, err := unix.Openat(at, part, unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_RDONLY, 0)
		_ = unix.Close(at)
		if err != nil {
			return nil, fmt.Errorf("open the folder of tickets %s: %w", path, err)
		}
		at = next
	}
	var st unix.Stat_t
	if err := unix.Fstat(at, &st); err != nil {
		_ = unix.Close(at)
		return nil, err
	}
	if int(st.Uid) != uid || st.Mode&0o077 != 0 {
		_ = unix.Close(at)
		return nil, fmt.Errorf("the folder of tickets %s belongs to another user, or others may use it: remove it", path)
	}
	return &folder{dir: os.NewFile(uintptr(at), path), uid: uid}, nil
}

// checkParent refuses a folder in which other users could replace our files. In a sticky folder,
// such as /tmp, only the owner of a file can replace it.
func checkParent(fd, uid int) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if int(st.Uid) != uid && !ofRoot(st.Uid) {
		return errors.New("the folder belongs to another user")
	}
	if st.Mode&0o022 != 0 && st.Mode&unix.S_ISVTX == 0 {
		return errors.New("other users may write to the folder")
	}
	return nil
}

// ofRoot reports whether a file belongs to root. In a user namespace without root, as in an agent's
// sandbox, the kernel shows its number for unknown users as the owner of root's files. It shows the
// same number for files of third users, which cannot be distinguished there.
func ofRoot(owner uint32) bool {
	if owner == 0 {
		return true
	}
	unknown, err := os.ReadFile("/proc/sys/kernel/overflowuid")
	if err != nil || strings.TrimSpace(string(unknown)) != strconv.FormatUint(uint64(owner), 10) {
		return false
	}
	users, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(users)) {
		if inside, _, _ := strings.Cut(strings.TrimSpace(line), " "); inside == "0" {
			return false
		}
	}
	return true
}

func (f *folder) close() { _ = f.dir.Close() }

func (f *folder) fd() int { return int(f.dir.Fd()) }

// put writes a new file that only the owner can read. The file appears atomically.
func (f *folder) put(name string, data []byte) error {
	half := name + ".half"
	fd, err := unix.Openat(f.fd(), half, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	file := os.NewFile(uintptr(fd), half)
	_, err = file.Write(data)
	if err = errors.Join(err, file.Chmod(0o600), file.Close()); err == nil {
		err = unix.Renameat(f.fd(), half, f.fd(), name)
	}
	if err != nil {
		_ = f.remove(half)
	}
	return err
}

// get reads a file of at most limit bytes, if only the owner can have written it.
func (f *folder) get(name string, limit int64) ([]byte, error) {
	file, err := f.open(name, unix.O_RDONLY, limit)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readAll(file, limit)
}

// open opens a file that only the owner can have written.
func (f *folder) open(name string, flags int, limit int64) (*os.File, error) {
	fd, err := unix.Openat(f.fd(), name, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	file := os.NewFile(uintptr(fd), name)
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil {
		err = f.checkFile(&st, limit)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

func (f *folder) checkFile(st *unix.Stat_t, limit int64) error {
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return errors.New("it is no plain file")
	case int(st.Uid) != f.uid:
		return errors.New("it belongs to another user")
	case st.Mode&0o7777 != 0o600:
		return fmt.Errorf("others may use it (mode %04o)", st.Mode&0o7777)
	case st.Nlink > 1: // there is no link if the file was replaced meanwhile
		return errors.New("it has a second name")
	case st.Size > limit:
		return errors.New("it is too long")
	}
	return nil
}

func readAll(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = errors.New("it is too long")
	}
	return data, err
}

// errTaken means that the ticket never existed, or was taken.
var errTaken = errors.New("there is no such ticket, or it was used before: make the call again")

// take renames a file, which only one process can do, and returns its content. The file remains
// under the new name, empty, and locked until lock is closed. While it exists, nothing can be taken
// under that name again.
func (f *folder) take(name, taken string, limit int64) (data []byte, lock io.Closer, err error) {
	t := &taking{f: f, name: name, taken: taken, limit: limit}
	for _, step := range t.steps() {
		if err := step(); err != nil {
			if t.file != nil {
				_ = t.file.Close()
			}
			return nil, nil, err
		}
	}
	return t.data, t.file, nil
}

// A taking is the taking of a ticket, in steps. Another process may remove the ticket between any
// two steps.
type taking struct {
	f           *folder
	name, taken string
	limit       int64
	file        *os.File
	data        []byte
}

func (t *taking) steps() []func() error { return []func() error{t.rename, t.open, t.lock, t.read} }

func (t *taking) rename() error {
	err := unix.Renameat2(t.f.fd(), t.name, t.f.fd(), t.taken, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EEXIST) {
		return errTaken
	}
	if err != nil {
		return fmt.Errorf("take the ticket: %w", err)
	}
	return nil
}

func (t *taking) open() (err error) {
	t.file, err = t.f.open(t.taken, unix.O_RDWR, t.limit)
	if errors.Is(err, fs.ErrNotExist) {
		return errTaken
	}
	return err
}

// lock locks the file. It may have to wait for a process that tests the lock, which takes hardly
// any time, or for one that removes the ticket. In the latter case the file has no name any more,
// and the ticket is gone.
func (t *taking) lock() error {
	if err := flock(t.file, unix.LOCK_EX); err != nil {
		return err
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(t.file.Fd()), &st); err != nil {
		return err
	}
	if st.Nlink == 0 {
		return errTaken
	}
	return nil
}

func (t *taking) read() (err error) {
	t.data, err = readAll(t.file, t.limit)
	// The content has the key, which no later reader may find.
	return errors.Join(err, t.file.Truncate(0))
}

// flock locks a file. It tries again if a signal interrupts it.
func flock(file *os.File, how int) error {
	for {
		if err := unix.Flock(int(file.Fd()), how); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// locked reports whether a file that was taken is still in use.
func (f *folder) locked(name string) bool {
	file, err := f.open(name, unix.O_RDONLY, maxTicket)
	if err != nil {
		return false
	}
	defer file.Close()
	return errors.Is(unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
}

// hold locks a file that was taken, or reports that it is in use. If the file does not exist, or is
// one that no box would open either, it returns no lock and false.
func (f *folder) hold(name string) (lock io.Closer, used bool) {
	file, err := f.open(name, unix.O_RDONLY, maxTicket)
	if err != nil {
		return nil, false
	}
	if err := flock(file, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = file.Close()
		return nil, true // also if the file system has no locks
	}
	return file, false
}

// wait waits until a file that was taken is no longer in use.
func (f *folder) wait(name string) error {
	file, err := f.open(name, unix.O_RDONLY, maxTicket)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	return flock(file, unix.LOCK_SH)
}

// claim creates an empty file. It returns true only for the first process that does so.
func (f *folder) claim(name string) (first bool, err error) {
	fd, err := unix.Openat(f.fd(), name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if errors.Is(err, unix.EEXIST) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, unix.Close(fd)
}

// lock creates a file if necessary, and locks it, waiting for other processes.
func (f *folder) lock(name string) (io.Closer, error) {
	fd, err := unix.Openat(f.fd(), name, unix.O_CREAT|unix.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), name)
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil {
		err = f.checkFile(&st, 0)
	}
	if err == nil {
		err = flock(file, unix.LOCK_EX)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

func (f *folder) exists(name string) bool {
	var st unix.Stat_t
	return unix.Fstatat(f.fd(), name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil
}

// remove removes a file, if there is one.
func (f *folder) remove(name string) error {
	if err := unix.Unlinkat(f.fd(), name, 0); !errors.Is(err, unix.ENOENT) {
		return err
	}
	return nil
}

// maxRemoved is how many files of a folder are removed in one step. A command can leave so many
// files that removing all would keep the next call waiting.
const maxRemoved = 100_000

// removeTree removes a folder with what a command left in it, or at most maxRemoved files of it.
func (f *folder) removeTree(name string) error { return box.Remove(f.dir, name, maxRemoved) }

// keep creates a folder if necessary, and sets its time to now, because it is used.
func (f *folder) keep(name string, now time.Time) error {
	if err := unix.Mkdirat(f.fd(), name, 0o700); err != nil && !errors.Is(err, unix.EEXIST) {
		return err
	}
	at := unix.NsecToTimespec(now.UnixNano())
	return unix.UtimesNanoAt(f.fd(), name, []unix.Timespec{at, at}, unix.AT_SYMLINK_NOFOLLOW)
}

// list returns what is in the folder.
func (f *folder) list() ([]fs.FileInfo, error) {
	dir, err := f.dir.Stat()
	if err != nil {
		return nil, err
	}
	again, err := os.Open(f.dir.Name()) // reading would move the position of f.dir
	if err != nil {
		return nil, err
	}
	defer again.Close()
	if same, err := again.Stat(); err != nil || !os.SameFile(dir, same) {
		return nil, errors.New("the folder of tickets was replaced")
	}
	list, err := again.Readdir(maxEntries + 1)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if len(list) > maxEntries {
		return nil, fmt.Errorf("the folder of tickets %s holds too much: remove it", f.dir.Name())
	}
	return list, err
}
