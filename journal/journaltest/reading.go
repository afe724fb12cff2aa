package journaltest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
)

func readBack(t *testing.T, j journal.Journal) {
	c := NewChain("", "s1")
	appendAll(t, j, c.Next(t, "first"), c.Next(t, "", "é\x00\n", text(1, 5000)), c.Next(t, text(2, 1<<20)))
	c.Verify(t, j)
	for after := range len(c.Entries) + 1 {
		c.verify(t, j, uint64(after))
	}
	for _, after := range []uint64{uint64(len(c.Entries)) + 1, 1 << 62, 1 << 63, 1<<64 - 1} {
		if got := collect(t, j.Read(t.Context(), c.Session, after)); len(got) != 0 {
			t.Errorf("%d entries after %d, which is behind the end", len(got), after)
		}
	}
	for e, err := range j.Read(t.Context(), c.Session, 0) {
		if err != nil || e.Seq != 1 {
			t.Errorf("first of a reading that stops: entry %d, %v", e.Seq, err)
		}
		break
	}
	c.Verify(t, j)
}

func readLong(t *testing.T, j journal.Journal) {
	large(t)
	c := NewChain("", "long")
	for i := range 30 {
		texts := make([]string, 97)
		for k := range texts {
			texts[k] = text(i, 10*k)
		}
		appendAll(t, j, c.Next(t, texts...))
	}
	big := make([]string, 8)
	for i := range big {
		big[i] = text(i, 1<<20)
	}
	appendAll(t, j, c.Next(t, big...))
	c.Verify(t, j)
	for _, after := range []uint64{1, 255, 256, 257, 1000, 2909, 2917} {
		c.verify(t, j, after)
	}
	n := 0
	for _, err := range j.Read(t.Context(), c.Session, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 300 {
			// Writing while reading must neither wait nor fail.
			appendAll(t, j, c.Next(t, "meanwhile"))
		}
	}
	if n < len(c.Entries)-1 {
		t.Errorf("read %d entries of %d", n, len(c.Entries))
	}
	c.Verify(t, j)
}

func readNothing(t *testing.T, j journal.Journal) {
	c := NewChain("", "s1")
	appendAll(t, j, c.Next(t, "something"))
	s := journal.Session{ID: "s2"}
	start, err := j.Begin(t.Context(), s)
	if diff := cmp.Diff(journal.Start{}, start); err != nil || diff != "" {
		t.Errorf("begin: %v %s", err, diff)
	}
	if n := count(t, j, s); n != 0 {
		t.Errorf("%d entries in a session nobody wrote", n)
	}
	found, err := j.Postings(t.Context(), "", []floodmark.Digest{floodmark.DigestOf("x")})
	if err != nil || len(found) != 0 {
		t.Errorf("postings nobody wrote: %v, %v", found, err)
	}
}

// oddNames are names that a careless store confuses.
func oddNames() []journal.Session {
	return []journal.Session{
		{ID: "s"},
		{ID: "S"},
		{ID: "s "},
		{ID: " s"},
		{Tenant: "s", ID: "s"},
		{Tenant: "a", ID: "b/c"},
		{Tenant: "a/b", ID: "c"},
		{Tenant: "ab", ID: "c"},
		{Tenant: "a", ID: "bc"},
		{ID: "%"},
		{ID: "_"},
		{ID: "'; DROP TABLE facts; --"},
		{ID: `"\"`},
		{ID: "é"},
		{ID: "e\u0301"},
		{ID: "日本"},
		{ID: "NULL"},
		{ID: "0"},
		{ID: "00"},
		{ID: "1e0"},
	}
}

func namesApart(t *testing.T, j journal.Journal) {
	var chains []*Chain
	for i, s := range oddNames() {
		c := &Chain{Session: s}
		chains = append(chains, c)
		appendAll(t, j, c.Next(t, text(i, 20)), c.Next(t, text(i, 30)))
	}
	for _, c := range chains {
		c.Verify(t, j)
	}
	seen := map[journal.Session]bool{}
	for _, h := range collect(t, j.Heads(t.Context(), 0)) {
		seen[h.Session] = true
	}
	if len(seen) != len(chains) {
		t.Errorf("%d sessions, want %d", len(seen), len(chains))
	}
}

func givenIsCopied(t *testing.T, j journal.Journal) {
	c := NewChain("", "s1")
	r := c.Next(t, "as it was")
	want := append([]byte(nil), r.Entries[0].Body...)
	r.Snapshot = []byte("state")
	b := batch(r)
	digest := floodmark.DigestOf("content")
	b.Contents = []journal.Content{{Digest: digest, Postings: []byte("index")}}
	if err := j.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	for _, bytes := range [][]byte{r.Entries[0].Body, r.Snapshot, b.Contents[0].Postings} {
		clear(bytes)
	}
	got := collect(t, j.Read(t.Context(), c.Session, 0))
	if len(got) != 1 || string(got[0].Body) != string(want) {
		t.Error("an entry changed when what was given to Append did")
	}
	start, err := j.Begin(t.Context(), c.Session)
	if err != nil || string(start.Snapshot) != "state" {
		t.Errorf("snapshot %q, %v", start.Snapshot, err)
	}
	found, err := j.Postings(t.Context(), "", []floodmark.Digest{digest})
	if err != nil || string(found[digest]) != "index" {
		t.Errorf("postings %q, %v", found[digest], err)
	}
}
