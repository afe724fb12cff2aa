package provenance

import "slices"

// addRelayed takes in what somebody else asked the owner for, where he hands it
// on: «Ann asked me to invite her, you can find her address in …». Without the
// second half he only tells of it. The second half must tell the agent in the
// same sentence where to find what only somebody needs who does it.
func (r *Request) addRelayed(next *Request) {
	orders := slices.ContainsFunc(r.verbs, func(v int) bool { return r.g.Asks.has(wordOf(r.items[v])) })
	if orders || r.negated || r.aside || !next.tellsWhere() {
		return
	}
	for i := range len(r.items) - 3 {
		word := func(k int) string { return wordOf(r.items[i+k]) }
		if !r.g.Wanted.has(word(0)) || !r.g.Us.has(word(1)) || word(2) != "to" || !r.g.Asks.has(word(3)) {
			continue
		}
		if slices.ContainsFunc(r.items[i:i+4], func(it item) bool { return it.inner || it.sentence }) {
			continue
		}
		r.verbs = append(r.verbs, i+3)
		return
	}
}

// tellsWhere reports whether a clause goes on in a sentence and tells the agent
// where somebody's data is: «you can find her email at …».
func (r *Request) tellsWhere() bool {
	if len(r.items) == 0 || r.items[0].sentence || r.negated {
		return false
	}
	n := 0
	for _, words := range r.g.Findable {
		n = max(n, plainMatch(r.items, words))
	}
	if n == 0 || n+1 >= len(r.items) {
		return false
	}
	return r.g.Theirs.has(wordOf(r.items[n])) && r.g.Personal.has(wordOf(r.items[n+1]))
}
