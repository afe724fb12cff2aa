package monitor

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/provenance"
)

// A tenant may change its key. A session keeps the key it was created with. What it reads of other
// sessions is recognised under all keys, so a change of keys loses no memory.

// ErrNoKey says that the key a session was created with is missing here.
var ErrNoKey = errors.New("monitor: the key this session was born with is not here")

// keys are those one session is judged with: its own and all of its tenant.
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

// seals is the key that seals what a session leaves behind: its own, unless that is a former key.
func (k keys) seals() provenance.RingKey {
	if born, ok := k.Born(); ok && k.own.Former {
		return born
	}
	return k.own
}

// places returns the keys under whose names a word is stored: the key that sealed it, and all older
// ones that are not former. A node without the newer key finds the word under an older name, cannot
// open it, and refuses. A node that can open a word knows all its names.
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

// postingsName returns the name of a content's index made under a key. It takes the key to compute:
// otherwise a text whose digest equals that name could take the index's place.
func postingsName(key provenance.RingKey, d floodmark.Digest) floodmark.Digest {
	if key.Name == "" {
		return d
	}
	text := make([]byte, sha256.BlockSize, sha256.BlockSize+len(indexName)+len(d))
	return macOf(key.Key, append(append(text, indexName...), d[:]...))
}

const indexName = "floodmark index\x00"
