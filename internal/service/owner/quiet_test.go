package owner

import (
	"testing"
	"time"

	"github.com/floodmark/floodmark/wire"
)

// In quiet hours, status says so, and a question that is held says until when. It can be shown
// nevertheless.
func TestQuietHoursAreTold(t *testing.T) {
	r := newRoom(t, `approvals: {quiet: {from: "22:00", to: "07:00", zone: UTC, do: hold}}`)
	r.poisoned("s1")
	s, err := r.Status(t.Context(), me(), &wire.StatusRequest{})
	if err != nil || s.GetQuiet() != "quiet until 07:00 UTC: questions wait until then" || s.GetPending() != 1 {
		t.Errorf("status: %v, %v", s, err)
	}
	list, err := r.Pending(t.Context(), me(), &wire.PendingRequest{})
	if err != nil || len(list.GetQuestions()) != 1 {
		t.Fatalf("pending: %v, %v", list, err)
	}
	q := list.GetQuestions()[0]
	if want := time.Date(2026, 1, 2, 7, 0, 0, 0, time.UTC); !q.GetHeld().AsTime().Equal(want) || !q.GetExpires().AsTime().Equal(want.Add(2*time.Minute)) {
		t.Errorf("held until %v, expires %v", q.GetHeld().AsTime(), q.GetExpires().AsTime())
	}
	r.later(4 * time.Hour) // 07:04: it has expired, and the hours are over
	if s, err = r.Status(t.Context(), me(), &wire.StatusRequest{}); err != nil || s.GetQuiet() != "" || s.GetPending() != 0 {
		t.Errorf("status in the morning: %v, %v", s, err)
	}
}

// Without quiet hours nothing mentions them, and when they are over a held question is like any
// other.
func TestQuestionsOfTheMorning(t *testing.T) {
	r := newRoom(t, `approvals: {ttl: 1h, quiet: {from: "22:00", to: "03:30", zone: UTC, do: hold}}`)
	r.poisoned("s1")
	r.later(30 * time.Minute)
	list, err := r.Pending(t.Context(), me(), &wire.PendingRequest{})
	if err != nil || len(list.GetQuestions()) != 1 || list.GetQuestions()[0].GetHeld() != nil {
		t.Errorf("%v, %v", list, err)
	}
	r = newRoom(t)
	r.poisoned("s1")
	if s, err := r.Status(t.Context(), me(), &wire.StatusRequest{}); err != nil || s.GetQuiet() != "" {
		t.Errorf("%v, %v", s, err)
	}
}
