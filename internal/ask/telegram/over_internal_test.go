package telegram

import (
	"errors"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/verify"
)

// noon is the time in these tests.
var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// A question may end while its card is being recorded, and while cards that were not asked again
// are looked for. Its card then says how it ended, not just that it is over, and is not recorded as
// open.
func TestACardThatEndsWhileItIsLookedAt(t *testing.T) {
	b, err := Open(Options{Client: &Client{}, Key: []byte("k"), Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	ch, err := b.Channel(Audience{Chat: 7, Users: []int64{7}}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	queued := func() int {
		b.sender.mu.Lock()
		defer b.sender.mu.Unlock()
		return len(b.sender.ready)
	}
	c, _, err := ch.take(approval.Ticket{ID: "t-1", Calls: 1, Expires: noon.Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	c.message = 1
	note := noted{Kind: kindQuestion, Ticket: "t-1", Chat: 7, Message: 1, Expires: noon.Add(time.Hour)}
	if err := b.memo.note(note); err != nil {
		t.Fatal(err)
	}
	ch.end(c, approval.Outcome{Verdict: floodmark.Allow})
	if queued() != 1 || len(b.memo.all()) != 0 {
		t.Fatalf("%d changes, %d notes", queued(), len(b.memo.all()))
	}
	b.over(note) // the card was read before its question ended
	if queued() != 1 {
		t.Error("somebody who looked before changes it again")
	}
	if err := b.memo.note(note); err != nil { // the card is recorded only now
		t.Fatal(err)
	}
	b.forget(ch, nil)
	if queued() != 1 {
		t.Error("a note that came late changes it again")
	}
	old := noted{Kind: kindQuestion, Ticket: "t-old", Chat: 7, Message: 2}
	if err := b.memo.note(old); err != nil {
		t.Fatal(err)
	}
	b.forget(ch, nil)
	if queued() != 2 {
		t.Error("a card of a former life does not say that it is over")
	}
}

// An agent may stop waiting while the card is under way, or as it arrives: whichever comes later
// updates the card, and the card is not recorded as open.
func TestACardThatArrivesAsItsCallEnds(t *testing.T) {
	b, err := Open(Options{Client: &Client{}, Key: []byte("k"), Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	g, err := b.Gate(GateOptions{Name: "phone", Who: Audience{Chat: 7, Users: []int64{7}}})
	if err != nil {
		t.Fatal(err)
	}
	gone := errors.New("gone")
	for n, order := range []string{"arrives first", "ends first"} {
		id, w, err := g.begin(verify.Request{Tool: "exec"})
		if err != nil {
			t.Fatal(err)
		}
		steps := []func(){
			func() { g.arrived(id, w, 1) },
			func() {
				if _, err := g.end(id, w, overHead, verify.Answer{}, gone); !errors.Is(err, gone) {
					t.Errorf("%s: %v", order, err)
				}
			},
		}
		steps[n]()
		steps[1-n]()
		if len(b.sender.ready) != n+1 || len(b.memo.all()) != 0 || g.has(id) {
			t.Errorf("%s: %d changes of cards, %d notes", order, len(b.sender.ready)-n, len(b.memo.all()))
		}
	}
	// A press that came earlier is accepted.
	id, w, err := g.begin(verify.Request{Tool: "exec"})
	if err != nil {
		t.Fatal(err)
	}
	w.decided = true
	w.said <- touched{allow: true, user: 7}
	if got, err := g.end(id, w, overHead, verify.Answer{}, gone); err != nil || !got.Allow {
		t.Errorf("%+v, %v", got, err)
	}
}
