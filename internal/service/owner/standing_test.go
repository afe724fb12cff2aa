package owner

import (
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/wire"
)

const standing = `standing:
  - {name: report, agent: openclaw, trigger: cron, job: nightly, call: "send_email to=reports@firm.example", trust: untrusted, secrecy: private, from: "2026-01-01", until: "2026-01-02"}
`

// A standing approval is listed until it expires, is part of the explanation of a call that used
// it, and can only be ended in the policy.
func TestStandingApprovalsAreShown(t *testing.T) {
	r := newRoom(t, standing)
	r.tell("s1", hook.Event{Point: hook.SessionStart})
	r.tell("s1", hook.Event{Point: hook.MessageReceived, Text: "Send the report.", Origin: floodmark.Origin{Kind: floodmark.FromSystem, Name: "cron", Place: "nightly"}})
	fetch := hook.Call{ID: "c1", Name: "web_fetch", Args: []byte(`{"url":"https://news.example/"}`)}
	r.tell("s1", hook.Event{Point: hook.BeforeToolCall, Call: fetch})
	r.tell("s1", hook.Event{Point: hook.AfterToolCall, Call: fetch, Result: hook.Result{Text: "News."}})
	send := hook.Call{ID: "c2", Name: "send_email", Args: []byte(`{"to":"reports@firm.example","body":"all is well"}`)}
	if d := r.tell("s1", hook.Event{Point: hook.BeforeToolCall, Call: send}).Decision; d.Verdict != floodmark.Allow || d.Reasons[0].Rule != "standing.report" {
		t.Fatalf("%+v", d)
	}
	list, err := r.Grants(t.Context(), me(), &wire.GrantsRequest{})
	if err != nil || len(list.GetGrants()) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	g := list.GetGrants()[0]
	if g.GetTicket() != "standing.report" || g.GetScope() != "standing" || g.GetAgent() != "openclaw" || g.GetTrigger() != "cron" || g.GetJob() != "nightly" ||
		g.GetPattern() != "send_email to=reports@firm.example" || !g.GetUntil().AsTime().Equal(time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("%v", g)
	}
	if one, err := r.Grants(t.Context(), me(), &wire.GrantsRequest{Session: "s1"}); err != nil || len(one.GetGrants()) != 0 {
		t.Errorf("in a session: %v, %v", one, err)
	}
	end, err := r.EndGrant(t.Context(), me(), &wire.EndGrantRequest{Session: "s1", Ticket: "standing.report"})
	if err != nil || end.GetDone() || !strings.Contains(end.GetNotice(), "take «report» out of standing") {
		t.Errorf("%v, %v", end, err)
	}
	r.explainsStanding()
	r.later(21 * time.Hour)
	if list, err := r.Grants(t.Context(), me(), &wire.GrantsRequest{}); err != nil || len(list.GetGrants()) != 0 {
		t.Errorf("when it is over: %v, %v", list, err)
	}
}

// explainsStanding checks the explanation of the call that used the standing approval.
func (r *room) explainsStanding() {
	r.t.Helper()
	for _, of := range []string{"s1#5", "s1#6", "s1#7", "s1#8", "s1#9", "s1#10"} {
		why, err := r.Why(r.t.Context(), me(), &wire.WhyRequest{Of: of})
		if err != nil {
			continue
		}
		for _, e := range why.GetExplanations() {
			text := strings.Join(e.GetFollowed(), "; ")
			if strings.Contains(text, "allowed in advance by your policy: «report» under standing") && strings.Contains(text, "send_email was let through") && !strings.Contains(text, "nothing ran") {
				return
			}
		}
	}
	r.t.Error("nothing explains that it was allowed in advance")
}
