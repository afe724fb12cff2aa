package httpapi_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
	"github.com/floodmark/floodmark/internal/service/httpapi"
)

// The bytes of all events together are bounded. One more event is refused with a reason and a hint,
// in every protocol, while small events still pass.
func TestEventsTogetherAreBounded(t *testing.T) {
	const limit = 8 << 20
	b := hookframe.NewBudget(limit)
	claim := b.Claim()
	if _, err := io.Copy(io.Discard, claim.Reader(strings.NewReader(strings.Repeat("x", limit-limit/8-1)))); err != nil {
		t.Fatal(err)
	}
	var counted int64
	judge := func(ctx context.Context, tenant string, ev hook.Event) (hook.Reply, error) {
		counted = b.Used()
		return allow(), nil
	}
	c := serve(t, as(agent(), httpapi.NewHookHandler(hooksFunc(judge), httpapi.Options{Budget: b})))
	big := `{"point":"session_end","agent":"a","session":"s","text":"` + strings.Repeat("x", 1<<20) + `"}`
	status, said := post(t, c, handleURL, big)
	if status != 200 || strings.Contains(said, `"allow"`) || !strings.Contains(said, hookframe.ErrFull.Error()) || !strings.Contains(said, hookframe.FullHint) {
		t.Errorf("beyond: %d %s", status, said)
	}
	if _, said := post(t, c, handleURL, `{"point":"session_end","agent":"a","session":"s"}`); !strings.Contains(said, `"allow"`) {
		t.Errorf("a small one: %s", said)
	}
	claim.Release()
	if _, said := post(t, c, handleURL, big); !strings.Contains(said, `"allow"`) || counted < 1<<20 {
		t.Errorf("afterwards: %s, %d bytes counted", said, counted)
	}
	if b.Used() != 0 {
		t.Errorf("%d bytes are still counted", b.Used())
	}
}
