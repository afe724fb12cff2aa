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

// Beginnings returns with what a clause says that the name of something begins:
// «the channel starting with Garden».
func (r *Request) Beginnings() []string {
	var starts []string
	for i := 0; i+2 < len(r.items); i++ {
		if next := r.items[i+2]; r.g.BeginsWith.has(wordOf(r.items[i])) && wordOf(r.items[i+1]) == "with" && !r.items[i+1].apart && (next.kind == Quoted || next.clean && !next.apart) {
			starts = append(starts, next.raw)
		}
	}
	return starts
}
