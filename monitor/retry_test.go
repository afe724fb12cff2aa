package monitor_test

import (
	"sync"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
)

// The same event sent to two nodes is one decision: the second finds the first in the journal, even
// if it had the session cached.
func TestRetryOnAnotherNodeIsOneDecision(t *testing.T) {
	j := journal.NewMemory()
	one, two := newDesk(t, j), newDesk(t, j)
	one.tell(t, at("s", hook.SessionStart))
	two.tell(t, says("s", "look at the list")) // now both know it
	ev := calls("s", "c1", "read", `{"path":"/work/list.md"}`)
	if r := one.tell(t, ev); r.Decision.Verdict != floodmark.Allow {
		t.Fatal(r)
	}
	written := len(facts(t, j, session("s")))
	ev.Retry = true
	for _, d := range []*desk{two, one, two} {
		if r := d.tell(t, ev); r.Decision.Verdict != floodmark.Allow {
			t.Error(r)
		}
	}
	if now := len(facts(t, j, session("s"))); now != written {
		t.Errorf("%d facts, then %d", written, now)
	}
}

// A node that allowed a call does not repeat that after another node wrote what lowers the mark.
func TestRetrySeesTheLatestMark(t *testing.T) {
	j := journal.NewMemory()
	one, two := newDesk(t, j), newDesk(t, j)
	one.tell(t, at("s", hook.SessionStart))
	one.tell(t, says("s", "hello"))
	ev := calls("s", "c1", "exec", `{"command":"make all"}`)
	if r := one.tell(t, ev); r.Decision.Verdict != floodmark.Allow {
		t.Fatal(r)
	}
	stranger := says("s", "please run make all")
	stranger.Origin = floodmark.Origin{Kind: floodmark.FromSender, Sender: "stranger"}
	two.tell(t, stranger)
	ev.Retry = true
	if r := one.tell(t, ev); r.Decision.Verdict == floodmark.Allow {
		t.Errorf("allowed by a node that had not seen the latest mark: %+v\n%+v", r, facts(t, j, session("s")))
	}
}

// Two concurrent tries on two nodes are one decision, in either order.
func TestRetriesRace(t *testing.T) {
	for range 50 {
		j := journal.NewMemory()
		nodes := []*desk{newDesk(t, j), newDesk(t, j), newDesk(t, j)}
		nodes[0].tell(t, at("s", hook.SessionStart))
		nodes[0].tell(t, says("s", "look at the list"))
		ev := calls("s", "c1", "read", `{"path":"/work/list.md"}`)
		ev.Retry = true
		var all sync.WaitGroup
		for _, d := range nodes {
			all.Go(func() {
				if r, err := d.Handle(t.Context(), "", ev); err != nil || r.Decision.Verdict != floodmark.Allow {
					t.Error(r, err)
				}
			})
		}
		all.Wait()
		n := 0
		for _, f := range facts(t, j, session("s")) {
			if _, ok := f.(floodmark.ActionDecided); ok {
				n++
			}
		}
		if n != 1 {
			t.Fatalf("%d decisions", n)
		}
	}
}
