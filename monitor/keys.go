package monitor

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/provenance"
)

// A tenant may change its key. A session keeps the key it was created with. What other sessions left
// is looked up under all keys of the tenant, so nothing is forgotten when the key changes.

// ErrNoKey says that the key a session was created with is missing here.
var ErrNoKey = errors.New("monitor: the key this session was born with is not here")

// keys are the keys that one session is judged with: its own key and all keys of its tenant.
type keys struct {
	provenance.Ring
	own provenance.RingKey
}

// ring returns a tenant's keys, or an error if it has none.
func (m *Monitor) ring(tenant string) (r provenance.Ring, err error) {
	if m.cfg.Ring != nil {
		r, err = m.cfg.Ring(tenant)
	} else {
		var first provenance.Key
		first, err = m.cfg.Key(tenant)
		r = provenance.RingOf(first)
	}
	if err != nil {
		return provenance.Ring{}, fmt.Errorf("key of tenant %q: %w", tenant, err)
	}
	if _, ok := r.Born(); !ok {
		return provenance.Ring{}, fmt.Errorf("key of tenant %q: %w", tenant, ErrNoKey)
	}
	return r, nil
}

// keysOf returns the keys of a session in its current state.
func keysOf(r provenance.Ring, st *kernel.State) (keys, error) {
	own, ok := r.Born()
	if st.Opened {
		own, ok = r.Find(st.Key)
	}
	if !ok {
		return keys{}, fmt.Errorf("%w: %.32q", ErrNoKey, st.Key)
	}
	return keys{r, own}, nil
}

// seals returns the key that seals what a session leaves behind. That is the session's own key or,
// if that is a former key, the tenant's current one.
func (k keys) seals() provenance.RingKey {
	if born, ok := k.Born(); ok && k.own.Former {
		return born
	}
	return k.own
}

// places returns the keys that an artifact is stored under: the key that sealed it, and all older
// keys that are not former. So a node that lacks the newer key finds the artifact under an older
// key, cannot open it, and refuses. A node that can open it knows all keys it is stored under.
func (k keys) places(sealed provenance.RingKey) []provenance.RingKey {
	list := []provenance.RingKey{sealed}
	for _, o := range k.Keys {
		if o.Name == sealed.Name {
			break
		}
		if !o.Former {
			list = append(list, o)
		}
	}
	return list
}

// postingsName returns the name under which the index of a content is stored. The name can be
// computed only with the key; otherwise a text whose digest equals the name could take the index's
// place.
func postingsName(key provenance.RingKey, d floodmark.Digest) floodmark.Digest {
	if key.Name == "" {
		return d
	}
	text := make([]byte, sha256.BlockSize, sha256.BlockSize+len(indexName)+len(d))
	return macOf(key.Key, append(append(text, indexName...), d[:]...))
}

const indexName = "floodmark index\x00"
