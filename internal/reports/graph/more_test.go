package graph

import (
	"fmt"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
)

func TestNodesInPictures(t *testing.T) {
	for _, tt := range []struct {
		trust   floodmark.Trust
		blocked bool
		class   string
	}{
		{floodmark.Untrusted, false, "low"},
		{floodmark.External, false, "low"},
		{floodmark.Shared, false, "middle"},
		{floodmark.Local, false, "middle"},
		{floodmark.Owner, false, "high"},
		{floodmark.System, false, "high"},
		{floodmark.System, true, "blocked"},
	} {
		if class := nodeClass(Node{Trust: tt.trust, Blocked: tt.blocked}); class != tt.class {
			t.Errorf("%v is %s", tt.trust, class)
		}
	}
	n := Node{
		ID: "n1", Kind: floodmark.NodeInput, Trust: floodmark.Owner, Tool: strings.Repeat("é", maxLabelRunes+1),
		BlockReason: strings.Repeat("x", maxLabelRunes), Metadata: map[string]string{"source": "owner", "verdict": ""},
	}
	want := []string{"input n1", strings.Repeat("é", maxLabelRunes) + "…", "owner", strings.Repeat("x", maxLabelRunes)}
	if got := nodeLines(n); strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("%q", got)
	}
}

// An edge that occurs in two turns is drawn once.
func TestEdgesOfTheSessionAreThereOnce(t *testing.T) {
	nodes := []Node{{ID: "n1", Kind: floodmark.NodeInput}, {ID: "n2", Kind: floodmark.NodeInput}}
	edges := []Edge{{From: "n2", To: "n1", Relation: DerivesFrom}}
	g := &Graph{Turns: []Turn{{TurnID: "turn-1", Nodes: nodes, Edges: edges}, {TurnID: "turn-2", Nodes: nodes, Edges: edges}}}
	prov, err := g.PROV()
	if err != nil {
		t.Fatal(err)
	}
	for what, got := range map[string]int{
		"edges": strings.Count(relations(g), "derives_from"),
		"PROV":  strings.Count(string(prov), "_:wasDerivedFrom"),
	} {
		if got != 1 {
			t.Errorf("%s: %d times", what, got)
		}
	}
	for range g.edges {
		break // it must not go on
	}
}

func TestGraphBlamesWithoutAWay(t *testing.T) {
	refuse := floodmark.Decision{Verdict: floodmark.Restrict, Blame: []floodmark.NodeID{0, 7}}
	g := build(t,
		floodmark.TurnOpened{Turn: 1}, seen(0, floodmark.NodeInput, floodmark.Origin{}, floodmark.Label{}), floodmark.ContextCleared{},
		floodmark.TurnOpened{Turn: 2}, modelCalled(0, floodmark.Clean()), toolCalled("c1", "message", floodmark.Clean(), refuse),
	)
	trails := g.Blame("decision-2-1")
	if len(trails) != 1 || len(trails[0]) != 2 || trails[0][0].ID != "n0" || trails[0][1].ID != "decision-2-1" {
		t.Errorf("%v", trails)
	}
}

// A model call does not consume what was cleared before it.
func TestGraphForgetsWhatWasCleared(t *testing.T) {
	in := func(n int) floodmark.Fact {
		return seen(n, floodmark.NodeInput, floodmark.Origin{}, floodmark.Clean())
	}
	g := build(t, floodmark.TurnOpened{Turn: 1}, in(0), floodmark.ContextCleared{}, in(1), modelCalled(0, floodmark.Clean()))
	var consumed []string
	for _, e := range g.Turns[0].Edges {
		if e.Relation == Consumes {
			consumed = append(consumed, e.From)
		}
	}
	if strings.Join(consumed, " ") != "n1" {
		t.Errorf("consumed %q", consumed)
	}
}

func TestGraphFollowsEndorsements(t *testing.T) {
	s := source(0, label(floodmark.Untrusted, floodmark.Public))
	vouch := floodmark.Endorsed{Digest: s.Digest, Trust: floodmark.Local}
	fork := floodmark.SessionForked{Agent: "pi", Sources: []floodmark.Source{s}, Endorsed: []floodmark.Endorsed{vouch}}
	g := build(t,
		fork, floodmark.TurnOpened{Turn: 1},
		floodmark.Withdrawn{Digest: s.Digest}, floodmark.TurnOpened{Turn: 2},
		vouch, floodmark.TurnOpened{Turn: 3},
	)
	for i, want := range []floodmark.Trust{floodmark.Untrusted, floodmark.Untrusted, floodmark.Local} {
		if got := g.Turns[i].Summary.MaxTaint; got != want {
			t.Errorf("turn %d: %v, want %v", i+1, got, want)
		}
	}
	if got := build(t, fork, floodmark.TurnOpened{Turn: 1}).Turns[0].Summary.MaxTaint; got != floodmark.Local {
		t.Errorf("a branch is at %v", got)
	}
}

