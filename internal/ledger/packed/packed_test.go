package packed

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
)

// fill sets every field of a value.
func fill(rng *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(rng, field)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1+rng.IntN(3), 3))
		for i := range v.Len() {
			fill(rng, v.Index(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(rng, v.Index(i))
		}
	case reflect.String:
		v.SetString(fmt.Sprint("text \xff", rng.IntN(9), strings.Repeat("x", rng.IntN(300))))
	case reflect.Int:
		v.SetInt(int64(rng.Uint64() >> rng.IntN(64)))
	case reflect.Uint8:
		v.SetUint(1 + rng.Uint64N(255))
	case reflect.Bool:
		v.SetBool(true)
	default:
		panic("a field of a new kind: " + v.Kind().String())
	}
}

// some returns a source with some of its fields set.
func some(rng *rand.Rand, n int) (s floodmark.Source) {
	all := reflect.ValueOf(&s).Elem()
	fill(rng, all)
	for _, field := range all.Fields() {
		if rng.IntN(2) == 0 {
			field.SetZero()
		}
	}
	s.Node = floodmark.NodeID(n)
	return s
}

// Every field of a source is stored, also one that is added later.
func TestEveryFieldIsKept(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var want floodmark.Source
	fill(rng, reflect.ValueOf(&want).Elem())
	want.Node = 5
	var s Sources
	for n := range block {
		src := want
		src.Node = floodmark.NodeID(n)
		s.Add(src)
	}
	if got := s.At(5); len(s.full) != 1 || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Packed sources equal a plain list, and their form depends only on that list.
func TestLawPackedIsAList(t *testing.T) {
	for seed := range uint64(15) {
		rng := rand.New(rand.NewPCG(seed, 3))
		var s Sources
		var list []floodmark.Source
		for range 400 {
			switch n := len(list); {
			case n == 0 || rng.IntN(8) > 0:
				list = append(list, some(rng, n))
				s.Add(list[n])
			case rng.IntN(20) > 0:
				at := rng.IntN(n)
				list[at] = some(rng, at)
				s.Put(floodmark.NodeID(at), list[at])
			default:
				at := rng.IntN(n + 1)
				list = list[:at]
				s.Cut(floodmark.NodeID(at))
			}
		}
		hold(t, &s, list)
	}
}

func hold(t *testing.T, s *Sources, list []floodmark.Source) {
	t.Helper()
	var anew Sources
	for i, want := range list {
		anew.Add(want)
		n := floodmark.NodeID(i)
		if got := s.At(n); !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v, want %+v", got, want)
		}
		gist := Gist{want.Label, want.Digest, want.Inputs, want.Links, want.Whole, want.Call != "", len(want.Secrets) > 0}
		if got := s.Gist(n); !reflect.DeepEqual(got, gist) || got.Own() != want.Own() {
			t.Fatalf("%+v, want %+v", got, gist)
		}
	}
	if s.Len() != len(list) || !reflect.DeepEqual(*s, anew) {
		t.Fatalf("%d packed in another way than when made anew, %d", s.Len(), len(list))
	}
}

// A usual source takes at most a third of the memory of its value.
func TestPackedIsSmall(t *testing.T) {
	var s Sources
	for n := range 10 * block {
		s.Add(floodmark.Source{
			Node: floodmark.NodeID(n), Kind: floodmark.NodeInput, Digest: floodmark.DigestOf(fmt.Sprint(n)), Said: "go test",
			Origin: floodmark.Origin{Kind: floodmark.FromTool, Name: "read", Place: fmt.Sprintf("/work/p/internal/part%03d/notes.go", n)},
			Inputs: []floodmark.NodeID{floodmark.NodeID(n / 2)},
		})
	}
	size := 0
	for _, b := range s.full {
		size += len(b)
	}
	if size /= s.Len(); size > 100 {
		t.Errorf("%d bytes", size)
	}
}

func BenchmarkAt(b *testing.B) {
	var s Sources
	for n := range 10 * block {
		s.Add(floodmark.Source{Node: floodmark.NodeID(n), Kind: floodmark.NodeInput, Digest: floodmark.DigestOf(fmt.Sprint(n)), Origin: floodmark.Origin{Kind: floodmark.FromTool, Name: "read", Place: fmt.Sprint("/work/p/", n)}})
	}
	b.Run("At", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			_ = s.At(floodmark.NodeID(i % s.Len()))
		}
	})
	b.Run("Gist", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			_ = s.Gist(floodmark.NodeID(i % s.Len()))
		}
	})
}
