package rules

import (
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/reports/tally"
	"github.com/floodmark/floodmark/kernel/replay"
	"github.com/floodmark/floodmark/policy"
)

// The lines that are printed for a question are a policy that can be loaded, and say the same as
// the question.
func TestStandingFromAQuestion(t *testing.T) {
	mark := floodmark.Label{Trust: floodmark.External, Secrecy: floodmark.Private}
	one := tally.Session{Name: "s"}
	for _, f := range []floodmark.Fact{
		floodmark.SessionOpened{Agent: "openclaw"},
		floodmark.ContentSeen{Source: floodmark.Source{Kind: floodmark.NodeSystemPrompt, Origin: floodmark.Origin{Kind: floodmark.FromSystem, Name: "prompt"}}},
		floodmark.ContentSeen{Source: floodmark.Source{Kind: floodmark.NodeInput, Origin: floodmark.Origin{Kind: floodmark.FromSystem, Name: "cron", Place: "night: \"ly\""}}},
		floodmark.TicketOpened{Ticket: "other", Shown: []floodmark.Shown{{Pattern: "other", Mark: mark}}},
		floodmark.TicketOpened{Ticket: "t", Shown: []floodmark.Shown{{Pattern: `mail to="a b" id=7`, Mark: mark}}},
		floodmark.TicketExtended{Ticket: "t", Shown: floodmark.Shown{Mark: mark}},
	} {
		one.Facts = append(one.Facts, replay.Recorded{Fact: f})
	}
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := policy.Standing{Name: "n", From: day, Until: day.AddDate(0, 0, 30)}
	if standingAsked(one, "none", &policy.Standing{}) || !standingAsked(one, "t", &s) {
		t.Fatal("the question was not found")
	}
	p, problems := policy.Load(policy.Layer{Name: "f", Data: []byte("version: 1\n" + standingLines(s))})
	if problems.Failed() {
		t.Fatalf("%v\n%s", problems, standingLines(s))
	}
	s.Until = s.Until.AddDate(0, 0, 1)
	if got := p.Standing(); len(got) != 1 || got[0] != s || s.Call != `mail to="a b" id=7` || s.Trigger != "cron" || s.Mark != mark {
		t.Errorf("%+v, want %+v", got, s)
	}
	for name, shown := range map[string]floodmark.Shown{
		"a check":  {Pattern: "x", Mark: mark, Others: floodmark.DigestOf("x")},
		"a secret": {Pattern: "x", Mark: floodmark.Label{Trust: floodmark.Local}},
		"no kind":  {Mark: mark},
	} {
		var s policy.Standing
		one.Facts = []replay.Recorded{{Fact: floodmark.TicketOpened{Ticket: "t", Shown: []floodmark.Shown{shown}}}}
		if !standingAsked(one, "t", &s) || s.Call != "" {
			t.Errorf("%s: %+v", name, s)
		}
	}
}
