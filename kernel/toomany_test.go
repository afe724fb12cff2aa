package kernel_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
)

// A session may ask so many questions in an hour, and not one more; an hour later
// it may again.
func TestTooManyQuestions(t *testing.T) {
	d := tainted(t, "approvals: {perHour: 3}")
	ask := func(n int) floodmark.Decision {
		out := d.call("mail", fmt.Sprintf(`{"to":"x%d@firm.example"}`, n))
		if out.Ask != nil {
			d.answer(approval.Command{Verb: approval.Deny, Tool: "all", Ticket: out.Ask.ID})
		}
		return out.Reply.Decision
	}
	for n := range 3 {
		if v := ask(n); v.Verdict != floodmark.Confirm {
			t.Fatalf("question %d: %+v", n, v)
		}
	}
	if v := ask(3); v.Verdict != floodmark.Restrict || v.Reasons[0].Rule != "approvals.perHour" {
		t.Errorf("one more: %+v", v)
	}
	d.at = d.at.Add(59 * time.Minute)
	if v := ask(4); v.Verdict != floodmark.Restrict {
		t.Errorf("too early: %+v", v)
	}
	d.at = d.at.Add(time.Minute)
	if v := ask(5); v.Verdict != floodmark.Confirm {
		t.Errorf("an hour later: %+v", v)
	}
}
