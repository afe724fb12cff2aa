package redact

import (
	"regexp/syntax"
	"slices"
)

// A set is a set of bytes.
type set [4]uint64

func (s *set) add(b byte)      { s[b>>6] |= 1 << (b & 63) }
func (s *set) has(b byte) bool { return s[b>>6]>>(b&63)&1 != 0 }

// An item is a run of bytes of one set, at least min long and at most max.
type item struct {
	set      set
	min, max int
}

// A shape is one way to match a pattern, as far as items can express it. Testing shapes is much
// faster than the pattern, which is used only if a shape fits.
type shape struct {
	items []item
	// open says that more items may follow. exact says that a text fits the items if and only if it
	// fits the pattern.
	open, exact bool
}

// The limits of shapes. A pattern that exceeds them is used directly, because trying its shapes
// would not be faster.
const (
	maxShapes = 64 // shapes of a pattern
	maxLoose  = 2  // runs of variable length in a shape
)

// maxRun bounds a run of unbounded length. The secret of every rule is shorter, except private
// keys, which are not runs.
const maxRun = 2048

// shapes returns the ways to match a pattern, the preferred one first. It returns none if there are
// too many.
func shapes(re *syntax.Regexp) []shape {
	list := expand(re)
	if len(list) > maxShapes {
		return nil
	}
	return list
}

func expand(re *syntax.Regexp) []shape {
	switch re.Op {
	case syntax.OpLiteral:
		s := shape{open: true, exact: true}
		for _, r := range re.Rune {
			s = s.then(literalSet(r, re.Flags&syntax.FoldCase != 0))
		}
		return []shape{s}
	case syntax.OpCharClass:
		return []shape{shape{open: true, exact: true}.then(classSet(re.Rune))}
	case syntax.OpAnyCharNotNL:
		return []shape{shape{open: true}.then(classSet([]rune{0, '\n' - 1, '\n' + 1, 127}))}
	case syntax.OpEmptyMatch:
		return []shape{{open: true, exact: true}}
	case syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary, syntax.OpBeginLine, syntax.OpEndLine:
		return []shape{{open: true}} // only the pattern can match these
	case syntax.OpCapture:
		return expand(re.Sub[0])
	case syntax.OpAlternate:
		var list []shape
		for _, sub := range re.Sub {
			list = append(list, expand(sub)...)
		}
		return list
	case syntax.OpConcat:
		return concat(re.Sub)
	case syntax.OpQuest:
		return append(expand(re.Sub[0]), shape{open: true, exact: true})
	case syntax.OpStar:
		return repeat(re.Sub[0], 0, -1)
	case syntax.OpPlus:
		return repeat(re.Sub[0], 1, -1)
	case syntax.OpRepeat:
		return repeat(re.Sub[0], re.Min, re.Max)
	case syntax.OpAnyChar, syntax.OpNoMatch:
	}
	return []shape{{}}
}

// then appends one byte of a set.
func (s shape) then(next set, ok bool) shape {
	if !s.open {
		return s
	}
	if !ok {
		return shape{items: s.items}
	}
	s.items = append(slices.Clip(s.items), item{set: next, min: 1, max: 1})
	return s
}

func concat(subs []*syntax.Regexp) []shape {
	list := []shape{{open: true, exact: true}}
	for _, sub := range subs {
		tails := expand(sub)
		var longer []shape
		for _, head := range list {
			if !head.open {
				longer = append(longer, head)
				continue
			}
			for _, tail := range tails {
				longer = append(longer, shape{
					items: append(slices.Clip(head.items), tail.items...),
					open:  tail.open, exact: head.exact && tail.exact,
				})
			}
		}
		if list = longer; len(list) > maxShapes {
			return list
		}
	}
	return list
}

// repeat returns the shapes of a repetition: one run if sub is one byte of a set, and otherwise the
// first, required repetitions of sub.
func repeat(sub *syntax.Regexp, least, most int) []shape {
	one := expand(sub)
	if len(one) == 1 && len(one[0].items) == 1 && one[0].exact && one[0].items[0].min == 1 && one[0].items[0].max == 1 {
		it := item{set: one[0].items[0].set, min: least, max: most}
		if most < 0 {
			it.max = maxRun
		}
		return []shape{{items: []item{it}, open: true, exact: true}}
	}
	if least == 0 {
		return []shape{{}}
	}
	subs := make([]*syntax.Regexp, least)
	for i := range subs {
		subs[i] = sub
	}
	list := concat(subs)
	if least != most {
		for i := range list {
			list[i].open, list[i].exact = false, false
		}
	}
	return list
}

func literalSet(r rune, fold bool) (s set, ok bool) {
	if r > 127 {
		return s, false
	}
	b := byte(r)
	s.add(b)
	if fold {
		s.add(upper(b))
		if 'A' <= b && b <= 'Z' {
			s.add(b - 'A' + 'a')
		}
	}
	return s, true
}

// maxForeign is how many non-ASCII characters a class of bytes may contain, because folding case
// adds the long s and the Kelvin sign.
const maxForeign = 4

func classSet(ranges []rune) (s set, ok bool) {
	foreign := 0
	for i := 0; i < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if r < 128 {
				s.add(byte(r))
			} else if foreign++; foreign > maxForeign {
				return s, false
			}
		}
	}
	return s, true
}

// prefix returns the sets of those first bytes of a shape that are always present.
func (s shape) prefix() []set {
	var sets []set
	for _, it := range s.items {
		for range it.min {
			sets = append(sets, it.set)
		}
		if it.min != it.max {
			break
		}
	}
	return sets
}

// loose counts the runs of variable length.
func (s shape) loose() int {
	n := 0
	for _, it := range s.items {
		if it.min != it.max {
			n++
		}
	}
	return n
}

// fits reports whether a text begins with bytes of these sets.
func fits(sets []set, text string) bool {
	if len(text) < len(sets) {
		return false
	}
	for i := range sets {
		if !sets[i].has(text[i]) {
			return false
		}
	}
	return true
}

// end returns where a text that fits the items ends if a terminator follows it, and -1 otherwise.
// Longer runs are tried first.
func end(items []item, text string, at int) int {
	if len(items) == 0 {
		if closes(text, at) {
			return at
		}
		return -1
	}
	it := &items[0]
	n := 0
	for n < it.max && at+n < len(text) && it.set.has(text[at+n]) {
		n++
	}
	for ; n >= it.min; n-- {
		if e := end(items[1:], text, at+n); e >= 0 {
			return e
		}
	}
	return -1
}
