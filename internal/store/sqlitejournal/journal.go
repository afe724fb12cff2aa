// Package sqlitejournal keeps a journal in one SQLite file, for one process on one machine. It
// opens only a store that survives a power cut: its write-ahead log is flushed before any append is
// acknowledged. It does not replicate.
package sqlitejournal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"github.com/floodmark/floodmark/internal/store/wholefile"
	"github.com/floodmark/floodmark/journal"
)

// Options are the settings of a journal. The zero value is right for production.
type Options struct {
	// Volatile also opens a store on a file system in memory, which a power cut erases. It is for
	// tests.
	Volatile bool
	// Fault is called at the named points below, from the writer's goroutine. It is for tests that
	// end the process there.
	Fault func(point string)
	// LogBytes is how much may be appended before a checkpoint of SQLite's log; zero means 64 MiB.
	// It is for tests that need frequent checkpoints.
	LogBytes int
}

// The points at which Options.Fault is called.
const (
	BeforeAppend = "before-append" // a group of appends is about to be written
	InSnapshot   = "snapshot"      // a snapshot is written, nothing is committed
	InCommit     = "in-commit"     // all is written, nothing is committed
	AfterCommit  = "after-commit"  // all is durable, no caller was told
	InCheckpoint = "checkpoint"    // the log is about to be moved into the store
	InMigration  = "migration"     // the new form is made, but not committed
)

// A Journal is a [journal.Journal] in one SQLite file.
type Journal struct {
	path     string
	lock     *os.File
	reads    *sql.DB // lists and checks
	sessions *readerPool
	left     *remembered
	missing  *missing
	stop     context.CancelFunc // stops the filling of the key filter
	queue    chan *request
	done     chan struct{} // closed when the writer has ended
	stats    counters
	ended    error // how the writer's connection closed; read after done

	mu     sync.Mutex // guards closed, and orders active.Add before active.Wait
	closed bool
	active sync.WaitGroup // calls under way
}

var _ journal.Journal = (*Journal)(nil)

type counters struct{ batches, entries, flushes, checkpoints atomic.Int64 }

// Stats counts what a journal has written since it was opened.
type Stats struct {
	Batches     int64 // appended; a batch that was already there does not count
	Entries     int64
	Flushes     int64 // commits, each of which waited for the disk
	Checkpoints int64 // of SQLite's log into its store
}

// Stats returns what was written so far.
func (j *Journal) Stats() Stats {
	return Stats{
		Batches:     j.stats.batches.Load(),
		Entries:     j.stats.entries.Load(),
		Flushes:     j.stats.flushes.Load(),
		Checkpoints: j.stats.checkpoints.Load(),
	}
}

// Size is how many bytes the store and its log take on disk.
func (j *Journal) Size() (int64, error) {
	var size int64
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(j.path + suffix)
		if errors.Is(err, os.ErrNotExist) && suffix != "" {
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("size of the journal: %w", err)
		}
		size += info.Size()
	}
	return size, nil
}

// Check asks SQLite whether its file is sound: every page, and that the index of sessions leads to
// every entry. It reads all of it. It does not verify hashes; [journal.Check] does.
func (j *Journal) Check(ctx context.Context) error {
	if err := j.enter(); err != nil {
		return err
	}
	defer j.active.Done()
	var said string
	if err := j.reads.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&said); err != nil {
		return reading("check the store", err)
	}
	if said != "ok" {
		return fmt.Errorf("%w: check %s: %s", journal.ErrBroken, j.path, said)
	}
	return nil
}

// enter registers a call under way; it ends with active.Done.
func (j *Journal) enter() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return journal.ErrClosed
	}
	j.active.Add(1)
	return nil
}

// Close implements [journal.Journal]. Accepted appends are written first.
func (j *Journal) Close() error {
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		<-j.done
		return nil
	}
	j.closed = true
	j.mu.Unlock()
	j.stop()
	j.active.Wait()
	err := errors.Join(j.reads.Close(), j.sessions.close())
	close(j.queue)
	<-j.done
	return errors.Join(err, j.ended, wholefile.Unlock(j.lock))
}
