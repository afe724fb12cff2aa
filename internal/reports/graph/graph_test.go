package graph

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
)

var update = flag.Bool("update", false, "write the golden files anew")

// play gives each fact a time, one second after the other.
func play(facts ...floodmark.Fact) iter.Seq2[time.Time, floodmark.Fact] {
	return func(yield func(time.Time, floodmark.Fact) bool) {
		at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		for _, f := range facts {
			if !yield(at, f) {
				return
			}
			at = at.Add(time.Second)
		}
	}
}

const hostileName = "https://evil.com/\"]; x[\"<script>alert(1)</script>\\\u202e#quot;\n%%end|a|"

func label(t floodmark.Trust, s floodmark.Secrecy) floodmark.Label {
	return floodmark.Label{Trust: t, Secrecy: s}
}

func source(n int, l floodmark.Label, inputs ...floodmark.NodeID) floodmark.Source {
	return floodmark.Source{
		Node: floodmark.NodeID(n), Kind: floodmark.NodeInput, Label: l, Inputs: inputs,
		Origin: floodmark.Origin{Kind: floodmark.FromTool, Name: "read"},
		Digest: floodmark.DigestOf(fmt.Sprint("content ", n)),
	}
}

func seen(n int, kind floodmark.NodeKind, o floodmark.Origin, l floodmark.Label, inputs ...floodmark.NodeID) floodmark.ContentSeen {
	s := source(n, l, inputs...)
	s.Kind, s.Origin = kind, o
	return floodmark.ContentSeen{Source: s}
}

func pendingResult(n int, call floodmark.CallID, place string, l floodmark.Label, inputs ...floodmark.NodeID) floodmark.ContentSeen {
	f := seen(n, floodmark.NodeToolResult, floodmark.Origin{Kind: floodmark.FromTool, Name: "web_fetch", Place: place}, l, inputs...)
	f.Call, f.Digest = call, floodmark.Digest{}
	return f
}

func modelCalled(iteration int, mark floodmark.Label) floodmark.ActionDecided {
	return floodmark.ActionDecided{
		Action: floodmark.Action{Kind: floodmark.CallModel, Iteration: iteration}, Mark: mark, Trust: mark.Trust,
		Decision: floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free},
	}
}

func toolCalled(call floodmark.CallID, tool string, mark floodmark.Label, d floodmark.Decision, spans ...floodmark.Span) floodmark.ActionDecided {
	a := floodmark.Action{
		Kind: floodmark.CallTool, Call: call, Tool: floodmark.ToolRef{Name: tool}, Effects: []floodmark.Effect{floodmark.Send},
		ArgsDigest: floodmark.DigestOf(tool + string(call)),
	}
	if len(spans) > 0 {
		a.Arguments = []floodmark.Argument{{Path: "to", Whence: floodmark.Seen, Spans: spans}}
	}
	return floodmark.ActionDecided{Action: a, Mark: mark, Trust: mark.Trust, Decision: d}
}

