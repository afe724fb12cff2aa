package truth

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/shellscan"
)

// An outcome is a sample with what was seen.
type outcome struct {
	sample
	Effects  []effect
	Ran      bool // every program it names was there
	TimedOut bool
	Exit     int
	Output   string
}

// A bench runs samples on several workers.
type bench struct {
	workers []*worker
	began   time.Time
}

// startBench starts workers, or ends the test: a machine on which lines cannot
// be watched must not pass for one on which they were.
func startBench(t *testing.T, n int) *bench {
	t.Helper()
	if _, err := os.Stat(strace); err != nil {
		t.Fatal("strace is missing; install it: apt-get install strace")
	}
	b := &bench{began: time.Now()}
	for range n {
		w, err := startWorker()
		if err != nil {
			t.Fatal(err)
		}
		b.workers = append(b.workers, w)
	}
	t.Cleanup(func() {
		for _, w := range b.workers {
			_ = w.close()
		}
	})
	return b
}

// watch runs all samples and returns what was seen, in their order.
func (b *bench) watch(samples []sample) ([]outcome, error) {
	all := make([]outcome, len(samples))
	next := make(chan int)
	errs := make([]error, len(b.workers))
	var wait sync.WaitGroup
	for n, w := range b.workers {
		wait.Go(func() {
			for i := range next {
				if errs[n] != nil {
					continue
				}
				a, err := w.run(samples[i].Line, lineTime)
				errs[n] = err
				all[i] = outcome{samples[i], effectsOf(a.Trace), found(a), a.TimedOut, a.Exit, a.Output}
			}
		})
	}
	for i := range samples {
		next <- i
	}
	close(next)
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// found reports whether a line found the programs it names.
func found(a answer) bool {
	return a.Exit != 127 && !strings.Contains(a.Output, "command not found") && !strings.Contains(a.Output, ": not found")
}

// place is where all lines run, as far as a scanner may know.
func place() shellscan.Place { return shellscan.Place{Dir: project, Home: home} }

// A finding is a report that is not what was seen.
type finding struct {
	sample
	What string
}

func (f finding) String() string {
	return fmt.Sprintf("%s, %s: %q: %s", f.File, f.Class, f.Line, f.What)
}

// below is how the report on a line falls short of what was seen.
func (j *judge) below(o *outcome) []finding {
	r := j.report(o.Line)
	if text := missing(r, o.Effects); text != "" {
		return []finding{{o.sample, text + ", judged " + judgedWords(r)}}
	}
	return nil
}

// weak is how a line is judged weaker than its corpus says it is, seen or not.
func (j *judge) weak(s sample) []finding {
	if s.File == "everyday" {
		return nil // there the word is the most
	}
	r := j.report(s.Line)
	text := weaker(r, s.Word)
	if text == "" {
		text = j.weaker(s.Line, s.Word)
	}
	if text == "" {
		return nil
	}
	return []finding{{s, text + "; the report: " + judgedWords(r)}}
}

// above is how an everyday line is judged stronger than it is.
func (j *judge) above(o *outcome) []finding {
	if o.File != "everyday" {
		return nil
	}
	text := j.over(o.Line, o.Word, o.Effects)
	if text == "" {
		return nil
	}
	return []finding{{o.sample, text + "; the report: " + judgedWords(j.report(o.Line))}}
}

// missing names what was seen and is not in a report.
func missing(r *shellscan.Report, seen []effect) string {
	all := underEstimates(r, seen)
	if len(all) == 0 {
		return ""
	}
	texts := make([]string, 0, len(all))
	for _, e := range all[:min(len(all), 4)] {
		texts = append(texts, e.String())
	}
	return fmt.Sprintf("seen %s (%d in all)", strings.Join(texts, ", "), len(all))
}
