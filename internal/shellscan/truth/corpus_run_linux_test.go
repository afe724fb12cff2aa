package truth

import (
	"testing"
)

func TestWatchAll(t *testing.T) {
	var all []sample
	for _, name := range []string{"lines", "bypass", "everyday"} {
		s, err := readCorpus(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s...)
	}
	out, err := startBench(t, *workers).watch(all)
	if err != nil {
		t.Fatal(err)
	}
	ran := map[string]int{}
	for _, o := range out {
		if o.Ran {
			ran[o.File]++
		} else {
			t.Logf("ABSENT %s %q: %.80s", o.File, o.Line, o.Output)
		}
		if o.TimedOut {
			t.Logf("TIMEOUT %q", o.Line)
		}
		if o.Ran && len(o.Effects) == 0 && o.File == "bypass" {
			t.Logf("NOTHING %s %q: %d %.100s", o.Word, o.Line, o.Exit, o.Output)
		}
	}
	t.Log(ran)
}
