package graph

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/floodmark/floodmark"
)

// drawn draws facts.
func drawn(t *testing.T, most int, facts ...floodmark.Fact) *Picture {
	t.Helper()
	p, err := Draw("s", func(yield func(Entry) bool) {
		for i, f := range facts {
			if !yield(Entry{Seq: uint64(i + 1), At: time.Unix(int64(i), 0), Fact: f}) {
				return
			}
		}
	}, most)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func page(n floodmark.NodeID, place string, call floodmark.CallID) floodmark.ContentSeen {
	return floodmark.ContentSeen{Source: floodmark.Source{
		Node: n, Kind: floodmark.NodeToolResult, Label: floodmark.Label{Trust: floodmark.Untrusted, Secrecy: floodmark.Public}, Call: call,
		Origin: floodmark.Origin{Kind: floodmark.FromTool, Name: "web_fetch", Place: place}, Digest: floodmark.DigestOf(place),
	}}
}

func fetch(id floodmark.CallID) floodmark.ActionDecided {
	return floodmark.ActionDecided{
		Action:   floodmark.Action{Kind: floodmark.CallTool, Call: id, Tool: floodmark.ToolRef{Agent: "openclaw", Name: "web_fetch"}},
		Decision: floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free},
	}
}

// send takes its address from a source, and is stopped.
func send(id floodmark.CallID, from floodmark.NodeID, to string) floodmark.ActionDecided {
	return floodmark.ActionDecided{
		Action: floodmark.Action{
			Kind: floodmark.CallTool, Call: id, Tool: floodmark.ToolRef{Agent: "openclaw", Name: "message"}, ArgsDigest: floodmark.DigestOf(to),
			Arguments: []floodmark.Argument{{Path: "to", Role: floodmark.Critical, Whence: floodmark.Seen, Trust: floodmark.Untrusted, Shown: to, Spans: []floodmark.Span{{Node: from}}}},
		},
		Decision: floodmark.Decision{
			Verdict: floodmark.Confirm, Blame: []floodmark.NodeID{from}, Reasons: []floodmark.Reason{{Code: floodmark.TaintEscalation, Text: "strangers wrote it"}},
		},
	}
}

// TestPicture follows an address from a page to the argument of a call that was stopped.
func TestPicture(t *testing.T) {
	p := drawn(t, 500,
		floodmark.SessionOpened{Agent: "openclaw"}, floodmark.TurnOpened{Turn: 1}, fetch("c1"), page(0, "https://news.example/", "c1"),
		send("c2", 0, "mallory@example.net"),
		floodmark.ArtifactWritten{Artifact: floodmark.ArtifactRef{Kind: floodmark.FileArtifact, Name: "/p/notes.md"}, Call: "c1"},
	)
	if len(p.Nodes) != 4 || p.All != 4 || p.Left != 0 {
		t.Fatalf("%+v", p.Nodes)
	}
	call := p.Nodes[2]
	if call.Kind != SpotCall || call.Verdict != "confirm" || call.Line != "message mallory@example.net" || call.Turn != 1 || call.Entry != 5 {
		t.Errorf("%+v", call)
	}
	if src := p.Nodes[1]; src.Kind != SpotSource || src.Name != "https://news.example/" || src.Label.Trust != floodmark.Untrusted {
		t.Errorf("%+v", src)
	}
	for _, want := range []Link{
		{From: "c1", To: "n0", Kind: LinkResult},
		{From: "n0", To: "c2", Kind: LinkArgument, Argument: "to"},
		{From: "n0", To: "c2", Kind: LinkBlame},
		{From: "c1", To: p.Nodes[3].ID, Kind: LinkWrote},
	} {
		if !slices.Contains(p.Edges, want) {
			t.Errorf("%v is missing in %v", want, p.Edges)
		}
	}
	if len(p.Paths) != 1 || !slices.Equal(p.Paths[0].Nodes, []string{"c1", "n0", "c2"}) {
		t.Fatalf("%+v", p.Paths)
	}
	want := "«to» came from web_fetch https://news.example/ (untrusted), which you did not write: strangers wrote it"
	if !strings.Contains(p.Paths[0].Sentence, want) {
		t.Errorf("%q, want %q", p.Paths[0].Sentence, want)
	}
}

