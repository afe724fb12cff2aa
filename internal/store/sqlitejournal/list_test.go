package sqlitejournal

import (
	"fmt"
	"slices"
	"testing"

	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/journal/journaltest"
)

// TestRecentBeyondTheNewestRows: sessions whose last entries lie behind the rows that are walked
// through come too, each once and in order, whatever is written meanwhile.
func TestRecentBeyondTheNewestRows(t *testing.T) {
	j := open(t, newPath(t), Options{})
	var want []string
	write := func(c *journaltest.Chain, n int) {
		t.Helper()
		texts := slices.Repeat([]string{"x"}, n)
		if err := j.Append(t.Context(), journal.Batch{Records: []journal.Record{c.Next(t, texts...)}}); err != nil {
			t.Fatal(err)
		}
	}
	old := journaltest.NewChain("", "old")
	write(old, 1)
	write(journaltest.NewChain("other", "hidden"), 1)
	for i := range pageRows + 40 {
		id := fmt.Sprintf("s%03d", i)
		write(journaltest.NewChain("", id), 1)
		want = append(want, id)
	}
	write(journaltest.NewChain("", "long"), walked-20) // the last twenty before it are walked through
	want = append(want, "long")
	want = append([]string{"old"}, want...)
	slices.Reverse(want)
	var got []string
	for h, err := range j.Recent(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, string(h.Session.ID)); len(got) == 3 {
			write(old, 1)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d sessions, not %d: %q", len(got), len(want), got)
	}
}
