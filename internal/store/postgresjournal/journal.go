// Package postgresjournal keeps a journal in PostgreSQL, for fleets: any number of nodes may append
// to any session. It refuses a server that may lose acknowledged writes, and one that is not the
// primary.
//
// It connects to the server directly or through a session pooler, never through a transaction
// pooler: what is checked when a connection opens must hold for all its statements.
package postgresjournal

import (
	"context"
	"fmt"
	"iter"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/store/fleetbooks"
	"github.com/floodmark/floodmark/internal/store/postgres"
	"github.com/floodmark/floodmark/journal"
)

// Options configure a journal. The zero Options are valid.
type Options struct {
	// Schema holds the tables; [DefaultSchema] if empty. It is created if missing.
	Schema string
	// Writers is the number of connections that append, 1 to [MaxConnections].
	Writers int
	// Readers is the number of connections that read, 1 to [MaxConnections].
	Readers int
	// Queue is how many batches may wait for a writer, 1 to [MaxQueue]. While it is full, Append
	// blocks.
	Queue int
	// Timeout bounds every statement, with its wait for the replica, up to [MaxTimeout]. A
	// statement that takes longer is cancelled together with its connection.
	Timeout time.Duration
}

// The defaults and limits of Options.
const (
	DefaultSchema  = "floodmark"
	DefaultWriters = 4 // more make smaller groups, fewer leave the disk idle
	DefaultReaders = 8
	DefaultQueue   = 1024
	DefaultTimeout = 10 * time.Second

	MaxConnections = 64
	MaxQueue       = 1 << 16
	MaxTimeout     = 5 * time.Minute
	maxSchemaBytes = 63 // PostgreSQL truncates longer names
)

// check fills in defaults and refuses invalid options.
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

// A Journal implements [journal.Journal] on one PostgreSQL database, or on several with some shards
// each. A session is in one of them with all its entries. What belongs to no session (contents,
// artifacts, lists of sessions) is stored with the session that wrote it, and all databases are
// queried.
type Journal struct {
	*fleetbooks.Books

	shards []*shard // by their ranges
	home   [Shards]uint8
	closed atomic.Bool

	mu      sync.RWMutex   // guards closed: spreads grows only while it is not set
	spreads sync.WaitGroup // batches being written to several databases
	turns   chan struct{}  // one for each of these batches
	stop    context.CancelFunc
	mending sync.WaitGroup
}

var _ journal.Journal = (*Journal)(nil)

// Open connects to the primary among the servers dsn names, refuses it with [journal.ErrNotDurable]
// if it may lose acknowledged writes, and migrates its tables. Many nodes may open the same
// database at once.
func Open(ctx context.Context, dsn string, opts Options) (*Journal, error) {
	return OpenShards(ctx, []Range{{DSN: dsn, Last: Shards - 1}}, opts)
}

// OpenShards is [Open] for shards in several databases. It refuses a mapping that differs from the
// recorded one.
func OpenShards(ctx context.Context, ranges []Range, opts Options) (*Journal, error) {
	j, err := openAll(ctx, ranges, opts)
	if err != nil {
		return nil, fmt.Errorf("open the journal in PostgreSQL: %w", err)
	}
	return j, nil
}

func openAll(ctx context.Context, ranges []Range, opts Options) (*Journal, error) {
	opts, err := opts.check()
	if err != nil {
		return nil, err
	}
	if ranges, err = inOrder(ranges); err != nil {
		return nil, err
	}
	j := &Journal{turns: make(chan struct{}, maxSpread)}
	for i, r := range ranges {
		s, err := openShard(ctx, r, opts)
		if err == nil {
			j.shards = append(j.shards, s)
			if len(ranges) > 1 {
				err = s.canPrepare(ctx)
			}
		}
		if err != nil {
			j.closeShards()
			return nil, err
		}
		for n := r.First; n <= r.Last; n++ {
			j.home[n] = uint8(i)
		}
	}
	if err := placed(ctx, j.shards); err != nil {
		j.closeShards()
		return nil, err
	}
	var databases []*postgres.Database
	for _, s := range j.shards {
		databases = append(databases, s.Database)
	}
	j.Books = fleetbooks.New(databases, func(s journal.Session) *postgres.Database { return j.of(s).Database }, j.closed.Load)
	background, stop := context.WithCancel(context.Background())
	j.stop = stop
	j.mending.Go(func() { j.prepareMonths(background) })
	if len(ranges) > 1 {
		j.mending.Go(func() { j.mend(background) })
	}
	return j, nil
}

