package postgresjournal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/floodmark/floodmark/internal/store/postgres"
	"github.com/floodmark/floodmark/internal/store/postgres/postgrestest"
	"github.com/floodmark/floodmark/journal"
)

// oldMonth creates the table of a past month, as make_months would have then, and has sessions
// begin there until the returned function is called.
func oldMonth(t testing.TB, j *Journal, dsn, schema string, m month) (now func()) {
	t.Helper()
	c := postgrestest.Connect(t, dsn)
	current := j.shards[0].homes.here()
	// The real function, with another time.
	text := postgrestest.Query[string](t, c, "SELECT pg_get_functiondef('"+schema+".make_months'::regproc)")
	then := fmt.Sprintf("'%d-%02d-15'::timestamptz", m/100, m%100)
	text = strings.ReplaceAll(strings.ReplaceAll(text, "make_months", "make_old_months"), "now()", then)
	for _, sql := range []string{"SET search_path = " + schema, text, "ALTER FUNCTION make_old_months() OWNER TO " + postgrestest.Query[string](t, c, "SELECT proowner::regrole::text FROM pg_proc WHERE oid = '"+schema+".make_months'::regproc"), "SELECT make_old_months()", "DROP FUNCTION make_old_months()"} {
		if _, err := c.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
	}
	all, err := j.shards[0].look(t.Context())
	if err != nil || !slices.Contains(all, m) {
		t.Fatalf("%v, %v", all, err)
	}
	j.shards[0].homes.learn(m, all)
	return func() { j.shards[0].homes.learn(current, all) }
}

// today is the time of retention. Months follow the server's own clock.
func today() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

// retired is a tombstone of retention.
func retired(s journal.Session, l journal.Link) journal.Tombstone {
	t := stone(s, l)
	t.Why, t.At = journal.WhyRetention, today().UnixNano()
	return t
}

func countFacts(t testing.TB, dsn, schema, table string) int {
	t.Helper()
	return postgrestest.Query[int](t, postgrestest.Connect(t, dsn), "SELECT count(*)::int FROM "+schema+"."+table)
}

func TestSessionsLieInTheMonthTheyBeganIn(t *testing.T) {
	dsn := postgrestest.DSN(t)
	schema := postgrestest.Schema(t, dsn)
	j := open(t, dsn, Options{Schema: schema})
	here := j.shards[0].homes.here()
	if want := month(postgrestest.Query[int](t, postgrestest.Connect(t, dsn), "SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYYMM')::int")); here != want {
		t.Fatalf("sessions are born in %d, want %d", here, want)
	}
	now := oldMonth(t, j, dsn, schema, 202001)
	s, other := session("old"), session("new")
	one := record(t, s, journal.Link{}, 2, "one")
	appendOK(t, j, one)
	now()
	// It continues where it began, at a node that does not know it, in one batch with a session
	// that begins now.
	node := open(t, dsn, Options{Schema: schema})
	two, first := record(t, s, one.Last(), 2, "two"), record(t, other, journal.Link{}, 1, "first")
	two.Snapshot = []byte("after two")
	appendOK(t, node, two, first)
	appendOK(t, j, two, first) // again
	for table, want := range map[string]int{"facts_202001": 4, here.into(): 1, "facts": 5} {
		if n := countFacts(t, dsn, schema, table); n != want {
			t.Errorf("%d facts in %s, want %d", n, table, want)
		}
	}
	wantBegin(t, j, s, journal.Start{Link: two.Last(), Snapshot: []byte("after two")})
	if diff := cmp.Diff(slices.Concat(one.Entries, two.Entries), readAll(t, node, s, journal.Link{})); diff != "" {
		t.Error(diff)
	}
	wantNames(t, collect(t, j.Heads(t.Context(), 0)), "firm.example/old 4", "firm.example/new 1")
	wantNames(t, collect(t, j.Recent(t.Context(), s.Tenant)), "firm.example/new 1", "firm.example/old 4")
	// A batch of which one record does not follow is not written at all.
	bad := record(t, other, journal.Link{}, 1, "bad")
	wantErr(t, node.Append(t.Context(), batch(record(t, s, two.Last(), 1, "three"), bad)), journal.ErrConflict)
	wantErr(t, node.Append(t.Context(), batch(record(t, other, first.Last(), 1, "more"), record(t, s, one.Last(), 1, "fork"))), journal.ErrConflict)
	if n := countFacts(t, dsn, schema, "facts"); n != 5 {
		t.Errorf("%d facts, want 5", n)
	}
}

