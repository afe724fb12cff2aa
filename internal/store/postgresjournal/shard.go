package postgresjournal

import (
	"context"
	"fmt"
	"time"

	"github.com/floodmark/floodmark/internal/store/postgres"
)

// A shard is one database, which has the shards first to last, with its queue and all its SQL. A
// session is in one database with all its data.
type shard struct {
	*postgres.Database

	first, last int

	// tidyTime bounds dropping old months.
	tidyTime time.Duration
	queue    *queue
	lookups  *lookups
	homes    *homes
	probes   *probes
	// apartBytes bounds the words of one tenant in a statement of its own.
	apartBytes int64
}

func openShard(ctx context.Context, r Range, opts Options) (*shard, error) {
	// There are more connections than writers, so that neither erasing nor writing to several
	// databases has to wait for one.
	d, err := postgres.Open(ctx, r.DSN, postgres.Options{Schema: opts.Schema, Writers: opts.Writers + 1 + maxSpread, Readers: opts.Readers, Timeout: opts.Timeout})
	if err != nil {
		return nil, err
	}
	s := &shard{Database: d, first: r.First, last: r.Last, tidyTime: tidyTime, homes: newHomes(), apartBytes: maxApartBytes}
	if err := s.sweepAll(ctx); err != nil && !postgres.IsDenied(err) { // a role with the right will sweep
		d.Close()
		return nil, fmt.Errorf("delete what was erased: %w", err)
	}
	if err := s.makeMonths(ctx); err != nil {
		d.Close()
		return nil, fmt.Errorf("prepare the months: %w", err)
	}
	s.queue = newQueue(opts.Queue, opts.Writers, s.settle)
	s.lookups = newLookups(s.lookUp, opts.Timeout, opts.Readers)
	s.probes = newProbes()
	return s, nil
}

// close waits for the writes, then for the connections.
func (s *shard) close() {
	s.queue.close()
	s.lookups.close()
	s.probes.close()
	s.Close()
}
