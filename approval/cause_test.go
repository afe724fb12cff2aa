package approval_test

import (
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
)

// A card names a source by the command that read it, unless a host says more.
func TestASourceIsNamedByItsCommand(t *testing.T) {
	for place, want := range map[string]approval.Origin{
		"":             {Name: "bash", Said: "gh issue view 12"},
		"~/src/toml":   {Name: "bash", Place: "~/src/toml", Said: "gh issue view 12"},
		"docs.example": {Name: "bash", Place: "docs.example"},
	} {
		src := floodmark.Source{Origin: floodmark.Origin{Kind: floodmark.FromTool, Name: "bash", Place: place}, Said: "gh issue view 12"}
		src.Label.Secrecy = floodmark.Internal
		if got := approval.OriginOf(src, floodmark.Untrusted); got != want {
			t.Errorf("%q: %+v, want %+v", place, got, want)
		}
	}
}

// Of several causes, a card names the page or the issue and not the test that ran later, and a read
// of this session rather than one of an earlier session.
func TestTheCauseThatTellsMost(t *testing.T) {
	source := func(said string, secrecy floodmark.Secrecy, earlier bool) floodmark.Source {
		s := floodmark.Source{Origin: floodmark.Origin{Kind: floodmark.FromTool, Name: "bash"}, Said: said, Label: floodmark.Label{Secrecy: secrecy}}
		if earlier {
			s.Via = []floodmark.Passage{{Session: "before"}}
		}
		return s
	}
	model := floodmark.Source{Origin: floodmark.Origin{Kind: floodmark.FromModel, Name: "m"}}
	issue, test := source("gh issue view 12", floodmark.Internal, false), source("npm test", floodmark.Private, false)
	before, ran := source("gh issue view 7", floodmark.Internal, true), source("make", floodmark.Private, true)
	for want, list := range map[string][]floodmark.Source{
		"gh issue view 12": {ran, test, before, issue, source("gh issue view 13", floodmark.Internal, false)},
		"gh issue view 7":  {ran, test, before},
		"npm test":         {model, ran, test},
		"make":             {ran, model},
		"":                 {model},
	} {
		var c approval.Cause
		for _, s := range list {
			c.Take(s, floodmark.Untrusted)
		}
		if c.Said != want || c.Found() != (want == "gh issue view 12") || c.Ran != (want == "npm test" || want == "make") {
			t.Errorf("%+v, want %s", c, want)
		}
	}
}
