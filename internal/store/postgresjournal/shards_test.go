package postgresjournal

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/store/postgres/postgrestest"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/journal/journaltest"
)

// testRanges makes n databases on the test's server and gives each some shards.
func testRanges(t testing.TB, n int) []Range {
	t.Helper()
	dsn := postgrestest.DSN(t)
	c := postgrestest.Connect(t, dsn)
	ranges := make([]Range, n)
	for i := range ranges {
		name := strings.ToLower("fm_" + floodmark.DigestOf(t.Name()+fmt.Sprint(i)).Short())
		drop := "DROP DATABASE IF EXISTS " + name + " WITH (FORCE)"
		for _, sql := range []string{drop, "CREATE DATABASE " + name + " TEMPLATE template0"} {
			if _, err := c.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
				t.Fatal(err)
			}
		}
		t.Cleanup(func() {
			if _, err := postgrestest.Connect(t, dsn).Exec(context.Background(), drop, pgx.QueryExecModeSimpleProtocol); err != nil {
				t.Error(err)
			}
		})
		ranges[i] = Range{DSN: dsn + " dbname=" + name, First: i * Shards / n, Last: (i+1)*Shards/n - 1}
	}
	return ranges
}

func openShards(t testing.TB, ranges []Range, opts Options) *Journal {
	t.Helper()
	j, err := OpenShards(t.Context(), ranges, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

// sessionIn returns a session in a given part of a mapping.
func sessionIn(r Range, name string) journal.Session {
	for i := 0; ; i++ {
		s := session("%s%d", name, i)
		if n := ShardOf(s); n >= r.First && n <= r.Last {
			return s
		}
	}
}

// The same suite, with sessions in three databases.
func TestJournalInThreeDatabases(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes a while")
	}
	ranges := testRanges(t, 3)
	schemas, n := map[journal.Journal]string{}, 0
	again := func(t *testing.T, schema string) journal.Journal {
		j, err := OpenShards(t.Context(), ranges, Options{Schema: schema, Timeout: busyTimeout})
		if err != nil {
			t.Fatal(err)
		}
		schemas[j] = schema
		return j
	}
	journaltest.RunWith(t, journaltest.Options{
		Open: func(t *testing.T) journal.Journal {
			n++
			return again(t, fmt.Sprint("test", n))
		},
		Reopen: func(t *testing.T, j journal.Journal) journal.Journal {
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			return again(t, schemas[j])
		},
	})
}

// A session's shard never changes: these were computed when it was decided.
func TestShardOfSession(t *testing.T) {
	for s, want := range map[journal.Session]int{
		{ID: "a"}:              1720,
		{Tenant: "a", ID: "b"}: 2949,
		{Tenant: "firm.example", ID: "codex:0199"}: 1439,
	} {
		if got := ShardOf(s); got != want {
			t.Errorf("%s: shard %d, want %d", s, got, want)
		}
	}
	seen := map[int]bool{}
	for i := range 200_000 {
		n := ShardOf(session("%d", i))
		if n < 0 || n >= Shards {
			t.Fatalf("shard %d", n)
		}
		seen[n] = true
	}
	if len(seen) != Shards {
		t.Errorf("%d shards were met, want all %d", len(seen), Shards)
	}
}

func TestRangesAreWhole(t *testing.T) {
	for text, ranges := range map[string][]Range{
		"0 databases":           {},
		"shards 1 to 4095":      {{First: 1, Last: 4095}},
		"from 4095 on":          {{First: 0, Last: 4094}},
		"shards 100 to 4095":    {{First: 0, Last: 100}, {First: 100, Last: 4095}},
		"shards 102 to 4095":    {{First: 102, Last: 4095}, {First: 0, Last: 100}},
		"from 4097 on":          {{First: 0, Last: 4096}},
		"65 databases, want 1 ": make([]Range, 65),
	} {
		if _, err := inOrder(ranges); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v, want %q", err, text)
		}
	}
}

func TestAnotherMappingIsRefused(t *testing.T) {
	ranges := testRanges(t, 2)
	openShards(t, ranges, Options{}).Close()
	openShards(t, []Range{ranges[1], ranges[0]}, Options{}).Close()
	swapped := []Range{{ranges[1].DSN, 0, 2047}, {ranges[0].DSN, 2048, 4095}}
	moved := []Range{{ranges[0].DSN, 0, 2046}, {ranges[1].DSN, 2047, 4095}}
	alone := []Range{{ranges[0].DSN, 0, 4095}}
	for _, other := range [][]Range{swapped, moved, alone} {
		j, err := OpenShards(t.Context(), other, Options{})
		if err == nil {
			j.Close()
			t.Fatalf("opened with %v", other)
		}
		if !strings.Contains(err.Error(), "the mapping that is recorded") {
			t.Error(err)
		}
	}
	foreign := openShards(t, ranges, Options{Schema: "other"})
	foreign.Close()
	c := postgrestest.Connect(t, ranges[1].DSN)
	if _, err := c.Exec(t.Context(), "UPDATE floodmark.placement SET fleet = (SELECT fleet FROM other.placement) || 'x'"); err != nil {
		t.Fatal(err)
	}
	if j, err := OpenShards(t.Context(), ranges, Options{}); err == nil || !strings.Contains(err.Error(), "another fleet") {
		t.Errorf("%v, %v", j, err)
	}
}

