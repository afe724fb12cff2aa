package truth

import (
	"testing"
	"time"
)

func TestGenerated(t *testing.T) {
	b := startBench(t, *workers)
	g := newGenerator(*seed)
	idle := map[string]int{}
	uses := map[string]int{}
	n := 0
	for time.Since(b.began) < time.Duration(*minutes*float64(time.Minute)) {
		var lines []generated
		var samples []sample
		for range 100 {
			l := g.next()
			lines, samples = append(lines, l), append(samples, l.sample)
		}
		out, err := b.watch(samples)
		if err != nil {
			t.Fatal(err)
		}
		for i, o := range out {
			n++
			for _, c := range lines[i].Constructs {
				uses[c]++
				if len(o.Effects) == 0 {
					idle[c]++
				}
			}
			if len(o.Effects) == 0 || o.TimedOut {
				t.Logf("IDLE %v %v %q: %.100s", o.TimedOut, o.Class, o.Line, o.Output)
			}
		}
	}
	for c, k := range uses {
		t.Logf("COUNT %s %d idle %d", c, k, idle[c])
	}
	t.Log(n)
}
