package wholefile_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/floodmark/floodmark/internal/store/wholefile"
)

// One caller has the lock, the next waits, and one that waits too long gets an error.
func TestLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "f.lock")
		free, err := wholefile.Lock(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := wholefile.Lock(short, path); !errors.Is(err, wholefile.ErrLocked) {
			t.Errorf("two have it: %v", err)
		}
		if err := free(); err != nil {
			t.Fatal(err)
		}
		free, err = wholefile.Lock(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if err := free(); err != nil {
			t.Error(err)
		}
	})
}

// A file that others can read is not read, and a change that fails changes nothing.
func TestChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "folder", "f")
		write := func(text string, err error) error {
			return wholefile.Change(t.Context(), path, "the words", time.Minute, func() ([]byte, error) { return []byte(text), err })
		}
		if err := write("one", nil); err != nil {
			t.Fatal(err)
		}
		wrong := errors.New("wrong")
		if err := write("two", wrong); !errors.Is(err, wrong) || err.Error() != "wrong" {
			t.Error(err)
		}
		if got, err := wholefile.ReadOwn(path, 10); err != nil || string(got) != "one" {
			t.Errorf("%q, %v", got, err)
		}
		free, err := wholefile.Lock(t.Context(), path+".lock")
		if err != nil {
			t.Fatal(err)
		}
		err = wholefile.Change(t.Context(), path, "the words", 20*time.Millisecond, func() ([]byte, error) { return nil, nil })
		if !errors.Is(err, wholefile.ErrLocked) || err.Error() != "wait for the words: others are at it" {
			t.Error(err)
		}
		if err := free(); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0o640); err != nil {
			t.Fatal(err)
		}
		if _, err := wholefile.ReadOwn(path, 10); !errors.As(err, new(*wholefile.ShownError)) {
			t.Error(err)
		}
		link := path + ".link"
		if err := errors.Join(os.Chmod(path, 0o600), os.Symlink(path, link)); err != nil {
			t.Fatal(err)
		}
		if _, err := wholefile.ReadOwn(link, 10); !errors.As(err, new(*wholefile.ShownError)) {
			t.Error(err)
		}
		err = wholefile.Change(t.Context(), path, "the words", time.Minute, func() ([]byte, error) { return nil, nil })
		if _, gone := os.Stat(path); err != nil || !errors.Is(gone, fs.ErrNotExist) {
			t.Errorf("%v, %v", err, gone)
		}
	})
}

// A reader of a file that is being replaced gets the old or the new content.
func TestReadWhileItIsReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "own")
	if err := wholefile.Replace(path, []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	stop, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		var err error
		for other := path + ".next"; err == nil; {
			select {
			case <-stop:
				ended <- nil
				return
			default:
				err = errors.Join(os.WriteFile(other, []byte("two"), 0o600), os.Rename(other, path))
			}
		}
		ended <- err
	}()
	for range 5000 {
		if got, err := wholefile.ReadOwn(path, 10); err != nil || len(got) != 3 {
			t.Errorf("%q, %v", got, err)
			break
		}
	}
	close(stop)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A program that is being started has a copy of every open file for a moment. Such a copy does not
// keep the lock.
func TestALockThatSomebodyElseHasOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	copied, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(copied)
	if err := wholefile.Unlock(f); err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel() // no caller waits any more
	free, err := wholefile.Lock(gone, path)
	if err != nil {
		t.Fatal(err)
	}
	if err := free(); err != nil {
		t.Error(err)
	}
}
