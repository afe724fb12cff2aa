package catalog

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/floodmark/floodmark"
	"go.yaml.in/yaml/v3"
)

// readShipped reads the shipped catalog once for all tests: it never changes.
var readShipped = sync.OnceValues(Shipped)

func shipped(t testing.TB) *Catalog {
	t.Helper()
	c, err := readShipped()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func shippedFiles(t *testing.T) []*File {
	t.Helper()
	out, err := readFolder(data, "data")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestShippedCounts(t *testing.T) {
	agents, servers, tools := map[string]bool{}, 0, 0
	for _, f := range shippedFiles(t) {
		for _, p := range f.profiles {
			for _, a := range p.agents {
				agents[a] = true
			}
			tools += len(p.tools)
		}
		if len(f.profiles) > 0 && f.profiles[0].servers != nil {
			servers++
		}
	}
	for _, a := range []string{"claude-code", "codex", "gemini-cli", "copilot-cli", "opencode", "pi", "openclaw", "cursor"} {
		if !agents[a] {
			t.Errorf("no tools of %s", a)
		}
	}
	commands := len(shipped(t).entries)
	t.Logf("%d agents, %d servers, %d tools, %d commands", len(agents), servers, tools, commands)
	if len(agents) < 8 || servers < 14 || commands < 80 {
		t.Errorf("%d agents, %d servers, %d commands", len(agents), servers, commands)
	}
}

func TestShippedProfilesAreWellFormed(t *testing.T) {
	owners := map[key]string{}
	for _, f := range shippedFiles(t) {
		if len(f.Warnings()) > 0 {
			t.Errorf("%v", f.Warnings())
		}
		for _, p := range f.profiles {
			where := f.name + " " + p.tools[0]
			for _, tool := range p.tools {
				for _, k := range p.keys(tool) {
					if other, taken := owners[k]; taken {
						t.Errorf("%s: %v is also in %s", where, k, other)
					}
					owners[k] = f.name
				}
			}
			checkProfile(t, where, p)
		}
	}
}

func checkProfile(t *testing.T, where string, p *Profile) {
	t.Helper()
	if p.about == "" || len(p.effects) == 0 || !p.returns.label.Valid() {
		t.Errorf("%s: something is missing: %+v", where, p)
	}
	strongest := slices.Min(p.effects)
	if p.returns.label.Trust >= floodmark.Owner && strongest != observe && strongest != admin && p.returns.label.Secrecy != floodmark.Public {
		t.Errorf("%s: a result from outside is not the owner's word", where)
	}
	for name, a := range p.args {
		if a.Role == floodmark.Undeclared || a.Is == "" {
			t.Errorf("%s: argument %s says nothing", where, name)
		}
	}
	deciding := func(a Arg) bool { return a.Role == floodmark.Critical }
	if strongest >= send && strongest <= write && len(p.args) > 0 {
		found := false
		for _, a := range p.args {
			found = found || deciding(a)
		}
		if !found {
			t.Errorf("%s: nothing decides where the effect lands", where)
		}
	}
	// An argument that decides who receives is never content.
	for name, a := range p.args {
		low := strings.ToLower(name)
		if slices.Contains([]string{"to", "cc", "bcc", "recipient", "recipients", "channel", "channel_id", "attendees", "url", "path", "command", "headers", "repo", "owner", "assignees"}, low) &&
			strongest <= fetch && a.Role == floodmark.Content && a.Is != IsFlag {
			t.Errorf("%s: %s is content", where, name)
		}
	}
}

// Every tool named by the seeds is described for OpenClaw, with the trust they give its result,
// except where the design differs.
func TestSeedTools(t *testing.T) {
	c := shipped(t)
	byPath := map[string]bool{"read": true, "read_file": true, "apply_patch": true, "edit": true}
	for tool, trust := range map[string]string{
		"read": "local", "read_file": "local", "write": "local", "edit": "local", "apply_patch": "local",
		"exec":    "untrusted", // by command, until the command is understood
		"process": "untrusted", "web_fetch": "untrusted", "web_search": "untrusted", "browser": "untrusted",
		"message": "external", "gateway": "system", "cron": "shared", "sessions_spawn": "shared", "sessions_send": "untrusted",
		"sessions_list": "shared", "sessions_history": "untrusted", "session_status": "system", "agents_list": "shared",
		"memory_search": "shared", "memory_get": "shared", "vestige_search": "shared", "vestige_promote": "shared",
		"vestige_demote": "shared", "image": "external", "nodes": "local", "email": "external", "webhook": "untrusted",
		"contacts_lookup": "external", "send_email": "local", "calendar_list": "external", "calendar_create": "local",
		"calendar_delete": "local", "slack_post": "local",
	} {
		u := c.Classify(builtin("openclaw", tool), nil, nil, here())
		if u.Profile == nil {
			t.Errorf("%s is not known", tool)
			continue
		}
		if got := u.Returns.Trust.String(); got != trust {
			t.Errorf("%s returns %s, want %s", tool, got, trust)
		}
		if u.ByPath != byPath[tool] {
			t.Errorf("%s by path: %v", tool, u.ByPath)
		}
	}
}

// Results of agents' own web tools are untrusted under each of their names.
func TestWebToolsOfAgents(t *testing.T) {
	c := shipped(t)
	for agent, tools := range map[string][]string{
		"claude-code": {"WebFetch", "WebSearch"},
		"codex":       {"web_search"},
		"gemini-cli":  {"web_fetch", "google_web_search"},
		"copilot-cli": {"web_fetch", "fetch", "web_search"},
		"opencode":    {"webfetch", "websearch", "codesearch"},
		"cursor":      {"WebFetch", "web_fetch", "WebSearch", "web_search"},
		"openclaw":    {"web_fetch", "web_search", "x_search"},
	} {
		for _, tool := range tools {
			u := c.Classify(builtin(agent, tool), args("url", "https://news.example/"), nil, here())
			if u.Profile == nil || u.Returns.Trust != floodmark.Untrusted || !slices.Contains(u.Effects, floodmark.Fetch) {
				t.Errorf("%s of %s: %v, %v", tool, agent, u.Returns, u.Effects)
			}
		}
	}
}

// The tools the seeds call safe only observe or fetch; the dangerous ones
// do more.
func TestSeedSafeTools(t *testing.T) {
	c := shipped(t)
	for _, tool := range strings.Fields("read memory_search memory_get web_fetch web_search image session_status sessions_list sessions_history agents_list vestige_search") {
		if u := c.Classify(builtin("openclaw", tool), nil, nil, here()); slices.Min(u.Effects) < fetch {
			t.Errorf("%s: %v", tool, u.Effects)
		}
	}
	for _, tool := range strings.Fields("exec process write edit apply_patch browser message gateway cron sessions_spawn sessions_send nodes send_email slack_post calendar_create calendar_delete") {
		if u := c.Classify(builtin("openclaw", tool), nil, nil, here()); slices.Min(u.Effects) >= fetch {
			t.Errorf("%s: %v", tool, u.Effects)
		}
	}
}

// The tool names captured from real agents.
func TestCapturedTools(t *testing.T) {
	c := shipped(t)
	for agent, tools := range map[string]string{
		"codex":       "Bash exec_command write_stdin apply_patch spawn_agent list_mcp_resources list_mcp_resource_templates read_mcp_resource view_image update_goal",
		"gemini-cli":  "update_topic list_directory read_file grep_search glob run_shell_command",
		"copilot-cli": "bash read_bash stop_bash list_bash view",
		"opencode":    "bash edit read write glob grep webfetch task todowrite skill",
		"pi":          "read bash edit write",
		"openclaw":    "apply_patch edit exec ls process read write tool_search tool_describe",
		"claude-code": "Bash Read Edit Write WebFetch WebSearch Task Agent Glob Grep NotebookEdit",
		"cursor":      "Shell Read Write Grep Delete Task",
	} {
		for _, tool := range strings.Fields(tools) {
			if _, ok := c.Lookup(builtin(agent, tool)); !ok {
				t.Errorf("%s of %s is not known", tool, agent)
			}
		}
	}
}

// An option with a value in one program has none in another, where the next word is the command:
// programs that start others share an entry only if it lists no options.
func TestStartersShareNoOptions(t *testing.T) {
	names, err := data.ReadDir("data")
	if err != nil {
		t.Fatal(err)
	}
	starters := 0
	for _, name := range names {
		text, err := data.ReadFile("data/" + name.Name())
		if err != nil {
			t.Fatal(err)
		}
		var file struct {
			Commands []struct {
				Command, Operands, Flags, Options, Values yaml.Node
			}
		}
		if err := yaml.Unmarshal(text, &file); err != nil {
			t.Fatal(err)
		}
		for _, e := range file.Commands {
			starts := e.Operands.Value == "command" || slices.ContainsFunc(e.Operands.Content, func(n *yaml.Node) bool { return n.Value == "command" })
			if !starts {
				continue
			}
			starters++
			if len(e.Command.Content) > 1 && !(e.Flags.IsZero() && e.Options.IsZero() && e.Values.IsZero()) {
				t.Errorf("%s:%d: several programs that start others share options", name.Name(), e.Command.Line)
			}
		}
	}
	if starters < 12 {
		t.Errorf("%d entries start others", starters)
	}
}
