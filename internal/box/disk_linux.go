package box

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// ErrFull says that a box was ended because the disk was nearly full. What it wrote
// must not be kept.
var ErrFull = errors.New("it was ended, because the disk is nearly full; nothing of what it wrote is kept")

// What is left for others on the disk that takes a box's writes.
const (
	reserve   = 2 << 30
	diskAgain = 100 * time.Millisecond
)

// guardDisk ends a box when others would soon find no room. It looks until stop is
// called, which says whether it did.
func (s *Spec) guardDisk(end func()) (stop func() (full bool), err error) {
	bytes, files, err := left(s.Folder)
	if err != nil {
		return nil, err
	}
	least, leastFiles := min(reserve, bytes/2), min(files/2, 100_000)
	done, ended := make(chan struct{}), make(chan bool, 1)
	go func() {
		tick := time.NewTicker(diskAgain)
		defer tick.Stop()
		for {
			select {
			case <-done:
				ended <- false
				return
			case <-tick.C:
			}
			if bytes, files, err := left(s.Folder); err != nil || bytes < least || files < leastFiles {
				end()
				ended <- true
				return
			}
		}
	}()
	return func() bool { close(done); return <-ended }, nil
}

// left is how many bytes and files still fit where a folder lies. Where files are
// not counted, there is no bound on them.
func left(dir string) (bytes, files uint64, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, 0, err
	}
	return st.Bavail * uint64(st.Bsize), st.Ffree, nil
}
