package e2e

import (
	"time"

	"github.com/floodmark/floodmark/approval"
)

// approve is the owner, on a channel of his own, saying yes to what is asked: once, or
// for some time.
func (w *world) approve(lasts time.Duration) {
	for _, p := range w.monitor.Pending("") {
		got, err := w.monitor.Answer(w.t.Context(), p.Session, approval.Command{
			Verb: approval.Approve, Tool: approval.All, Ticket: p.Ticket, Calls: p.Calls, By: "owner", Channel: "test", For: lasts,
			Picked: p.Questions[len(p.Questions)-1].Place(),
		})
		if w.t.Logf("%s", got.Notice); err != nil {
			w.t.Error(err)
		}
	}
}