// A database with facts from before there were shards holds all of them.
func TestUsedDatabaseHoldsAllShards(t *testing.T) {
	ranges := testRanges(t, 2)
	j := openShards(t, []Range{{ranges[0].DSN, 0, 4095}}, Options{})
	appendOK(t, j, record(t, session("s"), journal.Link{}, 1, "one"))
	j.Close()
	if _, err := postgrestest.Connect(t, ranges[0].DSN).Exec(t.Context(), "DELETE FROM floodmark.placement"); err != nil {
		t.Fatal(err)
	}
	if j, err := OpenShards(t.Context(), ranges, Options{}); err == nil || !strings.Contains(err.Error(), "holds shards 0 to 4095") {
		t.Errorf("%v, %v", j, err)
	}
}

// What a node left prepared is ended by another, as the first database decided.
func TestAbandonedBatches(t *testing.T) {
	t.Parallel()
	ranges := testRanges(t, 2)
	j := openShards(t, ranges, Options{})
	parent, child := sessionIn(ranges[0], "parent"), sessionIn(ranges[1], "child")
	for _, committed := range []bool{false, true} {
		one := record(t, parent, lastOf(t, j, parent), 1, "parent")
		other := record(t, child, lastOf(t, j, child), 1, "child")
		parts, _ := j.split(batch(one, other))
		name := parts[0].shard.newName()
		err := parts[1].shard.Write(t.Context(), func(c *pgx.Conn) error { return parts[1].prepare(t.Context(), c, name, 0) })
		if err != nil {
			t.Fatal(err)
		}
		if committed {
			err := parts[0].shard.Write(t.Context(), func(c *pgx.Conn) error { return parts[0].decide(t.Context(), c, name, 0) })
			if err != nil {
				t.Fatal(err)
			}
		}
		c := postgrestest.Connect(t, ranges[1].DSN)
		until(t, c, "SELECT NOT EXISTS (SELECT FROM pg_prepared_xacts WHERE starts_with(gid, $1))", name)
		if there := lastOf(t, j, child) == other.Last(); there != committed {
			t.Errorf("decided %v, but the child's entry is there: %v", committed, there)
		}
		if !committed {
			// A late decision has no effect any more.
			err := parts[0].shard.Write(t.Context(), func(c *pgx.Conn) error { return parts[0].decide(t.Context(), c, name, 0) })
			if err == nil {
				t.Error("a batch that was given up was committed")
			}
			appendOK(t, j, one, other)
			continue
		}
		appendOK(t, j, one, other) // the same again
	}
}

func lastOf(t testing.TB, j journal.Journal, s journal.Session) (last journal.Link) {
	t.Helper()
	for _, e := range readAll(t, j, s, journal.Link{}) {
		last = e.Link()
	}
	return last
}

// One of many wins, also where what they write lies in two databases and they
// come from two sides. Those who wait for each other in two databases try again, so all of them take a while.
func TestOneWinnerInTwoDatabases(t *testing.T) {
	t.Parallel()
	ranges := testRanges(t, 2)
	nodes := []*Journal{openShards(t, ranges, Options{Timeout: busyTimeout}), openShards(t, ranges, Options{Timeout: busyTimeout})}
	a, b := sessionIn(ranges[0], "a"), sessionIn(ranges[1], "b")
	var lastA, lastB journal.Link
	for round := range 5 {
		var mu sync.Mutex // guards wins
		wins := 0
		var racers sync.WaitGroup
		for i := range 6 {
			ra, rb := record(t, a, lastA, 1, fmt.Sprint(round, i)), record(t, b, lastB, 1, fmt.Sprint(round, i))
			if i%2 == 0 {
				ra, rb = rb, ra
			}
			racers.Go(func() {
				err := nodes[i%2].Append(t.Context(), batch(ra, rb))
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					wins++
				} else if !errors.Is(err, journal.ErrConflict) {
					t.Error(err)
				}
			})
		}
		racers.Wait()
		if wins != 1 {
			t.Fatalf("round %d has %d winners", round, wins)
		}
		lastA, lastB = lastOf(t, nodes[0], a), lastOf(t, nodes[1], b)
		if lastA.Seq != uint64(round+1) || lastB.Seq != lastA.Seq {
			t.Fatalf("round %d: %d and %d entries", round, lastA.Seq, lastB.Seq)
		}
	}
}
