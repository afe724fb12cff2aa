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

// Concerns reports whether a call has to be verified: the tool's name or what the
// call does (its effects, as the catalog has them) is in the scope. It includes
// widely and excludes narrowly, so that a name which is not on any list here means
// one verification more, never one less:
//
//   - a listed name includes a tool of that name, a server's as well; «exec», «write»,
//     «edit», «apply_patch» and «read» include the tools by which other agents do that;
//   - «exec» also includes every call that runs something, «write» every call that writes,
//     changes or deletes, and both what changes the agent itself, whatever the tool is
//     called. «edit» and «apply_patch» also include a call that writes by a tool whose name
//     does not say so. A tool that the catalog does not know runs; no effects mean all of them;
//   - a name excludes the agent's own tool of that name alone. Only «read» also excludes
//     what other agents call reading, if that call does nothing else.
func (s Scope) Concerns(t floodmark.ToolRef, effects []floodmark.Effect) bool {
	if slices.ContainsFunc(s.Include, func(n string) bool { return includes(n, t, effects) }) {
		return true
	}
	if len(s.Include) > 0 && len(s.Exclude) == 0 {
		return false
	}
	return !slices.ContainsFunc(s.Exclude, func(n string) bool { return excludes(n, t, effects) })
}

// Lists reports whether a written name is this tool's, or that of a server's tool. It
// looks at no effects and knows no other agent's names: who uses it to find the one
// entry that counts must not have another entry caught by it.
func Lists(written string, t floodmark.ToolRef) bool {
	return names(written, t) || !strings.Contains(written, "/") && Normal(written) == Normal(t.Name)
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

func includes(written string, t floodmark.ToolRef, effects []floodmark.Effect) bool {
	does := func(one ...floodmark.Effect) bool {
		return len(effects) == 0 || slices.ContainsFunc(effects, func(e floodmark.Effect) bool { return slices.Contains(one, e) })
	}
	switch kind := Normal(written); {
	case Lists(written, t) || kind != "" && kindOf(t.Name) == kind:
		return true
	case kind == "exec":
		return does(floodmark.Admin, floodmark.Run)
	case kind == "write":
		return does(floodmark.Admin, floodmark.Change, floodmark.Write)
	case kind == "edit", kind == "apply_patch":
		named := kindOf(t.Name)
		return (named == "" || named == "read") && does(floodmark.Admin, floodmark.Write)
	}
	return false
}

func excludes(written string, t floodmark.ToolRef, effects []floodmark.Effect) bool {
	return names(written, t) || Normal(written) == "read" && t.Server == "" && kindOf(t.Name) == "read" &&
		len(effects) > 0 && !slices.ContainsFunc(effects, func(e floodmark.Effect) bool { return e != floodmark.Observe })
}

// kindOf is what a tool does by its name, in the words of seed 3, for the agents whose
// tools the catalog describes; empty if the name says nothing. If a name is missing here, its
// tool is included by its effects, more often than by its name.
func kindOf(name string) string {
	switch name = Normal(name); name {
	case "exec", "shell", "powershell", "exec_command", "shell_command", "local_shell", "run_shell_command", "run_terminal_cmd", "write_stdin",
		"write_bash", "write_powershell", "writeshellstdin", "write_shell_stdin", "process", "monitor", "code_execution", "code_mode", "execute":
		return "exec"
	case "write", "write_file", "create":
		return "write"
	case "edit", "multiedit", "replace", "strreplace", "search_replace", "str_replace_editor", "edit_file", "reapply", "editnotebook", "edit_notebook", "notebookedit":
		return "edit"
	case "apply_patch", "patch":
		return "apply_patch"
	case "read", "read_file", "read_many_files", "view", "notebookread":
		return "read"
	}
	return ""
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

// For names the gates a call with these effects has to pass, in their order.
func (g Gates) For(agent string, t floodmark.ToolRef, effects []floodmark.Effect) []string {
	var list []string
	for i := range g {
		if g[i].of(agent) && !slices.Contains(list, g[i].Name) && g[i].Scope.Concerns(t, effects) {
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

func (g *Gate) of(agent string) bool { return g.Agent == "" || floodmark.IsOf(agent, g.Agent) }
