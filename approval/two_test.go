package approval_test

import (
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
)

// The first of two approvals is valid until the question shows something else.
func TestFirstOfTwo(t *testing.T) {
	shown := floodmark.Shown{Tool: floodmark.ToolRef{Name: "setup"}, Node: 3, Two: true, Codes: []floodmark.Code{floodmark.RuleMatched}}
	for name, c := range map[string]struct {
		change func(*floodmark.Shown)
		want   string
	}{
		"the same":       {func(*floodmark.Shown) {}, "anna"},
		"a new code":     {func(s *floodmark.Shown) { s.Pattern = "x" }, "anna"},
		"a new source":   {func(s *floodmark.Shown) { s.Node++ }, ""},
		"a lower mark":   {func(s *floodmark.Shown) { s.Mark.Trust = floodmark.Shared }, ""},
		"another reason": {func(s *floodmark.Shown) { s.Codes = nil }, ""},
		"another call":   {func(s *floodmark.Shown) { s.ArgsDigest = floodmark.DigestOf("x") }, ""},
		"one is enough":  {func(s *floodmark.Shown) { s.Two = false }, ""},
	} {
		var b approval.Book
		b.Count(floodmark.TicketCounted{Ticket: "t", Person: "nobody"})
		b.Open(floodmark.TicketOpened{Ticket: "t", Shown: []floodmark.Shown{shown}, Expires: time.Unix(9, 0)}, 1)
		b.Count(floodmark.TicketCounted{Ticket: "t", Person: "anna"})
		if !b.Tickets[0].Two() || b.Tickets[0].First != "anna" {
			t.Fatalf("%+v", b.Tickets[0])
		}
		next := shown
		c.change(&next)
		b.Extend(floodmark.TicketExtended{Ticket: "t", Shown: next})
		if b.Tickets[0].First != c.want {
			t.Errorf("%s: %q", name, b.Tickets[0].First)
		}
	}
}
