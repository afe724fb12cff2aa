package postgresjournal

import (
	"context"
	"iter"
	"slices"

	"github.com/floodmark/floodmark/internal/store/postgres"
	"github.com/floodmark/floodmark/journal"
)

// merged yields the heads of several databases in one order, which before defines. Heads with the
// same mark are adjacent.
func merged(lists []iter.Seq2[journal.Head, error], before func(a, b journal.Mark) bool, yield func(journal.Head, error) bool) {
	type source struct {
		next func() (journal.Head, error, bool)
		head journal.Head
		more bool
	}
	sources := make([]source, len(lists))
	step := func(s *source) error {
		var err error
		s.head, err, s.more = s.next()
		return err
	}
	for i, list := range lists {
		next, stop := iter.Pull2(list)
		defer stop()
		sources[i].next = next
		if err := step(&sources[i]); err != nil {
			yield(journal.Head{}, err)
			return
		}
	}
	for {
		var first *source
		for i := range sources {
			if s := &sources[i]; s.more && (first == nil || before(s.head.Mark, first.head.Mark)) {
				first = s
			}
		}
		if first == nil || !yield(first.head, nil) {
			return
		}
		if err := step(first); err != nil {
			yield(journal.Head{}, err)
			return
		}
	}
}

// lists gathers the lists of all databases.
func (j *Journal) lists(of func(*shard) ([]iter.Seq2[journal.Head, error], error)) ([]iter.Seq2[journal.Head, error], error) {
	all := make([][]iter.Seq2[journal.Head, error], len(j.shards))
	err := j.each(func(i int, s *shard) (err error) {
		all[i], err = of(s)
		return err
	})
	return slices.Concat(all...), err
}

// each calls f for all databases concurrently and returns the first error.
func (j *Journal) each(f func(i int, s *shard) error) error {
	return postgres.Each(len(j.shards), func(i int) error { return f(i, j.shards[i]) })
}

// horizon returns a mark after everything that is acknowledged by now. No entry that is written
// later, in any database, is before it. Clocks differ, so the latest one is used for all databases.
func (j *Journal) horizon(ctx context.Context) (journal.Mark, error) {
	marks := make([]journal.Mark, len(j.shards))
	latest := journal.Mark(0)
	if len(j.shards) > 1 {
		err := j.each(func(i int, s *shard) (err error) {
			marks[i], err = s.now(ctx)
			return err
		})
		if err != nil {
			return 0, err
		}
		for _, m := range marks {
			latest = max(latest, m)
		}
	}
	err := j.each(func(i int, s *shard) (err error) {
		marks[i], err = s.horizon(ctx, latest)
		return err
	})
	end := marks[0]
	for _, m := range marks {
		end = min(end, m)
	}
	return end, err
}