// attack returns a session of two turns. In the first a page is read that asks the agent to send a
// message. The message is refused in both turns.
func attack() []floodmark.Fact {
	owner, page := label(floodmark.Owner, floodmark.Private), label(floodmark.Untrusted, floodmark.Public)
	both := owner.Join(page)
	allow := floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free}
	refuse := floodmark.Decision{
		Verdict: floodmark.Confirm, Blame: []floodmark.NodeID{2},
		Reasons: []floodmark.Reason{{Code: floodmark.TaintEscalation, Rule: "table.send.untrusted", Text: "untrusted content is in the context", Verdict: floodmark.Confirm}},
	}
	digest := floodmark.DigestOf("messagec2")
	reply := floodmark.ActionDecided{Action: floodmark.Action{Kind: floodmark.SendReply, Audience: "owner"}, Mark: both, Trust: both.Trust, Decision: allow}
	return []floodmark.Fact{
		floodmark.SessionOpened{Agent: "openclaw"},
		seen(0, floodmark.NodeSystemPrompt, floodmark.Origin{Kind: floodmark.FromSystem, Name: "prompt"}, floodmark.Clean()),
		floodmark.TurnOpened{Turn: 1},
		seen(1, floodmark.NodeInput, floodmark.Origin{Kind: floodmark.FromSender, Name: "chat", Sender: "owner", IsOwner: true}, owner),
		floodmark.IterationOpened{Iteration: 0},
		modelCalled(0, owner),
		floodmark.ModelAnswered{Calls: []floodmark.Proposed{{Call: "c1"}}},
		toolCalled("c1", "web_fetch", owner, allow),
		pendingResult(2, "c1", hostileName, page, 1),
		floodmark.ContentArrived{Node: 2, Digest: floodmark.DigestOf("page"), Label: page},
		floodmark.IterationOpened{Iteration: 1},
		modelCalled(1, both),
		floodmark.ModelAnswered{Calls: []floodmark.Proposed{{Call: "c2"}}},
		toolCalled("c2", "message", both, refuse, floodmark.Span{Node: 2, Offset: 17}),
		floodmark.TicketOpened{Ticket: "t1", Shown: []floodmark.Shown{{ArgsDigest: digest}}},
		floodmark.TicketAnswered{Ticket: "t1", Verdict: floodmark.Restrict, By: "owner", Channel: "cli"},
		reply,
		floodmark.TurnClosed{Turn: 1},
		floodmark.TurnOpened{Turn: 2},
		seen(3, floodmark.NodeInput, floodmark.Origin{Kind: floodmark.FromSender, Sender: "owner", IsOwner: true}, owner),
		modelCalled(0, both),
		toolCalled("c3", "message", both, refuse),
		floodmark.IncidentSeen{Kind: "refused-call-ran", Call: "c3", Tool: floodmark.ToolRef{Name: "message"}, Text: "a result arrived for a call that was refused"},
		floodmark.TurnClosed{Turn: 2},
		floodmark.SessionClosed{},
	}
}

func build(t *testing.T, facts ...floodmark.Fact) *Graph {
	t.Helper()
	g, err := Build("s1", play(facts...))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs from what is written there; if that is right, run the test with -update\n%s", path, got)
	}
}

func TestGraphOfAnAttack(t *testing.T) {
	g := build(t, attack()...)
	data, err := json.MarshalIndent(g.TurnGraphs(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	prov, err := g.PROV()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "attack.json", append(data, '\n'))
	golden(t, "attack.prov.json", prov)
}

func TestGraphsAreDeterministic(t *testing.T) {
	first := build(t, attack()...)
	for range 20 {
		again := build(t, attack()...)
		a, _ := first.PROV()
		b, _ := again.PROV()
		if !bytes.Equal(a, b) || first.SVG() != again.SVG() {
			t.Fatal("two graphs of the same facts differ")
		}
	}
}

func ids(trail Trail) string {
	var out []string
	for _, n := range trail {
		out = append(out, n.ID)
	}
	return strings.Join(out, " ")
}

func TestGraphBlame(t *testing.T) {
	g := build(t, attack()...)
	for decision, want := range map[string]string{
		"decision-1-1": "n2 call-1-2 decision-1-1",
		"decision-2-1": "n2 history-2 llm-2-1 call-2-1 decision-2-1",
	} {
		trails := g.Blame(decision)
		if len(trails) != 1 || ids(trails[0]) != want {
			t.Errorf("%s: %v, want %s", decision, trails, want)
		}
	}
	for _, id := range []string{"", "nobody", "n2", "decision-2-2"} {
		if got := g.Blame(id); len(got) != 0 {
			t.Errorf("%q: %v", id, got)
		}
	}
}

func TestGraphEdgesHaveTheirNodes(t *testing.T) {
	for _, turn := range build(t, attack()...).TurnGraphs() {
		known := map[string]bool{}
		for _, n := range turn.Nodes {
			if known[n.ID] {
				t.Errorf("%s: node %s is there twice", turn.TurnID, n.ID)
			}
			known[n.ID] = true
		}
		for _, e := range turn.Edges {
			if !known[e.From] || !known[e.To] {
				t.Errorf("%s: edge %v leads nowhere", turn.TurnID, e)
			}
		}
	}
}

func TestGraphSummary(t *testing.T) {
	turns := build(t, attack()...).TurnGraphs()
	if len(turns) != 3 {
		t.Fatalf("%d turns", len(turns))
	}
	s := turns[1].Summary
	if s.MaxTaint != floodmark.Untrusted || !slices.Equal(s.ToolsBlocked, []string{"message"}) || len(s.ExternalSources) != 1 || s.IterationCount != 2 {
		t.Errorf("%+v", s)
	}
	if turns[1].Timestamp != time.Date(2026, 3, 1, 12, 0, 2, 0, time.UTC).UnixMilli() || turns[1].DurationMs != 15000 {
		t.Errorf("at %d for %d ms", turns[1].Timestamp, turns[1].DurationMs)
	}
	if turns[0].Summary.MaxTaint != floodmark.System || turns[0].TurnID != "turn-0" {
		t.Errorf("%+v", turns[0].Summary)
	}
}

func relations(g *Graph) string {
	var out []string
	for e := range g.edges {
		out = append(out, e.From+" "+string(e.Relation)+" "+e.To)
	}
	return strings.Join(out, "\n")
}

func TestGraphWithoutModelCalls(t *testing.T) {
	owner := label(floodmark.Owner, floodmark.Private)
	allow := floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free}
	g := build(t,
		floodmark.SessionOpened{Agent: "codex"}, floodmark.TurnOpened{Turn: 1},
		seen(0, floodmark.NodeInput, floodmark.Origin{Kind: floodmark.FromSender}, owner),
		toolCalled("c1", "read", owner, allow), pendingResult(1, "c1", "/x", owner),
		toolCalled("c2", "read", owner, allow),
	)
	want := strings.Join([]string{
		"n0 consumes llm-1-1", "llm-1-1 triggers call-1-1", "call-1-1 produces n1",
		"llm-1-2 derives_from llm-1-1", "n1 consumes llm-1-2", "llm-1-2 triggers call-1-2",
	}, "\n")
	if got := relations(g); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if n := g.nodes()["llm-1-1"]; n.Metadata["implied"] != "true" {
		t.Errorf("%+v", n)
	}
}

