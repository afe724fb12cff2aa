package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/provenance"
)

// A field is all contenders of one engine.
type field struct {
	engine      string
	lanes       []*lane
	comparisons []comparison
}

// What a comparison is called. «Batching» is what its two sides have in common.
const (
	wholeName = "whole decision / identical batching, prebuilt rows"
	bareName  = "whole decision / bare single-row INSERTs"
	rawName   = "sqlite, prebuilt rows / raw file append and fdatasync"
)

func wholeGoals() map[int]float64 { return map[int]float64{64: 0.8, 256: 0.8} }
func bareGoals() map[int]float64  { return map[int]float64{64: 1, 256: 2} }
func rawGoals() map[int]float64   { return map[int]float64{64: 0.5, 256: 0.3} }

// A kit is what all contenders are made from.
type kit struct {
	rules kernel.Rules
	key   provenance.Key
	life  []journal.Batch // what each event of a session writes
	event []journal.Batch // one row of 600 bytes
}

// lifeCalls is how long the recorded session is. No session is asked so often.
const lifeCalls = 400

func newKit(ctx context.Context) (*kit, error) {
	k := &kit{key: provenance.Key{1}}
	var err error
	if k.rules, err = shippedRules(); err != nil {
		return nil, err
	}
	if k.life, err = record(ctx, k.rules, k.key, sessionName(0), lifeCalls); err != nil {
		return nil, err
	}
	entry := journal.Entry{Kind: "action-decided", Body: make([]byte, bareBytes)}
	k.event = []journal.Batch{{Records: []journal.Record{{Entries: []journal.Entry{entry}}}}}
	return k, nil
}

// began is where a session of the prebuilt life begins: where that of the
// decider does, which has been asked once more.
func began(i int) int { return len(opening("")) + i%spread + 1 }

