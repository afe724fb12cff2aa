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

// absentBytes is the approximate size of a key in the cache, without the artifacts under the key.
const absentBytes = 200

// remembered caches the artifacts under recently requested keys. Most calls name files that no
// session has written, and for nearly all of these the filter knows that there is no artifact.
//
// It never hides a write, because all writes go through the one writer of this journal: the lock
// beside the store keeps other processes out. The writer drops the keys of a group after the group
// is in the store and before any caller gets its result. The result of a read that began earlier is
// not cached. So a read after an acknowledged append finds it. A journal with other machines as
// writers cannot promise this and caches nothing.
type remembered struct {
	mu         sync.Mutex // guards all below
	young, old map[leftKey][]journal.Artifact
	bytes      int    // approximate size of young
	writes     uint64 // how often something was forgotten
	keys       keyFilter
}

type leftKey struct {
	tenant string
	key    floodmark.Digest
}

func newRemembered() *remembered { return &remembered{young: map[leftKey][]journal.Artifact{}} }

// find returns what is cached under keys, and the unknown keys, which are neither cached nor ruled
// out by the filter. The caller reads the unknown keys from the store and passes the result to
// learn, with the number returned here.
func (m *remembered) find(tenant string, keys []floodmark.Digest) (found []journal.Artifact, unknown []floodmark.Digest, writes uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range keys {
		name := leftKey{tenant, k}
		words, ok := m.young[name]
		if !ok {
			if words, ok = m.old[name]; ok {
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
		m.put(leftKey{tenant, k}, words)
	}
}

func (m *remembered) put(name leftKey, words []journal.Artifact) {
	if m.bytes > rememberedBytes {
		m.old, m.young, m.bytes = m.young, map[leftKey][]journal.Artifact{}, 0
	}
	m.young[name] = words
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
			name := leftKey{a.Tenant, a.Key}
			delete(m.young, name)
			delete(m.old, name)
			m.writes++
		}
	}
}
