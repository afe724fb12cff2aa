package postgresjournal

import (
	"slices"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
)

// asks seals facts of a session with a question: an incident, the question, and its answer.
func asks(t *testing.T, s journal.Session) journal.Record {
	t.Helper()
	entries, err := journal.Seal(s, journal.Link{}, time.Unix(1_700_000_000, 0), []floodmark.Fact{
		floodmark.IncidentSeen{Kind: "test"}, floodmark.TicketOpened{Ticket: "t"}, floodmark.TicketAnswered{Ticket: "t"}, floodmark.IncidentSeen{Kind: "test"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return journal.Record{Session: s, Entries: entries}
}

// A tenant's entries about questions are found in all databases, in order, within the given ages;
// no other entries, no erased ones, and none of other tenants.
func TestWhatWasAskedIsFound(t *testing.T) {
	ranges := testRanges(t, 2)
	j := openShards(t, ranges, Options{Timeout: busyTimeout})
	var want []entry
	for i, r := range []Range{ranges[0], ranges[1], ranges[0]} {
		s := sessionIn(r, "says"+string(rune('a'+i)))
		appendOK(t, j, asks(t, s))
		want = append(want, entry{s, 2}, entry{s, 3})
		appendOK(t, j, record(t, session("quiet%d", i), journal.Link{}, 3, "x"))
	}
	appendOK(t, j, asks(t, journal.Session{Tenant: "other.example", ID: "s"}))
	gone := asks(t, session("gone"))
	appendOK(t, j, gone)
	hidden := stone(gone.Session, gone.Last())
	hidden.Why = journal.WhyRetention // its rows stay where they are for a while
	if err := j.Erase(t.Context(), hidden); err != nil {
		t.Fatal(err)
	}
	find := func(tenant string, from, to time.Duration) (got []entry) {
		t.Helper()
		list, err := j.AskedAt(t.Context(), tenant, from, to)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range list {
			got = append(got, entry{h.Session, h.Link.Seq})
		}
		return got
	}
	if got := find("firm.example", time.Hour, 0); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := find("firm.example", 2*time.Hour, time.Hour); len(got) != 0 {
		t.Errorf("what is too new: %v", got)
	}
	if got := find("firm.example", 0, 0); len(got) != 0 {
		t.Errorf("what is too old: %v", got)
	}
	if got := find("other.example", time.Hour, 0); len(got) != 2 {
		t.Errorf("another's: %v", got)
	}
	if got := find("nobody.example", time.Hour, 0); len(got) != 0 {
		t.Errorf("nobody's: %v", got)
	}
}

type entry struct {
	session journal.Session
	seq     uint64
}

// A node's own rights are enough for that.
func TestANodeMayFindWhatWasAsked(t *testing.T) {
	g := newGuarded(t, newSchema(t))
	j := open(t, g.writer, Options{Schema: g.schema, Timeout: busyTimeout})
	appendOK(t, j, asks(t, session("s")))
	if list, err := j.AskedAt(t.Context(), "firm.example", time.Hour, 0); err != nil || len(list) != 2 {
		t.Errorf("%v, %v", list, err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := j.AskedAt(t.Context(), "firm.example", time.Hour, 0); err == nil {
		t.Error("a journal that was closed finds something")
	}
}
