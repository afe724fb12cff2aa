package catalog

import (
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/floodmark/floodmark"
)

// tools reads a policy's own tools.
func tools(t *testing.T, text string) *File {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	f, err := ParseTools("policy", doc.Content[0])
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Two catalogs are alike for a tool that neither changes, or that both describe in the same words,
// and for no other.
func TestAlike(t *testing.T) {
	base := shipped(t)
	const one, two = "- {agent: a, tool: one, effect: send, returns: {trust: local, secrecy: internal}}\n", "- {agent: a, tool: two, effect: send, returns: {trust: local, secrecy: internal}}\n"
	const other = "- {agent: a, tool: two, effect: write, returns: {trust: local, secrecy: internal}}\n"
	c, d := New([]*File{tools(t, one+two)}, base), New([]*File{tools(t, one+other)}, base)
	paths := New([]*File{parse(t, "agent: b\npaths: {secret: [\"~/keys/**\"]}\ntools: []\n")}, base)
	for _, tc := range []struct {
		name string
		c, d *Catalog
		tool floodmark.ToolRef
		want bool
	}{
		{"the same words", c, d, builtin("a", "one"), true},
		{"other words", c, d, builtin("a", "two"), false},
		{"shipped", c, d, builtin("openclaw", "exec"), true},
		{"nobody knows it", c, d, builtin("a", "three"), true},
		{"known to one", c, base, builtin("a", "one"), false},
		{"itself", c, c, builtin("a", "two"), true},
		{"other paths", c, paths, builtin("openclaw", "exec"), false},
	} {
		if got := tc.c.Alike(tc.d, tc.tool); got != tc.want || tc.d.Alike(tc.c, tc.tool) != tc.want {
			t.Errorf("%s: %v", tc.name, got)
		}
	}
}

// A call's classification depends on the examined values, and on no others.
func TestLooksAt(t *testing.T) {
	c := shipped(t)
	for _, tc := range []struct {
		tool floodmark.ToolRef
		top  string
		want bool
	}{
		{builtin("openclaw", "send_email"), "to", false},
		{builtin("openclaw", "send_email"), "body", false},
		{builtin("openclaw", "send_email"), "headers", true}, // no profile describes it
		{builtin("openclaw", "message"), "action", true},     // a case asks for it
		{builtin("openclaw", "exec"), "command", true},
		{builtin("openclaw", "exec"), "host", true}, // it may bend the command
		{builtin("openclaw", "web_fetch"), "url", true},
		{builtin("openclaw", "write"), "path", true},
		{builtin("openclaw", "write"), "content", false},
		{builtin("openclaw", "nobody"), "x", true},
	} {
		if got := c.LooksAt(tc.tool, tc.top); got != tc.want {
			t.Errorf("%v %s: %v", tc.tool, tc.top, got)
		}
	}
}
