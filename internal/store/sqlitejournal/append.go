package sqlitejournal

import (
	"context"
	"sync/atomic"

	"github.com/floodmark/floodmark/journal"
)

// A request waits for the writer: a batch to append, or a session to erase.
type request struct {
	ctx   context.Context
	batch journal.Batch
	erase *journal.Tombstone
	// taken decides between the writer, which begins to write, and the caller, which gives up: the
	// first to set it wins.
	taken  atomic.Bool
	result error // the writer's result, until it is sent to done
	wrote  bool  // whether anything was written; false if the batch was already there
	done   chan error
}

// Append implements [journal.Journal]. Once the write of its batch has begun, it waits for the
// outcome even if ctx ends, so that no caller is left without knowing it.
func (j *Journal) Append(ctx context.Context, b journal.Batch) error {
	if err := b.Check(); err != nil {
		return err
	}
	return j.submit(&request{ctx: ctx, batch: b, done: make(chan error, 1)})
}

// Erase implements [journal.Journal].
func (j *Journal) Erase(ctx context.Context, t journal.Tombstone) error {
	return j.submit(&request{ctx: ctx, erase: &t, done: make(chan error, 1)})
}

func (j *Journal) submit(r *request) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	if err := j.enter(); err != nil {
		return err
	}
	defer j.active.Done()
	select {
	case j.queue <- r:
	case <-r.ctx.Done():
		return r.ctx.Err()
	}
	select {
	case err := <-r.done:
		return err
	case <-r.ctx.Done():
	}
	if r.taken.CompareAndSwap(false, true) {
		return r.ctx.Err()
	}
	return <-r.done
}

// take claims r for the writer, unless its caller has given up.
func (r *request) take() bool {
	if !r.taken.CompareAndSwap(false, true) {
		return false
	}
	if err := r.ctx.Err(); err != nil {
		r.done <- err
		return false
	}
	return true
}

// bytes is the approximate size of r in SQLite's log.
func (r *request) bytes() (n int) {
	for _, rec := range r.batch.Records {
		n += 2 * len(rec.Snapshot) // the snapshot that it replaces is overwritten, too
		for _, e := range rec.Entries {
			n += len(e.Body) + rowBytes
		}
	}
	for _, c := range r.batch.Contents {
		n += len(c.Postings)
	}
	for _, a := range r.batch.Artifacts {
		n += len(a.Body) + rowBytes
	}
	return n
}
