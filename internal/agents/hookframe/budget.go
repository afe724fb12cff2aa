package hookframe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
)

// MaxInFlight bounds the bytes of all events that are being read or judged at once, of all senders.
// Judging takes about six times the bytes of an event, so this keeps a flood below two gigabytes.
const MaxInFlight = 256 << 20

// A part of the budget is kept for small events, so that large ones cannot use all of it.
const (
	smallEvent   = 64 << 10
	keptForSmall = 8 // one part in so many
)

// ErrFull says that too many bytes are in flight, and FullHint what to do.
var ErrFull = errors.New("too much is being judged at once")

// FullHint is what people and agents can do about [ErrFull].
const FullHint = "Try again in a moment; if this happens often, report large content in parts."

// A Budget counts the bytes of events in flight. It is safe for concurrent use.
type Budget struct {
	limit int64
	used  atomic.Int64
	whole *Budget // the budget this is a share of; nil if none
}

// NewBudget returns a budget of so many bytes.
func NewBudget(limit int64) *Budget { return &Budget{limit: limit} }

// Share returns a budget whose bytes are also taken from b.
func (b *Budget) Share(limit int64) *Budget { return &Budget{limit: limit, whole: b} }

// give gives bytes back.
func (b *Budget) give(n int64) {
	for ; b != nil; b = b.whole {
		b.used.Add(-n)
	}
}

// Used is how many bytes are in flight.
func (b *Budget) Used() int64 { return b.used.Load() }

// take counts n more bytes of an event that already has held bytes. If they do not fit, it counts
// nothing and returns an error.
func (b *Budget) take(held, n int64) error {
	if b.whole != nil {
		if err := b.whole.take(held, n); err != nil {
			return err
		}
	}
	limit := b.limit
	if held+n > smallEvent {
		limit -= limit / keptForSmall
	}
	for {
		used := b.used.Load()
		if used+n > limit {
			b.whole.give(n)
			return fmt.Errorf("%w (%d bytes in flight, at most %d)", ErrFull, used, b.limit)
		}
		if b.used.CompareAndSwap(used, used+n) {
			return nil
		}
	}
}

// A Claim counts the bytes that one event takes from a budget. The caller of [Budget.Claim] must
// release it once, and each caller of [Hold] once more.
type Claim struct {
	budget  *Budget
	bytes   atomic.Int64
	holders atomic.Int64
}

// Claim begins an event with no bytes. Bytes are counted as they are read, so an announced length
// reserves nothing.
func (b *Budget) Claim() *Claim {
	c := &Claim{budget: b}
	c.holders.Store(1)
	return c
}

// Release ends one hold. The last release gives the bytes back.
func (c *Claim) Release() {
	if c.holders.Add(-1) == 0 {
		c.budget.give(c.bytes.Swap(0))
	}
}

// Reader returns a reader that reads from r and counts the bytes. Beyond the budget it fails with
// [ErrFull]; the bytes returned with that error are not counted, and must not be kept.
func (c *Claim) Reader(r io.Reader) io.Reader { return &counted{from: r, claim: c} }

type counted struct {
	from  io.Reader
	claim *Claim
	full  error // returned by all further reads
}

func (r *counted) Read(p []byte) (int, error) {
	if r.full != nil {
		return 0, r.full
	}
	n, err := r.from.Read(p)
	if r.full = r.claim.budget.take(r.claim.bytes.Load(), int64(n)); r.full != nil {
		return n, r.full
	}
	r.claim.bytes.Add(int64(n))
	return n, err
}

type (
	budgetKey struct{}
	claimKey  struct{}
)

// WithBudget sets the budget for what is served under ctx.
func WithBudget(ctx context.Context, b *Budget) context.Context {
	return context.WithValue(ctx, budgetKey{}, b)
}

// budgetOf returns the budget of ctx, or a new one.
func budgetOf(ctx context.Context) *Budget {
	if b, ok := ctx.Value(budgetKey{}).(*Budget); ok {
		return b
	}
	return NewBudget(MaxInFlight)
}

// WithClaim sets the event that ctx is about.
func WithClaim(ctx context.Context, c *Claim) context.Context {
	return context.WithValue(ctx, claimKey{}, c)
}

// Size is how many bytes the event that ctx is about has taken.
func Size(ctx context.Context) int64 {
	if c, ok := ctx.Value(claimKey{}).(*Claim); ok {
		return c.bytes.Load()
	}
	return 0
}

// Hold keeps the bytes of ctx's event counted until release is called. It is for work that goes on
// after the event was answered.
func Hold(ctx context.Context) (release func()) {
	c, ok := ctx.Value(claimKey{}).(*Claim)
	if !ok {
		return func() {}
	}
	c.holders.Add(1)
	return c.Release
}
