package tally

import (
	"reflect"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/kernel/replay"
)

// The auditor's answers are counted by tool and effects, the most refused first. Old answers are
// not counted.
func TestAuditorFigures(t *testing.T) {
	begin := time.Unix(1000, 0)
	var facts []replay.Recorded
	add := func(after time.Duration, f floodmark.Fact) {
		facts = append(facts, replay.Recorded{At: begin.Add(after), Fact: f})
	}
	ask := func(after time.Duration, tool string, e floodmark.Effect, says string) {
		id := floodmark.CallID(time.Duration(len(facts)).String())
		a := floodmark.Action{Kind: floodmark.CallTool, Call: id, Tool: floodmark.ToolRef{Name: tool}, Effects: []floodmark.Effect{e}}
		add(after, floodmark.ActionDecided{Action: a, Decision: floodmark.Decision{Verdict: floodmark.Audit}})
		v := floodmark.Confirm
		if says == "allow" {
			v = floodmark.Allow
		}
		add(after, floodmark.OpinionGiven{Call: id, Says: says, Verdict: v})
	}
	add(0, floodmark.SessionOpened{Agent: "pi"})
	add(0, floodmark.TurnOpened{Turn: 1})
	ask(0, "old", floodmark.Send, "block")
	add(time.Hour, floodmark.TurnOpened{Turn: 2})
	ask(time.Hour, "write", floodmark.Write, "allow")
	ask(time.Hour, "write", floodmark.Write, "allow")
	ask(time.Hour, "write", floodmark.Write, "a word of tomorrow")
	ask(time.Hour, "mail", floodmark.Send, "block")
	ask(time.Hour, "mail", floodmark.Change, "unsure")
	add(time.Hour, floodmark.TurnOpened{Turn: 3})
	add(time.Hour, floodmark.ActionDecided{Action: floodmark.Action{Kind: floodmark.SendReply}, Decision: floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free}})
	a, err := Count([]Session{{Name: "s", Facts: facts}}, begin.Add(time.Minute), begin.Add(2*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	got := a.Figures().Auditor
	want := []string{
		"asked 5 times, in 50 % of all tasks: 1 block, 1 unsure, 2 allow, 1 without an answer",
		"mail (send): 1 block, 0 unsure, 0 allow, 0 without an answer",
		"write (write): 0 block, 0 unsure, 2 allow, 1 without an answer",
	}
	if lines := got.Lines(2); !reflect.DeepEqual(lines, want) || len(got.Tools) != 3 || got.Tasks != 1 || a.Audited != 2 {
		t.Errorf("%q\n%+v", lines, got)
	}
	if lines := (AuditorFigures{}).Lines(5); lines != nil {
		t.Errorf("nobody was asked: %q", lines)
	}
}
