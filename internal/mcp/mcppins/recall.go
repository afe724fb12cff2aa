package mcppins

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"sync"
)

// maxRecalled bounds the remembered answers. There is room for several of each server.
const maxRecalled = 4 * MaxServers

// A recall remembers answers that changed nothing in the file. Clients list the same tools again
// and again, and parsing the file each time would be most of a gateway's work. The key of an answer
// covers every byte of the file and of the server's definitions.
type recall struct {
	mu      sync.Mutex // guards answers
	answers map[[sha256.Size]byte][]Verdict
}

// questionOf returns a hash of everything that an answer depends on.
func questionOf(file []byte, server, identity string, defs []Definition) [sha256.Size]byte {
	h := sha256.New()
	put := func(part []byte) {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		h.Write(part)
	}
	if file == nil {
		put([]byte("no file")) // a missing file differs from an empty one
	}
	put(file)
	put([]byte(server))
	put([]byte(identity))
	for _, d := range defs {
		put([]byte(d.Server))
		put([]byte(d.Kind))
		put([]byte(d.Name))
		put(d.Body)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

func (r *recall) get(question [sha256.Size]byte) ([]Verdict, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, ok := r.answers[question]
	return slices.Clone(v), ok
}

func (r *recall) put(question [sha256.Size]byte, answer []Verdict) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.answers == nil || len(r.answers) >= maxRecalled {
		r.answers = map[[sha256.Size]byte][]Verdict{}
	}
	r.answers[question] = slices.Clone(answer)
}