func (k *kit) sqlite(ctx context.Context, dir string) (*field, error) {
	var keepers [4]keeper
	for i, name := range []string{"decision.db", "prebuilt.db", "event.db", "race.db"} {
		var err error
		if keepers[i], err = sqliteKeeper(ctx, dir, name); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(winners(ctx, keepers[3]), keepers[3].Close()); err != nil {
		return nil, err
	}
	fmt.Fprintln(os.Stderr, "sqlite: prepare")
	decides, err1 := newDecider(ctx, keepers[0], k.rules, k.key)
	writes, err2 := newPrebuilt(ctx, keepers[1], k.life, inJournal, began)
	single, err3 := newPrebuilt(ctx, keepers[2], k.event, inJournal, func(int) int { return 1 })
	bare, err4 := newBareSQLite(ctx, dir, "bare.db")
	place, err5 := rawKeeper(dir, "raw")
	file, err6 := newPrebuilt(ctx, place, k.event, inRaw, func(int) int { return 1 })
	if err := errors.Join(err1, err2, err3, err4, err5, err6); err != nil {
		return nil, err
	}
	a, b, c, d, e := newLane("decision", decides), newLane("prebuilt", writes), newLane("bare", bare), newLane("event", single), newLane("raw", file)
	return &field{engine: "sqlite", lanes: []*lane{a, b, c, d, e}, comparisons: []comparison{
		{"sqlite, " + wholeName, a, b, wholeGoals()},
		{"sqlite, " + bareName, a, c, bareGoals()},
		{rawName, d, e, rawGoals()},
	}}, nil
}

func (k *kit) postgres(ctx context.Context, dsn string) (*field, error) {
	s, err := connectServer(ctx, dsn)
	if err != nil {
		return nil, err
	}
	var keepers [3]keeper
	for i, schema := range []string{"bench_decision", "bench_prebuilt", "bench_race"} {
		if keepers[i], err = s.keeper(ctx, schema); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(winners(ctx, keepers[2]), keepers[2].Close()); err != nil {
		return nil, err
	}
	fmt.Fprintln(os.Stderr, "postgres: prepare")
	decides, err1 := newDecider(ctx, keepers[0], k.rules, k.key)
	writes, err2 := newPrebuilt(ctx, keepers[1], k.life, inJournal, began)
	bare, err3 := s.bare(ctx, "bench_bare")
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	a, b, c := newLane("decision", decides), newLane("prebuilt", writes), newLane("bare", bare)
	return &field{engine: "postgres", lanes: []*lane{a, b, c}, comparisons: []comparison{
		{"postgres, " + wholeName, a, b, wholeGoals()},
		{"postgres, " + bareName, a, c, bareGoals()},
	}}, nil
}

// measure runs the races and holds every row against its acknowledgement.
func (f *field) measure(ctx context.Context, inflights []int, rounds int, r *rand.Rand) ([]figure, error) {
	if err := race(ctx, f.lanes, slices.Max(inflights), 1, r); err != nil { // to warm up
		return nil, err
	}
	var out []figure
	for _, n := range inflights {
		fmt.Fprintf(os.Stderr, "%s, %d in flight\n", f.engine, n)
		if err := race(ctx, f.lanes, n, rounds, r); err != nil {
			return nil, err
		}
		for _, c := range f.comparisons {
			out = append(out, c.figure(n))
		}
	}
	return out, f.check(ctx, out)
}

// check returns an error unless every row that was promised is there, and
// everybody waited for the disk.
func (f *field) check(ctx context.Context, figures []figure) error {
	rows, acks := map[*lane]int64{}, map[*lane]int64{}
	for _, l := range f.lanes {
		var err error
		acks[l] = l.acknowledged()
		if d, ok := l.contender.(*decider); ok && d.cold.Load() != sessions {
			return fmt.Errorf("%s, %s: %d sessions of %d were read again: they did not fit the monitor's memory", f.engine, l.name, d.cold.Load()-sessions, sessions)
		}
		if rows[l], err = l.kept(ctx); err != nil {
			return fmt.Errorf("%s, %s: count the rows: %w", f.engine, l.name, err)
		}
		if rows[l] != acks[l] {
			return fmt.Errorf("%s, %s: %d rows, but %d were acknowledged", f.engine, l.name, rows[l], acks[l])
		}
	}
	for i := range figures {
		fig, c := &figures[i], f.comparisons[i%len(f.comparisons)]
		fig.Rows, fig.Acks, fig.BaseRows, fig.BaseAcks = rows[c.mine], acks[c.mine], rows[c.his], acks[c.his]
		if fig.Flushes <= 0 || fig.BaseFlushes <= 0 {
			return fmt.Errorf("%s at %d in flight: somebody did not wait for the disk", fig.Name, fig.Inflight)
		}
	}
	return nil
}

// compare is the program: all engines, one JSON object for each ratio.
func compare(ctx context.Context, o options) error {
	e := newEvidence(ctx, "bench-journal", o)
	e.Sessions, e.Races = sessions, races
	var all []figure
	k, err := newKit(ctx)
	if err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(o.seed, 1))
	for engine := range strings.SplitSeq(o.engines, ",") {
		figures, err := k.measure(ctx, engine, o, r)
		if err != nil {
			return err
		}
		all = append(all, figures...)
	}
	e.Figures = all
	return e.write(o.json)
}

// measure makes the contenders of an engine and lets them race.
func (k *kit) measure(ctx context.Context, engine string, o options, r *rand.Rand) ([]figure, error) {
	switch engine {
	case "sqlite":
		dir, err := os.MkdirTemp(o.dir, "bench-journal-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		f, err := k.sqlite(ctx, dir)
		if err != nil {
			return nil, err
		}
		return f.print(ctx, o, r)
	case "postgres":
		dsn := o.dsn
		if dsn == "" {
			var stop func()
			var err error
			if dsn, stop, err = startServer(ctx, filepath.Join("..", "..")); err != nil {
				return nil, err
			}
			defer stop()
		}
		f, err := k.postgres(ctx, dsn)
		if err != nil {
			return nil, err
		}
		return f.print(ctx, o, r)
	}
	return nil, fmt.Errorf("there is no engine called %q", engine)
}

// print measures an engine and prints what was found.
func (f *field) print(ctx context.Context, o options, r *rand.Rand) ([]figure, error) {
	figures, err := f.measure(ctx, []int{64, 256}, o.rounds, r)
	if err != nil {
		return nil, err
	}
	enc := json.NewEncoder(os.Stdout)
	for _, fig := range figures {
		if err := enc.Encode(fig); err != nil {
			return nil, err
		}
	}
	return figures, nil
}