// If an agent reports one model call of a run, as OpenClaw does, no further model calls are drawn.
// Later tool calls are connected to the reported one and have its round.
func TestGraphOfOneToldCall(t *testing.T) {
	owner := label(floodmark.Owner, floodmark.Private)
	allow := floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free}
	g := build(t,
		floodmark.SessionOpened{Agent: "openclaw"}, floodmark.TurnOpened{Turn: 1}, modelCalled(0, owner),
		toolCalled("c1", "read", owner, allow), pendingResult(0, "c1", "/x", owner),
		toolCalled("c2", "read", owner, allow),
		floodmark.TurnOpened{Turn: 2}, toolCalled("c3", "read", owner, allow),
	)
	want := strings.Join([]string{
		"llm-1-1 triggers call-1-1", "call-1-1 produces n0", "llm-1-1 triggers call-1-2",
		"history-2 consumes llm-2-1", "llm-2-1 triggers call-2-1",
	}, "\n")
	if got := relations(g); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	nodes := g.nodes()
	if n := nodes["call-1-2"].Iteration; n == nil || *n != 0 {
		t.Errorf("the round of the second call is %v", n)
	}
	if nodes["llm-1-1"].Metadata["implied"] != "" || nodes["llm-2-1"].Metadata["implied"] != "true" {
		t.Errorf("%+v", nodes)
	}
}

func TestGraphJudgesACallTwice(t *testing.T) {
	mark := label(floodmark.External, floodmark.Private)
	audited := toolCalled("c1", "message", mark, floodmark.Decision{Verdict: floodmark.Audit})
	allowed := toolCalled("c1", "message", mark, floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free})
	g := build(t,
		floodmark.TurnOpened{Turn: 1}, audited,
		floodmark.OpinionGiven{Call: "c1", ArgsDigest: audited.Action.ArgsDigest, Verdict: floodmark.Allow, Text: "as asked"},
		floodmark.GrantUsed{Ticket: "t9", Call: "c1"},
		allowed,
	)
	nodes := g.nodes()
	if nodes["call-1-1"].Blocked || nodes["call-1-1"].Metadata["grant"] != "t9" || nodes["decision-1-1"].Metadata["auditor"] != "allow" {
		t.Errorf("%+v", nodes)
	}
	if _, again := nodes["call-1-2"]; again || len(g.Turns[0].Summary.ToolsBlocked) != 0 {
		t.Error("the call is there twice")
	}
}

