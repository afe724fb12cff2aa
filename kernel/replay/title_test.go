package replay

import (
	"testing"

	"github.com/floodmark/floodmark"
)

// A replayed action has a name whatever it was.
func TestTheTitleOfARejudgedAction(t *testing.T) {
	for want, action := range map[string]floodmark.Action{
		"model call":        {Kind: floodmark.CallModel},
		"answer to others":  {Kind: floodmark.SendReply},
		"answer to owner":   {Kind: floodmark.SendReply, Audience: "owner"},
		"github/open_issue": {Kind: floodmark.CallTool, Tool: floodmark.ToolRef{Server: "github", Name: "open_issue"}},
	} {
		r := Rejudged{}
		r.Action = action
		if got := r.Title(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