// of returns the database of a session.
func (j *Journal) of(s journal.Session) *shard {
	if len(j.shards) == 1 {
		return j.shards[0]
	}
	return j.shards[j.home[ShardOf(s)]]
}

// Append implements [journal.Journal]. The batch must not be changed until it returns, and never if
// it returns [journal.ErrInDoubt].
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
	if len(j.shards) == 1 {
		return j.shards[0].queue.append(ctx, b)
	}
	parts, gone := j.split(b)
	if len(parts) == 1 {
		err := parts[0].shard.queue.append(ctx, parts[0].batch)
		if err == nil {
			j.takeBack(ctx, gone)
		}
		return err
	}
	err := j.spread(ctx, b, parts)
	if err == nil {
		j.takeBack(ctx, gone)
	}
	return err
}

// Begin implements [journal.Journal].
func (j *Journal) Begin(ctx context.Context, s journal.Session) (journal.Start, error) {
	if j.closed.Load() {
		return journal.Start{}, journal.ErrClosed
	}
	start, err := j.of(s).begin(ctx, s)
	if err != nil {
		return journal.Start{}, fmt.Errorf("begin session %s: %w", s, err)
	}
	return start, nil
}

// Read implements [journal.Journal]. A session that is erased meanwhile ends with
// [journal.ErrConflict], one with a gap with [journal.ErrBroken].
func (j *Journal) Read(ctx context.Context, s journal.Session, after uint64) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		if j.closed.Load() {
			yield(journal.Entry{}, journal.ErrClosed)
			return
		}
		if err := j.of(s).entries(ctx, s, after, yield); err != nil {
			yield(journal.Entry{}, fmt.Errorf("read session %s: %w", s, err))
		}
	}
}

// Postings implements [journal.Journal].
func (j *Journal) Postings(ctx context.Context, tenant string, contents []floodmark.Digest) (map[floodmark.Digest][]byte, error) {
	if j.closed.Load() {
		return nil, journal.ErrClosed
	}
	all := make([]map[floodmark.Digest][]byte, len(j.shards))
	err := j.each(func(i int, s *shard) (err error) {
		all[i], err = s.postings(ctx, tenant, contents)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read indexes of contents: %w", err)
	}
	found := all[0]
	for _, more := range all[1:] {
		for digest, postings := range more {
			if _, there := found[digest]; !there {
				found[digest] = postings
			}
		}
	}
	return found, nil
}

// Heads implements [journal.Journal]. Each call blocks writers for a moment, to find a number in the
// order below which nothing can appear later.
func (j *Journal) Heads(ctx context.Context, after journal.Mark) iter.Seq2[journal.Head, error] {
	return func(yield func(journal.Head, error) bool) {
		if j.closed.Load() {
			yield(journal.Head{}, journal.ErrClosed)
			return
		}
		end, err := j.horizon(ctx)
		if err != nil {
			yield(journal.Head{}, fmt.Errorf("read heads: %w", err))
			return
		}
		lists, err := j.lists(func(s *shard) ([]iter.Seq2[journal.Head, error], error) { return s.heads(ctx, after, end) })
		if err != nil {
			yield(journal.Head{}, fmt.Errorf("read heads: %w", err))
			return
		}
		merged(lists, func(a, b journal.Mark) bool { return a < b }, yield)
	}
}

// Recent implements [journal.Journal].
func (j *Journal) Recent(ctx context.Context, tenant string) iter.Seq2[journal.Head, error] {
	return func(yield func(journal.Head, error) bool) {
		if j.closed.Load() {
			yield(journal.Head{}, journal.ErrClosed)
			return
		}
		lists, err := j.lists(func(s *shard) ([]iter.Seq2[journal.Head, error], error) { return s.recent(ctx, tenant) })
		if err != nil {
			yield(journal.Head{}, fmt.Errorf("read recent sessions: %w", err))
			return
		}
		merged(lists, func(a, b journal.Mark) bool { return a > b }, yield)
	}
}

// Erase implements [journal.Journal].
func (j *Journal) Erase(ctx context.Context, t journal.Tombstone) error {
	if j.closed.Load() {
		return journal.ErrClosed
	}
	if err := j.of(t.Session).erase(ctx, t); err != nil {
		return fmt.Errorf("erase session %s: %w", t.Session, err)
	}
	return nil
}

// Close implements [journal.Journal].
func (j *Journal) Close() error {
	j.mu.Lock()
	first := j.closed.CompareAndSwap(false, true)
	j.mu.Unlock()
	if first {
		j.spreads.Wait()
		j.stop()
		j.mending.Wait()
		j.closeShards()
	}
	return nil
}

func (j *Journal) closeShards() {
	for _, s := range j.shards {
		s.close()
	}
}
