package truth

import (
	"os"
	"testing"
	"time"
)

// The goals of a published run.
const (
	wantLines     = 1000
	wantRunnable  = 600
	wantBypass    = 250
	wantEveryday  = 300
	wantEach      = 200  // lines of each construct that had an effect
	mostOver      = 0.03 // the most over-estimates, as a share of the everyday lines
	publishedTime = 10   // a run of so many minutes or more must reach wantEach
	batch         = 200  // generated lines between two looks at the clock
)

// TestTruth compares the scanner's reports with what lines do: the lines of the corpora, and as
// many generated lines as there is time for.
func TestTruth(t *testing.T) {
	if os.Geteuid() != 0 && !*must {
		t.Skip("watching lines needs root")
	}
	if _, err := os.Stat(strace); err != nil && !*must {
		t.Skip("watching lines needs strace")
	}
	j, err := newJudge()
	if err != nil {
		t.Fatal(err)
	}
	f := newFigures(t)
	b := startBench(t, *workers)
	t.Run("corpora", func(t *testing.T) {
		for _, name := range []string{"lines", "bypass", "everyday"} {
			watchCorpus(t, j, b, f, name)
		}
		f.stale(t)
	})
	var kept []madeOutcome
	t.Run("generated", func(t *testing.T) { kept = watchGenerated(t, j, b, f) })
	t.Run("disabled", func(t *testing.T) { disabled(t, j, f, kept) })
	f.write(t)
}

// watchCorpus watches a share of a corpus, or all of it if it is «everyday».
func watchCorpus(t *testing.T, j *judge, b *bench, f *figures, name string) {
	t.Helper()
	began := time.Now()
	all, err := readCorpus(name)
	if err != nil {
		t.Fatal(err)
	}
	c := f.corpus(name, len(all))
	var chosen []sample
	for i, s := range all {
		c.weak(t, j.weak(s))
		if name == "everyday" || (i+int(*seed))%*share == 0 { //nolint:gosec // any seed will do
			chosen = append(chosen, s)
		}
	}
	outcomes, err := b.watch(chosen)
	if err != nil {
		t.Fatal(err)
	}
	for i := range outcomes {
		c.count(t, &outcomes[i], j.below(&outcomes[i]), j.above(&outcomes[i]))
		if o := &outcomes[i]; name == "bypass" && o.Ran && len(o.Effects) == 0 {
			t.Logf("nothing seen: %s %q: exit %d, %.120q", o.Word, o.Line, o.Exit, o.Output)
		}
	}
	c.Seconds = time.Since(began).Seconds()
	if n := len(c.Over) - c.KnownOver; name == "everyday" && float64(n) > mostOver*float64(c.Watched) {
		t.Errorf("%d of %d everyday lines are judged stronger than they are beside %d known ones, at most 3 %% may be", n, c.Watched, c.KnownOver)
	}
}

// A madeOutcome is what a generated line did.
type madeOutcome struct {
	outcome
	Constructs []string
}

// keep is how many generated lines of each construct are kept for [disabled].
const keep = 60

// watchGenerated watches generated lines until the time is over.
func watchGenerated(t *testing.T, j *judge, b *bench, f *figures) []madeOutcome {
	t.Helper()
	g := newGenerator(*seed)
	began := time.Now()
	var kept []madeOutcome
	held := map[string]int{}
	for time.Since(began) < time.Duration(*minutes*float64(time.Minute)) {
		made := make([]generated, batch)
		samples := make([]sample, batch)
		for i := range made {
			made[i] = g.next()
			samples[i] = made[i].sample
		}
		outcomes, err := b.watch(samples)
		if err != nil {
			t.Fatal(err)
		}
		for i := range outcomes {
			m := madeOutcome{outcomes[i], made[i].Constructs}
			f.made(t, &m, j.below(&outcomes[i]))
			if len(m.Effects) > 0 && needed(held, m.Constructs) {
				kept = append(kept, m)
			}
		}
	}
	f.Generated.Seconds = time.Since(began).Seconds()
	for _, construct := range constructs() {
		if n := f.Generated.Constructs[construct].Effective; *minutes >= publishedTime && n < wantEach {
			t.Errorf("construct %s was seen doing something in %d lines only, want %d", construct, n, wantEach)
		}
	}
	return kept
}

// needed reports whether too few lines of one of the constructs are kept, and counts a line for
// each construct.
func needed(held map[string]int, constructs []string) bool {
	few := false
	for _, c := range constructs {
		few = few || held[c] < keep
	}
	for _, c := range constructs {
		held[c]++
	}
	return few
}