// Facts that retention hides stay until their month is dropped. A session that goes on behind its
// tombstone starts in a new month. A month is dropped only when no live session is in it.
func TestMonthIsDroppedWithoutLiveSessions(t *testing.T) {
	dsn := postgrestest.DSN(t)
	g := newGuarded(t, newSchema(t))
	j, other := open(t, g.eraser, Options{Schema: g.schema}), open(t, g.writer, Options{Schema: g.schema})
	here := j.shards[0].homes.here()
	now := oldMonth(t, j, dsn, g.schema, 202001)
	goes, lives := session("goes"), session("lives")
	ones := map[journal.Session]journal.Record{}
	for _, s := range []journal.Session{goes, lives} {
		r := record(t, s, journal.Link{}, 3, "one")
		r.Snapshot = []byte("state")
		appendOK(t, j, r)
		readAll(t, other, s, journal.Link{}) // it remembers where that lies
		ones[s] = r
	}
	now()
	drop := func(want int) { t.Helper(); wantDropped(t, j, want) }
	tomb := retired(goes, ones[goes].Last())
	if err := j.Erase(t.Context(), tomb); err != nil {
		t.Fatal(err)
	}
	if n := countFacts(t, dsn, g.schema, "facts_202001"); n != 6 {
		t.Errorf("%d facts, want 6: they wait for their month", n)
	}
	if n := countFacts(t, dsn, g.schema, "snapshots"); n != 1 {
		t.Errorf("%d snapshots, want 1: state does not wait", n)
	}
	drop(1) // the month after it, in which no session began
	drop(0)
	if err := j.Erase(t.Context(), retired(lives, ones[lives].Last())); err != nil {
		t.Fatal(err)
	}
	// The other node remembers its old month, and continues in this one.
	two := record(t, lives, ones[lives].Last(), 2, "two")
	appendOK(t, other, two)
	if n := countFacts(t, dsn, g.schema, here.into()); n != 2 {
		t.Errorf("%d facts in this month, want 2", n)
	}
	for _, node := range []*Journal{j, other} {
		if diff := cmp.Diff(two.Entries, readAll(t, node, lives, ones[lives].Last())); diff != "" {
			t.Error(diff)
		}
	}
	// A node with an outdated hint finds the month, also for writes.
	j.shards[0].homes.set(lives, 202001)
	three := record(t, lives, two.Last(), 1, "three")
	appendOK(t, j, three)
	wantDropped(t, other, 0) // it is a writer
	drop(1)
	drop(0)
	// A hint to a dropped table.
	other.shards[0].homes.set(lives, 202001)
	if diff := cmp.Diff(slices.Concat(two.Entries, three.Entries), readAll(t, other, lives, ones[lives].Last())); diff != "" {
		t.Error(diff)
	}
	wantNames(t, collect(t, other.Heads(t.Context(), 0)), "firm.example/goes 3", "firm.example/lives 6")
	wantGone(t, other, ones[goes], tomb)
}

func wantDropped(t *testing.T, j *Journal, want int) {
	t.Helper()
	if n, err := j.Tidy(t.Context(), today()); err != nil || n != want {
		t.Errorf("%d months dropped, %v, want %d", n, err, want)
	}
}

