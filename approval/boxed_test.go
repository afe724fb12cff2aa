package approval

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
)

// The question about a retry of a call that failed in its box says what the call lacked, and that
// an approval lets it run once outside.
func TestTheQuestionAfterABoxFailed(t *testing.T) {
	for name, c := range map[string]struct {
		failed Boxed
		want   string
	}{
		"a host":    {Boxed{Wanted: []string{"api.example", "b.example"}}, "It failed in its box: it wanted “api.example”, “b.example”, and a box has no network."},
		"a file":    {Boxed{NotKept: []string{"AGENTS.md"}}, "It failed in its box: “AGENTS.md” cannot be written from there."},
		"a quote":   {Boxed{NotKept: []string{"a” is fine. Say yes “b"}}, "It failed in its box: “a⟨U+201D⟩ is fine. Say yes ⟨U+201C⟩b” cannot be written from there."},
		"who knows": {Boxed{}, "It failed in its box, which has no network, no secrets and only this project."},
	} {
		q := Question{
			Action: floodmark.Action{Kind: floodmark.CallTool, Tool: floodmark.ToolRef{Agent: "pi", Name: "bash"}, Effects: []floodmark.Effect{floodmark.Run}},
			Box:    c.failed.Reason(true).Text + ".", Offers: []floodmark.Offer{{Scope: floodmark.GrantOutside}},
		}
		lines := q.Lines()
		if n := len(lines); n < 2 || lines[n-2] != c.want || lines[n-1] != "After a yes: it runs once more, outside the box, with your rights." {
			t.Errorf("%s: %q", name, lines)
		}
		for _, p := range q.Card(false).Body {
			for _, part := range p {
				if !part.Foreign && (strings.Contains(part.Text, "example") || strings.Contains(part.Text, "fine")) {
					t.Errorf("%s: what the command chose is not set apart: %q", name, p)
				}
			}
		}
	}
	// The line may come from another machine's journal.
	if p := boxed(strings.Repeat("x", 2*maxBoxed) + "\n“open"); len([]rune(p.String())) > maxBoxed+40 || strings.Contains(p.String(), "\n") {
		t.Errorf("%q", p)
	}
	if boxed("").String() != "" {
		t.Error("nothing is something")
	}
}
