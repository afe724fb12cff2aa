package protect

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/floodmark/floodmark/integrations"
	"github.com/floodmark/floodmark/internal/wholefile"
)

// A kind is what is known of one agent. To add an agent, add a row to kinds,
// its files to package integrations, and what it covers to covers.yaml there.
type kind struct {
	Agent
	// programs are the names it may have on PATH, packages those it may have
	// in a package.json beside it.
	programs, packages []string
	// user and system are its settings folders; system is nil where
	// administrators have none.
	user   func(Machine) (string, error)
	system func(Machine) string
	// parts are the files that connect it, by their names in the folder.
	parts []part
	// loads refuses other settings in its folder that keep it from loading ours;
	// nil where there are none.
	loads func(folder string) error
	// trust means that it runs hooks of the first file only if the second one
	// says that they are trusted.
	trust bool
	// lists are the files of a person in which it names tool servers, shared
	// those below a project; table is how they are written there.
	lists  func(Machine) ([]string, error)
	shared []string
	table  serverTable
}

// A part is one file of an agent and what of ours goes into it.
type part struct {
	// name is below the settings folder, shipped below integrations.
	name, shipped string
	sort          sort
	// last puts our hooks behind those of others.
	last bool
	// strict means that the agent reads no comments in it.
	strict bool
	// at says where the file is, where that is not simply its name.
	at func(m Machine, folder string) string
	// allow is a list that has to name us, if it has any entry.
	allow []string
	// turns are where all hooks can be switched off.
	turns []turn
}

// A sort is how a shipped file goes into a settings file.
type sort int

const (
	// whole is a file of our own.
	whole sort = iota
	// jsonPart is merged into JSON with comments.
	jsonPart
	// tomlPart is lines of TOML.
	tomlPart
	// lockPart is JSON with a list that is locked.
	lockPart
	// serversPart takes no hook: only the tool servers it names are ours.
	serversPart
)

