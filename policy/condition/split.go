package condition

import (
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/ledger/alike"
)

// A split is a condition about a source that is taken apart, so that it is evaluated for groups of
// sources. What depends on the source alone is evaluated once for each group, a test of its place
// against the call once for each place, and the rest once for each class of groups.
type split struct {
	walk  bool // the whole condition is evaluated for each source
	alone []readTruth
	tests []placeTest
	once  []readTruth // what depends on no source and is answered by the library

	trust, kind, tool bool // the rest looks at this field of a source
}

// maxAlone is how many parts of a condition may depend on a source alone.
const maxAlone = 32

// A placeTest compares the place of a source with a text.
type placeTest struct {
	name  string // see [alike.Test]
	holds func(place, value string) bool
	value func(*Question) held
}

// A held is the value that a place is compared with. The field is tells what it is: a text (yep), a
// value of another kind, which equals no place (no), or that there is no value (failed).
type held struct {
	text string
	is   truth
}

// counted compiles a count of the live sources by the outcome of a condition about each.
func (c *compiler) counted(source string, body ast.Expr) (func(*Question) tally, bool) {
	whole, groups := &split{walk: true}, &split{}
	c.source, c.split = source, whole
	defer func() { c.source, c.split = "", nil }()
	c.library = false
	each, ok := c.each(body)
	if !ok {
		return nil, false
	}
	bound := c.library
	c.split = groups
	grouped, ok := c.each(body)
	ok = ok && len(groups.alone) <= maxAlone && len(groups.tests) <= alike.MaxTests
	sole := len(groups.alone) == 1 && c.alone(body) // the whole condition depends on the source alone
	return func(q *Question) (t tally) {
		if bound && q.Sources.Ledger != nil && q.Sources.Ledger.Len() > maxLibrary {
			t[failed]++
			return t
		}
		if sole && groups.ask(q, nil, func(m alike.Member) { t[m.Class.Bits] += m.N }) {
			return t
		}
		one := *q
		if ok {
			tests := groups.begin(&one)
			if groups.ask(q, tests, func(m alike.Member) {
				one.about.origin, one.about.trust, one.about.bits, one.about.passed = m.Origin, m.Trust, m.Class.Bits, m.Passed
				t[grouped(&one)] += m.N
			}) {
				return t
			}
		}
		whole.begin(&one)
		q.Sources.each(func(o *floodmark.Origin, trust floodmark.Trust) {
			one.about.origin, one.about.trust = o, trust
			t[each(&one)]++
		})
		return t
	}, true
}

// ask calls show for the groups of live sources. It returns false if they cannot be grouped.
func (s *split) ask(q *Question, tests []alike.Test, show func(alike.Member)) bool {
	from := q.Sources
	return from.Ledger != nil && from.Counts != nil && from.Counts.Count(from.Ledger, s, s.classes, tests, show)
}

// each compiles the condition about each source. Without a name for the source it is always true.
func (c *compiler) each(body ast.Expr) (readTruth, bool) {
	if c.source == "" {
		return func(*Question) truth { return yep }, true
	}
	return c.truth(body)
}

// begin evaluates what is the same for all sources.
func (s *split) begin(one *Question) (tests []alike.Test) {
	one.about = &about{}
	for _, f := range s.once {
		one.about.once = append(one.about.once, f(one))
	}
	for _, t := range s.tests {
		v := t.value(one)
		one.about.values = append(one.about.values, v)
		tests = append(tests, alike.Test{Name: t.name, Value: v.text, Holds: t.holds, Off: v.is != yep})
	}
	return tests
}

// classes returns what finds the class of a source: all that the condition can tell of it.
func (s *split) classes() func(*floodmark.Origin, floodmark.Trust) alike.Class {
	one := Question{about: &about{}}
	return func(o *floodmark.Origin, trust floodmark.Trust) (class alike.Class) {
		one.about.origin, one.about.trust = o, trust
		for i, f := range s.alone {
			class.Bits |= uint64(f(&one)) << (2 * i)
		}
		if s.trust {
			class.Trust = trust
		}
		if s.kind {
			class.Kind = string(o.Kind)
		}
		if s.tool {
			class.Tool = toolOf(o)
		}
		return class
	}
}

// part compiles a part of a condition about a source that is not evaluated for each class.
func (c *compiler) part(e ast.Expr) (readTruth, bool) {
	s := c.split
	if s == nil || s.walk || e.Kind() == ast.LiteralKind {
		return nil, false
	}
	if c.alone(e) {
		c.split = &split{walk: true}
		f, ok := c.truth(e)
		c.split = s
		at := 2 * len(s.alone)
		s.alone = append(s.alone, f)
		return func(q *Question) truth { return truth(q.about.bits >> at & 3) }, ok
	}
	return c.held(e)
}

