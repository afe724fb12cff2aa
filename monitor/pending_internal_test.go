package monitor

import (
	"fmt"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/journal"
)

// Questions are kept up to a bound. Then expired ones are dropped first, and after that the eighth
// that expires first.
func TestPendingIsBounded(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	q := newQuestions()
	add := func(i int, at time.Time) {
		id := fmt.Sprint(i)
		q.add(journal.Session{ID: floodmark.SessionID(id)}, approval.Ticket{ID: floodmark.TicketID(id), Expires: now.Add(time.Duration(i+1) * time.Second)}, at)
	}
	for i := range maxPending {
		add(i, now)
	}
	if got := q.of("", now); len(got) != maxPending || q.count != maxPending || got[0].Ticket != "0" {
		t.Fatalf("%d at the limit, the first is %s", len(got), got[0].Ticket)
	}
	add(maxPending, now)
	const forgotten = maxPending/8 + 1
	if got := q.of("", now); len(got) != q.count || q.count != maxPending-forgotten+1 || got[0].Ticket != "513" {
		t.Errorf("%d one beyond the limit, the first is %s", len(got), got[0].Ticket)
	}
	for i := maxPending + 1; q.count < maxPending; i++ {
		add(i, now)
	}
	add(2*maxPending, now.Add(613*time.Second))
	if got := q.of("", now); len(got) != q.count || q.count != maxPending-100+1 || got[0].Ticket != "613" {
		t.Errorf("%d when some have expired, the first is %s", len(got), got[0].Ticket)
	}
}
