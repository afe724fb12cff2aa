package approval_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/hook"
)

// A push that a card shows in full can be approved on every card. A longer push can be approved
// only in a terminal, which shows all of it.
func TestCardOfAPush(t *testing.T) {
	body := func(n int) []string { return slices.Repeat([]string{"  + x"}, n) }
	for _, c := range []struct {
		name   string
		push   *hook.Push
		hides  bool
		has    string
		length int // how many lines a terminal shows
	}{
		{"no push", nil, false, "", 0},
		{"short", &hook.Push{Digest: floodmark.DigestOf("a"), Head: []string{"Sends 1 commit", "commit ab as branch «x”y» of «h»"}, Body: body(40)}, false, "commit ab as branch “x⟨U+201D⟩y” of “h”", 40},
		{"long", &hook.Push{Digest: floodmark.DigestOf("a"), Head: []string{"Sends 1 commit"}, Body: body(41)}, true, "The diff has 41 lines", 41},
		{"wide", &hook.Push{Digest: floodmark.DigestOf("a"), Body: []string{strings.Repeat("x", 1801)}}, true, "The diff has 1 lines", 0},
		{"unseen", &hook.Push{Unseen: "the remote is away"}, false, "(!) What it sends is not shown: the remote is away. After a yes the agent itself pushes", 0},
		{"to be split", &hook.Push{Refuse: "split it"}, false, "", 0},
	} {
		q := approval.Question{Push: c.push, Action: floodmark.Action{Kind: floodmark.CallTool, Tool: floodmark.ToolRef{Name: "Bash"}}}
		lines := q.Lines()
		n := len(slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return l != "  + x" }))
		if q.Card(false).Hides != c.hides || n != c.length || !strings.Contains(strings.Join(lines, "\n"), c.has) {
			t.Errorf("%s: hides %v, %q", c.name, q.Card(false).Hides, lines)
		}
	}
}

// The approval of a shown push covers no other push and no push that cannot be shown.
func TestGrantOfAPush(t *testing.T) {
	tool, args := floodmark.ToolRef{Name: "Bash"}, floodmark.DigestOf("git push")
	shown, other, unseen := &hook.Push{Digest: floodmark.DigestOf("a")}, &hook.Push{Digest: floodmark.DigestOf("b")}, &hook.Push{Unseen: "x"}
	given := floodmark.Shown{Tool: tool, ArgsDigest: args, Others: shown.With(floodmark.Digest{})}
	for _, scope := range []floodmark.GrantScope{floodmark.GrantOnce, floodmark.GrantTurn, floodmark.GrantMinutes, floodmark.GrantTool} {
		for _, c := range []struct {
			push *hook.Push
			want bool
		}{{shown, scope != floodmark.GrantTool}, {other, false}, {unseen, false}, {&hook.Push{}, false}} {
			b := approval.Book{Grants: []approval.Grant{{Scope: scope, Shown: given}}}
			_, got := b.Covers(approval.Wanted{
				Tool: tool, ArgsDigest: args, Others: c.push.With(floodmark.Digest{}), Exact: true,
				NewBelow: func(floodmark.NodeID, bool, bool) bool { return false },
			})
			if got != c.want {
				t.Errorf("%s, %+v: %v", scope, c.push, got)
			}
		}
	}
}