// held compiles a test that compares the place of a source with something of the call.
func (c *compiler) held(e ast.Expr) (readTruth, bool) {
	s := c.split
	if s == nil {
		return nil, false
	}
	t, ok := c.placeTest(e)
	if !ok {
		return nil, false
	}
	at, negate := len(s.tests), e.AsCall().FunctionName() == operators.NotEquals
	s.tests = append(s.tests, t)
	passed := func(q *Question, _ string) bool { return q.about.passed>>at&1 == 1 }
	if s.walk {
		passed = func(q *Question, text string) bool { return t.holds(q.about.origin.Place, text) }
	}
	return func(q *Question) truth {
		v := q.about.values[at]
		if v.is == failed {
			return failed
		}
		return truthOf((v.is == yep && passed(q, v.text)) != negate)
	}, true
}

// placeTest recognises an expression that compares the place of a source with something else.
func (c *compiler) placeTest(e ast.Expr) (placeTest, bool) {
	if e.Kind() != ast.CallKind {
		return placeTest{}, false
	}
	call := e.AsCall()
	sides, name := call.Args(), call.FunctionName()
	if call.IsMemberFunction() {
		sides = append([]ast.Expr{call.Target()}, sides...)
	}
	if len(sides) != 2 || c.isPlace(sides[0]) == c.isPlace(sides[1]) {
		return placeTest{}, false
	}
	other, left := sides[1], true
	if c.isPlace(other) {
		other, left = sides[0], false
	}
	if c.mentionsSource(other) {
		return placeTest{}, false
	}
	holds, named := textTests()[name]
	switch name {
	case operators.Equals, operators.NotEquals:
		read, ok := c.equalTo(other)
		return placeTest{holds: func(a, b string) bool { return a == b }, value: read}, ok
	case operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals:
		less, equal, greater := outcomes(name)
		holds = func(a, b string) bool { return [...]truth{less, equal, greater}[strings.Compare(a, b)+1] == yep }
		named = true
	}
	value, ok := c.textOf(other)
	if !left {
		test, turned := holds, name+" of it"
		name, holds = turned, func(place, v string) bool { return test(v, place) }
	}
	return placeTest{name, holds, value}, ok && named
}

// textOf compiles a text with which a place is compared. It fails for any other value.
func (c *compiler) textOf(e ast.Expr) (func(*Question) held, bool) {
	if read, ok := c.anyText(e); ok {
		return func(q *Question) held {
			if text, ok := read(q); ok {
				return held{text, yep}
			}
			return held{is: failed}
		}, true
	}
	read, ok := c.leftText(e)
	return func(q *Question) held {
		v := read(q)
		if v.is == no {
			v.is = failed
		}
		return v
	}, ok
}

// equalTo compiles a value to which a place may be equal. It need not be a text.
func (c *compiler) equalTo(e ast.Expr) (func(*Question) held, bool) {
	key, ok := c.argument(e)
	if !ok {
		if _, ok := c.text(e); ok {
			return c.textOf(e)
		}
		return c.leftText(e)
	}
	return func(q *Question) held {
		switch l := q.leaf(key); {
		case l == nil:
			return held{is: failed}
		case l.Kind != hook.String:
			return held{is: no}
		default:
			return held{l.Value, yep}
		}
	}, true
}

// isPlace reports whether an expression is the place of the source that is asked about.
func (c *compiler) isPlace(e ast.Expr) bool {
	return e.Kind() == ast.SelectKind && c.ofSource(e.AsSelect()) && e.AsSelect().FieldName() == "place"
}

// sourceNumber and sourceText compile a field of a source, and note that the field is looked at.
func (c *compiler) sourceNumber(field string) (readNumber, bool) {
	c.split.trust = c.split.trust || field == "trust"
	return func(q *Question) (int64, bool) { return int64(q.about.trust), true }, field == "trust"
}

func (c *compiler) sourceText(field string) (readText, bool) {
	switch field {
	case "kind":
		c.split.kind = true
		return func(q *Question) (string, bool) { return string(q.about.origin.Kind), true }, true
	case "tool":
		c.split.tool = true
		return func(q *Question) (string, bool) { return toolOf(q.about.origin), true }, true
	case "place":
		// Only tests and what depends on a source alone look at its place.
		return func(q *Question) (string, bool) { return q.about.origin.Place, true }, c.split.walk
	}
	return nil, false
}

// textTests returns the functions that test one text by another.
func textTests() map[string]func(string, string) bool {
	return map[string]func(string, string) bool{"startsWith": strings.HasPrefix, "endsWith": strings.HasSuffix, "contains": strings.Contains}
}
