package tally_test

import (
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/reports/tally"
	"github.com/floodmark/floodmark/internal/rules/finding"
)

func table(t *testing.T) *finding.Table {
	t.Helper()
	shipped, _, err := finding.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	return shipped
}

// Every question has an answer or a step that ends it, or is said to have none.
func TestEnding(t *testing.T) {
	run := []floodmark.Effect{floodmark.Run}
	page := floodmark.Source{Origin: floodmark.Origin{Kind: floodmark.FromTool, Place: "news.example"}}
	for want, c := range map[string]struct {
		action floodmark.Action
		basis  *floodmark.Basis
		codes  []floodmark.Code
		behind []floodmark.Source
	}{
		"cannot be read":                 {basis: nil},
		"floodmark policy catalog s/t":   {action: floodmark.Action{Tool: floodmark.ToolRef{Server: "s", Name: "t"}}, basis: &floodmark.Basis{Undescribed: true}},
		"describe the tool t":            {action: floodmark.Action{Tool: floodmark.ToolRef{Name: "t"}}, basis: &floodmark.Basis{Undescribed: true}},
		"do it yourself":                 {action: floodmark.Action{Effects: []floodmark.Effect{floodmark.Admin}}, basis: &floodmark.Basis{}},
		"a secret that left":             {action: floodmark.Action{Effects: run}, basis: &floodmark.Basis{}, codes: []floodmark.Code{floodmark.FlowSecret}},
		"floodmark trust .":              {action: floodmark.Action{Effects: run}, basis: &floodmark.Basis{}, behind: []floodmark.Source{page, {Origin: floodmark.Origin{Kind: floodmark.FromCheckout}}}},
		"what no box gives":              {action: floodmark.Action{Effects: run}, basis: &floodmark.Basis{Boxable: true}, codes: []floodmark.Code{floodmark.OutsideBox}},
		"floodmark prove --box":          {action: floodmark.Action{Effects: run}, basis: &floodmark.Basis{Boxable: true}},
		"this one has read news.example": {action: floodmark.Action{Effects: run}, basis: &floodmark.Basis{}, behind: []floodmark.Source{page}},
		"name the package":               {action: floodmark.Action{Effects: run}, basis: &floodmark.Basis{Strange: true}},
		"name the package in your":       {action: floodmark.Action{Effects: run}, basis: &floodmark.Basis{Findings: []floodmark.Finding{floodmark.FetchesPackage}}},
		"name the folder":                {action: floodmark.Action{Effects: []floodmark.Effect{floodmark.Change}}, basis: &floodmark.Basis{Wipes: true}},
		"name the folder in your":        {action: floodmark.Action{Effects: []floodmark.Effect{floodmark.Change}}, basis: &floodmark.Basis{Findings: []floodmark.Finding{floodmark.DeletesFolder}}},
		"update Floodmark":               {action: floodmark.Action{Effects: []floodmark.Effect{floodmark.Change}}, basis: &floodmark.Basis{Findings: []floodmark.Finding{"of-tomorrow"}}},
		"write what goes into “to”": {
			action: floodmark.Action{Effects: []floodmark.Effect{floodmark.Send}, Arguments: []floodmark.Argument{{Path: "to", Whence: floodmark.Seen}}}, basis: &floodmark.Basis{},
		},
		"name where it goes": {action: floodmark.Action{Effects: []floodmark.Effect{floodmark.Send}}, basis: &floodmark.Basis{}},
		"a yes for longer":   {action: floodmark.Action{Effects: []floodmark.Effect{floodmark.Change}}, basis: &floodmark.Basis{}},
	} {
		f := floodmark.ActionDecided{Action: c.action, Basis: c.basis}
		for _, code := range c.codes {
			f.Decision.Reasons = append(f.Decision.Reasons, floodmark.Reason{Code: code})
		}
		if got := tally.Ending(f, c.behind, table(t)); !strings.Contains(got, want) {
			t.Errorf("want %q, got %q", want, got)
		}
	}
}

// A rule that asked more than once and for which no line is proposed is listed, with the reason and
// with what ends its questions. A single question is not a repeat.
func TestRepeats(t *testing.T) {
	ask := func(session string, ticket floodmark.TicketID) *tally.Question {
		f := ran("go run .", floodmark.Decision{Reasons: []floodmark.Reason{{Rule: "table.run.untrusted"}}})
		f.Basis = &floodmark.Basis{}
		return &tally.Question{Session: session, Ticket: ticket, At: time.Unix(1, 0), Fact: f}
	}
	a := &tally.Account{Questions: []*tally.Question{ask("s1", "t1"), ask("s2", "t1"), ask("s2", "t2")}}
	got := a.Repeats(nil, table(t))
	if len(got) != 1 || got[0].Questions != 3 || got[0].Sessions != 2 || got[0].Such != "go run ." || got[0].Why != "it runs code" || got[0].Ends == "" {
		t.Errorf("%+v", got)
	}
	if got := a.Repeats(a.Questions[:2], table(t)); len(got) != 0 {
		t.Errorf("one question repeats: %+v", got)
	}
}