// TestPictureJudgedAgain: a call that was approved and is judged again is one node, and is stopped
// no more.
func TestPictureJudgedAgain(t *testing.T) {
	again := send("c2", 0, "bob@firm.example")
	again.Decision = floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free}
	p := drawn(t, 500, floodmark.TurnOpened{Turn: 1}, page(0, "https://news.example/", ""), send("c2", 0, "bob@firm.example"), again)
	if len(p.Nodes) != 2 || len(p.Paths) != 0 || p.Nodes[1].Verdict != "allow" {
		t.Errorf("%+v", p)
	}
}

// TestPictureCollapses draws nodes as one that are alike, and never exceeds its limit.
func TestPictureCollapses(t *testing.T) {
	facts := []floodmark.Fact{}
	const turns, each = 40, 30
	n := floodmark.NodeID(0)
	for turn := range turns {
		facts = append(facts, floodmark.TurnOpened{Turn: turn + 1})
		for i := range each {
			id := floodmark.CallID(fmt.Sprint("c", turn, "-", i))
			facts = append(facts, fetch(id), page(n, fmt.Sprint("https://", turn, ".example/"), id))
			n++
		}
		facts = append(facts, send(floodmark.CallID(fmt.Sprint("s", turn)), n-1, "mallory@example.net"))
	}
	all := turns * (2*each + 1)
	for most, want := range map[int]int{5000: all, 500: 3 * turns, 100: 1 + turns + 1, 20: 20} {
		p := drawn(t, most, facts...)
		if len(p.Nodes) != want || p.All != all {
			t.Errorf("limit %d: %d nodes of %d, want %d of %d", most, len(p.Nodes), p.All, want, all)
		}
		stands := 0
		at := map[string]bool{}
		for _, s := range p.Nodes {
			stands += s.Count
			at[s.ID] = true
		}
		if p.Left == 0 && stands != all {
			t.Errorf("limit %d: the nodes stand for %d, want %d", most, stands, all)
		}
		for _, l := range p.Edges {
			if !at[l.From] || !at[l.To] {
				t.Errorf("limit %d: an edge without a node: %v", most, l)
			}
		}
		for _, way := range p.Paths {
			if !at[way.Call] || len(way.Nodes) == 0 {
				t.Errorf("limit %d: %v", most, way)
			}
		}
	}
}

// TestPictureOfForeignText: names stay short and are made safe.
func TestPictureOfForeignText(t *testing.T) {
	bad := "https://x.example/\u202e\u200b\x1b[2J\xff" + strings.Repeat("<script>", 200_000)
	p := drawn(t, 500, floodmark.TurnOpened{Turn: 1}, page(0, bad, ""), send("c2", 0, bad))
	for _, text := range []string{p.Nodes[0].Name, p.Nodes[1].Line, p.Nodes[1].Reason, p.Paths[0].Sentence} {
		if len(text) > 4000 || !utf8.ValidString(text) || strings.ContainsAny(text, "\u202e\u200b\x1b\n") {
			t.Errorf("%.80q… of %d bytes", text, len(text))
		}
	}
}

func BenchmarkDraw(b *testing.B) {
	facts := []floodmark.Fact{floodmark.TurnOpened{Turn: 1}}
	for n := range 10_000 {
		id := floodmark.CallID(fmt.Sprint("c", n))
		facts = append(facts, fetch(id), page(floodmark.NodeID(n), fmt.Sprint("https://", n, ".example/"), id))
	}
	for b.Loop() {
		if _, err := Draw("s", func(yield func(Entry) bool) {
			for i, f := range facts {
				if !yield(Entry{Seq: uint64(i + 1), Fact: f}) {
					return
				}
			}
		}, 5000); err != nil {
			b.Fatal(err)
		}
	}
}
