package redact

// words finds many words in one pass, ignoring case (Aho and Corasick).
type words struct {
	// class maps each byte to its column. Bytes that occur in no word share column 0.
	class [256]uint8
	// next is the transition table. A state is the index of its first column.
	next    []uint32
	columns int
	// ends lists the words that end in each state from last on.
	ends [][]uint16
	// last is the first state in which a word ends.
	last uint32
}

// newWords builds the table. Words are in lower case.
func newWords(list []string) *words {
	w := &words{columns: 1}
	for _, word := range list {
		for i := range len(word) {
			b := word[i]
			if w.class[b] == 0 {
				w.class[b] = uint8(w.columns)
				w.class[upper(b)] = uint8(w.columns)
				w.columns++
			}
		}
	}
	t := newTrie(w.columns)
	for i, word := range list {
		t.add(w, word, uint16(i))
	}
	t.link()
	t.number(w)
	return w
}

func upper(b byte) byte {
	if 'a' <= b && b <= 'z' {
		return b - 'a' + 'A'
	}
	return b
}

// scan calls found for every word in a text, in the order of their ends.
func (w *words) scan(text string, found func(word, end int)) {
	state, next, last := uint32(0), w.next, w.last
	for i := range len(text) {
		state = next[state+uint32(w.class[text[i]])]
		if state >= last {
			for _, word := range w.ends[(state-last)/uint32(w.columns)] {
				found(int(word), i+1)
			}
		}
	}
}

// has reports whether a text contains one of the words.
func (w *words) has(text string) bool {
	state := uint32(0)
	for i := range len(text) {
		if state = w.next[state+uint32(w.class[text[i]])]; state >= w.last {
			return true
		}
	}
	return false
}

// A trie is the table being built.
type trie struct {
	columns int
	next    []int // -1: no move yet
	ends    [][]uint16
}

func newTrie(columns int) *trie {
	t := &trie{columns: columns}
	t.grow()
	return t
}

func (t *trie) grow() int {
	for range t.columns {
		t.next = append(t.next, -1)
	}
	t.ends = append(t.ends, nil)
	return len(t.ends) - 1
}

func (t *trie) add(w *words, word string, id uint16) {
	state := 0
	for i := range len(word) {
		at := state*t.columns + int(w.class[word[i]])
		if t.next[at] < 0 {
			n := t.grow()
			t.next[at] = n
		}
		state = t.next[at]
	}
	t.ends[state] = append(t.ends[state], id)
}

// link sets the fallback of each state, which is the state of the longest suffix of the input with
// which another word begins.
func (t *trie) link() {
	fall := make([]int, len(t.ends))
	var queue []int
	for c := range t.columns {
		if n := t.next[c]; n > 0 {
			queue = append(queue, n)
		} else {
			t.next[c] = 0
		}
	}
	for len(queue) > 0 {
		state := queue[0]
		queue = queue[1:]
		t.ends[state] = append(t.ends[state], t.ends[fall[state]]...)
		for c := range t.columns {
			at, other := state*t.columns+c, t.next[fall[state]*t.columns+c]
			if n := t.next[at]; n >= 0 {
				fall[n] = other
				queue = append(queue, n)
			} else {
				t.next[at] = other
			}
		}
	}
}

// number gives the highest numbers to the states in which a word ends, so that one comparison finds
// them.
func (t *trie) number(w *words) {
	order := make([]int, len(t.ends)) // old -> new
	n := 0
	for _, ending := range []bool{false, true} {
		if ending {
			w.last = uint32(n * t.columns)
		}
		for state, ends := range t.ends {
			if (len(ends) > 0) != ending {
				continue
			}
			order[state] = n
			n++
			if ending {
				w.ends = append(w.ends, ends)
			}
		}
	}
	w.next = make([]uint32, len(t.next))
	for state, to := range order {
		for c := range t.columns {
			w.next[to*t.columns+c] = uint32(order[t.next[state*t.columns+c]] * t.columns)
		}
	}
}
