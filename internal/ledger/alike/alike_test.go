package alike

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
)

// sources are invented sources.
type sources struct {
	stands  []byte
	origins []floodmark.Origin
}

func (s *sources) Stands() []byte                { return s.stands }
func (s *sources) Origin(n int) floodmark.Origin { return s.origins[n] }

// change adds sources, or changes the bytes of some.
func (s *sources) change(r *rand.Rand) {
	if len(s.stands) == 0 || r.IntN(3) > 0 {
		s.stands = append(s.stands, byte(r.IntN(6)))
		s.origins = append(s.origins, floodmark.Origin{
			Kind: []floodmark.OriginKind{floodmark.FromTool, floodmark.FromFile}[r.IntN(2)], Server: fmt.Sprint(r.IntN(2)), Name: fmt.Sprint("n", r.IntN(2)), Place: fmt.Sprint("p", r.IntN(9)),
		})
		return
	}
	i := r.IntN(len(s.stands))
	if s.stands[i] ^= Dead; r.IntN(2) == 0 {
		s.stands[i] = byte(r.IntN(6))
	}
}

// rule returns a rule that looks at the trust or at the kind. Tests look at the places.
func rule(trust bool) Teller {
	return func() func(*floodmark.Origin, floodmark.Trust) Class {
		return func(o *floodmark.Origin, t floodmark.Trust) Class {
			if trust {
				return Class{Trust: t}
			}
			if o.Kind != floodmark.FromTool {
				return Class{Kind: string(o.Kind)}
			}
			return Class{Kind: string(o.Kind), Tool: o.Server + o.Name}
		}
	}
}

func tests(r *rand.Rand) (all []Test) {
	for range r.IntN(4) {
		t := Test{Value: fmt.Sprint("p", r.IntN(10)), Off: r.IntN(5) == 0, Holds: func(place, v string) bool { return place == v }}
		switch r.IntN(4) {
		case 0:
			t.Name, t.Holds = "least", func(place, v string) bool { return place >= v }
		case 1:
			t.Name, t.Holds, t.Value = "ends", strings.HasSuffix, fmt.Sprint(r.IntN(9))
		}
		all = append(all, t)
	}
	return all
}

type cell struct {
	class  Class
	passed uint
}

// A book counts the same as a new count of all sources, whatever the changes were.
func TestLawABookCountsAsAWalkWould(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 9))
	for range 60 {
		s, b := &sources{}, &Book{}
		for range 120 {
			for range r.IntN(12) {
				s.change(r)
			}
			trust, asked := r.IntN(2) == 0, tests(r)
			got, want := map[cell]int{}, map[cell]int{}
			tell := rule(trust)
			ok := b.Count(s, trust, tell, asked, func(m Member) {
				if tell()(m.Origin, m.Trust) != m.Class {
					t.Fatalf("%+v is not of the class %+v", m.Origin, m.Class)
				}
				got[cell{m.Class, m.Passed}] += m.N
			})
			for i, stands := range s.stands {
				if stands&Dead == 0 {
					want[cell{tell()(&s.origins[i], floodmark.Trust(stands)), passes(asked, s.origins[i].Place)}]++
				}
			}
			if !ok || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%v, walked %v\n%+v", got, want, asked)
			}
		}
		if b.Size() < sourceBytes*int64(len(s.stands)) || b.Size() > 1<<16 {
			t.Fatalf("%d sources take %d bytes", len(s.stands), b.Size())
		}
	}
}

func passes(tests []Test, place string) (passed uint) {
	for i, t := range tests {
		if !t.Off && t.Holds(place, t.Value) {
			passed |= 1 << i
		}
	}
	return passed
}

// The memory of a book is bounded. Beyond the bound nothing is counted.
func TestBooksAreBounded(t *testing.T) {
	s, b := &sources{}, &Book{}
	r := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		s.change(r)
	}
	count := func(key any) bool { return b.Count(s, key, rule(true), nil, func(Member) {}) }
	if !count("a") {
		t.Fatal("a small session is too large")
	}
	b.bytes = maxBytes - 4*len(b.groups)
	if count("b") || b.kept["b"].size() != 0 || !count("a") {
		t.Error("a rule is remembered beyond the bound")
	}
	for range 3 * block { // a rule for which there was no room stays unknown
		if s.change(r); count("b") {
			t.Fatal("a rule for which there was no room is remembered")
		}
	}
	b.bytes = maxBytes + 1
	s.stands, s.origins = append(s.stands, 0), append(s.origins, floodmark.Origin{})
	if count("a") {
		t.Error("a source is remembered beyond the bound")
	}
}

// If there are too many combinations of classes and tests, no members are shown.
func TestTooManyMembers(t *testing.T) {
	s, b := &sources{}, &Book{}
	for i := range maxCells>>1 + 1 {
		s.stands, s.origins = append(s.stands, 0), append(s.origins, floodmark.Origin{Kind: floodmark.FromTool, Name: fmt.Sprint(i)})
	}
	ask := []Test{{Name: "is", Holds: func(string, string) bool { return true }}}
	if !b.Count(s, "a", rule(false), nil, func(Member) {}) || b.Count(s, "a", rule(false), ask, func(Member) { t.Error("shown") }) {
		t.Error("not where the bound is")
	}
}

// If the session is shorter than before, it is another session.
func TestABookOfAnotherSession(t *testing.T) {
	b := &Book{}
	for _, stands := range [][]byte{{1, 2, 3}, {0, 1}, {0, Dead}} {
		s, n := &sources{stands: stands, origins: slices.Repeat([]floodmark.Origin{{}}, 3)}, 0
		b.Count(s, "a", rule(true), nil, func(m Member) { n += m.N })
		if want := len(stands) - strings.Count(string(stands), string([]byte{Dead})); n != want {
			t.Errorf("%v: %d live", stands, n)
		}
	}
}

// The class of each group is computed only once.
func TestEachGroupIsToldOnce(t *testing.T) {
	s, b := &sources{}, &Book{}
	r, told := rand.New(rand.NewPCG(2, 2)), 0
	tell := func() func(*floodmark.Origin, floodmark.Trust) Class {
		return func(*floodmark.Origin, floodmark.Trust) Class { told++; return Class{} }
	}
	for range 3000 {
		s.change(r)
		b.Count(s, "a", tell, nil, func(Member) {})
	}
	if told != len(b.groups) || told > 2*2*2*9*6 {
		t.Errorf("%d groups were told %d times", len(b.groups), told)
	}
}
