package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand"
	"slices"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/floodmark/floodmark"
)

// A memoryLog is a HeadLog that can be cut short at any of its writes.
type memoryLog struct {
	leaves []string
	hashes []tlog.Hash
	notes  [][]byte
	reads  int // reads of hashes, to measure what a step costs

	writes int // number of writes so far
	crash  int // the number of the write at which the process "crashes", half done; 0 for none
}

var errCrash = errors.New("crash")

func (m *memoryLog) write() error {
	m.writes++
	if m.crash != 0 && m.writes >= m.crash {
		return errCrash
	}
	return nil
}

func (m *memoryLog) Leaves(_ context.Context, from int64) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if from > int64(len(m.leaves)) {
			yield("", ErrLog)
			return
		}
		for _, l := range m.leaves[from:] {
			if !yield(l, nil) {
				return
			}
		}
	}
}

func (m *memoryLog) Notes(context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, n := range m.notes {
			if !yield(n, nil) {
				return
			}
		}
	}
}

func (m *memoryLog) Newest(context.Context) ([]byte, error) {
	if len(m.notes) == 0 {
		return nil, nil
	}
	return m.notes[len(m.notes)-1], nil
}

func (m *memoryLog) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	var found []tlog.Hash
	for _, i := range indexes {
		m.reads++
		if i >= int64(len(m.hashes)) {
			return nil, errors.New("no such hash")
		}
		found = append(found, m.hashes[i])
	}
	return found, nil
}

func (m *memoryLog) Trim(_ context.Context, size int64) error {
	if int64(len(m.leaves)) < size {
		return ErrLog
	}
	m.leaves = m.leaves[:size]
	return nil
}

func (m *memoryLog) Append(_ context.Context, leaves []string) error {
	err := m.write()
	if err != nil {
		leaves = leaves[:len(leaves)/2]
	}
	m.leaves = append(m.leaves, leaves...)
	return err
}

func (m *memoryLog) WriteHashes(_ context.Context, index int64, hashes []tlog.Hash) error {
	err := m.write()
	if err != nil {
		hashes = hashes[:len(hashes)/2]
	}
	for len(m.hashes) < int(index)+len(hashes) {
		m.hashes = append(m.hashes, tlog.Hash{})
	}
	copy(m.hashes[index:], hashes)
	return err
}

func (m *memoryLog) Publish(_ context.Context, signed []byte) error {
	if err := m.write(); err != nil {
		return err
	}
	m.notes = append(m.notes, slices.Clone(signed))
	return nil
}

// A bench is a journal with its log of heads, and helpers that write to it.
type bench struct {
	t    testing.TB
	j    *Memory
	log  *memoryLog
	key  Key
	now  time.Time
	last map[Session]Link
}

func testKey(t testing.TB, seed int64) Key {
	t.Helper()
	secret, public, err := NewKey(rand.New(rand.NewSource(seed)), "floodmark.example/log")
	if err != nil {
		t.Fatal(err)
	}
	key, err := ParseKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	if key.Public != public {
		t.Fatalf("public key %q, want %q", key.Public, public)
	}
	return key
}

func newBench(t testing.TB) *bench {
	return &bench{
		t: t, j: NewMemory(), log: &memoryLog{}, key: testKey(t, 1),
		now: time.Date(2026, 11, 15, 12, 3, 0, 0, time.UTC), last: map[Session]Link{},
	}
}

func named(id string) Session { return Session{Tenant: "firm", ID: floodmark.SessionID(id)} }

// write adds n entries to a session.
func (b *bench) write(id string, n int) {
	b.t.Helper()
	s := named(id)
	var facts []floodmark.Fact
	for i := range n {
		facts = append(facts, floodmark.IncidentSeen{Kind: "test", Text: fmt.Sprintf("%s %d <&>", id, i)})
	}
	b.now = b.now.Add(time.Second)
	entries, err := Seal(s, b.last[s], b.now, facts)
	if err != nil {
		b.t.Fatal(err)
	}
	r := Record{Session: s, After: b.last[s], Entries: entries}
	if err := b.j.Append(b.t.Context(), Batch{Records: []Record{r}}); err != nil {
		b.t.Fatal(err)
	}
	b.last[s] = r.Last()
}

func (b *bench) checkpointer() *Checkpointer {
	return &Checkpointer{Journal: b.j, Log: b.log, Key: b.key, Store: "laptop"}
}

func (b *bench) step() Step {
	b.t.Helper()
	b.now = b.now.Add(time.Second)
	did, err := b.checkpointer().Step(b.t.Context(), b.now)
	if err != nil {
		b.t.Fatal(err)
	}
	return did
}

func (b *bench) evidence() Evidence {
	return Evidence{Log: b.log, Keys: b.key.Verifiers(), Store: "laptop"}
}

func (b *bench) verify() Report {
	b.t.Helper()
	r, err := Verify(b.t.Context(), b.j, b.evidence(), nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// found fails the test unless the report has exactly this, and perhaps more of
// the same session.
func found(t testing.TB, r Report, kind FindingKind, text string) {
	t.Helper()
	if !slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Kind == kind && f.Text == text }) {
		t.Errorf("not found: %s: %s\nfound: %+v", kind, text, r.Findings)
	}
}

func untrusted(context.Context, Session, Link) (floodmark.Label, error) {
	return floodmark.Label{Trust: floodmark.Untrusted, Secrecy: floodmark.Private}, nil
}

func (b *bench) forget(id string) Tombstone {
	b.t.Helper()
	t, err := Forget(b.t.Context(), b.j, b.key.Signer, named(id), untrusted, b.now, WhyOwner)
	if err != nil {
		b.t.Fatal(err)
	}
	return t
}

func resign(t testing.TB, key Key, text string) []byte {
	t.Helper()
	signed, err := note.Sign(&note.Note{Text: text}, key.Signer)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Clone(signed)
}
