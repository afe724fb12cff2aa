package provenance

import (
	"strings"

	"github.com/floodmark/floodmark"
)

// beginMark is the first byte of what is hashed for the beginning of a list's element. No other hash
// begins with it, as an element may hold what is hashed for a labelled value.
const beginMark = 6

// beginning returns the part of a list's element before the first separator of a name, such as
// «_» or «-». It is empty if there is no separator.
func beginning(value string) string {
	return value[:max(strings.IndexAny(value, "_-. /:"), 0)]
}

func (h *hasher) beginHash(start string) Hash {
	h.in = append(append(h.in[:0], beginMark), start...)
	return h.bytes(h.in)
}

// Beginning returns how many elements of the bare lists of a content are start alone, or start
// followed by a separator.
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
