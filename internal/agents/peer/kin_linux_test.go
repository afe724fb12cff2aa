package peer

import (
	"os"
	"slices"
	"testing"
)

// Open files have the same content as the system's, at the first and at the second reading.
func TestKinSayWhatTheSystemSays(t *testing.T) {
	k := Local()
	for range 3 {
		want, err := Trace(System{}, os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		got, err := Trace(k, os.Getpid())
		if err != nil || !same(got, want) {
			t.Fatalf("got %s, %v, want %s", got.Line(), err, want.Line())
		}
		for i, up := range got.Ancestors {
			if w := want.Ancestors[i]; up.Name != w.Name || !slices.Equal(up.Command, w.Command) || up.Terminal != w.Terminal || up.Parent != w.Parent {
				t.Errorf("ancestor %d is %+v, want %+v", i, up, w)
			}
		}
	}
}

// The number of open files is bounded.
func TestKinAreBounded(t *testing.T) {
	k := &Kin{known: map[int]*relative{}}
	self := os.Getpid()
	for i := range 4 * maxKin {
		if _, err := k.relative(self); err != nil {
			t.Fatal(err)
		}
		k.known[-i-1] = k.known[self] // another number
		delete(k.known, self)
		if len(k.known) > maxKin {
			t.Fatalf("%d are open", len(k.known))
		}
	}
}

func BenchmarkTrace(b *testing.B) {
	for name, t := range map[string]Table{"system": System{}, "kin": Local()} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Trace(t, os.Getpid()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
