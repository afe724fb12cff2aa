package journal

import (
	"context"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/floodmark/floodmark"
)

// A Memory is a Journal that forgets everything when the process ends.
type Memory struct {
	mu       sync.Mutex // guards all below
	closed   bool
	written  Mark
	sessions map[Session]*kept
	contents map[contentKey][]byte
}

type contentKey struct {
	tenant string
	digest floodmark.Digest
}

// kept is one session: what was erased, then what is there.
type kept struct {
	base     Link
	stone    *Tombstone
	entries  []Entry
	snapshot Start
	mark     Mark
}

var _ Journal = (*Memory)(nil)

// NewMemory returns an empty Memory.
func NewMemory() *Memory {
	return &Memory{sessions: map[Session]*kept{}, contents: map[contentKey][]byte{}}
}

func (k *kept) last() Link {
	if k == nil {
		return Link{}
	}
	if n := len(k.entries); n > 0 {
		return k.entries[n-1].Link()
	}
	return k.base
}

// has reports whether r is already there.
func (k *kept) has(r Record) bool {
	if k == nil {
		return false
	}
	want := r.Last()
	i := int(want.Seq) - int(k.base.Seq) - 1
	return i >= 0 && i < len(k.entries) && k.entries[i].Hash == want.Hash
}

// Append implements [Journal].
func (m *Memory) Append(ctx context.Context, b Batch) error {
	if err := b.Check(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return ErrClosed
	}
	there := 0
	for _, r := range b.Records {
		k := m.sessions[r.Session]
		if k.has(r) {
			there++
		} else if k.last() != r.After {
			return ErrConflict
		}
	}
	if there > 0 {
		if there < len(b.Records) {
			return ErrConflict
		}
		return nil
	}
	for _, r := range b.Records {
		m.add(r)
	}
	for _, c := range b.Contents {
		key := contentKey{c.Tenant, c.Digest}
		if _, ok := m.contents[key]; !ok {
			m.contents[key] = slices.Clone(c.Postings)
		}
	}
	return nil
}

func (m *Memory) add(r Record) {
	k := m.sessions[r.Session]
	if k == nil {
		k = &kept{}
		m.sessions[r.Session] = k
	}
	k.entries = append(k.entries, r.Entries...)
	m.written++
	k.mark = m.written
	if len(r.Snapshot) > 0 {
		k.snapshot = Start{Link: r.Last(), Snapshot: slices.Clone(r.Snapshot)}
	}
}

// Begin implements [Journal].
func (m *Memory) Begin(_ context.Context, s Session) (Start, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.sessions[s]
	switch {
	case m.closed:
		return Start{}, ErrClosed
	case k == nil:
		return Start{}, nil
	case len(k.snapshot.Snapshot) > 0:
		start := k.snapshot
		start.Tombstone = k.stone
		return start, nil
	}
	return Start{Link: k.base, Tombstone: k.stone}, nil
}

// Read implements [Journal].
func (m *Memory) Read(ctx context.Context, s Session, after uint64) iter.Seq2[Entry, error] {
	m.mu.Lock()
	var entries []Entry
	if k := m.sessions[s]; k != nil {
		skip := 0
		if after > k.base.Seq {
			skip = int(min(after-k.base.Seq, uint64(len(k.entries))))
		}
		entries = k.entries[skip:]
	}
	m.mu.Unlock()
	return func(yield func(Entry, error) bool) {
		for _, e := range entries {
			if err := ctx.Err(); err != nil {
				yield(Entry{}, err)
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Postings implements [Journal].
func (m *Memory) Postings(_ context.Context, tenant string, contents []floodmark.Digest) (map[floodmark.Digest][]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := map[floodmark.Digest][]byte{}
	for _, d := range contents {
		if p, ok := m.contents[contentKey{tenant, d}]; ok {
			found[d] = p
		}
	}
	return found, nil
}

// Heads implements [Journal].
func (m *Memory) Heads(_ context.Context, after Mark) iter.Seq2[Head, error] {
	return m.heads(func(h Head) bool { return h.Mark > after }, func(a, b Head) int { return int(a.Mark - b.Mark) })
}

// Recent implements [Journal].
func (m *Memory) Recent(_ context.Context, tenant string) iter.Seq2[Head, error] {
	return m.heads(func(h Head) bool { return h.Session.Tenant == tenant }, func(a, b Head) int { return int(b.Mark - a.Mark) })
}

func (m *Memory) heads(want func(Head) bool, order func(a, b Head) int) iter.Seq2[Head, error] {
	m.mu.Lock()
	var heads []Head
	for _, s := range slices.Collect(maps.Keys(m.sessions)) {
		k := m.sessions[s]
		h := Head{Session: s, Link: k.last(), Mark: k.mark}
		if n := len(k.entries); n > 0 {
			h.At = k.entries[n-1].At
		} else if k.stone != nil {
			h.At = k.stone.At
		}
		if want(h) {
			heads = append(heads, h)
		}
	}
	m.mu.Unlock()
	slices.SortFunc(heads, order)
	return func(yield func(Head, error) bool) {
		for _, h := range heads {
			if !yield(h, nil) {
				return
			}
		}
	}
}

// Erase implements [Journal].
func (m *Memory) Erase(_ context.Context, t Tombstone) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.sessions[t.Session]
	if k == nil || k.last() != t.Link {
		return ErrConflict
	}
	m.written++
	m.sessions[t.Session] = &kept{base: t.Link, stone: &t, mark: m.written}
	return nil
}

// Close implements [Journal].
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return nil
}
