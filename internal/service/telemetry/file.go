package telemetry

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
)

// The bounds on security events on disk: at most (keptFiles+1) * maxEventBytes.
const (
	maxEventBytes = 16 << 20
	keptFiles     = 4
)

// An eventFile contains one security event per line. When it is full, it is renamed to .1, the
// earlier files to .2 and so on, and the oldest is removed. The events only copy facts of the
// journal for monitoring, so the file is not synced after each line.
type eventFile struct {
	path  string
	limit int64
	file  *os.File
	size  int64
	torn  bool // the last line is incomplete
	sick  bool // the last write failed
}

// openEvents opens the file, readable by its owner only.
func openEvents(path string, limit int64) (*eventFile, error) {
	e := &eventFile{path: path, limit: limit}
	if err := e.open(); err != nil {
		return nil, fmt.Errorf("events: %w", err)
	}
	return e, nil
}

func (e *eventFile) open() error {
	info, err := os.Lstat(e.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a plain file (name another one in service.yaml)", e.path)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("others can read or write %s (chmod 600 %s)", e.path, e.path)
	}
	f, err := os.OpenFile(e.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	now, err := f.Stat()
	if err == nil && (!now.Mode().IsRegular() || info != nil && !os.SameFile(info, now)) {
		err = fmt.Errorf("%s was swapped while it was opened", e.path)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	e.file, e.size, e.torn = f, now.Size(), now.Size() > 0
	if last := make([]byte, 1); e.torn {
		if r, err := os.Open(e.path); err == nil {
			_, err = r.ReadAt(last, e.size-1)
			e.torn = err != nil || last[0] != '\n'
			_ = r.Close() // the file was only read
		}
	}
	return nil
}

// write adds one event. changed reports whether writing fails now and did not before, or the other
// way round.
func (e *eventFile) write(ev finding) (changed bool, err error) {
	err = e.add(ev)
	changed = e.sick != (err != nil)
	e.sick = err != nil
	return changed, err
}

func (e *eventFile) add(ev finding) error {
	line, err := json.Marshal(ev)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if e.torn {
		line = append([]byte{'\n'}, line...)
	}
	if e.file != nil && e.size > 0 && e.size+int64(len(line)) > e.limit {
		err = e.rotate()
	} else if e.file == nil {
		err = e.open()
	}
	if err != nil {
		return err
	}
	n, err := e.file.Write(line)
	e.size += int64(n)
	if n > 0 {
		e.torn = n < len(line)
	}
	return err
}

// rotate begins a new file. The renamed files keep their mode.
func (e *eventFile) rotate() error {
	if err := e.Close(); err != nil {
		return err
	}
	for n := keptFiles; n > 1; n-- {
		if err := os.Rename(e.old(n-1), e.old(n)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := os.Rename(e.path, e.old(1)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return e.open()
}

func (e *eventFile) old(n int) string { return e.path + "." + strconv.Itoa(n) }

// Close syncs and closes the file. A nil file does nothing.
func (e *eventFile) Close() error {
	if e == nil || e.file == nil {
		return nil
	}
	f := e.file
	e.file = nil
	return errors.Join(f.Sync(), f.Close())
}
