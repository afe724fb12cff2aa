package e2e

import (
	"time"

	"github.com/floodmark/floodmark/approval"
)

// approve has the owner approve everything that is asked, on a channel of their own, once or for
// some time.
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
