package bundle

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
)

// A Memory is a store in memory only. The zero Memory is empty.
type Memory struct {
	mu       sync.Mutex // guards all below
	sealed   map[string][][]byte
	rollouts map[string][]Rollout
}

var _ Store = (*Memory)(nil)

// Publish implements [Store].
func (m *Memory) Publish(ctx context.Context, sealed []byte) error {
	b, err := Claims(sealed)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if last := uint64(len(m.sealed[b.Tenant])); b.Version != last+1 {
		return fmt.Errorf("publish version %d after %d: %w", b.Version, last, ErrConflict)
	}
	if m.sealed == nil {
		m.sealed = map[string][][]byte{}
	}
	m.sealed[b.Tenant] = append(m.sealed[b.Tenant], bytes.Clone(sealed))
	return nil
}

// Last implements [Store].
func (m *Memory) Last(ctx context.Context, tenant string) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return uint64(len(m.sealed[tenant])), ctx.Err()
}

// Get implements [Store].
func (m *Memory) Get(ctx context.Context, tenant string, version uint64) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.sealed[tenant]
	if version == 0 || version > uint64(len(all)) {
		return nil, fmt.Errorf("version %d: %w", version, ErrNone)
	}
	return bytes.Clone(all[version-1]), ctx.Err()
}

// Roll implements [Store].
func (m *Memory) Roll(ctx context.Context, r Rollout) error {
	if err := r.Check(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if last := uint64(len(m.rollouts[r.Tenant])); r.Serial != last+1 {
		return fmt.Errorf("rollout %d after %d: %w", r.Serial, last, ErrConflict)
	}
	if m.rollouts == nil {
		m.rollouts = map[string][]Rollout{}
	}
	m.rollouts[r.Tenant] = append(m.rollouts[r.Tenant], r.kept())
	return nil
}

// Now implements [Store].
func (m *Memory) Now(ctx context.Context, tenant string) (Rollout, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.rollouts[tenant]
	if len(all) == 0 {
		return Rollout{Tenant: tenant}, ctx.Err()
	}
	return all[len(all)-1].kept(), ctx.Err()
}

// Past implements [Store].
func (m *Memory) Past(ctx context.Context, tenant string, serial uint64) (Rollout, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.rollouts[tenant]
	if serial == 0 || serial > uint64(len(all)) {
		return Rollout{}, fmt.Errorf("rollout %d: %w", serial, ErrNone)
	}
	return all[serial-1].kept(), ctx.Err()
}

// kept returns a rollout as a store returns it: a copy whose time is in whole seconds, with a nil
// list if nothing is revoked.
func (r Rollout) kept() Rollout {
	if r.Revoked, r.At = slices.Clone(r.Revoked), r.At.UTC().Truncate(second); len(r.Revoked) == 0 {
		r.Revoked = nil
	}
	return r
}
