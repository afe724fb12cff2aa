package box

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// ErrFull says that a box was ended because the disk was nearly full. Its writes must not be kept.
var ErrFull = errors.New("it was ended, because the disk is nearly full; nothing of what it wrote is kept")

// reserve is how many bytes are left for other programs on a disk that takes a box's writes.
// diskAgain is how often the disk is checked.
const (
	reserve   = 2 << 30
	diskAgain = 100 * time.Millisecond
)

// guardDisk ends a box before other programs run out of room on a disk that the box writes to. It
// watches until stop is called. stop reports whether the box was ended.
func (s *Spec) guardDisk(end func()) (stop func() (full bool), err error) {
	var enough []func() bool
	for _, dir := range []string{s.Folder, s.Temp, s.Cache} {
		if dir == "" {
			continue
		}
		bytes, files, err := left(dir)
		if err != nil {
			return nil, err
		}
		least, leastFiles := min(reserve, bytes/2), min(files/2, 100_000)
		enough = append(enough, func() bool {
			bytes, files, err := left(dir)
			return err == nil && bytes >= least && files >= leastFiles
		})
	}
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
			for _, is := range enough {
				if !is() {
					end()
					ended <- true
					return
				}
			}
		}
	}()
	return func() bool { close(done); return <-ended }, nil
}

// left returns how many more bytes and files fit on the disk of a folder. A disk that does not
// count files has no limit for them.
func left(dir string) (bytes, files uint64, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, 0, err
	}
	return st.Bavail * uint64(st.Bsize), st.Ffree, nil
}
