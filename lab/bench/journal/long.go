package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/store/sqlitejournal"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/provenance"
)

// How a long session is measured, and the goals for it.
const (
	earlyCalls  = 1_000   // it is measured first after so many calls
	windowCalls = 500     // the last calls before a measurement, whose times are taken
	perMessage  = 200     // calls for each message of the owner
	longGrowth  = 1.3     // the most that a decision at the end may take, by one at the beginning
	longDisk    = 4 << 10 // the most bytes on disk for each call, without SQLite's log

	residentCalls = 20_000      // up to so many calls, a session may take residentBytes
	residentBytes = 150_000_000 // of memory
)

// An aged holds what a session costs after so many calls. Times are computing times of the thread,
// except Longest.
type aged struct {
	Name     string  `json:"name"`
	Calls    int     `json:"calls"`
	P50      float64 `json:"decision_cpu_p50_us"`
	P99      float64 `json:"decision_cpu_p99_us"`
	Result   float64 `json:"result_cpu_p50_us"`
	Longest  float64 `json:"longest_ms"` // by the clock, of all events so far
	Heap     int64   `json:"heap_bytes"`
	Resident int64   `json:"resident_bytes"`
	Most     int64   `json:"most_resident_bytes"`    // the most at any time
	Resting  int64   `json:"resting_resident_bytes"` // after unused memory went back to the system
	Disk     int64   `json:"disk_bytes"`
	PerCall  float64 `json:"disk_bytes_a_call"`
	// Growth are P50 and P99 divided by those at the beginning of the session.
	Growth []float64 `json:"p50_p99_growth,omitempty"`
	Met    *bool     `json:"growth_and_disk_met,omitempty"`
	Memory *bool     `json:"memory_met,omitempty"`
}

// A workday is one session of a coding agent that only reads files and runs commands, all of which
// is allowed. Each result has about two kilobytes, cut from another place of the texts. The texts
// are in a file, because the memory of this process is measured.
type workday struct {
	texts   *os.File
	sizes   []int64 // of each kind of text
	monitor *monitor.Monitor
	calls   int
	longest time.Duration
}

const daySession = "session-1"

func (w *workday) call(k int) hook.Event {
	name := fmt.Sprintf("c%06d", k)
	if k%3 == 2 {
		return toolCall(daySession, name, "exec", fmt.Sprintf(`{"command":"git log --oneline -n %06d"}`, k))
	}
	return toolCall(daySession, name, "read", fmt.Sprintf(`{"path":"internal/part%03d/notes%06d.go"}`, k%500, k))
}

func newWorkday(seed uint64, path string) (*workday, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	w := &workday{texts: file}
	for _, all := range newTexts(seed).kinds {
		if _, err := file.WriteString(all); err != nil {
			return nil, errors.Join(err, file.Close())
		}
		w.sizes = append(w.sizes, int64(len(all)))
	}
	return w, nil
}

func (w *workday) result(k int) (string, error) {
	kind := k % len(w.sizes)
	at := int64(uint64(k) * 0x9e3779b97f4a7c15 >> 32 % uint64(w.sizes[kind]-2*middleBytes))
	for _, size := range w.sizes[:kind] {
		at += size
	}
	text := make([]byte, 2*middleBytes)
	_, err := w.texts.ReadAt(text, at)
	_, text, _ = bytes.Cut(text, []byte("\n"))
	return string(text[:min(middleBytes, len(text))]), err
}

// step tells the monitor of one call and its result, and returns the computing time of each.
func (w *workday) step(ctx context.Context) (decision, result time.Duration, err error) {
	if w.calls%perMessage == 0 {
		owner := floodmark.Origin{Kind: floodmark.FromSender, Sender: "owner", IsOwner: true}
		said := hook.Event{Agent: agent, Session: daySession, Point: hook.MessageReceived, Origin: owner, Text: fmt.Sprintf("go on with part %d: tidy up its tables and run its tests", w.calls/perMessage)}
		if _, err := w.tell(ctx, said); err != nil {
			return 0, 0, err
		}
	}
	before := w.call(w.calls)
	after := before
	text, err := w.result(w.calls)
	if err != nil {
		return 0, 0, err
	}
	after.Point, after.Result = hook.AfterToolCall, hook.Result{Text: text}
	w.calls++
	if decision, err = w.tell(ctx, before); err != nil {
		return 0, 0, err
	}
	result, err = w.tell(ctx, after)
	return decision, result, err
}

