// Package witness keeps a log of heads in a folder apart from the journal, so that it can be seen
// if the journal is lost or rewritten. It neither signs nor verifies anything: readers of the
// folder verify the signatures.
//
// The folder contains
//
//	heads        one head per line, each with its number
//	hashes       the tree over them, which can be made again
//	checkpoint   the newest signed checkpoint
//	checkpoints  all of them, one after the other
package witness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/floodmark/floodmark/internal/store/wholefile"
	"github.com/floodmark/floodmark/journal"
)

const (
	headsFile  = "heads"
	hashesFile = "hashes"
	newestFile = "checkpoint"
	notesFile  = "checkpoints"
	lockFile   = "lock"
)

// ErrReadOnly means that the folder was opened for reading only.
var ErrReadOnly = errors.New("witness: opened for reading only")

// A Folder is a log of heads in a folder. Readers may use it while one process writes. The methods
// of one Folder must not be called concurrently.
type Folder struct {
	dir    string
	heads  *os.File
	hashes *os.File
	notes  *os.File
	lock   *os.File // nil for reading only

	trimmed bool  // whether size and end are known
	size    int64 // the number of heads
	end     int64 // the offset at which the last head ends
}

var _ journal.HeadLog = (*Folder)(nil)

// Open opens the folder for writing, and creates it if necessary. It completes what a crash
// interrupted.
func Open(dir string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the witness folder: %w", err)
	}
	f := &Folder{dir: dir}
	if err := f.open(os.O_RDWR|os.O_CREATE, true); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Look opens the folder for reading. Nothing in it is changed. A missing file is treated as empty,
// so that its loss is found by the verification. If all files are missing, Look returns
// [fs.ErrNotExist], because there never was a witness.
func Look(dir string) (*Folder, error) {
	f := &Folder{dir: dir}
	if !slices.ContainsFunc([]string{headsFile, newestFile, notesFile}, func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	}) {
		return nil, fmt.Errorf("no checkpoints in %s: %w", dir, fs.ErrNotExist)
	}
	if err := f.open(os.O_RDONLY, false); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (f *Folder) open(flag int, write bool) (err error) {
	file := func(name string) *os.File {
		if err != nil {
			return nil
		}
		var opened *os.File
		opened, err = os.OpenFile(filepath.Join(f.dir, name), flag, 0o600)
		if errors.Is(err, fs.ErrNotExist) && !write {
			opened, err = os.Open(os.DevNull)
		}
		if err != nil {
			err = fmt.Errorf("open the witness folder: %w", err)
			return nil
		}
		return opened
	}
	if write {
		f.lock = file(lockFile)
		if err == nil {
			err = lock(f.lock)
		}
	}
	f.heads, f.hashes, f.notes = file(headsFile), file(hashesFile), file(notesFile)
	if err != nil || !write {
		return err
	}
	if err := f.mendNotes(); err != nil {
		return fmt.Errorf("mend the checkpoints: %w", err)
	}
	return f.syncDir()
}

// Close closes the folder and releases its lock.
func (f *Folder) Close() error {
	var errs []error
	for _, file := range []*os.File{f.heads, f.hashes, f.notes} {
		if file != nil {
			errs = append(errs, file.Close())
		}
	}
	if f.lock != nil {
		errs = append(errs, wholefile.Unlock(f.lock))
	}
	return errors.Join(errs...)
}

// ReadHashes implements [journal.HeadLog].
func (f *Folder) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	hashes := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		if _, err := f.hashes.ReadAt(hashes[i][:], index*tlog.HashSize); err != nil {
			return nil, fmt.Errorf("read hash %d of the heads: %w", index, err)
		}
	}
	return hashes, nil
}

// WriteHashes implements [journal.HeadLog].
func (f *Folder) WriteHashes(_ context.Context, index int64, hashes []tlog.Hash) error {
	if f.lock == nil {
		return ErrReadOnly
	}
	b := make([]byte, 0, len(hashes)*tlog.HashSize)
	for _, h := range hashes {
		b = append(b, h[:]...)
	}
	_, err := f.hashes.WriteAt(b, index*tlog.HashSize)
	return err
}

// Newest implements [journal.HeadLog].
func (f *Folder) Newest(context.Context) ([]byte, error) {
	b, err := readSmall(filepath.Join(f.dir, newestFile))
	if !errors.Is(err, fs.ErrNotExist) {
		return b, err
	}
	last, _, err := f.lastNote()
	return last, err
}

// readSmall reads a file of one note.
func readSmall(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(file, journal.MaxNoteBytes+1))
	return b, errors.Join(err, file.Close())
}

// Publish implements [journal.HeadLog]. It replaces the newest checkpoint first, because no other
// checkpoint may be signed in the place of one that readers can see.
func (f *Folder) Publish(_ context.Context, signed []byte) error {
	if f.lock == nil {
		return ErrReadOnly
	}
	fresh := filepath.Join(f.dir, newestFile+".new")
	if err := writeFile(fresh, signed); err != nil {
		return err
	}
	if err := os.Rename(fresh, filepath.Join(f.dir, newestFile)); err != nil {
		return err
	}
	if err := f.syncDir(); err != nil {
		return err
	}
	return f.mendNotes()
}

func writeFile(path string, b []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(b)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// syncDir makes file names durable.
func (f *Folder) syncDir() error {
	dir, err := os.Open(f.dir)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// mendNotes appends the newest checkpoint to the list of all, if it is missing.
func (f *Folder) mendNotes() error {
	newest, err := readSmall(filepath.Join(f.dir, newestFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	last, end, err := f.lastNote()
	if err != nil || bytes.Equal(last, newest) {
		return err
	}
	if err := f.notes.Truncate(end); err != nil {
		return err
	}
	if _, err := f.notes.WriteAt(newest, end); err != nil {
		return err
	}
	return f.notes.Sync()
}

// signature begins the last line of our notes.
const signature = "\n\u2014 "

// lastNote returns the last complete checkpoint in the list, and where it ends.
func (f *Folder) lastNote() (last []byte, end int64, err error) {
	info, err := f.notes.Stat()
	if err != nil {
		return nil, 0, err
	}
	from := max(0, info.Size()-3*journal.MaxNoteBytes)
	b := make([]byte, info.Size()-from)
	if _, err := f.notes.ReadAt(b, from); err != nil && !errors.Is(err, io.EOF) {
		return nil, 0, err
	}
	notes, whole := splitNotes(b)
	if len(notes) == 0 {
		if from > 0 {
			return nil, info.Size(), nil // not written by us: kept as it is for verification
		}
		return nil, 0, nil
	}
	return slices.Clone(notes[len(notes)-1]), from + int64(whole), nil
}

// splitNotes returns the complete notes in b and where they end. If b begins within a note, the
// first one lacks its beginning.
func splitNotes(b []byte) (notes [][]byte, end int) {
	for {
		i := bytes.Index(b[end:], []byte(signature))
		if i < 0 {
			return notes, end
		}
		line := end + i + 1
		n := bytes.IndexByte(b[line:], '\n')
		if n < 0 {
			return notes, end
		}
		notes = append(notes, b[end:line+n+1])
		end = line + n + 1
	}
}
