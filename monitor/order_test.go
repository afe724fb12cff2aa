package monitor_test

import (
	"context"
	"slices"
	"sync"
	"testing/synctest"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
)

// A recorder records the order in which entries were written, and which artifacts existed when an
// event looked. It lives in a bubble.
type recorder struct {
	journal.Journal
	turn   chan struct{} // one append after the other
	slow   []bool        // which appends, over and over, let all others come first
	count  int           // of appends; guarded by turn
	mu     sync.Mutex    // guards what is below, and that a look is of one moment
	place  map[journal.Hash]int
	batch  map[journal.Hash]int
	left   []map[floodmark.Digest]bool // by each batch, which keys
	shared int                         // appends that hold more than one event
}

func newRecorder(slow []bool) *recorder {
	return &recorder{Journal: journal.NewMemory(), turn: make(chan struct{}, 1), slow: slow, place: map[journal.Hash]int{}, batch: map[journal.Hash]int{}}
}

func (r *recorder) Append(ctx context.Context, b journal.Batch) error {
	r.turn <- struct{}{}
	defer func() { <-r.turn }()
	r.count++
	if r.slow[r.count%len(r.slow)] {
		synctest.Wait()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.Journal.Append(ctx, b); err != nil {
		return err
	}
	entries := b.Records[0].Entries
	for _, e := range entries {
		r.place[e.Hash], r.batch[e.Hash] = len(r.place), len(r.left)
	}
	keys := map[floodmark.Digest]bool{}
	for _, a := range b.Artifacts {
		keys[a.Key] = true
	}
	r.left = append(r.left, keys)
	if entries[0].At != entries[len(entries)-1].At {
		r.shared++
	}
	return nil
}

// A look is how many batches had been written at an event's last look-up of a key. One event looks
// from one goroutine.
type look map[floodmark.Digest]int

type lookKey struct{}

func looking(ctx context.Context) (context.Context, look) {
	l := look{}
	return context.WithValue(ctx, lookKey{}, l), l
}

// Artifacts implements [journal.Journal].
func (r *recorder) Artifacts(ctx context.Context, tenant string, keys []floodmark.Digest) ([]journal.Artifact, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if saw, ok := ctx.Value(lookKey{}).(look); ok {
		if slices.ContainsFunc(keys, func(k floodmark.Digest) bool { _, ok := saw[k]; return ok }) {
			clear(saw) // it is judged anew, and a judgement looks once for each
		}
		for _, k := range keys {
			saw[k] = len(r.left)
		}
	}
	return r.Journal.Artifacts(ctx, tenant, keys)
}

// A told is an event with its result.
type told struct {
	event   hook.Event
	reply   hook.Reply
	written []journal.Entry
	saw     look
}

// inOrder returns the events that wrote something, in an order in which one node could have got
// them: a session's as written, and an event that saw another session's artifact after its writer,
// one that did not before it. There is no such order if two sessions each missed the other's
// artifact.
func (r *recorder) inOrder(all []told) (order []told, ok bool) {
	all = slices.DeleteFunc(slices.Clone(all), func(x told) bool { return len(x.written) == 0 })
	slices.SortFunc(all, func(a, b told) int { return r.place[a.written[0].Hash] - r.place[b.written[0].Hash] })
	for len(all) > 0 {
		next := slices.IndexFunc(all, func(x told) bool {
			return !slices.ContainsFunc(all, func(y told) bool { return r.before(y, x) })
		})
		if next < 0 {
			return nil, false
		}
		order, all = append(order, all[next]), slices.Delete(all, next, next+1)
	}
	return order, true
}

// before reports whether y has to come before x.
func (r *recorder) before(y, x told) bool {
	if y.event.Session == x.event.Session {
		return r.place[y.written[0].Hash] < r.place[x.written[0].Hash]
	}
	for key, count := range x.saw {
		if b := r.batch[y.written[0].Hash]; r.left[b][key] && b < count {
			return true
		}
	}
	for key, count := range y.saw {
		if b := r.batch[x.written[0].Hash]; r.left[b][key] && b >= count {
			return true
		}
	}
	return false
}