// kinds are all agents, by name.
func kinds() []kind {
	list := append(hookKinds(), pluginKinds()...)
	slices.SortFunc(list, func(a, b kind) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// hookKinds are those that start a program at each hook.
func hookKinds() []kind {
	return []kind{
		{
			Agent:    Agent{"claude-code", "Claude Code"},
			programs: []string{"claude"}, packages: []string{"@anthropic-ai/claude-code"},
			user:   func(m Machine) (string, error) { return m.folder("CLAUDE_CONFIG_DIR", ".claude") },
			system: func(m Machine) string { return m.etc("claude-code") },
			parts: []part{{
				name: "settings.json", shipped: "claude-code/settings.json", sort: jsonPart, at: managedSettings,
				turns: []turn{{[]string{"disableAllHooks"}, "true"}},
			}},
			lists: claudeLists, shared: []string{".mcp.json"}, table: claudeTable(),
		},
		{
			Agent:    Agent{"codex", "Codex"},
			programs: []string{"codex"}, packages: []string{"@openai/codex"},
			user:   func(m Machine) (string, error) { return m.folder("CODEX_HOME", ".codex") },
			system: func(m Machine) string { return m.etc("codex") },
			parts: []part{
				// Others keep their places: Codex's trust in a hook hangs on
				// its place, and a no of any hook is a no.
				{name: "hooks.json", shipped: "codex/hooks.json", sort: jsonPart, last: true, strict: true},
				{
					name: "config.toml", shipped: "codex/config.toml", sort: tomlPart,
					turns: []turn{{[]string{"features", "hooks"}, "false"}, {[]string{"features", "codex_hooks"}, "false"}}, // its older name
				},
			},
			trust: true,
			lists: codexLists, shared: []string{".codex/config.toml"}, table: codexTable(),
		},
		{
			Agent:    Agent{"copilot-cli", "Copilot CLI"},
			programs: []string{"copilot"}, packages: []string{"@github/copilot"},
			user: func(m Machine) (string, error) { return m.folder("COPILOT_HOME", ".copilot") },
			parts: []part{{
				name: "hooks/floodmark.json", shipped: "copilot-cli/hooks.json", sort: jsonPart,
				turns: []turn{{[]string{"disableAllHooks"}, "true"}},
			}},
		},
		{
			Agent:    Agent{"cursor", "Cursor"},
			programs: []string{"cursor-agent", "cursor"},
			user:     func(m Machine) (string, error) { return m.home(".cursor") },
			system:   func(m Machine) string { return m.etc("cursor") },
			parts:    []part{{name: "hooks.json", shipped: "cursor/hooks.json", sort: jsonPart}},
			lists:    cursorLists, shared: []string{".cursor/mcp.json"}, table: plainTable("mcpServers"),
		},
		{
			Agent:    Agent{"gemini-cli", "Gemini CLI"},
			programs: []string{"gemini"}, packages: []string{"@google/gemini-cli"},
			user:   geminiFolder,
			system: func(m Machine) string { return m.etc("gemini-cli") },
			parts: []part{{
				name: "settings.json", shipped: "gemini-cli/settings.json", sort: jsonPart,
				turns: []turn{{[]string{"hooksConfig", "enabled"}, "false"}, {[]string{"hooksConfig", "disabled"}, ""}},
			}},
			lists: geminiLists, shared: []string{".gemini/settings.json"}, table: geminiTable(),
		},
	}
}

// pluginKinds are those that load code of ours.
func pluginKinds() []kind {
	return []kind{
		{
			Agent:    Agent{"openclaw", "OpenClaw"},
			programs: []string{"openclaw"}, packages: []string{"openclaw"},
			user: openclawState,
			parts: []part{
				{name: "extensions/floodmark/index.ts", shipped: "openclaw/index.ts"},
				// The settings include it, so it is there before them.
				{name: "extensions/floodmark/entry.json5", shipped: "openclaw/entry.json5", at: func(m Machine, folder string) string {
					return filepath.Join(filepath.Dir(openclawConfig(m, folder)), "extensions", "floodmark", "entry.json5")
				}},
				{name: "extensions/floodmark/openclaw.plugin.json", shipped: "openclaw/openclaw.plugin.json"},
				{name: "extensions/floodmark/package.json", shipped: "openclaw/package.json"},
				{
					name: "openclaw.json", shipped: "openclaw/settings.json", sort: jsonPart, allow: []string{"plugins", "allow"}, at: openclawConfig,
					// What stands beside an include counts for more than it.
					turns: []turn{
						{[]string{"plugins", "deny"}, ""},
						{[]string{"plugins", "entries", ownName, "enabled"}, "false"},
						{[]string{"plugins", "entries", ownName, "hooks", "allowConversationAccess"}, "false"},
					},
				},
			},
		},
		{
			Agent:    Agent{"opencode", "opencode"},
			programs: []string{"opencode"}, packages: []string{"opencode-ai"},
			user: opencodeFolder,
			parts: []part{
				{name: "plugins/floodmark.ts", shipped: "opencode/floodmark.ts"},
				{name: "opencode.json", shipped: "opencode/opencode.json", sort: lockPart, at: opencodeSettings},
			},
			lists: opencodeLists, shared: opencodeShared(), table: opencodeTable(),
		},
		{
			Agent:    Agent{"pi", "pi"},
			programs: []string{"pi"}, packages: []string{"@mariozechner/pi-coding-agent", "@earendil-works/pi-coding-agent"},
			user:  func(m Machine) (string, error) { return m.folder("PI_CODING_AGENT_DIR", ".pi", "agent") },
			parts: []part{{name: "extensions/floodmark.ts", shipped: "pi/floodmark.ts"}},
			loads: piLoads,
		},
	}
}

// A file is one settings file of an agent on this machine, and how it changes.
type file struct {
	path string
	part
	text  []byte     // what is shipped, with the places of this machine in it
	trust []tomlWant // the hooks this file has to trust
	// servers are the tool servers it names; nil if it is no place for them.
	servers *serverList
}

// settings is the agent's settings folder.
func (k kind) settings(m Machine) (string, error) {
	if !m.System {
		return k.user(m)
	}
	if k.system == nil {
		return "", errNoSystem
	}
	return k.system(m), nil
}

// loadable says why an agent would not load ours, though it is there.
func (k kind) loadable(m Machine) error {
	if k.loads == nil {
		return nil
	}
	folder, err := k.settings(m)
	if err != nil {
		return err
	}
	return k.loads(folder)
}

// files are those of an agent that change.
func (k kind) files(m Machine) ([]file, error) {
	if len(k.parts) == 0 {
		return nil, nil // it has no hooks
	}
	folder, err := k.settings(m)
	if err != nil {
		return nil, err
	}
	var list []file
	for _, p := range k.parts {
		text, err := integrations.File(p.shipped)
		if err != nil {
			return nil, err
		}
		f := file{path: filepath.Join(folder, p.name), part: p, text: m.listening(text)}
		if p.at != nil {
			f.path = p.at(m, folder)
		}
		if p.sort == jsonPart {
			if f.text, err = m.placed(p.shipped, text); err != nil {
				return nil, err
			}
		}
		if slices.Contains(k.serverPaths(m), f.path) {
			f.servers = k.serversIn(m)
		}
		list = append(list, f)
	}
	return list, nil
}

// managedSettings is Claude Code's file, which has another name where it is
// the administrator's.
func managedSettings(m Machine, folder string) string {
	if m.System {
		return filepath.Join(folder, "managed-settings.json")
	}
	return filepath.Join(folder, "settings.json")
}

// opencodeSettings is the one of opencode's two files that lists providers, or
// that is there. The second is read last, and its list counts.
func opencodeSettings(_ Machine, folder string) string {
	plain, commented := filepath.Join(folder, "opencode.json"), filepath.Join(folder, "opencode.jsonc")
	for _, path := range []string{commented, plain} {
		if data, err := wholefile.Read(path, maxSettings); err == nil && bytes.Contains(data, []byte(lockList)) {
			return path
		}
	}
	if _, err := os.Stat(commented); err == nil {
		return commented
	}
	return plain
}

// openclawConfig is where OpenClaw's settings are.
func openclawConfig(m Machine, folder string) string {
	if v := m.Getenv("OPENCLAW_CONFIG_PATH"); filepath.IsAbs(v) {
		return v
	}
	return filepath.Join(folder, "openclaw.json")
}

// openclawState is the folder of OpenClaw.
func openclawState(m Machine) (string, error) {
	if m.Getenv("OPENCLAW_STATE_DIR") != "" {
		return m.folder("OPENCLAW_STATE_DIR")
	}
	home, err := m.folder("OPENCLAW_HOME")
	return filepath.Join(home, ".openclaw"), err
}
