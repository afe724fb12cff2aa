package kernel

import (
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
)

// A card names what was read by the command that brought it, unless a host says more.
func TestASourceIsNamedByItsCommand(t *testing.T) {
	for place, want := range map[string]approval.Origin{
		"":             {Name: "bash", Said: "gh issue view 12"},
		"~/src/toml":   {Name: "bash", Place: "~/src/toml", Said: "gh issue view 12"},
		"docs.example": {Name: "bash", Place: "docs.example"},
	} {
		src := floodmark.Source{Origin: floodmark.Origin{Kind: floodmark.FromTool, Name: "bash", Place: place}, Said: "gh issue view 12"}
		if got := origin(src, floodmark.Untrusted); got != want {
			t.Errorf("%q: %+v, want %+v", place, got, want)
		}
	}
}
