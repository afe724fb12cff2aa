package journaltest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/floodmark/floodmark/journal"
)

// A head is a Head without its mark, which is valid only in its journal.
type head struct {
	Session journal.Session
	Link    journal.Link
	At      int64
}

func (c *Chain) head() head {
	return head{c.Session, c.Last, c.Entries[len(c.Entries)-1].At}
}

// lastOf returns the last head of each session, in order.
func lastOf(all []journal.Head) (last []head) {
	for i, h := range all {
		later := func(o journal.Head) bool { return o.Session == h.Session }
		if !slices.ContainsFunc(all[i+1:], later) {
			last = append(last, head{h.Session, h.Link, h.At})
		}
	}
	return last
}

// wantHeads compares the heads after a mark, and returns the last mark.
func wantHeads(t *testing.T, j journal.Journal, after journal.Mark, want ...head) journal.Mark {
	t.Helper()
	got := collect(t, j.Heads(t.Context(), after))
	if diff := cmp.Diff(want, lastOf(got)); diff != "" {
		t.Errorf("heads after %d (-want +got):\n%s", after, diff)
	}
	for _, h := range got {
		if h.Mark <= after {
			t.Errorf("mark %d does not come after %d", h.Mark, after)
		}
		after = h.Mark
	}
	return after
}

func heads(t *testing.T, j journal.Journal) {
	a, b, c := NewChain("", "a"), NewChain("x", "b"), NewChain("", "c")
	wantHeads(t, j, 0)
	appendAll(t, j, a.Next(t, "1"), b.Next(t, "1", "2"), a.Next(t, "2"))
	mark := wantHeads(t, j, 0, b.head(), a.head())
	if again := wantHeads(t, j, mark); again != mark {
		t.Errorf("nothing was written, but the mark went from %d to %d", mark, again)
	}
	if err := j.Append(t.Context(), batch(c.Next(t, "1"), b.Next(t, "3"))); err != nil {
		t.Fatal(err)
	}
	wantHeads(t, j, mark, c.head(), b.head())
	all := wantHeads(t, j, 0, a.head(), c.head(), b.head())
	wantErr(t, "stale", j.Append(t.Context(), batch((&Chain{Session: a.Session}).Peek(t, "x"))), journal.ErrConflict)
	wantHeads(t, j, all)
	for h, err := range j.Heads(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		// The journal can be used between two heads, and a later mark continues from there.
		appendAll(t, j, c.Next(t, "meanwhile"))
		wantHeads(t, j, h.Mark, b.head(), c.head())
		break
	}
}

func headsErased(t *testing.T, j journal.Journal) {
	a, b := NewChain("", "a"), NewChain("", "b")
	appendAll(t, j, a.Next(t, "1"), b.Next(t, "1"))
	mark := wantHeads(t, j, 0, a.head(), b.head())
	stone := tombstone(a)
	if err := j.Erase(t.Context(), stone); err != nil {
		t.Fatal(err)
	}
	gone := head{a.Session, stone.Link, stone.At}
	wantHeads(t, j, mark, gone)
	mark = wantHeads(t, j, 0, b.head(), gone)
	stone = tombstone(b)
	if err := j.Erase(t.Context(), stone); err != nil {
		t.Fatal(err)
	}
	mark = wantHeads(t, j, mark, head{b.Session, stone.Link, stone.At})
	appendAll(t, j, a.Next(t, "2"))
	wantHeads(t, j, mark, a.head())
	wantHeads(t, j, 0, head{b.Session, stone.Link, stone.At}, a.head())
	wantRecent(t, j, "", a.head(), head{b.Session, stone.Link, stone.At})
}

func headsMany(t *testing.T, j journal.Journal) {
	chains := map[int]*Chain{}
	var records []journal.Record
	flush := func() {
		if err := j.Append(t.Context(), batch(records...)); err != nil {
			t.Fatal(err)
		}
		records = nil
	}
	var order []int
	for i := range 700 {
		k := i * 7 % 600 // some sessions twice
		if chains[k] == nil {
			chains[k] = NewChain("", fmt.Sprint("s", k))
		}
		order = append(slices.DeleteFunc(order, func(o int) bool { return o == k }), k)
		records = append(records, chains[k].Next(t, text(i, 20)))
		if len(records) == 50 {
			flush()
		}
	}
	var want []head
	for _, k := range order {
		want = append(want, chains[k].head())
	}
	wantHeads(t, j, 0, want...)
	first := collect(t, j.Heads(t.Context(), 0))[0]
	wantHeads(t, j, first.Mark, want[1:]...)
	slices.Reverse(want)
	wantRecent(t, j, "", want...)
}

func wantRecent(t *testing.T, j journal.Journal, tenant string, want ...head) {
	t.Helper()
	var got []head
	for _, h := range collect(t, j.Recent(t.Context(), tenant)) {
		got = append(got, head{h.Session, h.Link, h.At})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("recent sessions of %q (-want +got):\n%s", tenant, diff)
	}
}

func recent(t *testing.T, j journal.Journal) {
	a, b, c := NewChain("", "a"), NewChain("x", "b"), NewChain("", "c")
	wantRecent(t, j, "")
	appendAll(t, j, a.Next(t, "1"), b.Next(t, "1"), c.Next(t, "1", "2"))
	wantRecent(t, j, "", c.head(), a.head())
	appendAll(t, j, a.Next(t, "2"), b.Next(t, "2"))
	wantRecent(t, j, "", a.head(), c.head())
	wantRecent(t, j, "x", b.head())
	wantRecent(t, j, "X")
	for h, err := range j.Recent(t.Context(), "") {
		if err != nil || h.Session != a.Session {
			t.Errorf("the most recent is %v, %v", h, err)
		}
		appendAll(t, j, c.Next(t, "3"))
		break
	}
	wantRecent(t, j, "", c.head(), a.head())
}
