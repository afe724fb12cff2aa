package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A report is the published result.
type report struct {
	Commit     string    `json:"commit"`
	Seed       uint64    `json:"seed"`
	Began      time.Time `json:"began"`
	Seconds    int       `json:"seconds"`
	Processors int       `json:"processors"`
	// Scheduling says how the whole run was scheduled. With «idle» a hook gets no more time than a
	// bomb in its box, which is worse than on a real machine.
	Scheduling string             `json:"scheduling"`
	Calls      int                `json:"calls"`
	Applied    int                `json:"faultsThatHappened"`
	Outside    int                `json:"outsideWithoutAYes"`
	LeftOut    []string           `json:"leftOut,omitempty"`
	Controls   []control          `json:"controls"`
	Cells      []*cellCount       `json:"cells"`
	Tickets    []ticketCount      `json:"tickets"`
	Hooks      map[string]*timing `json:"hookMilliseconds"`
}

// A control is the result for an agent without a fault.
type control struct {
	Agent   string  `json:"agent"`
	Without string  `json:"withoutAMonitor"`
	Boxed   bool    `json:"boxed"`
	Seconds float64 `json:"seconds"`
}

// A cellCount counts the outcomes of the calls of one cell.
type cellCount struct {
	cell

	Calls   int       `json:"calls"`
	Applied int       `json:"faultHappened"`
	Boxed   int       `json:"boxed"`
	Nothing int       `json:"nothingKept"`
	Outside int       `json:"outside"`
	Hung    int       `json:"endedByUs"`
	Beside  []string  `json:"besideBombs,omitempty"`
	Seconds []float64 `json:"seconds"`
}

// A ticketCount counts attempts to misuse tickets.
type ticketCount struct {
	Try     string `json:"try"`
	Tries   int    `json:"tries"`
	Refused int    `json:"refused"`
	Boxed   int    `json:"boxed"`
	Outside int    `json:"outside"`
}

// A timing is how long hooks took, including their shell.
type timing struct {
	N       int     `json:"n"`
	P50     float64 `json:"p50"`
	P99     float64 `json:"p99"`
	Max     float64 `json:"max"`
	Refused int     `json:"refusedByThemselves"`
	// Late counts hooks that took longer than agents wait by default, or waited under our former
	// settings: 20 s.
	Late int `json:"late"`

	all []float64
}

func newReport(o options) *report {
	return &report{Commit: o.commit, Seed: o.seed, Began: time.Now().UTC().Truncate(time.Second), Processors: runtime.NumCPU(), Scheduling: scheduling(), Hooks: map[string]*timing{}}
}

func scheduling() string {
	const idle = 5
	policy, _, _ := syscall.Syscall(syscall.SYS_SCHED_GETSCHEDULER, 0, 0, 0)
	if policy == idle {
		return "idle"
	}
	return "usual"
}

// add counts an outcome.
func (r *report) add(c cell, o outcome, beside string) {
	i := slices.IndexFunc(r.Cells, func(k *cellCount) bool { return k.cell == c })
	if i < 0 {
		i = len(r.Cells)
		r.Cells = append(r.Cells, &cellCount{cell: c})
	}
	k := r.Cells[i]
	k.Calls++
	r.Calls++
	if o.applied {
		k.Applied++
		r.Applied++
	}
	switch {
	case o.outside:
		k.Outside++
		r.Outside++
	case o.boxed:
		k.Boxed++
	default:
		k.Nothing++
	}
	if o.hung {
		k.Hung++
	}
	if beside != "" {
		k.Beside = append(k.Beside, beside)
	}
	k.Seconds = append(k.Seconds, math.Round(o.seconds*10)/10)
}

// took notes how long a hook took.
func (r *report) took(when string, d time.Duration, refused bool) {
	t := r.Hooks[when]
	if t == nil {
		t = &timing{}
		r.Hooks[when] = t
	}
	t.all = append(t.all, float64(d.Microseconds())/1000)
	if refused {
		t.Refused++
	}
	const agentsWait = 20 * time.Second
	if d >= agentsWait {
		t.Late++
	}
	slices.Sort(t.all)
	at := func(q float64) float64 {
		return math.Round(10*t.all[min(len(t.all)-1, int(q*float64(len(t.all))))]) / 10
	}
	t.N, t.P50, t.P99, t.Max = len(t.all), at(0.5), at(0.99), at(1)
}

func (r *report) write(file string) error {
	slices.SortFunc(r.Cells, func(a, b *cellCount) int { return strings.Compare(a.name(), b.name()) })
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil || file == "" {
		return err
	}
	return os.WriteFile(file, append(data, '\n'), 0o644) //nolint:gosec // it is published
}

// join merges the reports of several runs, with different agents at the same commit.
func join(files []string, to string) error {
	all := &report{Hooks: map[string]*timing{}}
	for i, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var r report
		if err := json.Unmarshal(data, &r); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if i == 0 {
			all.Commit, all.Seed, all.Began, all.Processors, all.Scheduling = r.Commit, r.Seed, r.Began, r.Processors, r.Scheduling
		}
		if r.Commit != all.Commit || r.Scheduling != all.Scheduling {
			return fmt.Errorf("%s is of another commit, or was scheduled otherwise", file)
		}
		all.Seconds, all.Calls, all.Applied, all.Outside = max(all.Seconds, r.Seconds), all.Calls+r.Calls, all.Applied+r.Applied, all.Outside+r.Outside
		all.LeftOut, all.Controls = append(all.LeftOut, r.LeftOut...), append(all.Controls, r.Controls...)
		all.Cells, all.Tickets = append(all.Cells, r.Cells...), append(all.Tickets, r.Tickets...)
		for when, t := range r.Hooks {
			all.Hooks[fmt.Sprintf("%s, beside %s", when, strings.Join(names(r.Controls), " and "))] = t
		}
	}
	return errors.Join(all.write(to), all.verdict())
}

func names(list []control) (names []string) {
	for _, c := range list {
		names = append(names, c.Agent)
	}
	return names
}

// verdict returns an error if anything happened that must not.
func (r *report) verdict() error {
	var wrong []error
	for _, k := range r.Cells {
		if k.Outside > 0 {
			wrong = append(wrong, fmt.Errorf("%s: %d of %d commands ran outside of the box", k.name(), k.Outside, k.Calls))
		}
	}
	for _, t := range r.Tickets {
		if t.Outside > 0 {
			wrong = append(wrong, fmt.Errorf("%s: %d commands ran outside of the box", t.Try, t.Outside))
		}
	}
	for when, t := range r.Hooks {
		if t.Late > 0 {
			wrong = append(wrong, fmt.Errorf("%s: %d hooks of %d came later than agents wait", when, t.Late, t.N))
		}
	}
	fmt.Printf("%d calls, %d with the fault they were for, %d outside without a yes\n", r.Calls, r.Applied, r.Outside)
	return errors.Join(wrong...)
}
