package sqlitejournal

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"runtime"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/floodmark/floodmark/journal"
)

const (
	// groupRequests and groupBytes bound one commit, because a large commit delays later requests.
	groupRequests = 512
	groupBytes    = 8 << 20
	// checkpointBytes is how much may be appended before a checkpoint of SQLite's log. Appends wait
	// for it, so it must be rare; the next start after a crash reads the log, so the log must not
	// be long.
	checkpointBytes = 64 << 20
	// starvedFrames is how many pages the log may hold before a checkpoint waits for readers, so
	// that the log can restart. Otherwise readers that always overlap would let it grow for ever.
	starvedFrames = 1 << 16
	// rowBytes is the size of a row in the log without its body, nearly all of it the page of its
	// index entry.
	rowBytes = 2 << 10
	// commitBytes is the fixed size of a commit: the pages of its first rows, and the index pages
	// that lead to them.
	commitBytes = 12 << 10
)

// A writer is the only goroutine that writes. Only stats, left and missing are shared with readers;
// they have locks of their own or are atomic.
type writer struct {
	c       *conn
	fault   func(string)
	stats   *counters
	heads   *heads
	left    *remembered
	missing *missing
	mark    int64 // of the last row of facts
	sid     int64 // of the last session

	begin, commit, rollback *stmt
	addFact, addSession     *stmt
	addSnapshot, addContent *stmt
	findSession, findHead   *stmt
	findFact                *stmt
	leave, takeBack         *stmt   // artifacts
	stmts                   []*stmt // all of them

	group   []*request
	frames  int64 // pages in the log at the last checkpoint
	logged  int   // approximate bytes in the log since the last checkpoint
	most    int   // what logged may be before the next checkpoint
	refused error // why nothing is written any more, until the store is opened again
}

func newWriter(c *conn, fault func(string)) (*writer, error) {
	w := &writer{c: c, fault: fault, heads: newHeads(), most: checkpointBytes}
	if err := w.prepare(); err != nil {
		return nil, errors.Join(reading("prepare to write", err), w.finish())
	}
	return w, nil
}

func (w *writer) prepare() error {
	for _, s := range []struct {
		to  **stmt
		sql string
	}{
		{&w.begin, "BEGIN IMMEDIATE"},
		{&w.commit, "COMMIT"},
		{&w.rollback, "ROLLBACK"},
		{&w.addFact, "INSERT INTO facts (mark, sid, seq, at, hash, kind, body) VALUES (?,?,?,?,?,?,?)"},
		{&w.addSession, "INSERT INTO sessions (id, tenant, session) VALUES (?,?,?)"},
		{&w.addSnapshot, "INSERT OR REPLACE INTO snapshots (sid, seq, hash, state) VALUES (?,?,?,?)"},
		{&w.addContent, "INSERT OR IGNORE INTO contents (tenant, digest, postings) VALUES (?,?,?)"},
		{&w.leave, leaveSQL},
		{&w.takeBack, takeBackSQL},
		{&w.findSession, "SELECT id FROM sessions WHERE tenant = ? AND session = ?"},
		{&w.findHead, "SELECT seq, hash FROM facts WHERE sid = ? ORDER BY seq DESC LIMIT 1"},
		{&w.findFact, "SELECT hash FROM facts WHERE sid = ? AND seq = ? AND kind IS NOT NULL"},
	} {
		var err error
		if *s.to, err = w.c.prepare(s.sql); err != nil {
			return err
		}
		w.stmts = append(w.stmts, *s.to)
	}
	for _, n := range []struct {
		to  *int64
		sql string
	}{
		{&w.mark, "SELECT coalesce(max(mark), 0) FROM facts"},
		{&w.sid, "SELECT coalesce(max(id), 0) FROM sessions"},
	} {
		row, err := w.c.ask(n.sql)
		if err != nil {
			return err
		}
		*n.to, _ = row[0].(int64)
	}
	return nil
}

// finish closes the statements; while one is open, SQLite does not close the connection.
func (w *writer) finish() (err error) {
	for _, s := range w.stmts {
		err = errors.Join(err, s.Close())
	}
	w.stmts = nil
	return err
}

// run writes what queues up, in groups: the appends that arrive while a group is written form the
// next group. There is no timer, so a lone append does not wait.
func (w *writer) run(queue <-chan *request) {
	for first := range queue {
		w.group = append(w.group[:0], first)
		for size := first.bytes(); size < groupBytes && len(w.group) < groupRequests; {
			select {
			case r, ok := <-queue:
				if ok {
					w.group = append(w.group, r)
					size += r.bytes()
					continue
				}
			default:
			}
			break
		}
		w.serve(w.group)
		w.checkpoint()
		runtime.Gosched() // callers just answered may have more for the next group
	}
}