// Content that a parent announced may arrive in a branch, in which no turn shows it.
func TestGraphOfABranchThatWaits(t *testing.T) {
	s := source(0, floodmark.Clean())
	s.Call = "c1"
	g := build(t,
		floodmark.SessionForked{Sources: []floodmark.Source{s}}, floodmark.TurnOpened{Turn: 1},
		floodmark.ContentArrived{Node: 0, Label: label(floodmark.External, floodmark.Public)},
	)
	if got := g.Turns[0]; got.Summary.MaxTaint != floodmark.External || len(got.Nodes) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestGraphKnowsWhoProposedACall(t *testing.T) {
	clean := floodmark.Clean()
	allow := floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free}
	other := toolCalled("c1", "message", clean, allow)
	other.Action.ArgsDigest = floodmark.DigestOf("other arguments")
	g := build(t,
		floodmark.TurnOpened{Turn: 1}, modelCalled(0, clean), floodmark.ModelAnswered{Calls: []floodmark.Proposed{{Call: "c1"}}},
		modelCalled(1, clean), toolCalled("c1", "message", clean, allow), other,
		pendingResult(0, "c1", "/x", clean), toolCalled("c3", "message", clean, allow), // no other model call was reported
		floodmark.IncidentSeen{Call: "c9"}, floodmark.IncidentSeen{}, floodmark.IncidentSeen{Call: "c1"},
		floodmark.TurnOpened{Turn: 2}, modelCalled(0, clean), other, floodmark.IncidentSeen{Call: "c1"},
	)
	want := strings.Join([]string{
		"llm-1-2 derives_from llm-1-1", "llm-1-1 triggers call-1-1", "llm-1-1 triggers call-1-2",
		"call-1-2 produces n0", "llm-1-2 triggers call-1-3", "decision-1-3 derives_from call-1-2",
		"history-2 consumes llm-2-1", "llm-1-1 triggers call-2-1", "decision-2-1 derives_from call-2-1",
	}, "\n")
	if got := relations(g); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestGraphLimits(t *testing.T) {
	var facts []floodmark.Fact
	var inputs []floodmark.NodeID
	for n := range maxInputsShown + 1 {
		facts = append(facts, seen(n, floodmark.NodeInput, floodmark.Origin{}, floodmark.Clean()))
		inputs = append(inputs, floodmark.NodeID(n))
	}
	last := seen(maxInputsShown+1, floodmark.NodeInput, floodmark.Origin{Place: strings.Repeat("x", maxPreviewRunes+1)}, floodmark.Clean(), inputs...)
	last.Preview = strings.Repeat("é", maxPreviewRunes+1)
	g := build(t, append(facts, last)...)
	if got := strings.Count(relations(g), "derives_from"); got != maxInputsShown {
		t.Errorf("%d inputs are drawn", got)
	}
	n := g.nodes()[fmt.Sprint("n", maxInputsShown+1)]
	if n.ContentPreview != last.Preview[:2*maxPreviewRunes] || len(n.Metadata["source"]) != maxPreviewRunes {
		t.Errorf("%q, %q", n.ContentPreview, n.Metadata["source"])
	}
}

func TestGraphSummaryCountsOnce(t *testing.T) {
	page, shared := label(floodmark.External, floodmark.Public), label(floodmark.Shared, floodmark.Public)
	refuse := floodmark.Decision{Verdict: floodmark.Restrict}
	place := floodmark.Origin{Kind: floodmark.FromTool, Place: "x"}
	first := toolCalled("c1", "message", page, refuse)
	g := build(t, floodmark.TurnOpened{Turn: 1},
		seen(0, floodmark.NodeInput, place, page), seen(1, floodmark.NodeInput, place, page),
		seen(2, floodmark.NodeInput, floodmark.Origin{Place: "y"}, shared),
		floodmark.IterationOpened{}, floodmark.IterationOpened{}, modelCalled(0, page),
		first, toolCalled("c2", "message", page, refuse), toolCalled("c3", "exec", page, floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free, Would: "confirm"}),
		floodmark.TicketExtended{Ticket: "t1", Shown: floodmark.Shown{ArgsDigest: first.Action.ArgsDigest}},
	)
	s := g.Turns[0].Summary
	if got := fmt.Sprint(s.ToolsBlocked, s.ExternalSources, s.IterationCount, s.MaxTaint); got != "[message] [x] 2 external" {
		t.Error(got)
	}
	nodes := g.nodes()
	if nodes["decision-1-1"].Metadata["ticket"] != "t1" || nodes["decision-1-3"].Metadata["would"] != "confirm" {
		t.Errorf("%v %v", nodes["decision-1-1"], nodes["decision-1-3"])
	}
}

