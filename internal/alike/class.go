package alike

import (
	"slices"

	"github.com/floodmark/floodmark"
)

// A Class is what one rule can tell of a source: groups of one class are the same to it. Fields
// that the rule does not look at are zero.
type Class struct {
	Bits       uint64 // what follows from a source alone
	Trust      floodmark.Trust
	Kind, Tool string
}

// A Teller makes a function that returns the class of a source for one rule. The function is
// used for many sources in a row, which is cheaper.
type Teller func() func(*floodmark.Origin, floodmark.Trust) Class

// classes are the classes of the groups for one rule.
type classes struct {
	tell  Teller
	ids   map[Class]int32
	all   []Class
	n     []int32 // how many live sources each has
	first []int32 // the oldest group of each
	of    []int32 // the class of each group
	upTo  int     // where in the log
	over  bool    // there was no room for them
}

// A Test asks something of a source's place that depends on the call.
type Test struct {
	// Name says what is asked: tests of the same name and value answer the same. A test
	// without a name asks whether the place is the value.
	Name, Value string
	Holds       func(place, value string) bool
	Off         bool // its answer does not matter
}

// MaxTests bounds the tests of one rule.
const MaxTests = 8

// maxCells bounds how many members are told apart.
const maxCells = 1 << 16

// A Member stands for N sources of one class that pass the same tests. Origin and Trust are those
// of one source of the class, which may pass other tests.
type Member struct {
	Origin *floodmark.Origin
	Trust  floodmark.Trust
	Class  Class
	Passed uint // a bit for each test
	N      int
}

// Count shows the live sources of a session as members: each source is in one. Key names what is
// asked: a key always needs the same Teller. Count returns false, and shows nothing, if there are
// too many.
func (b *Book) Count(s Sources, key any, tell Teller, tests []Test, show func(Member)) bool {
	if !b.update(s) {
		return false
	}
	c := b.kept[key]
	if c == nil {
		c = &classes{tell: tell, ids: map[Class]int32{}, upTo: len(b.log)}
		if b.kept == nil {
			b.kept = map[any]*classes{}
		}
		b.kept[key] = c
	}
	if c.over {
		return false
	}
	if b.renew(s, c); b.full() {
		b.bytes -= c.size()
		*c = classes{over: true} // they are not made anew each time
		return false
	}
	named := func(t Test) bool { return t.Name != "" && !t.Off }
	switch {
	case !slices.ContainsFunc(tests, named):
		b.showPlaces(s, c, tests, show)
	case len(c.all)<<len(tests) > maxCells:
		return false
	default:
		b.showAll(s, c, tests, show)
	}
	return true
}

// size returns how many bytes the classes count for in the book.
func (c *classes) size() int { return 4*len(c.of) + classBytes*len(c.all) }

// renew brings classes up to date with the groups.
func (b *Book) renew(s Sources, c *classes) {
	was, known := c.size(), len(c.of)
	if known < len(b.groups) {
		c.of = slices.Grow(c.of, len(b.groups)-known)
		tell := c.tell()
		for _, g := range b.groups[known:] {
			o := s.Origin(int(g.first))
			id := c.id(tell(&o, g.trust))
			c.of = append(c.of, id)
			c.n[id] += g.n
		}
	}
	for _, change := range b.log[c.upTo:] {
		if int(change.group) < known { // the others were counted as they are now
			c.n[c.of[change.group]] += change.by
		}
	}
	c.upTo = len(b.log)
	b.bytes += c.size() - was
}

// id returns the id of a class, the one of the next group; it adds a new class.
func (c *classes) id(class Class) int32 {
	if n := len(c.of); n > 0 && c.all[c.of[n-1]] == class {
		return c.of[n-1]
	}
	id, ok := c.ids[class]
	if !ok {
		id = int32(len(c.all))
		c.ids[class] = id
		c.all, c.n, c.first = append(c.all, class), append(c.n, 0), append(c.first, int32(len(c.of)))
	}
	return id
}

// member returns n sources of a class as a member.
func (b *Book) member(s Sources, c *classes, class int32, passed uint, n int32) Member {
	g := &b.groups[c.first[class]]
	o := s.Origin(int(g.first))
	return Member{&o, g.trust, c.all[class], passed, int(n)}
}

// showPlaces shows members where a test only asks whether a place is its value: all others of
// a class are the same.
func (b *Book) showPlaces(s Sources, c *classes, tests []Test, show func(Member)) {
	rest := c.n
	for i, t := range tests {
		same := func(o Test) bool { return !o.Off && o.Value == t.Value }
		newest, ok := b.places[t.Value]
		if !ok || t.Off || slices.ContainsFunc(tests[:i], same) {
			continue
		}
		var passed uint
		for j, o := range tests {
			if same(o) {
				passed |= 1 << j
			}
		}
		if &rest[0] == &c.n[0] {
			rest = slices.Clone(rest)
		}
		for g := newest; g >= 0; g = b.groups[g].older {
			if n := b.groups[g].n; n > 0 {
				rest[c.of[g]] -= n
				show(b.member(s, c, c.of[g], passed, n))
			}
		}
	}
	for class, n := range rest {
		if n > 0 {
			show(b.member(s, c, int32(class), 0, n))
		}
	}
}

// showAll applies the tests to each group, then shows the members.
func (b *Book) showAll(s Sources, c *classes, tests []Test, show func(Member)) {
	passed := make([]uint8, len(b.groups))
	for i, t := range tests {
		if !t.Off {
			b.put(t, passed, 1<<i)
		}
	}
	cells := make([]int32, len(c.all)<<len(tests))
	for g, class := range c.of {
		cells[int(class)<<len(tests)|int(passed[g])] += b.groups[g].n
	}
	for cell, n := range cells {
		if n > 0 {
			show(b.member(s, c, int32(cell>>len(tests)), uint(cell)&(1<<len(tests)-1), n))
		}
	}
}

// A passed remembers which groups passed a test, for the next rules that ask the same of the
// same call.
type passed struct {
	name, value string
	groups      []bool
}

// maxPassed is how many tests are remembered.
const maxPassed = 4

// put applies a test to all groups, and sets the bit of each that passes.
func (b *Book) put(t Test, into []uint8, bit uint8) {
	if t.Name == "" {
		for g, ok := b.places[t.Value]; ok && g >= 0; g = b.groups[g].older {
			into[g] |= bit
		}
		return
	}
	i := slices.IndexFunc(b.passed, func(p passed) bool { return p.name == t.Name && p.value == t.Value })
	if i < 0 {
		if len(b.passed) == maxPassed {
			b.bytes -= len(b.passed[0].groups)
			b.passed = slices.Delete(b.passed, 0, 1)
		}
		i = len(b.passed)
		b.passed = append(b.passed, passed{name: t.Name, value: t.Value})
	}
	p := &b.passed[i]
	b.bytes += len(b.groups) - len(p.groups)
	for _, g := range b.groups[len(p.groups):] {
		p.groups = append(p.groups, t.Holds(g.place, t.Value))
	}
	for g, passes := range p.groups {
		if passes {
			into[g] |= bit
		}
	}
}
