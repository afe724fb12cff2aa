package truth

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/shell/shellscan"
)

// An outcome is a sample and what it was seen doing.
type outcome struct {
	sample
	Effects  []effect
	Ran      bool // the shell found every program that the line starts
	TimedOut bool
	Exit     int
	Output   string
}

// A bench runs samples on several workers.
type bench struct {
	workers []*worker
	began   time.Time
}

// startBench starts n workers. If lines cannot be watched on this machine, the test fails, so that
// it does not seem to have passed.
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

// watch runs all samples and returns their outcomes in the same order.
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

// found reports whether the shell found the programs that a line starts.
func found(a answer) bool {
	return a.Exit != 127 && !strings.Contains(a.Output, "command not found") && !strings.Contains(a.Output, ": not found")
}

// place returns the folders in which all lines run, for the scanner.
func place() shellscan.Place { return shellscan.Place{Dir: project, Home: home} }

// A finding is a sample that was judged wrong, and how.
type finding struct {
	sample
	What string
}

func (f finding) String() string {
	return fmt.Sprintf("%s, %s: %q: %s", f.File, f.Class, f.Line, f.What)
}

// below returns a finding if the report on a line does not cover what was seen.
func (j *judge) below(o *outcome) []finding {
	r := j.report(o.Line)
	if text := missing(r, o.Effects); text != "" {
		return []finding{{o.sample, text + ", judged " + judgedWords(r)}}
	}
	return nil
}

// weak returns a finding if a line is judged weaker than the word of its corpus.
func (j *judge) weak(s sample) []finding {
	if s.File == "everyday" {
		return nil // for an everyday line the word is the most it may be judged
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

// above returns a finding if an everyday line is judged stronger than it is.
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

// missing returns a text with what was seen and is not in a report, or the empty string.
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
