package hookframe_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/agents/hookframe"
)

const small = 64 << 10 // the size up to which events may use the reserved part

func hold(b *hookframe.Budget, n int) (*hookframe.Claim, error) {
	c := b.Claim()
	_, err := io.Copy(io.Discard, c.Reader(bytes.NewReader(make([]byte, n))))
	return c, err
}

// At the limit, one beyond, and after a release.
func TestBudgetCountsAllEventsTogether(t *testing.T) {
	const limit = 8 * 10 * small
	b := hookframe.NewBudget(limit)
	if _, err := hold(b, limit-limit/8); err != nil {
		t.Fatal(err)
	}
	if _, err := hold(b, small+1); !errors.Is(err, hookframe.ErrFull) {
		t.Errorf("a large event beyond the part for large ones: %v", err)
	}
	b = hookframe.NewBudget(limit)
	large, err := hold(b, limit-limit/8)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		if _, err := hold(b, small); err != nil {
			t.Errorf("small event %d: %v", i, err)
		}
	}
	if _, err := hold(b, 1); !errors.Is(err, hookframe.ErrFull) || b.Used() != limit {
		t.Errorf("one byte beyond: %v, %d in flight", err, b.Used())
	}
	large.Release()
	if _, err := hold(b, small+1); err != nil {
		t.Errorf("after one was let go: %v", err)
	}
}

func TestBudgetCountsWhatOutlivesItsAnswer(t *testing.T) {
	b := hookframe.NewBudget(small)
	c, err := hold(b, 100)
	if err != nil {
		t.Fatal(err)
	}
	release := hookframe.Hold(hookframe.WithClaim(t.Context(), c))
	c.Release()
	if b.Used() != 100 {
		t.Errorf("%d bytes while it is still judged", b.Used())
	}
	release()
	if b.Used() != 0 {
		t.Errorf("%d bytes after all let go", b.Used())
	}
	hookframe.Hold(t.Context())() // an event outside any budget
}

// A request beyond the budget gets the reason although it is still sending. Once the others are
// done, such a request is served.
func TestServeRefusesBeyondTheBudget(t *testing.T) {
	l := listen(t)
	b := hookframe.NewBudget(4 << 20)
	others, err := hold(b, 3<<20)
	if err != nil {
		t.Fatal(err)
	}
	var seen int64
	h := func(ctx context.Context, req hookframe.Request) hookframe.Response {
		seen = b.Used()
		return echo(ctx, req)
	}
	done := make(chan error, 1)
	go func() {
		done <- hookframe.ServeAll(hookframe.WithBudget(t.Context(), b), l, func(net.Conn) hookframe.Handler { return h }, nil)
	}()
	big := question()
	big.Raw = []byte(`"` + strings.Repeat("x", 1<<20) + `"`)
	resp, err := hookframe.Ask(dial(t, l), big)
	if err != nil || resp.Exit != hookframe.Refused || !strings.Contains(resp.Stderr, hookframe.FullHint) {
		t.Errorf("beyond the budget: %+v, %v", resp, err)
	}
	if resp, err := hookframe.Ask(dial(t, l), question()); err != nil || resp.Exit != 0 {
		t.Errorf("a small one at the same time: %+v, %v", resp, err)
	}
	others.Release()
	if resp, err := hookframe.Ask(dial(t, l), big); err != nil || resp.Exit != 0 || seen < 1<<20 {
		t.Errorf("afterwards: %+v, %v, %d bytes counted", resp, err, seen)
	}
	_ = l.Close()
	if err := <-done; err != nil || b.Used() != 0 {
		t.Errorf("%v, %d bytes left", err, b.Used())
	}
}

// A share takes from the whole budget, and cannot take all of it. All bytes are given back in the
// end.
func TestBudgetShare(t *testing.T) {
	whole := hookframe.NewBudget(1000)
	mine, yours := whole.Share(600), whole.Share(600)
	a, b, c := mine.Claim(), mine.Claim(), yours.Claim()
	read := func(claim *hookframe.Claim, n int) error {
		_, err := io.ReadAll(claim.Reader(strings.NewReader(strings.Repeat("x", n))))
		return err
	}
	if err := read(a, 600); err != nil {
		t.Error(err)
	}
	if err := read(b, 1); !errors.Is(err, hookframe.ErrFull) {
		t.Errorf("more than a share: %v", err)
	}
	if err := read(c, 400); err != nil {
		t.Errorf("what another's share left: %v", err)
	}
	if err := read(yours.Claim(), 1); !errors.Is(err, hookframe.ErrFull) {
		t.Errorf("more than the whole: %v", err)
	}
	a.Release()
	b.Release()
	c.Release()
	if whole.Used() != 0 || mine.Used() != 0 || yours.Used() != 0 {
		t.Errorf("%d, %d, %d stay", whole.Used(), mine.Used(), yours.Used())
	}
	ctx := hookframe.WithClaim(t.Context(), a)
	if hookframe.Size(ctx) != 0 || hookframe.Size(t.Context()) != 0 {
		t.Error("bytes of nothing")
	}
}
