package catalog

import (
	"testing"

	"github.com/floodmark/floodmark"
)

func builtin(agent, tool string) floodmark.ToolRef {
	return floodmark.ToolRef{Agent: agent, Name: tool}
}

func offered(server, tool string) floodmark.ToolRef {
	return floodmark.ToolRef{Server: server, Name: tool}
}

// A foreign server's «read» is not the agent's «read».
func TestNeverByNameAlone(t *testing.T) {
	c := shipped(t)
	if _, ok := c.Lookup(builtin("openclaw", "read")); !ok {
		t.Fatal("the agent's own tool is not known")
	}
	for _, ref := range []floodmark.ToolRef{
		{Name: "read"},
		{Server: "evil", Name: "read"},
		{Agent: "openclaw", Server: "evil", Name: "read"}, // the server counts, not the agent it is used in
		{Server: "openclaw", Name: "read"},                // a server that calls itself like the agent
		{Agent: "github", Name: "issue_read"},             // an agent that calls itself like the server
		{Agent: "claude-code", Name: "read"},              // another agent's tool
		{Agent: "openclaw", Name: "Read"},
		{Agent: "openclaw", Name: ""},
		{},
	} {
		if p, ok := c.Lookup(ref); ok {
			t.Errorf("%+v was taken for %v", ref, p.Tools())
		}
		u := c.Classify(ref, nil, nil, Places{})
		if u.Profile != nil || len(u.Effects) != 1 || u.Effects[0] != floodmark.Run || u.Returns != (floodmark.Label{}) || !u.Network {
			t.Errorf("%+v: %+v", ref, u)
		}
	}
}

func TestUserWinsOverShipped(t *testing.T) {
	base := shipped(t)
	user := parse(t, `
agent: openclaw
tools:
  - {tool: web_fetch, effect: send, returns: {trust: untrusted, secrecy: secret}}
  - {tool: "web_*", effect: admin, returns: {trust: untrusted, secrecy: secret}}
  - {tool: "web_sea*", effect: run, returns: {trust: untrusted, secrecy: secret}}
`)
	c := New([]*File{user}, base)
	for tool, want := range map[string]floodmark.Effect{
		"web_fetch":  floodmark.Send,  // the whole name before a prefix
		"web_search": floodmark.Run,   // the longer prefix, and the user's prefix before the shipped whole name
		"web_other":  floodmark.Admin, // the shorter prefix
		"read":       floodmark.Observe,
	} {
		if u := c.Classify(builtin("openclaw", tool), nil, nil, Places{}); u.Effects[0] != want {
			t.Errorf("%s: %v, want %v", tool, u.Effects, want)
		}
	}
	if c.Hash() == base.Hash() || c.Hash().IsZero() {
		t.Error("the hash does not tell the catalogs apart")
	}
	if New(nil, base).Classify(builtin("openclaw", "web_fetch"), nil, nil, Places{}).Effects[0] != floodmark.Fetch {
		t.Error("without user files the shipped profile must count")
	}
}

// A user can add to the guarded paths and take nothing away.
// A pattern for all tools is none for a call that names no tool.
func TestNoNameIsNoTool(t *testing.T) {
	c := New([]*File{parse(t, "agent: pi\ntools: [{tool: '*', effect: observe, returns: {trust: local, secrecy: public}}]")}, nil)
	for _, tc := range []struct {
		ref  floodmark.ToolRef
		want bool
	}{{builtin("pi", "x"), true}, {builtin("pi", ""), false}, {builtin("", "x"), false}} {
		if _, ok := c.Lookup(tc.ref); ok != tc.want {
			t.Errorf("%+v is known: %v", tc.ref, ok)
		}
	}
}

// A pattern for homes does not match paths elsewhere.
func TestPathsInHomes(t *testing.T) {
	c := New([]*File{parse(t, "paths:\n  secret: ['~/**']\n")}, shipped(t))
	for path, want := range map[string]PathKind{"/srv/x": Elsewhere, "~/x": Secret, "~": Secret} {
		if u := c.Classify(builtin("openclaw", "read"), args("path", path), nil, here()); u.PathKind != want {
			t.Errorf("%s: %v", path, u.PathKind)
		}
	}
}

func TestUserPathsOnlyTighten(t *testing.T) {
	user := parse(t, `
paths:
  secret: ["/srv/vault/**"]
`)
	c := New([]*File{user}, shipped(t))
	for _, p := range []string{"/srv/vault/x", "/home/u/.ssh/id_rsa"} {
		u := c.Classify(builtin("openclaw", "read"), args("path", p), nil, Places{})
		if u.PathKind != Secret || u.Returns.Secrecy != floodmark.Secret {
			t.Errorf("%s: %+v", p, u)
		}
	}
}

func TestUserCommandWins(t *testing.T) {
	user := parse(t, `
commands:
  - {command: ls, effect: run, returns: {trust: untrusted, secrecy: secret}}
`)
	c := New([]*File{user}, shipped(t))
	u := c.Classify(builtin("pi", "bash"), args("command", "ls"), nil, Places{})
	if u.Effects[0] != floodmark.Run || u.Returns.Trust != floodmark.Untrusted {
		t.Errorf("%+v", u)
	}
}
