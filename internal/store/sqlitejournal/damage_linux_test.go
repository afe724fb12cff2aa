package sqlitejournal

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/journal/journaltest"
)

// filled writes a journal with a few sessions and returns what it holds.
func filled(t *testing.T, path string) []*journaltest.Chain {
	t.Helper()
	j := open(t, path, Options{})
	var chains []*journaltest.Chain
	for i := range 10 {
		c := journaltest.NewChain("", fmt.Sprint("s", i))
		chains = append(chains, c)
		for n := range 12 {
			r := c.Next(t, fmt.Sprintf("text %d of s%d", n, i), strings.Repeat("y", 300))
			if n == 5 {
				r.Snapshot = []byte(strings.Repeat("state ", 50))
			}
			if err := j.Append(t.Context(), journal.Batch{Records: []journal.Record{r}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return chains
}

// inspect opens a store that may be damaged. reported is the error that says so, and silent is what
// is missing without an error.
func inspect(t *testing.T, path string, chains []*journaltest.Chain) (reported, silent error) {
	j, err := Open(t.Context(), path, Options{Volatile: true})
	if err != nil {
		return err, nil
	}
	defer j.Close()
	for _, c := range chains {
		var prev journal.Link
		for e, err := range j.Read(t.Context(), c.Session, 0) {
			if err == nil {
				err = journal.Check(c.Session, prev, e)
			}
			if err != nil {
				reported = errors.Join(reported, err)
				break
			}
			prev = e.Link()
		}
		if prev != c.Last {
			silent = errors.Join(silent, fmt.Errorf("session %s ends with %d of %d", c.Session, prev.Seq, c.Last.Seq))
		}
	}
	return errors.Join(reported, j.Check(t.Context())), silent
}

// TestFlippedBits damages one bit at a time. A session must never be shorter or different without
// an error.
func TestFlippedBits(t *testing.T) {
	path := newPath(t)
	chains := filled(t, path)
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	flips := 400
	if testing.Short() {
		flips = 40
	}
	found := 0
	for range flips {
		at, bit := rnd.IntN(len(sound)), rnd.IntN(8)
		damaged := bytes.Clone(sound)
		damaged[at] ^= 1 << bit
		name := filepath.Join(t.TempDir(), "journal.db")
		if err := os.WriteFile(name, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		reported, silent := inspect(t, name, chains)
		if silent != nil && reported == nil {
			t.Errorf("byte %d, bit %d: %v, and nobody said so", at, bit, silent)
		}
		if reported != nil {
			found++
		}
	}
	if found < flips/3 {
		t.Errorf("only %d of %d flipped bits were noticed", found, flips)
	}
}

// TestDamagedBody changes one letter of one session.
func TestDamagedBody(t *testing.T) {
	path := newPath(t)
	chains := filled(t, path)
	store, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	store = bytes.ReplaceAll(store, []byte("text 7 of s3"), []byte("text 8 of s3"))
	if err := os.WriteFile(path, store, 0o600); err != nil {
		t.Fatal(err)
	}
	reported, _ := inspect(t, path, chains)
	if !errors.Is(reported, journal.ErrBroken) {
		t.Errorf("a changed letter: %v", reported)
	}
	if n := strings.Count(fmt.Sprint(reported), "hash chain is broken"); n != 1 {
		t.Errorf("%d sessions are broken, want 1: %v", n, reported)
	}
}

// TestTruncatedLog cuts the log that a killed process left. Everything that was flushed before the
// cut is there, in order, and the journal can be written to.
func TestTruncatedLog(t *testing.T) {
	path := newPath(t)
	said := startChild(t, "kill", path, InCommit, "30")
	log, err := os.ReadFile(path + "-wal")
	if err != nil || len(said) == 0 {
		t.Fatal(err, said)
	}
	store, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	last := -1
	for _, keep := range []int{0, 1, 31, 32, 5000, len(log) / 3, len(log) / 2, len(log) - 1, len(log)} {
		name := filepath.Join(t.TempDir(), "journal.db")
		if err := errors.Join(os.WriteFile(name, store, 0o600), os.WriteFile(name+"-wal", log[:keep], 0o600)); err != nil {
			t.Fatal(err)
		}
		j := open(t, name, Options{})
		total := 0
		for i := range 8 {
			c := resume(t, j, fmt.Sprint("s", i))
			total += len(c.Entries)
			if err := j.Append(t.Context(), journal.Batch{Records: []journal.Record{c.Next(t, "on")}}); err != nil {
				t.Error(err)
			}
			c.Verify(t, j)
		}
		if total < last {
			t.Errorf("%d bytes of log gave %d entries, fewer bytes gave %d", keep, total, last)
		}
		last = total
		if err := errors.Join(j.Check(t.Context()), j.Close()); err != nil {
			t.Error(err)
		}
	}
	if last == 0 {
		t.Error("the whole log held nothing")
	}
}

// TestMissingRow removes an entry in the middle, and one that does not exist.
func TestMissingRow(t *testing.T) {
	for name, sql := range map[string]string{
		"first":  "DELETE FROM facts WHERE sid = 1 AND seq = 1",
		"middle": "DELETE FROM facts WHERE sid = 1 AND seq = 7",
		"hash":   "UPDATE facts SET hash = x'00' WHERE sid = 1 AND seq = 7",
		"kind":   "UPDATE facts SET kind = NULL WHERE sid = 1 AND seq = 7",
		"moved":  "UPDATE facts SET seq = 100 WHERE sid = 1 AND seq = 7",
	} {
		path := newPath(t)
		chains := filled(t, path)
		c, err := connect(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(c.exec(sql), c.close()); err != nil {
			t.Fatal(err)
		}
		reported, silent := inspect(t, path, chains)
		if reported == nil || silent == nil || !strings.Contains(reported.Error(), "session s0") {
			t.Errorf("%s: reported %v, lost %v", name, reported, silent)
		}
	}
}

// TestErasedBytesAreGone looks for what was erased in the file itself.
func TestErasedBytesAreGone(t *testing.T) {
	path := newPath(t)
	j := open(t, path, Options{})
	c, kept := journaltest.NewChain("", "s1"), journaltest.NewChain("", "s2")
	for n := range 200 {
		r := c.Next(t, strings.Repeat("remember me not ", 1+n*77%190))
		r.Snapshot = []byte(strings.Repeat("nor this state ", 1+n*131%700))
		k := kept.Next(t, "but keep this")
		if err := j.Append(t.Context(), journal.Batch{Records: []journal.Record{r, k}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Erase(t.Context(), journal.Tombstone{Session: c.Session, Link: c.Last, Why: "owner"}); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	if err != nil {
		t.Fatal(err)
	}
	var all []byte
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b...)
	}
	for text, want := range map[string]bool{"remember me not": false, "nor this state": false, "but keep this": true} {
		if got := bytes.Contains(all, []byte(text)); got != want {
			t.Errorf("%q is there: %t, want %t", text, got, want)
		}
	}
}
