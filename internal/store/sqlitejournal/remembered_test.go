package sqlitejournal

import (
	"fmt"
	"sync"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/journal/journaltest"
)

// left returns the sequence numbers of the artifacts under a key.
func left(t testing.TB, j *Journal, key floodmark.Digest) []uint64 {
	t.Helper()
	found, err := j.Artifacts(t.Context(), "", []floodmark.Digest{key})
	if err != nil {
		t.Error(err)
	}
	var seqs []uint64
	for _, a := range found {
		seqs = append(seqs, a.Seq)
	}
	return seqs
}

// leaving returns a batch that writes an artifact under a key, or removes it.
func leaving(t testing.TB, c *journaltest.Chain, key floodmark.Digest, body string) journal.Batch {
	t.Helper()
	b := one(t, c, body)
	r := b.Records[0]
	b.Artifacts = []journal.Artifact{{Key: key, Session: r.Session.ID, Seq: r.Last().Seq, Body: []byte(body)}}
	return b
}

// A key without artifacts is requested while its first artifact is being committed. It must not be
// cached as empty after the commit.
func TestWhatIsRememberedHidesNoWrite(t *testing.T) {
	key := floodmark.DigestOf("file")
	for _, point := range []string{BeforeAppend, InCommit, AfterCommit} {
		var j *Journal
		asked := 0
		j = open(t, newPath(t), Options{Fault: func(at string) {
			if at == point {
				left(t, j, key)
				asked++
			}
		}})
		c := journaltest.NewChain("", "s")
		if got := left(t, j, key); len(got) != 0 {
			t.Fatalf("%s: %d before anything was left", point, got)
		}
		for n, body := range []string{"a word", "another", ""} {
			if err := j.Append(t.Context(), leaving(t, c, key, body)); err != nil {
				t.Fatal(err)
			}
			want := fmt.Sprint([]int{n + 1})
			if body == "" {
				want = "[]"
			}
			for range 2 {
				if got := fmt.Sprint(left(t, j, key)); got != want {
					t.Errorf("%s: %s after write %d, want %s", point, got, n+1, want)
				}
			}
		}
		if asked != 3 {
			t.Errorf("%s: asked %d times", point, asked)
		}
	}
}

// The result of a read is not cached if there was a write between the read and the call of learn.
func TestAReadThatWasOvertakenIsNotRemembered(t *testing.T) {
	m, key := newRemembered(), floodmark.DigestOf("file")
	keys := []floodmark.Digest{key}
	_, unknown, before := m.find("", keys)
	if len(unknown) != 1 {
		t.Fatal("something is known of the first key")
	}
	m.forget([]*request{{batch: journal.Batch{Artifacts: []journal.Artifact{{Key: key}}}}})
	m.learn("", keys, nil, before)
	_, unknown, now := m.find("", keys)
	if len(unknown) != 1 {
		t.Error("the reading from before the write is remembered")
	}
	m.learn("", keys, nil, now)
	if _, unknown, _ := m.find("", keys); len(unknown) != 0 {
		t.Error("the reading from after the write is not remembered")
	}
	if _, unknown, _ := m.find("other", keys); len(unknown) != 1 {
		t.Error("what lies with one tenant is remembered for another")
	}
}

// The cache contains the keys that were requested last, and no more bytes than its limit.
func TestWhatIsRememberedIsBounded(t *testing.T) {
	m := newRemembered()
	name := func(i int) []floodmark.Digest { return []floodmark.Digest{floodmark.DigestOf(fmt.Sprint(i))} }
	n := 3 * rememberedBytes / absentBytes
	for i := range n {
		m.learn("", name(i), nil, 0)
		m.find("", name(0))
	}
	if most := 2 * (rememberedBytes/absentBytes + 1); len(m.young)+len(m.old) > most {
		t.Errorf("%d keys, at most %d", len(m.young)+len(m.old), most)
	}
	for i, there := range map[int]bool{0: true, 1: false, n - 1: true} {
		if _, unknown, _ := m.find("", name(i)); (len(unknown) == 0) != there {
			t.Errorf("key %d: remembered is %v", i, !there)
		}
	}
}

// With many readers and one writer, no reader finds less than was acknowledged.
func TestReadersNeverFallBehindTheAcknowledged(t *testing.T) {
	j := open(t, newPath(t), Options{})
	key := floodmark.DigestOf("file")
	c := journaltest.NewChain("", "s")
	var mu sync.Mutex
	acked, stop := uint64(0), false
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				mu.Lock()
				least, end := acked, stop
				mu.Unlock()
				if end {
					return
				}
				if got := left(t, j, key); least > 0 && (len(got) != 1 || got[0] < least) {
					t.Errorf("%v is there, %d was acknowledged", got, least)
					return
				}
			}
		})
	}
	for n := range 200 {
		if err := j.Append(t.Context(), leaving(t, c, key, "word")); err != nil {
			t.Error(err)
			break
		}
		mu.Lock()
		acked = uint64(n + 1)
		mu.Unlock()
	}
	mu.Lock()
	stop = true
	mu.Unlock()
	readers.Wait()
}
