package provenance

import (
	"strings"

	"github.com/floodmark/floodmark"
)

// beginMark is what the hash of the beginning of a list's element begins with.
const beginMark = 4

// beginning returns what an element of a list begins with: all up to the first
// sign that parts a name. It is nothing if there is none.
func beginning(value string) string {
	return value[:max(strings.IndexAny(value, "_-. /:"), 0)]
}

func (h *hasher) beginHash(start string) Hash {
	h.in = append(append(h.in[:0], beginMark), start...)
	return h.bytes(h.in)
}

// Beginning returns how many elements of the bare lists of a content begin with
// a word and a sign behind it that parts a name, or are that word.
func (t *Tracer) Beginning(node floodmark.NodeID, start string) int {
	if t.Index == nil || start == "" {
		return 0
	}
	n := 0
	for _, h := range [...]Hash{t.keyed().beginHash(start), t.keyed().fieldHash(fieldItem, start)} {
		for _, s := range t.find(h) {
			if s.Node == node {
				n++
			}
		}
	}
	return n
}
