package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/secret/redact"
	"github.com/floodmark/floodmark/internal/shell/shellscan"
	"github.com/floodmark/floodmark/internal/store/sqlitejournal"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/provenance"
)

// How precision is measured: decisions in a session that has seen seenBytes of content, and
// each reader of text alone.
const (
	seenBytes     = 1 << 20
	warmDecisions = 10_000
	warmRun       = 50
	coldDecisions = 400
	takenResults  = 1000
	readings      = 20_000
	redactedBytes = 8 << 10
)

// A precise is one figure of precision. Times are in microseconds. P50, P99 and P999 are by
// the clock. CPUP50 and CPUP99 are the computing time of the thread, which a busy machine
// changes less.
type precise struct {
	Name   string  `json:"name"`
	Count  int     `json:"count,omitempty"`
	P50    float64 `json:"p50_us,omitempty"`
	P99    float64 `json:"p99_us,omitempty"`
	P999   float64 `json:"p999_us,omitempty"`
	CPUP50 float64 `json:"cpu_p50_us,omitempty"`
	CPUP99 float64 `json:"cpu_p99_us,omitempty"`
	// Bytes is how much was read, or how much the session takes on disk.
	Bytes int64   `json:"bytes,omitempty"`
	Ratio float64 `json:"ratio,omitempty"` // of the bytes kept to those of the content
	Goal  float64 `json:"goal,omitempty"`
	Met   *bool   `json:"met,omitempty"`
}

// timed runs f n times and returns the quantiles of its times. If before is not nil, it is
// called before each f, and its time is not counted.
func timed(name string, n int, goal float64, before, f func(i int) error) (precise, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	wall, cpu := make([]time.Duration, n), make([]time.Duration, n)
	for i := range n {
		if before != nil {
			if err := before(i); err != nil {
				return precise{}, fmt.Errorf("%s: %w", name, err)
			}
		}
		used, began := threadTime(), time.Now()
		if err := f(i); err != nil {
			return precise{}, fmt.Errorf("%s: %w", name, err)
		}
		wall[i], cpu[i] = time.Since(began), threadTime()-used
	}
	us := func(list []time.Duration, q float64) float64 {
		return round(quantile(list, q) / float64(time.Microsecond))
	}
	p := precise{Name: name, Count: n, P50: us(wall, 0.5), P99: us(wall, 0.99), P999: us(wall, 0.999), CPUP50: us(cpu, 0.5), CPUP99: us(cpu, 0.99)}
	if goal > 0 {
		met := p.P99 <= goal
		p.Goal, p.Met = goal, &met
	}
	return p, nil
}

// threadTime returns the computing time of this thread.
func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0 // the time is only shown, and no goal is set for it
	}
	return time.Duration(t.Nano())
}

