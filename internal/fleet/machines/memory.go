package machines

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
)

// A Memory is a Book that forgets everything when the process ends.
type Memory struct {
	mu   sync.Mutex // guards all below
	all  map[ID]*Status
	copy map[copyKey][]journal.Entry
	fork map[forkKey]bool
	// moved is when a copy last grew.
	moved map[copyKey]time.Time

	asked map[ID]Asked
	slips map[slipKey]slip
	uses  map[useKey]int64
}

type useKey struct {
	tenant string
	token  floodmark.Digest
}

type copyKey struct {
	id      ID
	session floodmark.SessionID
}

type forkKey struct {
	copyKey
	seq uint64
}

var _ Book = (*Memory)(nil)

// NewMemory returns an empty Memory.
func NewMemory() *Memory {
	return &Memory{all: map[ID]*Status{}, copy: map[copyKey][]journal.Entry{}, fork: map[forkKey]bool{}, moved: map[copyKey]time.Time{}, asked: map[ID]Asked{}, slips: map[slipKey]slip{}, uses: map[useKey]int64{}}
}

// Use implements [Book].
func (b *Memory) Use(_ context.Context, tenant string, token floodmark.Digest, most int64) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := useKey{tenant, token}
	if b.uses[k] >= most {
		return false, nil
	}
	b.uses[k]++
	return true, nil
}

// Enrol implements [Book].
func (b *Memory) Enrol(_ context.Context, m Machine) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.all[m.ID] != nil {
		return fmt.Errorf("enrol machine %s: there is one already", m.ID)
	}
	b.all[m.ID] = &Status{Machine: m, State: Joined}
	return nil
}

// Find implements [Book].
func (b *Memory) Find(_ context.Context, id ID) (Machine, State, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.all[id]
	if m == nil {
		return Machine{}, "", ErrUnknown
	}
	return m.Machine, m.State, nil
}

// of returns a machine of a tenant. The caller holds the lock.
func (b *Memory) of(tenant string, id ID) (*Status, error) {
	m := b.all[id]
	if m == nil || m.Tenant != tenant {
		return nil, ErrUnknown
	}
	return m, nil
}

// End implements [Book].
func (b *Memory) End(_ context.Context, tenant string, id ID, as State, by string, _ time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	m, err := b.of(tenant, id)
	if err == nil && m.State == Joined {
		m.State, m.EndedBy = as, by
	}
	return err
}

// Report implements [Book].
func (b *Memory) Report(_ context.Context, tenant string, id ID, at time.Time, report []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	m, err := b.of(tenant, id)
	if err == nil {
		m.Seen, m.Report = at, slices.Clone(report)
	}
	return err
}

// List implements [Book].
func (b *Memory) List(_ context.Context, tenant string, p Page) ([]Status, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []Status
	for _, m := range b.all {
		if m.Tenant == tenant && m.ID > p.After && (m.State == Joined || !p.Joined) {
			list = append(list, *m)
		}
	}
	slices.SortFunc(list, func(a, b Status) int { return cmp.Compare(a.ID, b.ID) })
	return list[:min(len(list), max(p.Most, 0), MaxPage)], nil
}

// Heads implements [Book].
func (b *Memory) Heads(_ context.Context, tenant string, id ID, sessions []floodmark.SessionID) ([]journal.Link, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, err := b.of(tenant, id); err != nil {
		return nil, err
	}
	links := make([]journal.Link, len(sessions))
	for i, s := range sessions {
		links[i] = b.head(copyKey{id, s})
	}
	return links, nil
}

func (b *Memory) head(k copyKey) journal.Link {
	if n := len(b.copy[k]); n > 0 {
		return b.copy[k][n-1].Link()
	}
	return journal.Link{}
}

// Add implements [Book].
func (b *Memory) Add(_ context.Context, tenant string, id ID, u Upload, at time.Time) (Outcome, journal.Link, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	m, err := b.of(tenant, id)
	if err == nil && m.State != Joined {
		err = ErrUnknown
	}
	if err != nil {
		return "", journal.Link{}, err
	}
	k := copyKey{id, u.Session}
	known := map[uint64]journal.Hash{}
	for _, e := range b.copy[k] {
		known[e.Seq] = e.Hash
	}
	add, outcome := u.Fit(b.head(k), known)
	if f := (forkKey{k, u.Last().Seq}); outcome == Fork && !b.fork[f] && m.Forks < MaxForks {
		b.fork[f] = true
		m.Forks++
	}
	if len(add) > 0 {
		b.moved[k] = at
	}
	if len(add) > 0 && len(b.copy[k]) == 0 {
		m.Sessions++
	}
	m.Entries += int64(len(add))
	b.copy[k] = append(b.copy[k], add...)
	return outcome, b.head(k), nil
}

// Read implements [Book].
func (b *Memory) Read(_ context.Context, tenant string, id ID, s floodmark.SessionID) iter.Seq2[journal.Entry, error] {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, err := b.of(tenant, id)
	list := slices.Clone(b.copy[copyKey{id, s}])
	return func(yield func(journal.Entry, error) bool) {
		if err != nil {
			yield(journal.Entry{}, err)
			return
		}
		var last journal.Link
		for _, e := range list {
			if e.Kind != StoneKind && e.Kind != GoneKind {
				e.Prev = last.Hash
				if last.Seq == 0 {
					e.Prev = journal.Genesis(journal.Session{ID: s})
				}
			}
			last = e.Link()
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Copies implements [Book].
func (b *Memory) Copies(_ context.Context, tenant string, id ID, limit int) ([]Copy, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, err := b.of(tenant, id); err != nil {
		return nil, err
	}
	var list []Copy
	for k, entries := range b.copy {
		if n := len(entries); k.id == id && n > 0 {
			list = append(list, Copy{Session: k.session, Head: entries[n-1].Link(), Entries: int64(n), At: entries[n-1].Time()})
		}
	}
	slices.SortFunc(list, func(a, b Copy) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Session, b.Session)) })
	return list[:min(len(list), limit)], nil
}