// serve writes a group and returns each caller its result. If something in it cannot be written,
// each request is tried on its own, so that one damaged session does not stop the others.
func (w *writer) serve(group []*request) {
	live := group[:0]
	for _, r := range group {
		if r.take() {
			live = append(live, r)
		}
	}
	if len(live) == 0 {
		return
	}
	apart, err := w.try(live)
	if err != nil && apart && len(live) > 1 {
		for _, r := range live {
			_, err := w.try([]*request{r})
			r.done <- errors.Join(err, r.result)
		}
		return
	}
	for _, r := range live {
		if err != nil {
			r.result = err
		}
		r.done <- r.result
	}
}

// try writes a group in one transaction. It returns an error if nothing was written, or if that is
// unknown; apart says that others of the group might succeed.
func (w *writer) try(group []*request) (apart bool, err error) {
	if w.refused != nil {
		return false, w.refused
	}
	w.fault(BeforeAppend)
	if err := w.begin.run(); err != nil {
		return false, reading("begin to write", err)
	}
	defer w.forget(group) // also after an error, because the outcome may be unknown
	mark, sid := w.mark, w.sid
	size, entries, batches := 0, 0, 0
	for _, r := range group {
		if err := w.write(r); err != nil {
			w.undo(mark, sid)
			return code(err) != sqlite3.SQLITE_FULL, reading("write", err)
		}
		if r.wrote {
			size += r.bytes()
			batches++
			for _, rec := range r.batch.Records {
				entries += len(rec.Entries)
			}
		}
	}
	w.fault(InCommit)
	if err := w.commit.run(); err != nil {
		return false, w.doubt(err, mark, sid)
	}
	w.fault(AfterCommit)
	if batches == 0 {
		return false, nil
	}
	w.stats.batches.Add(int64(batches))
	w.stats.entries.Add(int64(entries))
	w.stats.flushes.Add(1)
	w.logged += commitBytes + size
	return false, nil
}

// forget drops what is cached of a group.
func (w *writer) forget(group []*request) {
	w.left.forget(group)
	w.missing.forget(group)
}

// undo rolls back an uncommitted group.
func (w *writer) undo(mark, sid int64) {
	w.heads.forget()
	w.mark, w.sid = mark, sid
	// An error here means that SQLite has already rolled back. If not, the next BEGIN fails.
	_ = w.rollback.run()
}

// doubt judges a commit that returned an error. If the disk was full, its last page was not written
// and the group is not there. After any other error it is unknown what a power cut would leave, and
// a later flush that succeeds proves nothing: nothing more is written to this store until it is
// opened again, because Open moves the log into the store and flushes it.
func (w *writer) doubt(err error, mark, sid int64) error {
	w.undo(mark, sid)
	if code(err) == sqlite3.SQLITE_FULL {
		if row, e := w.c.ask("SELECT coalesce(max(mark), 0) FROM facts"); e == nil && row[0] == driver.Value(mark) {
			return fmt.Errorf("%w: commit: %w", journal.ErrFull, err)
		}
	}
	w.refused = fmt.Errorf("%w: a commit failed (%v): look at the disk, then start again", journal.ErrStopped, err)
	return fmt.Errorf("%w: commit: %v", journal.ErrInDoubt, err)
}

// checkpoint moves SQLite's log into its store when enough has gathered. The log stays until it is
// moved, so an error costs only space; any other damage is reported by the next append.
func (w *writer) checkpoint() {
	if w.logged < w.most {
		return
	}
	w.fault(InCheckpoint)
	w.logged = 0
	w.stats.checkpoints.Add(1)
	how := "PRAGMA wal_checkpoint(PASSIVE)"
	if w.frames > starvedFrames {
		how = "PRAGMA wal_checkpoint(RESTART)"
	}
	row, err := w.c.ask(how)
	if err == nil && len(row) > 1 {
		w.frames, _ = row[1].(int64)
	}
	if c := code(err); err != nil && c != sqlite3.SQLITE_FULL && c != sqlite3.SQLITE_BUSY {
		w.refused = fmt.Errorf("%w: its log could not be moved (%v): look at the disk, then start again", journal.ErrStopped, err)
	}
}

// close checkpoints the log, which SQLite does when its last connection closes, and closes the
// file.
func (w *writer) close() error { return errors.Join(w.finish(), w.c.close()) }