// precision measures decisions with a megabyte of content seen, warm and cold, what that
// content takes on disk, and the readers of text.
func precision(ctx context.Context, o options) error {
	e := newEvidence(ctx, "bench-precision", o)
	dir, err := os.MkdirTemp(o.dir, "bench-precision-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	seen, err := decided(ctx, filepath.Join(dir, "journal.db"), newTexts(o.seed))
	if err != nil {
		return err
	}
	read, err := readers(newTexts(o.seed))
	if err != nil {
		return err
	}
	all := append(seen, read...)
	enc := json.NewEncoder(os.Stdout)
	for _, p := range all {
		if err := enc.Encode(p); err != nil {
			return err
		}
	}
	e.Figures = all
	return e.write(o.json)
}

// An unwaited is a journal that drops every batch once it is stopped, so that a decision does
// not wait for the disk. That wait is measured without -precision.
type unwaited struct {
	journal.Journal
	stopped atomic.Bool
}

func (u *unwaited) Append(ctx context.Context, b journal.Batch) error {
	if u.stopped.Load() {
		return nil
	}
	return u.Journal.Append(ctx, b)
}

// decided measures decisions in a session that has seen a megabyte.
func decided(ctx context.Context, path string, t *texts) (list []precise, err error) {
	rules, err := shippedRules()
	if err != nil {
		return nil, err
	}
	store, err := sqlitejournal.Open(ctx, path, sqlitejournal.Options{})
	if err != nil {
		return nil, err
	}
	j := &unwaited{Journal: store}
	defer func() { err = errors.Join(err, store.Close()) }()
	life := &lived{ctx: ctx, rules: rules, journal: j, texts: t, now: slowLife()}
	if err := life.see(); err != nil {
		return nil, err
	}
	kept, err := life.kept(path)
	if err != nil {
		return nil, err
	}
	j.stopped.Store(true)
	warm, err1 := timed("decision with 1 MB of content seen, warm", warmDecisions, 250, life.untilCall, life.ask)
	cold, err2 := timed("decision with 1 MB of content seen, session and index cold", coldDecisions, 5000, life.restart, life.ask)
	result, err3 := timed("result of a tool taken in, realistic mix, 1 MB seen before", takenResults, 0, life.untilResult, life.ask)
	return []precise{warm, cold, kept, result}, errors.Join(err1, err2, err3, life.monitor.Close())
}

// A lived is a session with the monitor that judges it.
type lived struct {
	ctx     context.Context
	rules   kernel.Rules
	journal journal.Journal
	texts   *texts
	now     func() time.Time
	monitor *monitor.Monitor
	events  int
	content int64
}

func (l *lived) handle(ev hook.Event) error {
	reply, err := l.monitor.Handle(l.ctx, "", ev)
	l.content += int64(len(ev.Result.Text))
	return answered(ev, reply, err)
}

func (l *lived) fresh() (err error) {
	l.monitor, err = newMonitor(l.journal, l.rules, provenance.Key{1}, l.now, nil)
	return err
}

// see handles events until the session has seen a megabyte.
func (l *lived) see() error {
	if err := l.fresh(); err != nil {
		return err
	}
	for _, ev := range opening(sessionName(1)) {
		if err := l.handle(ev); err != nil {
			return err
		}
	}
	for ; l.content < seenBytes; l.events++ {
		if err := l.handle(l.texts.event(sessionName(1), l.events)); err != nil {
			return err
		}
	}
	return nil
}

// kept measures what the session takes on disk, with all that SQLite adds.
func (l *lived) kept(path string) (precise, error) {
	copied := path + ".copy" // in a copy, what is also in the log is counted once
	if err := vacuum(l.ctx, path, copied); err != nil {
		return precise{}, err
	}
	info, err := os.Stat(copied)
	if err != nil {
		return precise{}, err
	}
	met := float64(info.Size()) <= 2*float64(l.content)
	return precise{
		Name: "bytes on disk for 1 MB of content: facts, index and snapshot", Bytes: info.Size(),
		Ratio: round(float64(info.Size()) / float64(l.content)), Goal: 2, Met: &met,
	}, nil
}

// ask handles the next event of the realistic mix.
func (l *lived) ask(int) error {
	l.events++
	return l.handle(l.texts.event(sessionName(1), l.events-1))
}

// restart replaces the monitor by a new one, which remembers nothing, and skips events up to
// the next call.
func (l *lived) restart(int) error {
	l.skip(hook.BeforeToolCall)
	return errors.Join(l.monitor.Close(), l.fresh())
}

func (l *lived) skip(to hook.Point) {
	for l.texts.event(sessionName(1), l.events).Point != to {
		l.events++
	}
}

// untilCall handles events up to the next call.
func (l *lived) untilCall(i int) error { return l.until(i, hook.BeforeToolCall) }

// untilResult handles events up to the next result.
func (l *lived) untilResult(i int) error { return l.until(i, hook.AfterToolCall) }

// until handles events up to the next one at a point. Every warmRun times it restarts, so that
// the session is read from the journal again and has seen not much more than a megabyte.
func (l *lived) until(i int, to hook.Point) error {
	if i%warmRun == 0 {
		if err := errors.Join(l.restart(i), l.ask(i)); err != nil {
			return err
		}
	}
	for l.texts.event(sessionName(1), l.events).Point != to {
		if err := l.ask(i); err != nil {
			return err
		}
	}
	return nil
}

// everyday is a command line of about 200 bytes as coding agents write it.
const everyday = `cd /p/internal/app && git status --short && go test ./... -run 'TestOne|TestTwo' 2>&1 | grep -v "no test files" | tail -20; for f in *.go; do sed -n 1,40p "$f" | head -5; done; ls -la | sort -k 5 -n`

// readers measures how long finding secrets, reading a command line, and indexing take.
func readers(t *texts) ([]precise, error) {
	rules, err := shippedRules()
	if err != nil {
		return nil, err
	}
	secrets, commands, place := redact.New(), rules.Catalog.Commands(), shellscan.Place{Dir: "/p", Home: "/home/u"}
	secrets.Find("warm")
	found, err1 := timed("redaction of 8 KB", readings, 100, nil, func(i int) error {
		secrets.Find(t.kinds[i%len(t.kinds)][i*64:][:redactedBytes])
		return nil
	})
	found.Bytes = redactedBytes
	scanned, err2 := timed("shell scan of 200 bytes", readings, 0, nil, func(int) error {
		shellscan.Scan(everyday, place, commands)
		return nil
	})
	scanned.Bytes = int64(len(everyday))
	var ix provenance.Indexer
	indexed, err3 := timed("index of 8 KB", readings/10, 0, nil, func(i int) error {
		ix.Postings(provenance.Key{1}, t.kinds[i%len(t.kinds)][i*64:][:redactedBytes])
		return nil
	})
	indexed.Bytes = redactedBytes
	return []precise{found, scanned, indexed}, errors.Join(err1, err2, err3)
}
