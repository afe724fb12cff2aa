package postgresjournal

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/store/postgres/postgrestest"
	"github.com/floodmark/floodmark/journal"
)

// nodes opens the same journal several times, as several programs would.
func nodes(t *testing.T, n int, opts Options) []*Journal {
	dsn := postgrestest.DSN(t)
	opts.Schema = postgrestest.Schema(t, dsn)
	all := make([]*Journal, n)
	var opening sync.WaitGroup
	for i := range all {
		opening.Go(func() {
			var err error
			if all[i], err = Open(t.Context(), dsn, opts); err != nil {
				t.Error(err)
			}
		})
	}
	opening.Wait()
	if t.Failed() {
		t.FailNow()
	}
	t.Cleanup(func() {
		for _, j := range all {
			j.Close()
		}
	})
	return all
}

func TestEightRacersOneWinner(t *testing.T) {
	all := nodes(t, 4, Options{})
	rounds := 200
	if testing.Short() {
		rounds = 20
	}
	s := session("raced")
	var last journal.Link
	for round := range rounds {
		// Records of different lengths: none may be written in part.
		var racers sync.WaitGroup
		var winners atomic.Int32
		var won atomic.Pointer[journal.Record]
		for i := range 8 {
			r := record(t, s, last, 1+(round+i)%3, fmt.Sprintf("racer %d", i))
			racers.Go(func() {
				err := all[i%4].Append(context.Background(), batch(r))
				switch {
				case err == nil:
					winners.Add(1)
					won.Store(&r)
				case !errors.Is(err, journal.ErrConflict):
					t.Error(err)
				}
			})
		}
		racers.Wait()
		if winners.Load() != 1 {
			t.Fatalf("round %d: %d winners", round, winners.Load())
		}
		last = won.Load().Last()
	}
	if entries := readAll(t, all[0], s, journal.Link{}); entries[len(entries)-1].Link() != last {
		t.Error("the last winner is not the last entry")
	}
}

// One appends entry n+1 while another already appends n+2: the second may win
// only after the first.
func TestNoGapUnderConcurrency(t *testing.T) {
	all := nodes(t, 3, Options{})
	for round := range 60 {
		s := session("gap %d", round)
		one := record(t, s, journal.Link{}, 1, "one")
		two := record(t, s, one.Last(), 1+round%2, "two")
		three := record(t, s, two.Last(), 1, "three")
		errs := make([]error, 3)
		var writers sync.WaitGroup
		for i, r := range []journal.Record{one, two, three} {
			writers.Go(func() { errs[i] = all[i].Append(context.Background(), batch(r)) })
		}
		writers.Wait()
		want := 0
		for i, r := range []journal.Record{one, two, three} {
			if errs[i] == nil {
				want += len(r.Entries)
			} else if !errors.Is(errs[i], journal.ErrConflict) || i == 0 {
				t.Errorf("round %d, writer %d: %v", round, i, errs[i])
			}
		}
		if errs[1] != nil && errs[2] == nil {
			t.Errorf("round %d: what followed was written without what it follows", round)
		}
		if n := len(readAll(t, all[0], s, journal.Link{})); n != want {
			t.Errorf("round %d: %d entries, %d acknowledged", round, n, want)
		}
	}
}

// Conflicting records share groups with good ones, and good ones do not suffer.
func TestConflictDoesNotFailItsGroup(t *testing.T) {
	all := nodes(t, 2, Options{Writers: 1})
	const sessions = 40
	var appends sync.WaitGroup
	var winners atomic.Int32
	for i := range sessions {
		s := session("s%d", i)
		for n, j := range all {
			appends.Go(func() {
				// Even sessions are raced for by two nodes in opposite order,
				// odd ones belong to one node.
				if i%2 == 1 && n == 1 {
					return
				}
				err := j.Append(context.Background(), batch(record(t, s, journal.Link{}, 2, fmt.Sprint(n))))
				switch {
				case err == nil:
					winners.Add(1)
				case i%2 == 1 || !errors.Is(err, journal.ErrConflict):
					t.Errorf("%s: %v", s, err)
				}
			})
		}
	}
	appends.Wait()
	if winners.Load() != sessions {
		t.Errorf("%d winners of %d sessions", winners.Load(), sessions)
	}
}

