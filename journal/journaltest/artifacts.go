package journaltest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
)

// left returns an artifact of a session, written with its newest entry.
func left(c *Chain, key, body string) journal.Artifact {
	return journal.Artifact{
		Tenant: c.Session.Tenant, Key: floodmark.DigestOf(key), Session: c.Session.ID, Seq: c.Last.Seq, Body: []byte(body),
	}
}

// gone returns the removal of a session's artifact up to a version.
func gone(c *Chain, key string, seq uint64) journal.Artifact {
	return journal.Artifact{Tenant: c.Session.Tenant, Key: floodmark.DigestOf(key), Session: c.Session.ID, Seq: seq}
}

// leave appends entries with artifacts.
func leave(t *testing.T, j journal.Journal, r journal.Record, words ...journal.Artifact) {
	t.Helper()
	b := batch(r)
	b.Artifacts = words
	if err := j.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

// wantArtifacts compares the artifacts under keys, as «session seq body».
func wantArtifacts(t *testing.T, j journal.Journal, tenant string, keys []string, want ...string) {
	t.Helper()
	digests := make([]floodmark.Digest, len(keys))
	for i, k := range keys {
		digests[i] = floodmark.DigestOf(k)
	}
	found, err := j.Artifacts(t.Context(), tenant, digests)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range found {
		if a.Tenant != tenant || !slices.Contains(digests, a.Key) {
			t.Errorf("found %+v, which nobody asked for", a)
		}
		got = append(got, fmt.Sprintf("%s %d %s", a.Session, a.Seq, a.Body))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("tenant %q, keys %q: %q, want %q", tenant, keys, got, want)
	}
}

func artifacts(t *testing.T, j journal.Journal) {
	a, b, other := NewChain("", "a"), NewChain("", "b"), NewChain("t", "a")
	r := a.Next(t, "1", "2")
	leave(t, j, r, left(a, "x", "a on x"), left(a, "y", "a on y"))
	r = b.Next(t, "1")
	leave(t, j, r, left(b, "x", "b on x"))
	r = other.Next(t, "1")
	leave(t, j, r, left(other, "x", "of t"))
	wantArtifacts(t, j, "", []string{"x", "y", "z"}, "a 2 a on x", "a 2 a on y", "b 1 b on x")
	wantArtifacts(t, j, "t", []string{"x", "y"}, "a 1 of t")
	wantArtifacts(t, j, "", nil)

	r = a.Next(t, "3") // replaces only its own older artifact
	leave(t, j, r, left(a, "x", "a again"))
	wantArtifacts(t, j, "", []string{"x"}, "a 3 a again", "b 1 b on x")

	r = b.Next(t, "2") // b has taken over what a left at 2, but not at 3
	leave(t, j, r, left(b, "x", "b and a"), gone(a, "x", 2), gone(a, "y", 2), gone(a, "z", 2))
	wantArtifacts(t, j, "", []string{"x", "y", "z"}, "a 3 a again", "b 2 b and a")
	wantArtifacts(t, j, "t", []string{"x"}, "a 1 of t")

	r = b.Next(t, "3")
	leave(t, j, r, gone(a, "x", 3), gone(b, "x", 2))
	wantArtifacts(t, j, "", []string{"x", "y"})
	a.Verify(t, j)
	b.Verify(t, j)
}

func artifactsRefused(t *testing.T, j journal.Journal) {
	c := NewChain("", "s")
	first := c.Next(t, "one")
	leave(t, j, first, left(c, "x", "kept"))
	stale := &Chain{Session: c.Session}
	b := batch(stale.Next(t, "other"))
	b.Artifacts = []journal.Artifact{left(stale, "x", "never"), gone(c, "x", 9)}
	wantErr(t, "stale", j.Append(t.Context(), b), journal.ErrConflict)
	b = batch(first)
	b.Artifacts = []journal.Artifact{left(c, "y", "never"), gone(c, "x", 9)}
	if err := j.Append(t.Context(), b); err != nil {
		t.Errorf("the same entries again: %v", err)
	}
	wantArtifacts(t, j, "", []string{"x", "y"}, "s 1 kept")
}

// artifactsOfTwo lets sessions take over each other's artifacts concurrently. In any order, none is
// lost.
func artifactsOfTwo(t *testing.T, j journal.Journal) {
	const writers, words = 6, 12
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			c := NewChain("", fmt.Sprint("s", w))
			for i := range words {
				seen, err := j.Artifacts(t.Context(), "", []floodmark.Digest{floodmark.DigestOf("x")})
				if err != nil {
					t.Error(err)
					return
				}
				all := []string{fmt.Sprintf("%d.%d", w, i)}
				var words []journal.Artifact
				for _, a := range seen {
					all = append(all, strings.Fields(string(a.Body))...)
					if a.Session != c.Session.ID {
						words = append(words, journal.Artifact{Key: a.Key, Session: a.Session, Seq: a.Seq})
					}
				}
				slices.Sort(all)
				b := batch(c.Next(t, all[0]))
				b.Artifacts = append(words, left(c, "x", strings.Join(slices.Compact(all), " ")))
				if err := j.Append(t.Context(), b); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	found, err := j.Artifacts(t.Context(), "", []floodmark.Digest{floodmark.DigestOf("x")})
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]bool{}
	for _, a := range found {
		for _, word := range strings.Fields(string(a.Body)) {
			said[word] = true
		}
	}
	if len(said) != writers*words {
		t.Errorf("%d of %d words are left", len(said), writers*words)
	}
}

func artifactsWrong(t *testing.T, j journal.Journal) {
	c := NewChain("", "s")
	r := c.Next(t, "one")
	big := left(c, "x", strings.Repeat("x", journal.MaxArtifactBytes))
	for what, wrong := range map[string]journal.Artifact{
		"of another session": {Session: "o", Seq: 1, Body: []byte("x")},
		"of another tenant":  {Tenant: "t", Session: "s", Seq: 1, Body: []byte("x")},
		"of another entry":   {Session: "s", Seq: 2, Body: []byte("x")},
		"of no session":      {Seq: 1},
		"too large":          {Session: "s", Seq: 1, Body: append(slices.Clone(big.Body), 'x')},
	} {
		b := batch(r)
		b.Artifacts = []journal.Artifact{wrong}
		if err := j.Append(t.Context(), b); err == nil {
			t.Errorf("%s: it was taken", what)
		}
	}
	b := batch(r)
	b.Artifacts = make([]journal.Artifact, journal.MaxArtifacts+1)
	for i := range b.Artifacts {
		b.Artifacts[i] = gone(c, fmt.Sprint(i), 1)
	}
	wantErr(t, "too many", j.Append(t.Context(), b), journal.ErrTooLarge)
	b.Artifacts = append(b.Artifacts[:journal.MaxArtifacts-1], big)
	if err := j.Append(t.Context(), b); err != nil {
		t.Error(err)
	}
	wantArtifacts(t, j, "", []string{"x"}, "s 1 "+string(big.Body))
}

func artifactsSurvive(t *testing.T, o Options) {
	j := o.Open(t)
	defer func() { j.Close() }()
	c := NewChain("x", "s")
	r := c.Next(t, "1")
	leave(t, j, r, left(c, "a", "kept"), left(c, "b", "removed"))
	r = c.Next(t, "2")
	leave(t, j, r, gone(c, "b", 1))
	if err := j.Erase(t.Context(), tombstone(c)); err != nil {
		t.Fatal(err)
	}
	j = o.Reopen(t, j)
	wantArtifacts(t, j, "x", []string{"a", "b"}, "s 1 kept")
}

// keep stores artifacts with an entry that records them, as a monitor does.
func keep(t *testing.T, j journal.Journal, c *Chain, words ...journal.Artifact) {
	t.Helper()
	for i := range words {
		if !words[i].Gone() {
			words[i].Seq = c.Last.Seq + 1
		}
	}
	entries, err := journal.Seal(c.Session, c.Last, time.Unix(1_700_000_000, 0), []floodmark.Fact{journal.Kept(words)})
	if err != nil {
		t.Fatal(err)
	}
	r := journal.Record{Session: c.Session, After: c.Last, Entries: entries}
	c.Entries, c.Last = append(c.Entries, entries...), r.Last()
	leave(t, j, r, words...)
}

// wantLost checks which sessions are found to have lost artifacts, by a full verification and by
// the check at a start.
func wantLost(t *testing.T, j journal.Journal, want ...string) {
	t.Helper()
	report, err := journal.Verify(t.Context(), j, journal.Evidence{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	quick, err := journal.LostArtifacts(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	looks := map[string][]journal.Finding{"verify": report.Findings}
	if _, ok := j.(journal.KeptLister); ok {
		looks["start"] = quick
	}
	for look, findings := range looks {
		var got []string
		for _, f := range findings {
			if f.Kind != journal.ArtifactGone {
				t.Errorf("%s: %s", look, f.Text)
			}
			got = append(got, f.Session.String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q lost words, want %q", look, got, want)
		}
	}
}

// artifactsMissed lets artifacts be replaced, taken over and erased. None of them is reported as
// lost.
func artifactsMissed(t *testing.T, j journal.Journal) {
	a, b, c := NewChain("", "a"), NewChain("", "b"), NewChain("t", "a")
	keep(t, j, a, left(a, "x", "1"), left(a, "y", "1"))
	keep(t, j, c, left(c, "x", "of t"))
	keep(t, j, a, left(a, "x", "2"))
	keep(t, j, b, gone(a, "x", 2), left(b, "x", "both"))
	keep(t, j, a, gone(a, "y", math.MaxInt64))
	keep(t, j, a, gone(a, "z", math.MaxInt64), left(a, "z", "anew")) // in this order
	wantArtifacts(t, j, "", []string{"y", "z"}, "a 4 anew")
	wantLost(t, j)
	leave(t, j, a.Next(t, "older programs say nothing of it"), gone(b, "none", 1))
	wantLost(t, j)
}

// artifactsLost removes artifacts from the store.
func artifactsLost(t *testing.T, o Options) {
	if o.Lose == nil {
		t.Skip("nobody can")
	}
	j := o.Open(t)
	defer func() { j.Close() }()
	a, b, c := NewChain("", "a"), NewChain("", "b"), NewChain("t", "c")
	keep(t, j, a, left(a, "x", "1"), left(a, "y", "1"))
	keep(t, j, b, gone(a, "x", 1), left(b, "x", "both"))
	keep(t, j, c, left(c, "x", "of t"))
	appendAll(t, j, NewChain("", "d").Next(t, "leaves nothing"))
	wantLost(t, j)
	j = o.Lose(t, j)
	wantLost(t, j, "a", "b", "t/c")
	keep(t, j, a, left(a, "y", "again"))
	wantLost(t, j, "b", "t/c")
}
