// Package journal is the append-only, hash-chained log of facts: its form, its
// proof, and the contract of everything that can keep one. It opens no file
// and no connection itself.
package journal

import (
	"context"
	"errors"
	"iter"

	"github.com/floodmark/floodmark"
)

// A Session names one session of one tenant. A laptop has one tenant, whose
// name is empty.
type Session struct {
	Tenant string
	ID     floodmark.SessionID
}

func (s Session) String() string {
	if s.Tenant == "" {
		return string(s.ID)
	}
	return s.Tenant + "/" + string(s.ID)
}

// A Journal keeps the entries of many sessions. It is safe for concurrent use.
// journaltest.Run checks an implementation.
//
// An implementation that cannot promise what is said here refuses to open.
type Journal interface {
	// Append makes a batch durable, as a whole or not at all: when it returns nil, every entry
	// would survive a crash of the machine at once.
	//
	// It returns [ErrConflict] if a record does not follow its session's last entry, because of a
	// concurrent write. Appending exactly what is already there succeeds and writes nothing.
	// [ErrInDoubt] means that it is unknown whether the batch was written: refuse the event, and
	// read the session again before doing anything else with it.
	Append(ctx context.Context, b Batch) error

	// Begin returns where a session's reading can begin: its newest snapshot,
	// or what is left of it after it was erased, or the zero Start.
	Begin(ctx context.Context, s Session) (Start, error)

	// Read yields the entries of a session after number after, in order and
	// without gaps. It does not check hashes: [Check] does.
	Read(ctx context.Context, s Session, after uint64) iter.Seq2[Entry, error]

	// Postings returns the index of contents, by digest, for those it has.
	Postings(ctx context.Context, tenant string, contents []floodmark.Digest) (map[floodmark.Digest][]byte, error)

	// Artifacts returns what sessions of a tenant left behind under these keys,
	// each session's newest word, in no order.
	Artifacts(ctx context.Context, tenant string, keys []floodmark.Digest) ([]Artifact, error)

	// Heads yields the last entry of every session that was written to after
	// the given mark of a former call, in the order of their writing; the zero
	// mark yields all. The same session may come more than once.
	Heads(ctx context.Context, after Mark) iter.Seq2[Head, error]

	// Recent yields the sessions of a tenant, last written first, each once.
	Recent(ctx context.Context, tenant string) iter.Seq2[Head, error]

	// Erase replaces everything kept of a session, up to the entry the
	// tombstone names, by the tombstone. It returns [ErrConflict] if that entry
	// is not the last one.
	Erase(ctx context.Context, t Tombstone) error

	// Close waits for what is being written and lets everything go.
	Close() error
}

// A Batch is all that one event writes, or several of one session that came at
// once.
type Batch struct {
	// Records are one session's entries each: first those of the session the
	// events belong to, then those of sessions they began. No session is in two.
	Records []Record
	// Contents are indexes of content seen for the first time. One that is
	// already there is left as it is.
	Contents []Content
	// Artifacts are what the sessions of Records leave behind, and which older
	// words are gone, in this order.
	Artifacts []Artifact
}

// A Record is what is added to one session.
type Record struct {
	Session Session
	// After is the entry the first of Entries follows; zero for a new session.
	After Link
	// Entries are sealed, in order; there is at least one.
	Entries []Entry
	// Snapshot is the sealed state after the last entry, or empty. It replaces
	// an older one.
	Snapshot []byte
}

// Last is the link of the record's last entry.
func (r Record) Last() Link { return r.Entries[len(r.Entries)-1].Link() }

// A Content is the index of one content, as the rules encoded it.
type Content struct {
	Tenant   string
	Digest   floodmark.Digest
	Postings []byte
}

// A Start is where the reading of a session begins. The zero Start is before
// its first entry.
type Start struct {
	// Link is the entry that Snapshot or Tombstone stand for.
	Link Link
	// Snapshot is the state after that entry, as it was given to Append.
	Snapshot []byte
	// Tombstone says that what came before was erased; nil if nothing was. A
	// snapshot taken after it does not hide it.
	Tombstone *Tombstone
}

// A Mark is a place in the order in which a journal was written. It means
// something only to the journal that gave it.
type Mark int64

// A Head is the newest entry of a session.
type Head struct {
	Session Session
	Link    Link
	At      int64 // nanoseconds since 1970
	Mark    Mark
}

// The limits of one batch. An event makes a handful of facts; a fork carries
// its parent's sources along.
const (
	MaxRecords      = 64
	MaxEntries      = 1 << 16
	MaxBatchBytes   = 64 << 20
	MaxSessionBytes = 512 // of a session's name
	MaxTenantBytes  = 128
)

var (
	// ErrConflict says that another writer appended first: read again, judge again.
	ErrConflict = errors.New("journal: conflicting append")
	// ErrInDoubt says that it is not known whether the batch was written.
	ErrInDoubt = errors.New("journal: not known whether it was written")
	// ErrBroken says that what is kept is not what was written.
	ErrBroken = errors.New("journal: hash chain is broken")
	// ErrFull says that there is no room to write; nothing was written, and it goes
	// on by itself when there is.
	ErrFull = errors.New("journal: no room on the disk")
	// ErrStopped says that a write failed in a way after which nothing more is
	// promised: nothing is written until the journal is opened again.
	ErrStopped = errors.New("journal: writes no more until it is opened again")
	// ErrAway says that nothing could be read, because the store of the journal does not answer.
	ErrAway = errors.New("journal: its store does not answer")
	// ErrTooLarge says that a batch is over a limit.
	ErrTooLarge = errors.New("journal: too large")
	// ErrClosed says that the journal was closed.
	ErrClosed = errors.New("journal: closed")
	// ErrNotDurable says that a store is set up so that it may lose what it
	// acknowledged. Such a store is not opened.
	ErrNotDurable = errors.New("journal: the store is not durable")
)
