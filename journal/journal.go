// Package journal is the append-only, hash-chained log of facts: its form, its verification, and
// the contract of its stores. It opens no file and no connection itself.
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

// A Journal keeps the entries of many sessions. It is safe for concurrent use. journaltest.Run
// checks an implementation.
//
// An implementation that cannot keep these promises refuses to open.
type Journal interface {
	// Append makes a batch durable, as a whole or not at all: when it returns nil, every entry
	// would survive a crash of the machine at once.
	//
	// It returns [ErrConflict] if a record does not follow its session's last entry, because of a
	// concurrent write. Appending exactly what is already there succeeds and writes nothing.
	// [ErrInDoubt] means that it is unknown whether the batch was written: refuse the event, and
	// read the session again before doing anything else with it.
	Append(ctx context.Context, b Batch) error

	// Begin returns where reading a session can begin: its newest snapshot, its tombstone if it was
	// erased, or the zero Start.
	Begin(ctx context.Context, s Session) (Start, error)

	// Read yields the entries of a session after number after, in order and without gaps. It does
	// not verify hashes: [Check] does.
	Read(ctx context.Context, s Session, after uint64) iter.Seq2[Entry, error]

	// Postings returns the stored indexes of contents, by digest. Contents without an index are
	// left out.
	Postings(ctx context.Context, tenant string, contents []floodmark.Digest) (map[floodmark.Digest][]byte, error)

	// Artifacts returns what sessions of a tenant left behind under these keys: each session's
	// newest artifact, in any order.
	Artifacts(ctx context.Context, tenant string, keys []floodmark.Digest) ([]Artifact, error)

	// Heads yields the last entry of every session written since the given mark of an earlier call,
	// in the order of writing; the zero mark yields all. The same session may come more than once.
	Heads(ctx context.Context, after Mark) iter.Seq2[Head, error]

	// Recent yields the sessions of a tenant, last written first, each once.
	Recent(ctx context.Context, tenant string) iter.Seq2[Head, error]

	// Erase replaces all data of a session, up to the entry the tombstone names, by the tombstone.
	// It returns [ErrConflict] if that entry is not the last one.
	Erase(ctx context.Context, t Tombstone) error

	// Close waits for writes under way and releases all resources.
	Close() error
}

// A Batch is everything that is written for one event, or for several concurrent events of one
// session.
type Batch struct {
	// Each record holds the entries of one session. The session of the events comes first, then the
	// sessions that those events started. No session appears twice.
	Records []Record
	// Contents are indexes of content seen for the first time. Existing ones are not replaced.
	Contents []Content
	// Artifacts adds artifacts of the sessions of Records and removes older artifacts of any
	// session. They are applied in this order.
	Artifacts []Artifact
}

// A Record is what a batch adds to one session.
type Record struct {
	Session Session
	// After is the entry that Entries follow; zero for a new session.
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
	// Link is the entry that Snapshot or Tombstone describes.
	Link Link
	// Snapshot is the state after that entry, as it was given to Append.
	Snapshot []byte
	// Tombstone is set if earlier entries were erased. A later snapshot does not hide it.
	Tombstone *Tombstone
}

// A Mark is a position in the order in which a journal was written. Only the journal that returned
// it can use it.
type Mark int64

// A Head is the newest entry of a session.
type Head struct {
	Session Session
	Link    Link
	At      int64 // nanoseconds since 1970
	Mark    Mark
}

// The limits of one batch. An event makes a handful of facts; a fork includes its parent's sources.
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
	// ErrBroken says that stored entries are not what was written.
	ErrBroken = errors.New("journal: hash chain is broken")
	// ErrFull says that there is no room to write. Nothing was written, and writes succeed again
	// once there is room.
	ErrFull = errors.New("journal: no room on the disk")
	// ErrStopped says that a write failed in a way that voids all promises: nothing is written
	// until the journal is opened again.
	ErrStopped = errors.New("journal: writes no more until it is opened again")
	// ErrAway says that nothing could be read, because the store of the journal does not answer.
	ErrAway = errors.New("journal: its store does not answer")
	// ErrTooLarge says that a batch is over a limit.
	ErrTooLarge = errors.New("journal: too large")
	// ErrClosed says that the journal was closed.
	ErrClosed = errors.New("journal: closed")
	// ErrNotDurable says that a store is configured so that it may lose acknowledged writes. Such a
	// store is not opened.
	ErrNotDurable = errors.New("journal: the store is not durable")
)
