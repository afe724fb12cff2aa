package sqlitejournal

import (
	"context"
	"fmt"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/journal/journaltest"
)

// The filter never says that a key with artifacts is absent, even across the pages in which it is
// filled and while it is being filled. For most other keys it says so.
func TestTheFilterLacksNoKeyThatIsThere(t *testing.T) {
	path := newPath(t)
	j := open(t, path, Options{})
	var chains []*journaltest.Chain
	for tenant := range 3 {
		chains = append(chains, journaltest.NewChain(fmt.Sprint(tenant), "s"))
	}
	var keys []floodmark.Digest
	leave := func(j *Journal, n int) {
		t.Helper()
		c := chains[len(keys)%len(chains)]
		b := one(t, c, fmt.Sprint("word ", len(keys)))
		r := b.Records[0]
		for range n {
			key := floodmark.DigestOf(fmt.Sprint("file ", len(keys)))
			keys = append(keys, key)
			b.Artifacts = append(b.Artifacts, journal.Artifact{
				Tenant: r.Session.Tenant, Key: key, Session: r.Session.ID, Seq: r.Last().Seq, Body: []byte("x"),
			})
		}
		if err := j.Append(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	for range 10 {
		leave(j, keyFilterPage/4+1)
	}
	j.Close()
	j = open(t, path, Options{})
	leave(j, 10)
	full := new(keyFilter)
	full.fill(t.Context(), j.sessions)
	if !full.ready.Load() {
		t.Fatal("it was not filled")
	}
	for _, f := range []*keyFilter{full, &j.left.keys} {
		for i, key := range keys {
			if f.lacks(key) {
				t.Errorf("key %d is said not to be there", i)
			}
		}
	}
	missed := 0
	for i := range 10_000 {
		if !full.lacks(floodmark.DigestOf(fmt.Sprint("other ", i))) {
			missed++
		}
	}
	if missed > 10 {
		t.Errorf("%d of 10,000 keys that are not there are looked for", missed)
	}
}

// A filter that could not be filled never says that a key is absent.
func TestAFilterThatWasNotFilledSaysNothing(t *testing.T) {
	j := open(t, newPath(t), Options{})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	f := new(keyFilter)
	f.fill(ended, j.sessions)
	if f.lacks(floodmark.DigestOf("file")) {
		t.Error("it says that a key is not there")
	}
}
