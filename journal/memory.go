package journal

import (
	"cmp"
	"context"
	"iter"
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
	left     map[contentKey][]Artifact
}

type contentKey struct {
	tenant string
	digest floodmark.Digest
}

// kept is the data of one session: its tombstone, then its entries.
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
	return &Memory{sessions: map[Session]*kept{}, contents: map[contentKey][]byte{}, left: map[contentKey][]Artifact{}}
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
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.usable(ctx); err != nil {
		return err
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
	m.leave(b.Artifacts)
	return nil
}

func (m *Memory) add(r Record) {
	k := m.sessions[r.Session]
	if k == nil {
		k = &kept{}
		m.sessions[r.Session] = k
	}
	for _, e := range r.Entries {
		e.Body = slices.Clone(e.Body)
		k.entries = append(k.entries, e)
	}
	m.written++
	k.mark = m.written
	if len(r.Snapshot) > 0 {
		k.snapshot = Start{Link: r.Last(), Snapshot: slices.Clone(r.Snapshot)}
	}
}

// Begin implements [Journal].
func (m *Memory) Begin(ctx context.Context, s Session) (Start, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.usable(ctx); err != nil {
		return Start{}, err
	}
	k := m.sessions[s]
	switch {
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
	return func(yield func(Entry, error) bool) {
		entries, err := m.after(ctx, s, after)
		for _, e := range entries {
			if err = ctx.Err(); err != nil {
				break
			}
			if !yield(e, nil) {
				return
			}
		}
		if err != nil {
			yield(Entry{}, err)
		}
	}
}

func (m *Memory) after(ctx context.Context, s Session, after uint64) ([]Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.sessions[s]
	if err := m.usable(ctx); err != nil || k == nil {
		return nil, err
	}
	skip := uint64(0)
	if after > k.base.Seq {
		skip = min(after-k.base.Seq, uint64(len(k.entries)))
	}
	return k.entries[skip:], nil
}

// usable reports whether a call may go on. The lock is held.
func (m *Memory) usable(ctx context.Context) error {
	if m.closed {
		return ErrClosed
	}
	return ctx.Err()
}

// Postings implements [Journal].
func (m *Memory) Postings(ctx context.Context, tenant string, contents []floodmark.Digest) (map[floodmark.Digest][]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.usable(ctx); err != nil {
		return nil, err
	}
	found := map[floodmark.Digest][]byte{}
	for _, d := range contents {
		if p, ok := m.contents[contentKey{tenant, d}]; ok {
			found[d] = p
		}
	}
	return found, nil
}

// Heads implements [Journal].
func (m *Memory) Heads(ctx context.Context, after Mark) iter.Seq2[Head, error] {
	return m.heads(ctx, func(h Head) bool { return h.Mark > after }, func(a, b Head) int { return cmp.Compare(a.Mark, b.Mark) })
}

// Recent implements [Journal].
func (m *Memory) Recent(ctx context.Context, tenant string) iter.Seq2[Head, error] {
	return m.heads(ctx, func(h Head) bool { return h.Session.Tenant == tenant }, func(a, b Head) int { return cmp.Compare(b.Mark, a.Mark) })
}

func (m *Memory) heads(ctx context.Context, want func(Head) bool, order func(a, b Head) int) iter.Seq2[Head, error] {
	return func(yield func(Head, error) bool) {
		heads, err := m.find(ctx, want)
		slices.SortFunc(heads, order)
		for _, h := range heads {
			if !yield(h, nil) {
				return
			}
		}
		if err != nil {
			yield(Head{}, err)
		}
	}
}

func (m *Memory) find(ctx context.Context, want func(Head) bool) (heads []Head, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.usable(ctx); err != nil {
		return nil, err
	}
	for s, k := range m.sessions {
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
	return heads, nil
}

// Erase implements [Journal].
func (m *Memory) Erase(ctx context.Context, t Tombstone) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.usable(ctx); err != nil {
		return err
	}
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
