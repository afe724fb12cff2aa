package sqlitejournal

import (
	"fmt"
	"testing"

	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/journal/journaltest"
)

// lastOf returns the number of a session's last entry, which it finds by reading the session.
func lastOf(t testing.TB, j *Journal, s journal.Session) (last uint64) {
	t.Helper()
	if _, err := j.Begin(t.Context(), s); err != nil {
		t.Error(err)
	}
	for e, err := range j.Read(t.Context(), s, 0) {
		if err != nil {
			t.Error(err)
		}
		last = e.Seq
	}
	return last
}

// An absent session is requested while its first entry is being committed. It must not be cached as
// absent after the commit.
func TestAMissingSessionIsFoundOnceItIsWritten(t *testing.T) {
	s := journal.Session{ID: "s"}
	for _, point := range []string{BeforeAppend, InCommit, AfterCommit} {
		var j *Journal
		asked := 0
		j = open(t, newPath(t), Options{Fault: func(at string) {
			if at == point {
				lastOf(t, j, s)
				asked++
			}
		}})
		for range 2 {
			if got := lastOf(t, j, s); got != 0 {
				t.Fatalf("%s: entry %d before anything was written", point, got)
			}
		}
		if is, _ := j.missing.has(s); !is {
			t.Errorf("%s: it is asked for again", point)
		}
		c := journaltest.NewChain("", "s")
		for n := range uint64(3) {
			if err := j.Append(t.Context(), one(t, c, "word")); err != nil {
				t.Fatal(err)
			}
			if got := lastOf(t, j, s); got != n+1 {
				t.Errorf("%s: entry %d after write %d", point, got, n+1)
			}
		}
		if asked != 3 {
			t.Errorf("%s: asked %d times", point, asked)
		}
	}
}

// The result of a read is not cached if there was a write between the read and the call of learn.
func TestAMissingSessionThatWasOvertakenIsNotRemembered(t *testing.T) {
	m, s := newMissing(), journal.Session{ID: "s"}
	_, before := m.has(s)
	m.forget([]*request{{batch: journal.Batch{Records: []journal.Record{{Session: s}}}}})
	m.learn(s, before)
	is, now := m.has(s)
	if is {
		t.Error("the reading from before the write is remembered")
	}
	m.learn(s, now)
	if is, _ := m.has(s); !is {
		t.Error("the reading from after the write is not remembered")
	}
	if is, _ := m.has(journal.Session{Tenant: "other", ID: "s"}); is {
		t.Error("what one tenant has not is remembered for another")
	}
}

// The number of cached sessions is bounded.
func TestMissingSessionsAreBounded(t *testing.T) {
	m := newMissing()
	for i := range missingSessions + 1 {
		m.learn(journal.Session{Tenant: fmt.Sprint(i)}, 0)
		if len(m.names) > missingSessions {
			t.Fatalf("%d sessions, at most %d", len(m.names), missingSessions)
		}
	}
	if is, _ := m.has(journal.Session{Tenant: fmt.Sprint(missingSessions)}); !is {
		t.Error("the last one is not remembered")
	}
}