func (w *workday) tell(ctx context.Context, ev hook.Event) (time.Duration, error) {
	used, began := threadTime(), time.Now()
	reply, err := w.monitor.Handle(ctx, "", ev)
	took := threadTime() - used
	w.longest = max(w.longest, time.Since(began))
	return took, answered(ev, reply, err)
}

// longDay measures one session of o.long calls.
func longDay(ctx context.Context, o options) error {
	e := newEvidence(ctx, "bench-long", o)
	dir, err := os.MkdirTemp(o.dir, "bench-long-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	list, err := longSession(ctx, o, filepath.Join(dir, "journal.db"))
	if err != nil {
		return err
	}
	e.Figures = list
	return e.write(o.json)
}

func longSession(ctx context.Context, o options, path string) (list []aged, err error) {
	rules, err := codingRules()
	if err != nil {
		return nil, err
	}
	store, err := sqlitejournal.Open(ctx, path, sqlitejournal.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	w, err := newWorkday(o.seed, path+".texts")
	if err != nil {
		return nil, err
	}
	defer w.texts.Close()
	c := configured(store, rules, provenance.Key{1}, time.Now, nil)
	c.SpillDir, c.Limits = filepath.Dir(path), monitor.Limits{}
	if w.monitor, err = monitor.New(c); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.monitor.Close()) }()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if _, err := w.tell(ctx, hook.Event{Agent: agent, Session: daySession, Point: hook.SessionStart, Project: "/work/p", Home: "/home/u"}); err != nil {
		return nil, err
	}
	for at := earlyCalls; ; at = min(at*10, o.long) {
		g, err := w.until(ctx, at)
		if err != nil {
			return nil, err
		}
		if g.Disk, err = store.Size(); err != nil {
			return nil, err
		}
		if err := vacuum(ctx, path, path+".copy"); err != nil {
			return nil, err
		}
		info, err := os.Stat(path + ".copy")
		if err != nil {
			return nil, err
		}
		g.PerCall = round(float64(info.Size()) / float64(at))
		if err := os.Remove(path + ".copy"); err != nil {
			return nil, err
		}
		if at > earlyCalls {
			g.grownFrom(list[0])
		}
		list = append(list, g)
		if err := json.NewEncoder(os.Stdout).Encode(g); err != nil {
			return nil, err
		}
		if at == o.long {
			return list, heapProfile(o.heap)
		}
	}
}

// grownFrom compares a session with its beginning and says whether the goals for growth and disk
// are met.
func (a *aged) grownFrom(first aged) {
	a.Growth = []float64{round(a.P50 / first.P50), round(a.P99 / first.P99)}
	met := a.Growth[0] <= longGrowth && a.Growth[1] <= longGrowth && a.PerCall <= longDisk
	a.Met = &met
}

// until goes on until the session has the given number of calls, and measures the last of them.
func (w *workday) until(ctx context.Context, calls int) (aged, error) {
	var decisions, results []time.Duration
	for w.calls < calls {
		decision, result, err := w.step(ctx)
		if err != nil {
			return aged{}, err
		}
		if w.calls > calls-windowCalls {
			decisions, results = append(decisions, decision), append(results, result)
		}
	}
	resident, err := memoryOf(os.Getpid(), "VmRSS")
	most, more := memoryOf(os.Getpid(), "VmHWM")
	debug.FreeOSMemory()
	resting, rest := memoryOf(os.Getpid(), "VmRSS")
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	us := func(list []time.Duration, q float64) float64 {
		return round(quantile(list, q) / float64(time.Microsecond))
	}
	a := aged{
		Name: fmt.Sprintf("a session of %d calls", calls), Calls: calls, P50: us(decisions, 0.5), P99: us(decisions, 0.99), Result: us(results, 0.5),
		Longest: round(float64(w.longest) / float64(time.Millisecond)), Heap: int64(mem.HeapAlloc), Resident: resident, Most: most, Resting: resting,
	}
	if calls <= residentCalls {
		met := resident <= residentBytes
		a.Memory = &met
	}
	return a, errors.Join(err, more, rest)
}

func heapProfile(file string) error {
	if file == "" {
		return nil
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	return pprof.WriteHeapProfile(f)
}