func TestGraphOfOtherActions(t *testing.T) {
	refuse := floodmark.Decision{Verdict: floodmark.Restrict, Reasons: []floodmark.Reason{{Code: floodmark.Iterations, Text: "the loop ran too long"}}}
	g := build(t,
		floodmark.TurnOpened{Turn: 1},
		floodmark.ActionDecided{Action: floodmark.Action{Kind: floodmark.CallModel, Iteration: 9}, Decision: refuse},
		floodmark.ActionDecided{Action: floodmark.Action{Kind: floodmark.SpawnAgent, Child: "s2"}, Decision: refuse},
		floodmark.ActionDecided{Action: floodmark.Action{Kind: floodmark.SendReply}, Decision: refuse},
		floodmark.ActionDecided{Action: floodmark.Action{Kind: "something new"}, Decision: refuse},
		floodmark.TicketExtended{Ticket: "t1", Shown: floodmark.Shown{ArgsDigest: floodmark.DigestOf("unknown")}},
		seen(0, "something new", floodmark.Origin{}, floodmark.Clean()),
	)
	nodes := g.nodes()
	for _, id := range []string{"llm-1-1", "call-1-1", "output-1-1"} {
		if n := nodes[id]; !n.Blocked || n.BlockReason != "the loop ran too long" {
			t.Errorf("%s: %+v", id, n)
		}
	}
	if n := nodes["n0"]; n.Kind != floodmark.NodeInput || n.Metadata["source"] != "unknown" {
		t.Errorf("%+v", n)
	}
	if len(nodes) != 7 {
		t.Errorf("%d nodes", len(nodes))
	}
}

func TestGraphDryRunBlocksNothing(t *testing.T) {
	g := build(t, floodmark.TurnOpened{Turn: 1}, toolCalled("c1", "message", floodmark.Label{}, floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free, Would: "restrict"}))
	if n := g.nodes()["call-1-1"]; n.Blocked || n.Metadata["would"] != "restrict" {
		t.Errorf("%+v", n)
	}
}

func TestGraphOfABranch(t *testing.T) {
	owner, page := label(floodmark.Owner, floodmark.Private), label(floodmark.Untrusted, floodmark.Public)
	result := seen(3, floodmark.NodeToolResult, floodmark.Origin{Kind: floodmark.FromChild, Name: "s2"}, floodmark.Clean(), 1, 2)
	g := build(t,
		floodmark.SessionForked{Agent: "pi", Parent: "s0", Sources: []floodmark.Source{source(0, owner)}},
		floodmark.TurnOpened{Turn: 1},
		floodmark.ChildSpawned{Child: "s2"},
		floodmark.ChildEnded{Child: "s2", Sources: []floodmark.Source{source(1, page), source(2, owner, 1)}},
		result,
	)
	want := "history-1 consumes llm-1-1\nllm-1-1 triggers call-1-1\nn3 derives_from n1\nn3 derives_from n2"
	if got := relations(g); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if n := g.nodes()["n3"]; n.Trust != floodmark.Untrusted {
		t.Errorf("the child's result is %v", n.Trust)
	}
}

func TestGraphAfterASummary(t *testing.T) {
	summary := seen(1, floodmark.NodeHistory, floodmark.Origin{Kind: floodmark.FromHistory, Name: "compaction"}, floodmark.Clean())
	summary.Whole = true
	g := build(t,
		floodmark.TurnOpened{Turn: 1}, seen(0, floodmark.NodeInput, floodmark.Origin{}, label(floodmark.External, floodmark.Public)),
		floodmark.TurnOpened{Turn: 2}, summary,
		floodmark.ContextCleared{},
		floodmark.TurnOpened{Turn: 3}, modelCalled(0, floodmark.Clean()),
	)
	if got, want := relations(g), "n1 derives_from history-2"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := g.Turns[2].Summary.MaxTaint; got != floodmark.System {
		t.Errorf("%v after a clear", got)
	}
}

func TestBuildGraphRefusesWhatNoHistoryLedTo(t *testing.T) {
	for name, f := range map[string]floodmark.Fact{
		"a gap":               seen(4, floodmark.NodeInput, floodmark.Origin{}, floodmark.Clean()),
		"unannounced content": floodmark.ContentArrived{Node: 0},
		"a child's gap":       floodmark.ChildEnded{Sources: []floodmark.Source{source(3, floodmark.Clean())}},
		"a fork's gap":        floodmark.SessionForked{Sources: []floodmark.Source{source(1, floodmark.Clean())}},
	} {
		if g, err := Build("s1", play(floodmark.TurnOpened{Turn: 1}, f)); err == nil || g != nil || !strings.HasPrefix(err.Error(), "fact 1: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if g, err := Build("s1", play()); err != nil || len(g.TurnGraphs()) != 0 {
		t.Errorf("no facts: %v", err)
	}
}