// A batch of two sessions races with batches of one.
func TestBatchesOfTwoStayWhole(t *testing.T) {
	all := nodes(t, 3, Options{})
	for round := range 30 {
		a, b := session("a%d", round), session("b%d", round)
		ra, rb := record(t, a, journal.Link{}, 1, "both"), record(t, b, journal.Link{}, 2, "both")
		errs := make([]error, 3)
		var writers sync.WaitGroup
		writers.Go(func() { errs[0] = all[0].Append(context.Background(), batch(ra, rb)) })
		writers.Go(func() { errs[1] = all[1].Append(context.Background(), batch(rb, ra)) })
		writers.Go(func() {
			errs[2] = all[2].Append(context.Background(), batch(record(t, b, journal.Link{}, 1, "alone")))
		})
		writers.Wait()
		na, nb := len(readAll(t, all[0], a, journal.Link{})), len(readAll(t, all[0], b, journal.Link{}))
		switch {
		case errs[0] == nil && errs[1] == nil && errors.Is(errs[2], journal.ErrConflict) && na == 1 && nb == 2:
		case errs[2] == nil && errors.Is(errs[0], journal.ErrConflict) && errors.Is(errs[1], journal.ErrConflict) && na == 0 && nb == 1:
		default:
			t.Errorf("round %d: %v; %d and %d entries", round, errs, na, nb)
		}
	}
}

// What the server will never take does not fail its group either.
func TestRefusedDoesNotFailItsGroup(t *testing.T) {
	j := nodes(t, 1, Options{Writers: 1})[0]
	var appends sync.WaitGroup
	for i := range 30 {
		r := record(t, session("s%d", i), journal.Link{}, 2, "x")
		poison := i%10 == 5
		if poison {
			r.Entries[1].Kind = "not text: \x00"
		}
		appends.Go(func() {
			err := j.Append(context.Background(), batch(r))
			if (err != nil) != poison || errors.Is(err, journal.ErrInDoubt) || errors.Is(err, journal.ErrConflict) {
				t.Errorf("%s: %v", r.Session, err)
			}
		})
	}
	appends.Wait()
}

// Two that take each other's word into their own, at the same time, wait for each
// other in one order. Otherwise the server ends one of them after a second.
func TestWordsOfTwoAreMetInOneOrder(t *testing.T) {
	dsn := postgrestest.DSN(t)
	key := floodmark.DigestOf("x")
	const turns = 25
	deadlocks := func() int {
		c := postgrestest.Connect(t, dsn)
		defer c.Close(context.Background())
		return postgrestest.Query[int](t, c, "SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()")
	}
	before := deadlocks()
	var both sync.WaitGroup
	names := []floodmark.SessionID{"a", "b"}
	schema := postgrestest.Schema(t, dsn)
	all := make([]*Journal, len(names))
	for i := range all {
		all[i] = open(t, dsn+" application_name="+schema, Options{Schema: schema, Timeout: busyTimeout})
	}
	for i, j := range all {
		both.Go(func() {
			var last journal.Link
			for range turns {
				r := record(t, journal.Session{ID: names[i]}, last, 1, "word")
				last = r.Last()
				b := batch(r)
				b.Artifacts = []journal.Artifact{
					{Key: key, Session: r.Session.ID, Seq: last.Seq, Body: []byte("word")},
					{Key: key, Session: names[1-i], Seq: turns},
				}
				if err := j.Append(context.Background(), b); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	both.Wait()
	// What its processes counted is known when they have ended.
	for _, j := range all {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}
	until(t, postgrestest.Connect(t, dsn), "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = $1)", schema)
	if n := deadlocks() - before; n != 0 {
		t.Errorf("the server ended %d of them", n)
	}
}