func TestVisible(t *testing.T) {
	for _, tt := range []struct {
		text string
		n    int
		want string
	}{
		{"", 0, ""},
		{"", 3, ""},
		{"abc", 3, "abc"},
		{"abcd", 3, "abc+"},
		{"a", 0, "+"},
		{"ab", 1, "a+"},
		{"éé", 1, "é+"},
		{"a\tb\u00a0c\n", 9, "a b c "},
		{"\u200bx\x00\u0085", 9, "·x· "},
		{"\xff", 9, "\ufffd"},
	} {
		if got := visible(tt.text, tt.n, "+"); got != tt.want {
			t.Errorf("%d of %q: %q, want %q", tt.n, tt.text, got, tt.want)
		}
	}
}

// The limits on which readers rely.
func TestLimits(t *testing.T) {
	if maxInputsShown != 64 || maxPreviewRunes != 100 || maxLabelRunes != 60 {
		t.Errorf("%d inputs are drawn, %d runes of a preview, %d of a line", maxInputsShown, maxPreviewRunes, maxLabelRunes)
	}
}

// What an agent reports of its loop is in the node of the model call that it is about.
func TestGraphShowsTheLoop(t *testing.T) {
	owner := floodmark.ContentSeen{Source: source(0, floodmark.Clean()), Text: strings.Repeat("é", 120)}
	secret := floodmark.ContentSeen{Source: source(1, floodmark.Clean()), Text: "the password is …"}
	secret.Secrets = []floodmark.SecretSpan{{Rule: "password"}}
	g := build(t, floodmark.TurnOpened{Turn: 1}, owner, secret,
		floodmark.LoopTold{Point: "loop_iteration_start", Loop: floodmark.Loop{MessageCount: 3, PendingToolResults: 1}},
		modelCalled(2, floodmark.Clean()),
		floodmark.LoopTold{Point: "before_llm_call", Loop: floodmark.Loop{Model: "m\n1", TokenEstimate: 70}, Warned: true},
		floodmark.LoopTold{Point: "after_llm_call", Loop: floodmark.Loop{LatencyMs: 5, TokenUsage: floodmark.TokenUsage{Input: 80, Output: 9}}},
		toolCalled("c1", "read", floodmark.Clean(), floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free}),
		pendingResult(2, "c1", "/a", floodmark.Clean()),
		modelCalled(3, floodmark.Clean()),
		floodmark.ActionDecided{Action: floodmark.Action{Kind: floodmark.SendReply}, Mark: floodmark.Clean(), Decision: floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free}},
		floodmark.LoopTold{Point: "before_response_emit", Loop: floodmark.Loop{Channel: "telegram"}})
	nodes := map[string]Node{}
	for _, n := range g.Turns[0].Nodes {
		nodes[n.ID] = n
	}
	first, second := nodes["llm-1-1"].Metadata, nodes["llm-1-2"].Metadata
	for key, want := range map[string]string{
		"messageCount": "3", "pendingToolResults": "1", "model": "m 1", "tokenEstimate": "70", "warned": "true",
		"latencyMs": "5", "tokenUsage.input": "80", "tokenUsage.output": "9",
	} {
		if first[key] != want || second[key] != "" {
			t.Errorf("%s is %q at the first call and %q at the second, want %q and nothing", key, first[key], second[key], want)
		}
	}
	if got := nodes["output-1-1"].Metadata["channel"]; got != "telegram" || second["channel"] != "" {
		t.Errorf("the answer went to %q", got)
	}
	for _, id := range []string{"llm-1-1", "call-1-1", "n2"} {
		if n := nodes[id].Iteration; n == nil || *n != 2 {
			t.Errorf("the round of %s is %v, want 2", id, n)
		}
	}
	if got := nodes["n0"].ContentPreview; got != strings.Repeat("é", 100) {
		t.Errorf("the preview of the owner's words is %q", got)
	}
	if got := nodes["n1"].ContentPreview; got != "" {
		t.Errorf("the preview of words with a secret is %q", got)
	}
}
