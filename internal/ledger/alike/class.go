package alike

import (
	"slices"

	"github.com/floodmark/floodmark"
)

// A Class is what one rule looks at in a source. The rule cannot distinguish groups of the same
// class. Fields that the rule does not look at are zero.
type Class struct {
	Bits       uint64 // what the rule derives from the source alone
	Trust      floodmark.Trust
	Kind, Tool string
}

// A Teller returns a function that returns the class of a source for one rule. The function is used
// for many sources in a row, so that work common to them is done once.
type Teller func() func(*floodmark.Origin, floodmark.Trust) Class

// classes are the classes of the groups for one rule.
type classes struct {
	tell  Teller
	ids   map[Class]int32
	all   []Class
	n     []int32 // how many live sources each class has
	first []int32 // the oldest group of each class
	of    []int32 // the class of each group
	upTo  int     // how much of the book's log is included
	over  bool    // the classes did not fit into the book
}

// A Test is a condition on a source's place that depends on the call.
type Test struct {
	// Name and Value identify the condition: tests with the same name and value have the same
	// results. A test without a name is whether the place is Value.
	Name, Value string
	Holds       func(place, value string) bool
	Off         bool // the result does not matter
}

// MaxTests bounds the tests of one rule.
const MaxTests = 8

// maxCells bounds the combinations of a class and the tests it may pass.
const maxCells = 1 << 16

// A Member represents N sources of one class that pass the same tests. Origin and Trust are those
// of one source of the class, which may pass other tests.
type Member struct {
	Origin *floodmark.Origin
	Trust  floodmark.Trust
	Class  Class
	Passed uint // a bit for each test
	N      int
}

// Count calls show with the live sources of a session as members, so that each source is in exactly
// one member. Key names the rule: the same key must always come with the same Teller. If there are
// too many sources, Count returns false and does not call show.
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
		*c = classes{over: true} // so that they are not computed again at each call
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

// size returns how many bytes of the book the classes take.
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
		if int(change.group) < known { // newer groups were just added with their current number
			c.n[c.of[change.group]] += change.by
		}
	}
	c.upTo = len(b.log)
	b.bytes += c.size() - was
}

// id returns the id of the class of the next group. It adds the class if it is new.
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

// showPlaces shows the members if each test is only whether the place is its value. All sources of
// a class at other places are then one member.
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

// A passed remembers which groups passed a test, for other rules with the same test for the same
// call.
type passed struct {
	name, value string
	groups      []bool
}

// maxPassed is how many tests are remembered.
const maxPassed = 4

// put applies a test to all groups, and sets the bit of each group that passes.
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
