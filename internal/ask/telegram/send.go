package telegram

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Telegram accepts about thirty messages a second from a bot, one a second in a chat, and short
// bursts of more. Further messages wait in a queue. New questions come before edits of old ones,
// and a question that expires earlier comes first.

// The limits of the queue.
const (
	maxSenders  = 8    // messages that are sent at the same time
	maxQueued   = 4096 // waiting messages
	firstPause  = 500 * time.Millisecond
	longPause   = 15 * time.Second
	slowFor     = time.Minute // after Telegram's rate limit (429)
	slowPace    = time.Second // between two messages in that time
	editWorthIt = 10 * time.Minute
)

var errFull = errors.New("telegram: too many messages wait to be sent")

// An urgency orders messages: a smaller one is sent earlier.
type urgency int

const (
	newCard urgency = iota
	oldCard
)

// An errand is a message to send or to change.
type errand struct {
	urgency urgency
	by      time.Time // of the same urgency, the earliest is sent first
	until   time.Time // not sent after this time
	// do sends the message. moot, unless nil, reports whether it is not needed any more. done,
	// unless nil, is called once with the result.
	do   func(context.Context) error
	moot func() bool
	done func(error)

	turn  uint64 // breaks ties: the errand that was added first is sent first
	after time.Time
	tries int
}

// errands is a heap of the errands that may be sent now.
type errands []*errand

// Len implements [heap.Interface].
func (e errands) Len() int { return len(e) }

// Less implements [heap.Interface].
func (e errands) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(e[i].urgency, e[j].urgency), e[i].by.Compare(e[j].by), cmp.Compare(e[i].turn, e[j].turn)) < 0
}

// Swap implements [heap.Interface].
func (e errands) Swap(i, j int) { e[i], e[j] = e[j], e[i] }

// Push implements [heap.Interface].
func (e *errands) Push(x any) {
	if one, ok := x.(*errand); ok {
		*e = append(*e, one)
	}
}

// Pop implements [heap.Interface].
func (e *errands) Pop() any {
	last := len(*e) - 1
	one := (*e)[last]
	(*e)[last] = nil
	*e = (*e)[:last]
	return one
}

// A sender sends the queue.
type sender struct {
	now func() time.Time

	mu      sync.Mutex // guards what is below
	ready   errands
	delayed []*errand
	turn    uint64
	wake    chan struct{} // closed when something has changed
	silent  time.Time     // nothing is sent before this time
	slow    time.Time     // until then, one message per slowPace
	last    time.Time     // when the last message was begun
}

func newSender(now func() time.Time) *sender {
	return &sender{now: now, wake: make(chan struct{})}
}

// add queues an errand.
func (s *sender) add(e *errand) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.ready)+len(s.delayed) >= maxQueued {
		return errFull
	}
	s.turn++
	e.turn = s.turn
	heap.Push(&s.ready, e)
	s.ring()
	return nil
}

func (s *sender) ring() {
	close(s.wake)
	s.wake = make(chan struct{})
}

// run sends until ctx ends.
func (s *sender) run(ctx context.Context) {
	var work sync.WaitGroup
	for range maxSenders {
		work.Go(func() {
			for e := s.take(ctx); e != nil; e = s.take(ctx) {
				s.try(ctx, e)
			}
		})
	}
	work.Wait()
}

// take waits for the next errand. It returns nil when ctx ends.
func (s *sender) take(ctx context.Context) *errand {
	for {
		e, wake, pause := s.next()
		if e != nil {
			return e
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// next returns an errand that may be sent now, or when to look again.
func (s *sender) next() (*errand, <-chan struct{}, time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	look := longPause
	later := s.delayed[:0]
	for _, e := range s.delayed {
		if now.Before(e.after) {
			later, look = append(later, e), min(look, e.after.Sub(now))
			continue
		}
		heap.Push(&s.ready, e)
	}
	clear(s.delayed[len(later):])
	s.delayed = later
	if len(s.ready) == 0 {
		return nil, s.wake, look
	}
	if now.Before(s.silent) {
		return nil, s.wake, min(look, s.silent.Sub(now))
	}
	if next := s.last.Add(slowPace); now.Before(s.slow) && now.Before(next) {
		return nil, s.wake, min(look, next.Sub(now))
	}
	s.last = now
	e, _ := heap.Pop(&s.ready).(*errand)
	return e, nil, 0
}

// try sends an errand, or puts it back after a transient error.
func (s *sender) try(ctx context.Context, e *errand) {
	if e.moot != nil && e.moot() {
		e.end(nil)
		return
	}
	err := e.attempt(ctx)
	said, known := errors.AsType[*Error](err)
	now := s.now()
	switch {
	case err == nil, !known, said.final(), ctx.Err() != nil, !now.Before(e.until):
		e.end(err)
		return
	}
	pause := min(firstPause<<min(e.tries, 8), longPause)
	e.tries++
	s.mu.Lock()
	defer s.mu.Unlock()
	if said.RetryAfter > 0 {
		pause = said.RetryAfter
		s.silent, s.slow = later(s.silent, now.Add(pause)), now.Add(pause+slowFor)
	}
	e.after = now.Add(pause)
	s.delayed = append(s.delayed, e)
	s.ring()
}

// attempt sends an errand once. It recovers from a panic, which must not end the monitor.
func (e *errand) attempt(ctx context.Context) (err error) {
	defer func() {
		if recover() != nil { // the panic's text is not shown; it may contain content
			err = errors.New("telegram: a fault of the monitor: the message is not sent")
		}
	}()
	return e.do(ctx)
}

func (e *errand) end(err error) {
	if e.done != nil {
		e.done(err)
	}
}

func later(a, b time.Time) time.Time {
	return slices.MaxFunc([]time.Time{a, b}, time.Time.Compare)
}
