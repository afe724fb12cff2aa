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

// A field has all contenders of one engine.
type field struct {
	engine      string
	lanes       []*lane
	comparisons []comparison
}

// The names of the comparisons. «batching» is what both sides of a comparison have in common.
const (
	wholeName = "whole decision / identical batching, prebuilt rows"
	bareName  = "whole decision / bare single-row INSERTs"
	rawName   = "sqlite, prebuilt rows / raw file append and fdatasync"
)

func wholeGoals() map[int]float64 { return map[int]float64{64: 0.8, 256: 0.8} }
func bareGoals() map[int]float64  { return map[int]float64{64: 1, 256: 2} }
func rawGoals() map[int]float64   { return map[int]float64{64: 0.5, 256: 0.3} }

// A kit is the material from which all contenders are made.
type kit struct {
	mix   *mix
	rules kernel.Rules
	key   provenance.Key
	life  []journal.Batch // the batches that each event of a session writes
	event []journal.Batch // one row of 600 bytes
}

func newKit(ctx context.Context, m *mix) (*kit, error) {
	k := &kit{mix: m, key: provenance.Key{1}}
	var err error
	if k.rules, err = shippedRules(); err != nil {
		return nil, err
	}
	if k.life, err = m.record(ctx, k.rules, k.key, sessionName(0), m.life); err != nil {
		return nil, err
	}
	entry := journal.Entry{Kind: "action-decided", Body: make([]byte, bareBytes)}
	k.event = []journal.Batch{{Records: []journal.Record{{Entries: []journal.Entry{entry}}}}}
	return k, nil
}

// pair returns two contenders in two journals of an engine: the whole decision, and prebuilt rows.
func (k *kit) pair(ctx context.Context, decision, rows keeper) (whole, prebuilt *lane, err error) {
	decides, err1 := newDecider(ctx, decision, k.mix, k.rules, k.key)
	writes, err2 := newPrebuilt(ctx, rows, k.mix.sessions, k.life, k.mix.ready, k.mix.began)
	if err := errors.Join(err1, err2); err != nil {
		return nil, nil, err
	}
	return newLane("decision", decides, k.mix.sessions), newLane("prebuilt", writes, k.mix.sessions), nil
}

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
	fmt.Fprintln(os.Stderr, k.mix.name+"sqlite: prepare")
	a, b, err := k.pair(ctx, keepers[0], keepers[1])
	if err != nil {
		return nil, err
	}
	f := &field{engine: "sqlite", lanes: []*lane{a, b}, comparisons: []comparison{{k.mix.name + "sqlite, " + wholeName, a, b, wholeGoals()}}}
	if k.mix.name != "" {
		return f, keepers[2].Close()
	}
	n := k.mix.sessions
	single, err1 := newPrebuilt(ctx, keepers[2], n, k.event, k.mix.ready, func(int) int { return 1 })
	bare, err2 := newBareSQLite(ctx, dir, "bare.db", n)
	place, err3 := rawKeeper(dir, "raw")
	file, err4 := newPrebuilt(ctx, place, n, k.event, inRaw, func(int) int { return 1 })
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return nil, err
	}
	c, d, e := newLane("bare", bare, n), newLane("event", single, n), newLane("raw", file, n)
	f.lanes = append(f.lanes, c, d, e)
	f.comparisons = append(f.comparisons, comparison{"sqlite, " + bareName, a, c, bareGoals()}, comparison{rawName, d, e, rawGoals()})
	return f, nil
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
	fmt.Fprintln(os.Stderr, k.mix.name+"postgres: prepare")
	a, b, err := k.pair(ctx, keepers[0], keepers[1])
	if err != nil {
		return nil, err
	}
	f := &field{engine: "postgres", lanes: []*lane{a, b}, comparisons: []comparison{{k.mix.name + "postgres, " + wholeName, a, b, wholeGoals()}}}
	if k.mix.name != "" {
		return f, nil
	}
	bare, err := s.bare(ctx, "bench_bare", k.mix.sessions)
	if err != nil {
		return nil, err
	}
	c := newLane("bare", bare, k.mix.sessions)
	f.lanes = append(f.lanes, c)
	f.comparisons = append(f.comparisons, comparison{"postgres, " + bareName, a, c, bareGoals()})
	return f, nil
}

// measure runs the races and compares the number of stored rows with the acknowledged ones.
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

// check returns an error unless every acknowledged row is stored and every contender waited for the
// disk.
func (f *field) check(ctx context.Context, figures []figure) error {
	rows, acks := map[*lane]int64{}, map[*lane]int64{}
	for _, l := range f.lanes {
		var err error
		acks[l] = l.acknowledged()
		if d, ok := l.contender.(*decider); ok && int(d.cold.Load()) != d.mix.sessions {
			return fmt.Errorf("%s, %s: %d sessions of %d were read again: they did not fit the monitor's memory", f.engine, l.name, int(d.cold.Load())-d.mix.sessions, d.mix.sessions)
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

// compare is the program: it measures all engines and prints one JSON object for each ratio.
func compare(ctx context.Context, o options) error {
	e := newEvidence(ctx, "bench-journal", o)
	e.Races = races
	var all []figure
	r := rand.New(rand.NewPCG(o.seed, 1))
	for name := range strings.SplitSeq(o.mixes, ",") {
		m, err := mixOf(name, o.seed)
		if err != nil {
			return err
		}
		k, err := newKit(ctx, m)
		if err != nil {
			return err
		}
		for engine := range strings.SplitSeq(o.engines, ",") {
			figures, err := k.measure(ctx, engine, o, r)
			if err != nil {
				return err
			}
			all = append(all, figures...)
		}
	}
	e.Figures = all
	return e.write(o.json)
}

// measure makes the contenders of an engine and runs their races.
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
			if dsn, stop, err = startServer(ctx, filepath.Join("..", "..", "..")); err != nil {
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

// print measures an engine and prints the figures.
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
