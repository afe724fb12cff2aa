package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/provenance"
)

// A keeper is a journal whose flushes and rows can be counted.
type keeper struct {
	journal.Journal
	flushes func(ctx context.Context, settle bool) (int64, error)
	// rows closes the journal and counts the entries in it.
	rows func(context.Context) (int64, error)
}

func sessionName(i int) floodmark.SessionID {
	return floodmark.SessionID(fmt.Sprintf("session-%07d", i))
}

// A decider answers events with the whole monitor: labels, policy, provenance, hash chain and
// append.
type decider struct {
	keeper  keeper
	mix     *mix
	monitor *monitor.Monitor
	calls   []int // how many events each session has had after its opening
	rows    atomic.Int64
	cold    atomic.Int64 // decisions for which the session had to be read
}

func newDecider(ctx context.Context, k keeper, m *mix, rules kernel.Rules, key provenance.Key) (*decider, error) {
	d := &decider{keeper: k, mix: m, calls: make([]int, m.sessions)}
	lived := make(chan int, m.sessions)
	for i := range m.sessions {
		d.calls[i] = m.calls(i)
		lived <- i
	}
	close(lived)
	err := together(8, func() error {
		for i := range lived {
			batches, err := m.record(ctx, rules, key, sessionName(i), d.calls[i])
			if err != nil {
				return err
			}
			for _, b := range merged(batches) {
				if err := k.Append(ctx, b); err != nil {
					return err
				}
				d.rows.Add(int64(len(b.Records[0].Entries)))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	d.monitor, err = newMonitor(k, rules, key, slowLife(), func(o monitor.Observation) {
		if o.Err == nil {
			d.rows.Add(int64(len(o.Entries)))
		}
		if o.Cold {
			d.cold.Add(1)
		}
	})
	if err != nil {
		return nil, err
	}
	// Each session gets one event, so that the monitor remembers it, as a node remembers its active
	// sessions.
	all := make(chan int, m.sessions)
	for i := range m.sessions {
		all <- i
	}
	close(all)
	return d, together(64, func() error {
		for i := range all {
			if err := d.one(ctx, i); err != nil {
				return err
			}
		}
		return nil
	})
}

// together runs f in n goroutines, waits for all of them, and returns the first error.
func together(n int, f func() error) error {
	var wg sync.WaitGroup
	failed := make(chan error, n)
	for range n {
		wg.Go(func() { failed <- f() })
	}
	wg.Wait()
	close(failed)
	for err := range failed {
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *decider) refill(context.Context) error { return nil }

func (d *decider) one(ctx context.Context, i int) error {
	ev := d.mix.question(sessionName(i), d.calls[i])
	reply, err := d.monitor.Handle(ctx, "", ev)
	d.calls[i]++
	return answered(ev, reply, err)
}

func (d *decider) flushes(ctx context.Context, settle bool) (int64, error) {
	return d.keeper.flushes(ctx, settle)
}
func (d *decider) acknowledged() int64 { return d.rows.Load() }

func (d *decider) kept(ctx context.Context) (int64, error) {
	if err := d.monitor.Close(); err != nil {
		return 0, err
	}
	return d.keeper.rows(ctx)
}

// A prebuilt appends copies of what a recorded session wrote, event by event, to the same
// kind of journal. Nothing is judged, encoded or hashed while it is measured.
type prebuilt struct {
	keeper keeper
	life   []journal.Batch   // of the recorded session
	at     []int             // by session: which batch of life is copied next
	links  []journal.Link    // by session: the entry that the next batch follows
	ready  [][]journal.Batch // by session: the batches prepared for a slice
	each   int               // how many batches are prepared for a slice and session
	rows   atomic.Int64
}

// inRaw is how many events of a session are prepared for a slice of the raw file. They are
// enough for 200,000 events a second.
const inRaw = 16

func newPrebuilt(ctx context.Context, k keeper, sessions int, life []journal.Batch, each int, first func(session int) int) (*prebuilt, error) {
	p := &prebuilt{keeper: k, each: each, life: life, at: make([]int, sessions), links: make([]journal.Link, sessions), ready: make([][]journal.Batch, sessions)}
	all := make(chan int, sessions)
	for i := range sessions {
		all <- i
	}
	close(all)
	return p, together(8, func() error {
		for i := range all {
			var past []journal.Batch
			for range first(i) {
				past = append(past, p.make(i))
			}
			for _, b := range merged(past) {
				if err := k.Append(ctx, b); err != nil {
					return err
				}
				p.rows.Add(int64(len(b.Records[0].Entries)))
			}
		}
		return nil
	})
}

// make makes a session's next batch: a copy of the recorded batch in the session's own chain. Its
// hashes are not real, but they are as long and as random as real ones.
func (p *prebuilt) make(i int) journal.Batch {
	from := p.life[p.at[i]%len(p.life)]
	p.at[i]++
	s := journal.Session{ID: sessionName(i)}
	link := p.links[i]
	r := journal.Record{Session: s, After: link, Snapshot: slices.Clone(from.Records[0].Snapshot)}
	if link.Seq == 0 {
		link.Hash = journal.Genesis(s)
	}
	for _, e := range from.Records[0].Entries {
		e.Prev, e.Seq, e.At = link.Hash, link.Seq+1, time.Now().UnixNano()
		e.Body = slices.Clone(e.Body)
		e.Hash = mixed(e.Hash, i)
		link = e.Link()
		r.Entries = append(r.Entries, e)
	}
	p.links[i] = link
	b := journal.Batch{Records: []journal.Record{r}}
	for _, c := range from.Contents {
		c.Digest = floodmark.Digest(mixed(journal.Hash(c.Digest), i))
		b.Contents = append(b.Contents, c)
	}
	for _, a := range from.Artifacts {
		a.Key = floodmark.Digest(mixed(journal.Hash(a.Key), i))
		a.Session, a.Seq = s.ID, link.Seq
		b.Artifacts = append(b.Artifacts, a)
	}
	return b
}

func mixed(h journal.Hash, i int) journal.Hash {
	n := uint64(i+1) * 0x9e3779b97f4a7c15
	for at := 0; at < len(h); at += 8 {
		binary.BigEndian.PutUint64(h[at:], binary.BigEndian.Uint64(h[at:])^n)
	}
	return h
}

func (p *prebuilt) refill(context.Context) error {
	for i := range p.ready {
		for len(p.ready[i]) < p.each {
			p.ready[i] = append(p.ready[i], p.make(i))
		}
	}
	return nil
}

func (p *prebuilt) one(ctx context.Context, i int) error {
	if len(p.ready[i]) == 0 {
		return errSpent
	}
	b := p.ready[i][0]
	p.ready[i] = p.ready[i][1:]
	if err := p.keeper.Append(ctx, b); err != nil {
		return err
	}
	p.rows.Add(int64(len(b.Records[0].Entries)))
	return nil
}

func (p *prebuilt) flushes(ctx context.Context, settle bool) (int64, error) {
	return p.keeper.flushes(ctx, settle)
}
func (p *prebuilt) acknowledged() int64                     { return p.rows.Load() }
func (p *prebuilt) kept(ctx context.Context) (int64, error) { return p.keeper.rows(ctx) }