// wantGone checks that only the tombstone of a session remains, and that the session continues.
func wantGone(t *testing.T, j *Journal, was journal.Record, tomb journal.Tombstone) {
	t.Helper()
	wantBegin(t, j, was.Session, journal.Start{Link: tomb.Link, Tombstone: &tomb})
	wantErr(t, j.Append(t.Context(), batch(was)), journal.ErrConflict)
	j.shards[0].homes.set(was.Session, 202001)
	appendOK(t, j, record(t, was.Session, tomb.Link, 1, "again"))
}

// A month with a fact that no tombstone covers is never dropped, by any role and with anything else
// missing.
func TestMonthWithFactsStays(t *testing.T) {
	dsn := postgrestest.DSN(t)
	g := newGuarded(t, newSchema(t))
	j := open(t, g.eraser, Options{Schema: g.schema})
	now := oldMonth(t, j, dsn, g.schema, 202001)
	s := session("s")
	one := record(t, s, journal.Link{}, 3, "one")
	appendOK(t, j, one)
	now()
	super := g.as(t, dsn, s.Tenant)
	for who, c := range map[string]*pgx.Conn{"eraser": g.as(t, g.eraser, s.Tenant), "another tenant": g.as(t, g.eraser, "x"), "owner": g.as(t, g.owner), "superuser": super} {
		if postgrestest.Query[bool](t, c, "SELECT drop_month(202001)") {
			t.Errorf("%s: it went", who)
		}
		for _, sql := range []string{"DELETE FROM births", "UPDATE births SET month = 0", "TRUNCATE births", "DELETE FROM facts_202001", "UPDATE facts_202001 SET kind = ''", "TRUNCATE facts_202001"} {
			if tag, err := c.Exec(t.Context(), sql); !postgres.IsDenied(err) && (tag.RowsAffected() > 0 || err == nil && strings.HasPrefix(sql, "TRUNCATE")) {
				t.Errorf("%s: %s: %v, %v", who, sql, tag, err)
			}
		}
	}
	writer := g.as(t, g.writer, s.Tenant)
	for _, sql := range []string{"SELECT drop_month(202001)", "DROP TABLE facts_202001", "ALTER TABLE facts_202001 NO INHERIT facts", "DELETE FROM births"} {
		if _, err := writer.Exec(t.Context(), sql); !postgres.IsDenied(err) {
			t.Errorf("writer: %s: %v", sql, err)
		}
	}
	// Without its birth it is still not dropped: the facts are checked, too.
	if _, err := super.Exec(t.Context(), "SET session_replication_role = replica; DELETE FROM births; SET session_replication_role = origin", pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Tidy(t.Context(), today()); !postgres.IsDenied(err) || !strings.Contains(err.Error(), "no tombstone") {
		t.Errorf("got %v", err)
	}
	// This month and the last are not dropped, even when empty.
	for _, m := range []month{j.shards[0].homes.here(), 999912} {
		if _, err := super.Exec(t.Context(), "SELECT drop_month($1)", m); !postgres.IsDenied(err) {
			t.Errorf("month %d: %v", m, err)
		}
	}
}

// A month that stays keeps no other one: later months are dropped, and the reason is reported.
func TestAMonthThatStaysKeepsNoOther(t *testing.T) {
	dsn := postgrestest.DSN(t)
	schema := postgrestest.Schema(t, dsn)
	j := open(t, dsn, Options{Schema: schema})
	now := oldMonth(t, j, dsn, schema, 202001)
	appendOK(t, j, record(t, session("stays"), journal.Link{}, 1, "x"))
	now()
	now = oldMonth(t, j, dsn, schema, 202005)
	goes := record(t, session("goes"), journal.Link{}, 1, "x")
	appendOK(t, j, goes)
	now()
	if err := j.Erase(t.Context(), retired(goes.Session, goes.Last())); err != nil {
		t.Fatal(err)
	}
	super := postgrestest.Connect(t, dsn)
	if _, err := super.Exec(t.Context(), "SET session_replication_role = replica; DELETE FROM "+schema+".births", pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	n, err := j.Tidy(t.Context(), today())
	if !postgres.IsDenied(err) || !strings.Contains(err.Error(), "month 202001 has facts") {
		t.Errorf("got %v", err)
	}
	// The months that were made are two each time: the next one of each is empty.
	if left, _ := j.shards[0].look(t.Context()); n != 3 || !slices.Contains(left, 202001) || slices.Contains(left, 202005) {
		t.Errorf("%d months went, left are %v", n, left)
	}
}

// In a month kept by a long-lived session, erased rows are deleted one by one.
func TestLateIsDeletedOneByOne(t *testing.T) {
	dsn := postgrestest.DSN(t)
	schema := postgrestest.Schema(t, dsn)
	j := open(t, dsn, Options{Schema: schema})
	now := oldMonth(t, j, dsn, schema, 202001)
	goes, lives := record(t, session("goes"), journal.Link{}, 3, "x"), record(t, session("lives"), journal.Link{}, 1, "x")
	appendOK(t, j, goes)
	appendOK(t, j, lives)
	now()
	if err := j.Erase(t.Context(), retired(goes.Session, goes.Last())); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		after time.Duration
		want  int
	}{{time.Hour, 4}, {lateAfter + time.Hour, 1}} {
		if _, err := j.Tidy(t.Context(), today().Add(c.after)); err != nil {
			t.Fatal(err)
		}
		if n := countFacts(t, dsn, schema, "facts"); n != c.want {
			t.Errorf("%d facts after %s, want %d", n, c.after, c.want)
		}
	}
}

// An older program writes to facts and knows no months: its entries go where the session is, and
// the session cannot be forked.
func TestOlderProgramBesideMonths(t *testing.T) {
	dsn := postgrestest.DSN(t)
	schema := postgrestest.Schema(t, dsn)
	j := open(t, dsn, Options{Schema: schema})
	c := postgrestest.Connect(t, dsn)
	if _, err := c.Exec(t.Context(), "SET search_path = "+schema); err != nil {
		t.Fatal(err)
	}
	older := func(r journal.Record) error {
		e := r.Entries[0]
		_, err := c.Exec(t.Context(), "INSERT INTO facts (tenant, session, seq, at, hash, kind, body) VALUES ($1, $2, $3, $4, $5, $6, $7)",
			[]byte(r.Session.Tenant), []byte(r.Session.ID), int64(e.Seq), e.At, e.Hash[:], e.Kind, e.Body)
		return err
	}
	s := session("ours")
	one := record(t, s, journal.Link{}, 1, "one")
	appendOK(t, j, one)
	two, fork := record(t, s, one.Last(), 1, "two"), record(t, s, one.Last(), 1, "fork")
	if err := older(two); err != nil {
		t.Fatal(err)
	}
	wantErr(t, j.Append(t.Context(), batch(fork)), journal.ErrConflict)
	if err := older(fork); postgres.OutcomeOf(err) != postgres.Contended {
		t.Errorf("forked: %v", err)
	}
	appendOK(t, j, record(t, s, two.Last(), 1, "three"))
	// One that the older program began.
	theirs := session("theirs")
	first := record(t, theirs, journal.Link{}, 1, "one")
	if err := older(first); err != nil {
		t.Fatal(err)
	}
	wantErr(t, j.Append(t.Context(), batch(record(t, theirs, journal.Link{}, 1, "other"))), journal.ErrConflict)
	appendOK(t, j, record(t, theirs, first.Last(), 1, "two"))
	// One from before there were births.
	if _, err := c.Exec(t.Context(), "SET session_replication_role = replica; DELETE FROM births; SET session_replication_role = origin", pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	node := open(t, dsn, Options{Schema: schema})
	wantErr(t, node.Append(t.Context(), batch(record(t, theirs, journal.Link{}, 1, "other"))), journal.ErrConflict)
	last := readAll(t, node, theirs, journal.Link{})
	appendOK(t, node, record(t, theirs, last[1].Link(), 1, "three"))
	if n := postgrestest.Query[int](t, c, "SELECT count(*)::int FROM ONLY facts"); n != 3 {
		t.Errorf("%d facts, want 3", n)
	}
}

// Without a table for the month, sessions begin in the table from before months.
func TestMissingMonthRefusesNoAppend(t *testing.T) {
	j := open(t, postgrestest.DSN(t), Options{})
	all, err := j.shards[0].look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	j.shards[0].homes.learn(203012, all)
	s := session("s")
	one := record(t, s, journal.Link{}, 1, "one")
	appendOK(t, j, one)
	appendOK(t, j, record(t, s, one.Last(), 1, "two"))
	if n := len(readAll(t, j, s, journal.Link{})); n != 2 {
		t.Errorf("%d entries", n)
	}
}

// Two nodes begin a session concurrently in two months: one wins.
func TestBirthInTwoMonths(t *testing.T) {
	dsn := postgrestest.DSN(t)
	schema := postgrestest.Schema(t, dsn)
	j, other := open(t, dsn, Options{Schema: schema}), open(t, dsn, Options{Schema: schema})
	defer oldMonth(t, other, dsn, schema, 202001)()
	for i := range 30 {
		s := session("s%d", i)
		var racers sync.WaitGroup
		errs := make([]error, 2)
		for k, node := range []*Journal{j, other} {
			racers.Go(func() {
				errs[k] = node.Append(context.Background(), batch(record(t, s, journal.Link{}, 1, fmt.Sprint(k))))
			})
		}
		racers.Wait()
		if (errs[0] == nil) == (errs[1] == nil) || !errors.Is(errors.Join(errs...), journal.ErrConflict) {
			t.Fatalf("%v, %v", errs[0], errs[1])
		}
		if n := len(readAll(t, j, s, journal.Link{})); n != 1 {
			t.Fatalf("%d entries", n)
		}
	}
}

// Months are dropped while nodes append: no append is refused.
func TestDropBlocksNoAppend(t *testing.T) {
	dsn := postgrestest.DSN(t)
	schema := postgrestest.Schema(t, dsn)
	j := open(t, dsn, Options{Schema: schema})
	const months = 12
	for i := range months { // each with facts that are hidden
		now := oldMonth(t, j, dsn, schema, month(202001+i))
		var records []journal.Record
		for k := range 40 {
			records = append(records, record(t, session("m%d-%d", i, k), journal.Link{}, 5, "x"))
		}
		appendOK(t, j, records...)
		now()
		for _, r := range records {
			if err := j.Erase(t.Context(), retired(r.Session, r.Last())); err != nil {
				t.Fatal(err)
			}
		}
	}
	end := appending(t, j)
	dropped, err := j.Tidy(t.Context(), today())
	t.Logf("%d appends beside %d drops", end(), dropped)
	if err != nil || dropped != months+1 {
		t.Errorf("%d dropped, %v", dropped, err)
	}
}

// appending appends, and has begun to, until the returned function is called. That
// one waits for some more, and tells how many there were.
func appending(t *testing.T, j *Journal) (end func() int64) {
	stop := make(chan struct{})
	var workers sync.WaitGroup
	var n counter
	for i := range 4 {
		workers.Go(func() {
			s, last := session("beside-%d", i), journal.Link{}
			for {
				select {
				case <-stop:
					return
				default:
				}
				r := record(t, s, last, 1, "x")
				if err := j.Append(context.Background(), batch(r)); err != nil {
					t.Error(err)
				}
				last = r.Last()
				n.add()
			}
		})
	}
	n.await(10)
	return func() int64 {
		n.await(n.load() + 10)
		close(stop)
		workers.Wait()
		return n.load()
	}
}
