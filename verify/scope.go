package verify

import (
	"slices"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
)

// A FailMode says what a gate's silence means. Smaller is safer.
type FailMode uint8

// The fail modes, by seed 3's words deny and allow.
const (
	FailDeny FailMode = iota
	FailAllow
)

func (m FailMode) String() string {
	if m == FailAllow {
		return "allow"
	}
	return "deny"
}

// A Scope says which tools a gate concerns: only those of Include, or all but
// those of Exclude, or all. With both it concerns what either would.
type Scope struct {
	Include, Exclude []string
}

// Concerns includes widely and excludes narrowly: a bare name includes a
// server's tool of that name, but excludes only one of the agent's own.
func (s Scope) Concerns(t floodmark.ToolRef) bool {
	if slices.ContainsFunc(s.Include, func(n string) bool { return includes(n, t) }) {
		return true
	}
	if len(s.Include) > 0 && len(s.Exclude) == 0 {
		return false
	}
	return !slices.ContainsFunc(s.Exclude, func(n string) bool { return names(n, t) })
}

// names reports whether a written name means exactly this tool.
func names(written string, t floodmark.ToolRef) bool {
	at := strings.LastIndexByte(written, '/') // a server's name may have one itself
	if at < 0 {
		return t.Server == "" && Normal(written) == Normal(t.Name)
	}
	server, tool := written[:at], written[at+1:]
	return t.Server != "" && strings.TrimSpace(server) == t.Server && (strings.TrimSpace(tool) == "*" || Normal(tool) == Normal(t.Name))
}

func includes(written string, t floodmark.ToolRef) bool {
	return names(written, t) || !strings.Contains(written, "/") && Normal(written) == Normal(t.Name)
}

// Normal is the name of a tool as scopes compare it: in small letters, and the
// same for what agents call differently.
func Normal(name string) string {
	switch name = strings.ToLower(strings.TrimSpace(name)); name {
	case "bash":
		return "exec"
	case "apply-patch", "applypatch":
		return "apply_patch"
	}
	return name
}

// A Gate is a verifier as the settings describe it: whom it concerns, and what
// its silence means.
type Gate struct {
	Name string
	// Agent is set if it concerns that agent alone.
	Agent    string
	Scope    Scope
	FailMode FailMode
	Timeout  time.Duration
}

// Gates are all that are set. Several of one name are one gate, as strict as the
// strictest and as wide as all of them: what is said of one agent only tightens.
type Gates []Gate

// For names the gates a call has to pass, in their order.
func (g Gates) For(agent string, t floodmark.ToolRef) []string {
	var list []string
	for i := range g {
		if g[i].of(agent) && !slices.Contains(list, g[i].Name) && g[i].Scope.Concerns(t) {
			list = append(list, g[i].Name)
		}
	}
	return list
}

// Gate returns how one gate is dealt with for an agent, if it is set.
func (g Gates) Gate(agent, name string) (Gate, bool) {
	var out Gate
	found := false
	for i := range g {
		switch next := g[i]; {
		case next.Name != name || !next.of(agent):
		case !found:
			out, found = next, true
		default:
			out = out.Join(next)
		}
	}
	return out, found
}

// Join is how a gate is dealt with that was described twice. Scopes are not
// joined: each concerns what it concerns.
func (g Gate) Join(o Gate) Gate {
	g.FailMode = min(g.FailMode, o.FailMode)
	if g.Timeout == 0 || o.Timeout != 0 && o.Timeout < g.Timeout {
		g.Timeout = o.Timeout
	}
	return g
}

func (g *Gate) of(agent string) bool { return g.Agent == "" || g.Agent == agent }
