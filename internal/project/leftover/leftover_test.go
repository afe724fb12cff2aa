package leftover_test

import (
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/project/leftover"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/kernel/artifact"
)

// A store holds artifacts by their references.
type store map[floodmark.ArtifactRef][]artifact.Kept

func (s store) Find(refs []floodmark.ArtifactRef) (list []artifact.Kept) {
	for _, ref := range refs {
		list = append(list, s[ref]...)
	}
	return list
}

func (s store) keep(session floodmark.SessionID, seq uint64, a floodmark.Artifact) {
	s[a.Ref] = append(s[a.Ref], artifact.Kept{Version: floodmark.ArtifactVersion{Session: session, Seq: seq}, Artifact: a})
}

func page(trust floodmark.Trust) []floodmark.Source {
	return []floodmark.Source{{
		Kind: floodmark.NodeToolResult, Digest: floodmark.DigestOf("page"), Label: floodmark.Label{Trust: trust, Secrecy: floodmark.Public},
		Origin: floodmark.Origin{Kind: floodmark.FromTool, Name: "WebFetch", Place: "x.example/\x1b[2J"},
	}}
}

func TestBelow(t *testing.T) {
	s := store{}
	low := floodmark.ArtifactRef{Kind: floodmark.FileArtifact, Name: "/p/low"}
	high := floodmark.ArtifactRef{Kind: floodmark.FileArtifact, Name: "/p/high"}
	s.keep("a", 1, floodmark.Artifact{Ref: floodmark.ArtifactRef{Kind: floodmark.FolderArtifact, Name: "/p"}, Below: []floodmark.ArtifactRef{low, high, low}})
	s.keep("a", 2, floodmark.Artifact{Ref: low, Digest: floodmark.DigestOf("x"), Sources: page(floodmark.Untrusted)})
	s.keep("a", 3, floodmark.Artifact{Ref: high, Sources: page(floodmark.Local)})
	list := leftover.Below(s, "/p")
	if len(list) != 1 || list[0].Path != "/p/low" || list[0].Digest.IsZero() || len(list[0].Versions) != 1 {
		t.Fatalf("%+v", list)
	}
	if words := leftover.Words(list[0].Source); words != "WebFetch x.example/⟨U+001B⟩[2J (untrusted)" {
		t.Error(words)
	}
	s.keep("b", 1, floodmark.Artifact{Ref: low, Sources: page(floodmark.Untrusted)})
	if list = leftover.Below(s, "/p"); len(list[0].Versions) != 2 || !list[0].Digest.IsZero() {
		t.Errorf("of two words neither knows the content: %+v", list)
	}
	if out := leftover.Removed(nil, list, "ada"); len(out.Gone) != 2 || out.Gone[0].Ref != low {
		t.Errorf("%+v", out.Gone)
	}
	// The owner endorses the page itself.
	in := kernel.Input{At: time.Unix(1, 0), Artifacts: s}
	for _, a := range leftover.Vouch(in, []floodmark.Digest{floodmark.DigestOf("page")}, floodmark.Local, "ada").Artifacts {
		s.keep("files", 1, a)
	}
	if list := leftover.Below(s, "/p"); len(list) != 0 {
		t.Errorf("%+v", list)
	}
}

func TestTheLastWordCounts(t *testing.T) {
	d := floodmark.DigestOf("x")
	s := store{}
	in := kernel.Input{At: time.Unix(1, 0), Artifacts: s}
	for i, trust := range []floodmark.Trust{floodmark.Local, floodmark.Untrusted, floodmark.Local} {
		// All endorsements have the same time.
		for _, a := range leftover.Vouch(in, []floodmark.Digest{d}, trust, "ada").Artifacts {
			s.keep("files", uint64(i), a)
		}
		if got := leftover.Vouched(s, []floodmark.Digest{d})[d]; got != (trust == floodmark.Local) {
			t.Errorf("after %d words: %v", i+1, got)
		}
	}
	if _, err := leftover.Withdraw(kernel.NewState(), in, "00", "ada"); err == nil {
		t.Error("what nobody vouched for is withdrawn")
	}
}
