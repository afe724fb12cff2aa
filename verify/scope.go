package verify

import (
	"slices"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
)

// A FailMode says what happens if a gate does not answer. Smaller is safer.
type FailMode uint8

// The fail modes. The words deny and allow are those of seed 3 (docs/reference/seeds.md).
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

// A Scope says which tools a gate concerns: only those of Include, all except those of Exclude, or
// all tools if both are empty. If both are set, the gate concerns the tools of Include and all
// tools except those of Exclude.
type Scope struct {
	Include, Exclude []string
}

// Concerns reports whether a call has to be verified, because its tool's name or its effects are in
// the scope. Names include widely and exclude narrowly, so that a name that we do not know can only
// add a verification:
//
//   - A name includes every tool of that name, also a server's. «exec», «write», «edit»,
//     «apply_patch» and «read» include the tools of other agents for the same purpose.
//   - «exec» also includes every call that runs something. «write» also includes every call that
//     writes, changes or deletes. Both include every call that changes the agent itself. «edit»
//     and «apply_patch» also include a call that writes if the name of its tool does not say what
//     the tool does. A call without known effects is treated as having all of them.
//   - A name excludes only the agent's own tool of that name. «read» also excludes the reading
//     tools of other agents, if the call only observes.
func (s Scope) Concerns(t floodmark.ToolRef, effects []floodmark.Effect) bool {
	if slices.ContainsFunc(s.Include, func(n string) bool { return includes(n, t, effects) }) {
		return true
	}
	if len(s.Include) > 0 && len(s.Exclude) == 0 {
		return false
	}
	return !slices.ContainsFunc(s.Exclude, func(n string) bool { return excludes(n, t, effects) })
}

// Lists reports whether a written name is the name of this tool, also if it is a server's tool. It
// ignores effects and the names that other agents use, for callers that must find exactly the entry
// for a tool.
func Lists(written string, t floodmark.ToolRef) bool {
	return names(written, t) || !strings.Contains(written, "/") && Normal(written) == Normal(t.Name)
}

// names reports whether a written name means this tool only: a bare name an agent's own tool,
// «server/tool» a server's tool, and «server/*» every tool of a server.
func names(written string, t floodmark.ToolRef) bool {
	at := strings.LastIndexByte(written, '/') // a server's name may contain a slash
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
		return (named == "" || named == "read" || t.Server != "" || len(effects) == 0) && does(floodmark.Admin, floodmark.Write)
	}
	return false
}

func excludes(written string, t floodmark.ToolRef, effects []floodmark.Effect) bool {
	return names(written, t) || Normal(written) == "read" && t.Server == "" && kindOf(t.Name) == "read" &&
		len(effects) > 0 && !slices.ContainsFunc(effects, func(e floodmark.Effect) bool { return e != floodmark.Observe })
}

// kindOf returns what a tool does according to its name, in the words of seed 3, for the agents
// whose tools the catalog describes. It is empty for other names. A tool whose name is
// missing here is included by its effects, which include more calls than its name would.
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

// Normal returns the name of a tool as scopes compare it: in lower case, and with one name for
// tools that agents name differently.
func Normal(name string) string {
	switch name = strings.ToLower(strings.TrimSpace(name)); name {
	case "bash":
		return "exec"
	case "apply-patch", "applypatch":
		return "apply_patch"
	}
	return name
}

// A Gate is a verifier as the settings describe it: which calls it concerns, and what happens if it
// does not answer.
type Gate struct {
	Name string
	// Agent is set if the gate concerns only that agent.
	Agent    string
	Scope    Scope
	FailMode FailMode
	Timeout  time.Duration
}

// Gates are all gates in the settings. Several entries with one name describe one gate, which is as
// strict as the strictest entry and concerns the calls of all entries. So an entry for one agent
// can only make a gate stricter.
type Gates []Gate

// For returns the names of the gates that a call with these effects has to pass, in their order.
func (g Gates) For(agent string, t floodmark.ToolRef, effects []floodmark.Effect) []string {
	var list []string
	for i := range g {
		if g[i].of(agent) && !slices.Contains(list, g[i].Name) && g[i].Scope.Concerns(t, effects) {
			list = append(list, g[i].Name)
		}
	}
	return list
}

// Gate returns the settings of the gate with a name for an agent, and whether there are any.
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

// Join returns the fail mode and timeout of a gate that is described twice. It does not join the
// scopes, which [Gates.For] examines one by one.
func (g Gate) Join(o Gate) Gate {
	g.FailMode = min(g.FailMode, o.FailMode)
	if g.Timeout == 0 || o.Timeout != 0 && o.Timeout < g.Timeout {
		g.Timeout = o.Timeout
	}
	return g
}

func (g *Gate) of(agent string) bool { return g.Agent == "" || floodmark.IsOf(agent, g.Agent) }
