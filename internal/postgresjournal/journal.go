// Package postgresjournal keeps a journal in PostgreSQL, for fleets: any number
// of nodes may append to any session. It refuses a server that may lose what it
// acknowledged, and one that is not the primary.
//
// It talks to the server itself or through a pooler of whole sessions, never
// through a pooler of transactions: what is checked when a connection opens
// must hold for all its statements.
package postgresjournal

import (
	"context"
	"fmt"
	"iter"
	"math"
	"sync/atomic"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
)

// Options are how a journal is kept. The zero Options are fine.
type Options struct {
	// Schema holds the tables; [DefaultSchema] if empty. It is made if missing.
	Schema string
	// Writers is how many connections append, 1 to [MaxConnections].
	Writers int
	// Readers is how many connections read, 1 to [MaxConnections].
	Readers int
	// Queue is how many batches may wait for a writer, 1 to [MaxQueue]. When it
	// is full, Append waits.
	Queue int
	// Timeout bounds every statement, with its wait for the replica, up to
	// [MaxTimeout]. A statement that takes longer is given up together with its
	// connection.
	Timeout time.Duration
}

// What is taken where Options say nothing, and what they may say.
const (
	DefaultSchema  = "floodmark"
	DefaultWriters = 4 // more make smaller groups, fewer leave the disk idle
	DefaultReaders = 8
	DefaultQueue   = 1024
	DefaultTimeout = 10 * time.Second

	MaxConnections = 64
	MaxQueue       = 1 << 16
	MaxTimeout     = 5 * time.Minute
	maxSchemaBytes = 63 // PostgreSQL cuts longer names off
)

// check fills in what is not said and refuses what cannot be.
func (o Options) check() (Options, error) {
	if o.Schema == "" {
		o.Schema = DefaultSchema
	}
	if len(o.Schema) > maxSchemaBytes {
		return o, fmt.Errorf("the schema's name has %d bytes, at most %d", len(o.Schema), maxSchemaBytes)
	}
	for _, n := range []struct {
		name    string
		value   *int
		missing int
		most    int
	}{
		{"writers", &o.Writers, DefaultWriters, MaxConnections},
		{"readers", &o.Readers, DefaultReaders, MaxConnections},
		{"queue", &o.Queue, DefaultQueue, MaxQueue},
	} {
		if *n.value == 0 {
			*n.value = n.missing
		}
		if *n.value < 1 || *n.value > n.most {
			return o, fmt.Errorf("%s: %d, want 1 to %d", n.name, *n.value, n.most)
		}
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Timeout < 0 || o.Timeout > MaxTimeout {
		return o, fmt.Errorf("timeout: %s, want up to %s", o.Timeout, MaxTimeout)
	}
	return o, nil
}

// A Journal implements [journal.Journal] on one PostgreSQL database.
type Journal struct {
	shard  *shard
	closed atomic.Bool
}

var _ journal.Journal = (*Journal)(nil)

// Open connects to the primary among the servers dsn names, refuses it with
// [journal.ErrNotDurable] if it may lose what it acknowledged, and brings its
// tables up to date. Many nodes may open the same database at once.
func Open(ctx context.Context, dsn string, opts Options) (*Journal, error) {
	opts, err := opts.check()
	if err != nil {
		return nil, fmt.Errorf("open the journal in PostgreSQL: %w", err)
	}
	s, err := openShard(ctx, dsn, opts)
	if err != nil {
		return nil, fmt.Errorf("open the journal in PostgreSQL: %w", err)
	}
	return &Journal{shard: s}, nil
}

// Append implements [journal.Journal]. The batch must not change until it
// returns, or ever if it returns [journal.ErrInDoubt].
func (j *Journal) Append(ctx context.Context, b journal.Batch) error {
	if err := b.Check(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, r := range b.Records {
		if r.After.Seq > math.MaxInt64-journal.MaxEntries {
			return journal.ErrConflict // no session is that long
		}
	}
	return j.shard.queue.append(ctx, b)
}

// Begin implements [journal.Journal].
func (j *Journal) Begin(ctx context.Context, s journal.Session) (journal.Start, error) {
	if j.closed.Load() {
		return journal.Start{}, journal.ErrClosed
	}
	start, err := j.shard.begin(ctx, s)
	if err != nil {
		return journal.Start{}, fmt.Errorf("begin session %s: %w", s, err)
	}
	return start, nil
}

// Read implements [journal.Journal]. A session that is erased meanwhile ends in
// [journal.ErrConflict], one with a gap in [journal.ErrBroken].
func (j *Journal) Read(ctx context.Context, s journal.Session, after uint64) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		if j.closed.Load() {
			yield(journal.Entry{}, journal.ErrClosed)
			return
		}
		if err := j.shard.entries(ctx, s, after, yield); err != nil {
			yield(journal.Entry{}, fmt.Errorf("read session %s: %w", s, err))
		}
	}
}

// Postings implements [journal.Journal].
func (j *Journal) Postings(ctx context.Context, tenant string, contents []floodmark.Digest) (map[floodmark.Digest][]byte, error) {
	if j.closed.Load() {
		return nil, journal.ErrClosed
	}
	found, err := j.shard.postings(ctx, tenant, contents)
	if err != nil {
		return nil, fmt.Errorf("read indexes of contents: %w", err)
	}
	return found, nil
}

// Heads implements [journal.Journal]. Each call stops writers for a moment, to
// know where nothing earlier can appear any more.
func (j *Journal) Heads(ctx context.Context, after journal.Mark) iter.Seq2[journal.Head, error] {
	return func(yield func(journal.Head, error) bool) {
		if j.closed.Load() {
			yield(journal.Head{}, journal.ErrClosed)
			return
		}
		if err := j.shard.heads(ctx, after, yield); err != nil {
			yield(journal.Head{}, fmt.Errorf("read heads: %w", err))
		}
	}
}

// Recent implements [journal.Journal].
func (j *Journal) Recent(ctx context.Context, tenant string) iter.Seq2[journal.Head, error] {
	return func(yield func(journal.Head, error) bool) {
		if j.closed.Load() {
			yield(journal.Head{}, journal.ErrClosed)
			return
		}
		if err := j.shard.recent(ctx, tenant, yield); err != nil {
			yield(journal.Head{}, fmt.Errorf("read recent sessions: %w", err))
		}
	}
}

// Erase implements [journal.Journal].
func (j *Journal) Erase(ctx context.Context, t journal.Tombstone) error {
	if j.closed.Load() {
		return journal.ErrClosed
	}
	if err := j.shard.erase(ctx, t); err != nil {
		return fmt.Errorf("erase session %s: %w", t.Session, err)
	}
	return nil
}

// Close implements [journal.Journal].
func (j *Journal) Close() error {
	if j.closed.CompareAndSwap(false, true) {
		j.shard.close()
	}
	return nil
}
