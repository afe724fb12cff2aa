package sqlitejournal

import (
	"slices"
	"sync"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
)

// rememberedBytes is the approximate size of each half of the cache of artifacts: some forty
// thousand keys without artifacts.
const rememberedBytes = 8 << 20

// absentBytes is the size of a key in it, without the artifacts under it.
const absentBytes = 200

// remembered caches what lies under recently requested keys, also that nothing does: nearly every
// call names files that no session has written, and each would be looked up in the store again.
//
// It never hides a write, because all writes go through the one writer of this journal: the lock
// beside the store keeps other processes out. The writer drops the keys of a group after it is in
// the store and before any caller is told; a read that began before that is not cached. So a read
// after an acknowledged append finds it. A journal with other machines as writers cannot promise
// this and caches nothing.
type remembered struct {
	mu         sync.Mutex // guards all below
	young, old half
	tenants    map[string]uint32 // those that asked, by number
	bytes      int               // in young, about
	writes     uint64            // how often something was forgotten
	keys       keyFilter
}

// A half has no room for words under the keys under which nothing lies: those are nearly all.
type half struct {
	none map[leftKey]struct{}
	left map[leftKey][]journal.Artifact
}

func newHalf() half {
	return half{none: map[leftKey]struct{}{}, left: map[leftKey][]journal.Artifact{}}
}

func (h half) get(name leftKey) (words []journal.Artifact, known bool) {
	if _, none := h.none[name]; none {
		return nil, true
	}
	words, known = h.left[name]
	return words, known
}

func (h half) put(name leftKey, words []journal.Artifact) {
	if h.drop(name); len(words) > 0 {
		h.left[name] = words
		return
	}
	h.none[name] = struct{}{}
}

func (h half) drop(name leftKey) {
	delete(h.none, name)
	delete(h.left, name)
}

type leftKey struct {
	tenant uint32
	key    floodmark.Digest
}

func newRemembered() *remembered { return &remembered{young: newHalf(), tenants: map[string]uint32{}} }

// name is what a key of a tenant is remembered by.
func (m *remembered) name(tenant string, k floodmark.Digest) leftKey {
	n, ok := m.tenants[tenant]
	if !ok {
		n = uint32(len(m.tenants))
		m.tenants[tenant] = n
	}
	return leftKey{n, k}
}

// find returns what is cached under keys, and the keys of which nothing is known: they are not
// cached, and the filter does not say that they are absent. The caller reads those from the store
// and passes the result to learn, with the number returned here.
func (m *remembered) find(tenant string, keys []floodmark.Digest) (found []journal.Artifact, unknown []floodmark.Digest, writes uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range keys {
		name := m.name(tenant, k)
		words, ok := m.young.get(name)
		if !ok {
			if words, ok = m.old.get(name); ok {
				m.put(name, words)
			}
		}
		if !ok && !m.keys.lacks(k) {
			unknown = append(unknown, k)
		}
		for _, w := range words {
			w.Body = slices.Clone(w.Body)
			found = append(found, w)
		}
	}
	return found, unknown, m.writes
}

// learn caches what the store said about keys, unless there was a write since the read began.
func (m *remembered) learn(tenant string, keys []floodmark.Digest, found []journal.Artifact, writes uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.writes != writes {
		return
	}
	for _, k := range keys {
		var words []journal.Artifact
		for _, w := range found {
			if w.Key == k {
				w.Body = slices.Clone(w.Body)
				words = append(words, w)
			}
		}
		m.put(m.name(tenant, k), words)
	}
}

func (m *remembered) put(name leftKey, words []journal.Artifact) {
	if m.bytes > rememberedBytes {
		m.old, m.young, m.bytes = m.young, newHalf(), 0
	}
	m.young.put(name, words)
	m.bytes += absentBytes
	for _, w := range words {
		m.bytes += absentBytes + len(w.Body)
	}
}

// forget drops the keys that a group has written to.
func (m *remembered) forget(group []*request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range group {
		for _, a := range r.batch.Artifacts {
			name := m.name(a.Tenant, a.Key)
			m.young.drop(name)
			m.old.drop(name)
			m.writes++
		}
	}
}
