package redact

import (
	"slices"
	"strings"
)

// maxReach is the greatest length of a secret whose pattern has no bound. The largest private keys
// in use are shorter. Overlapping windows are joined, so a longer run of windows is searched to its
// end.
const maxReach = 8 << 10

// near is how far a secret may begin from a keyword that is not part of it.
const near = 1 << 10

// A use is a rule that a word triggers.
type use struct {
	rule   *rule
	length int // the length of the word
	// spelled are the exact spellings of the word; empty if case does not matter.
	spelled []string
	// seats are the positions that the word has in secrets. They are empty if the word need only
	// occur near a secret.
	seats []seat
}

type seat struct {
	offset int
	sets   []set
}

// A window is a part of the text to search with a rule's pattern.
type window struct {
	rule     *rule
	from, to int
}

// sighted handles a word that was found and that a rule for tokens uses.
func (s *search) sighted(u *use, end int) {
	at := end - u.length
	if len(u.seats) == 0 {
		s.await(window{u.rule, max(0, at-near), min(len(s.text), end+max(near, u.rule.reach))})
		return
	}
	for i := range u.seats {
		start := at - u.seats[i].offset
		if start >= 0 && fits(u.seats[i].sets, s.text[start:]) {
			// The window begins one byte earlier, so that the pattern sees the word boundary.
			s.await(window{u.rule, max(0, start-1), min(len(s.text), start+u.rule.reach)})
		}
	}
}

// await adds a window, or extends the rule's last window if they overlap, so that a pattern reads
// each byte only once.
func (s *search) await(w window) {
	for i := range s.pending {
		p := &s.pending[i]
		if p.rule != w.rule {
			continue
		}
		if w.from > p.to {
			s.look(*p)
			*p = w
		}
		p.from, p.to = min(p.from, w.from), max(p.to, w.to)
		return
	}
	s.pending = append(s.pending, w)
}

// look runs the pattern over a window.
func (s *search) look(w window) {
	r, part := w.rule, s.text[w.from:w.to]
	if !r.possible(part) {
		return
	}
	for _, m := range r.pattern().FindAllStringSubmatchIndex(part, -1) {
		start, end := m[0], m[1]
		for g := 1; g < len(m)/2; g++ {
			if m[2*g] >= 0 && m[2*g] < m[2*g+1] {
				start, end = m[2*g], m[2*g+1]
				break
			}
		}
		s.keep(r, match{start: w.from + start, end: w.from + end, from: w.from + m[0], to: w.from + m[1]})
	}
}

// possible reports whether a window can match the pattern.
func (r *rule) possible(part string) bool {
	if len(r.needs) > 0 && !slices.ContainsFunc(r.needs, func(n string) bool { return strings.Contains(part, n) }) {
		return false
	}
	if r.seated || len(r.shapes) == 0 {
		return true
	}
	for at := range len(part) {
		for i := range r.shapes {
			if fits(r.shapes[i].sets, part[at:]) {
				return true
			}
		}
	}
	return false
}
