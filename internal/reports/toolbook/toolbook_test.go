package toolbook_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/reports/tally"
	"github.com/floodmark/floodmark/internal/reports/toolbook"
	"github.com/floodmark/floodmark/kernel/replay"
)

func calls(at time.Time, refs ...floodmark.ToolRef) (s tally.Session) {
	for _, ref := range refs {
		s.Facts = append(s.Facts, replay.Recorded{At: at, Fact: floodmark.ActionDecided{Action: floodmark.Action{Kind: floodmark.CallTool, Tool: ref}}})
	}
	return s
}

func TestBook(t *testing.T) {
	cat, err := catalog.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 19, 4, 0, 0, 0, time.UTC)
	read := floodmark.ToolRef{Agent: "claude-code", Name: "Read"}
	issue := floodmark.ToolRef{Agent: "claude-code", Server: "github", Name: "create_issue"}
	mail := floodmark.ToolRef{Agent: "openclaw", Server: "own", Name: "mail_search"}
	evil := floodmark.ToolRef{Agent: "openclaw", Name: "x\x1b[2J; rm -rf ~\n" + strings.Repeat("y", 500)}
	reply := replay.Recorded{At: now, Fact: floodmark.ActionDecided{Action: floodmark.Action{Kind: floodmark.SendReply, Tool: floodmark.ToolRef{Name: "reply"}}}}
	b := toolbook.Of([]tally.Session{
		calls(now.Add(-time.Hour), read, issue, read, mail), calls(now, read, evil), {Facts: []replay.Recorded{reply}}, calls(now.AddDate(0, -2, 0), floodmark.ToolRef{Agent: "pi", Name: "old"}),
	}, cat, now.AddDate(0, 0, -30))
	text := b.String()
	for _, want := range []string{
		"claude-code\n  Read ", "      3 calls last 2026-11-19  reads: ", "github/create_issue                  1 call  last 2026-11-19  sends: opens",
		"openclaw\n", "own/mail_search                      1 call  last 2026-11-19  not described",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	if strings.Contains(text, "\x1b") || strings.Contains(text, "old") || len(text) > 1000 || strings.Contains(text, "~\n") {
		t.Errorf("%q", text)
	}
	if !strings.Contains(b.Next, "catalog show own/mail_search") || strings.Contains(b.Next, "rm -rf") {
		t.Errorf("%q", b.Next)
	}
	var many []floodmark.ToolRef
	for n := range 201 {
		many = append(many, floodmark.ToolRef{Agent: "pi", Name: fmt.Sprint("t", n)})
	}
	if b := toolbook.Of([]tally.Session{calls(now, many...)}, cat, time.Time{}); len(b.Tools) != 200 || !strings.Contains(b.String(), "and 1 more") {
		t.Errorf("%d tools, %d more", len(b.Tools), b.More)
	}
	if b := toolbook.Of(nil, cat, time.Time{}); b.Next != "" || b.String() != "no tool was called in that time\n" {
		t.Errorf("%+v", b)
	}
}

func TestDoes(t *testing.T) {
	if got := toolbook.Does([]floodmark.Effect{floodmark.Observe, floodmark.Fetch, floodmark.Run, floodmark.Write, floodmark.Change, floodmark.Admin}); got != "changes the agent, runs code, changes, writes, reads" {
		t.Errorf("%q", got)
	}
}
