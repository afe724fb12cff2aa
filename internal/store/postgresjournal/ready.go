package postgresjournal

import (
	"context"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/floodmark/floodmark/internal/store/postgres"
	"github.com/floodmark/floodmark/journal"
)

// Ready returns nil if an append to any session would be durable now: every database has a primary
// that takes writes, and its commits do not hang waiting for a replica. It writes a few bytes of
// the server's log and nothing else.
//
// Cancelling ctx early is harmless: only a probe that takes the whole statement timeout counts as a
// server that hangs.
func (j *Journal) Ready(ctx context.Context) error {
	if j.closed.Load() {
		return journal.ErrClosed
	}
	if err := j.each(func(_ int, s *shard) error { return s.settled(ctx) }); err != nil {
		return fmt.Errorf("ask whether the journal takes writes: %w", err)
	}
	return nil
}

// settled waits for a probe until ctx ends.
func (s *shard) settled(ctx context.Context) error {
	p := s.probes.join(s.probe)
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// probe makes an empty commit, as durable as an append, within the statement timeout.
func (s *shard) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout())
	defer cancel()
	return s.Write(ctx, func(c *pgx.Conn) error {
		_, err := c.Exec(ctx, postgres.SettledSQL)
		return err
	})
}

// A probe is one check, shared by all its callers.
type probe struct {
	done chan struct{} // closed when err is set
	err  error
}

// probes run one at a time, so that they do not slow a slow server down.
type probes struct {
	ctx  context.Context // of all of them
	stop context.CancelFunc
	work sync.WaitGroup

	mu    sync.Mutex // guards what is below
	ended bool
	under *probe
}

func newProbes() *probes {
	p := &probes{}
	p.ctx, p.stop = context.WithCancel(context.Background())
	return p
}

// join returns the probe under way, or starts one.
func (p *probes) join(look func(context.Context) error) *probe {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.under != nil {
		return p.under
	}
	one := &probe{done: make(chan struct{})}
	if p.ended {
		one.err = journal.ErrClosed
		close(one.done)
		return one
	}
	p.under = one
	p.work.Go(func() {
		one.err = look(p.ctx)
		p.mu.Lock()
		p.under = nil
		p.mu.Unlock()
		close(one.done)
	})
	return one
}

// close cancels the probe under way.
func (p *probes) close() {
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	p.stop()
	p.work.Wait()
}
