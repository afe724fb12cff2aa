package protect

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/floodmark/floodmark/integrations"
	"github.com/floodmark/floodmark/internal/store/wholefile"
)

// A kind is what is known of one agent. To add an agent, add a row to hookKinds or pluginKinds, its
// files to package integrations, and what it covers to covers.yaml there.
type kind struct {
	Agent
	// programs are its possible names on PATH. packages are its possible names in a package.json
	// beside the program.
	programs, packages []string
	// user returns the person's settings folder. system returns the administrator's; nil if there
	// is none.
	user   func(Machine) (string, error)
	system func(Machine) string
	// parts are the files that connect it.
	parts []part
	// loads returns an error if other settings in the folder keep the agent from loading our code;
	// nil: there are no such settings.
	loads func(folder string) error
	// trust means that it runs the hooks of its first file only if its second file says that they
	// are trusted.
	trust bool
	// lists returns the person's files in which it lists tool servers. shared are such files below
	// a project. table is how servers are written in them.
	lists  func(Machine) ([]string, error)
	shared []string
	table  serverTable
}

// A part is one file of an agent and what we put into it.
type part struct {
	// name is relative to the settings folder, shipped to integrations.
	name, shipped string
	sort          sort
	// last puts our hooks after all others.
	last bool
	// strict means that the agent cannot read comments in it.
	strict bool
	// at returns where the file is; nil if it is simply name in the folder.
	at func(m Machine, folder string) string
	// allow is the path of a list that has to contain our name, if it has any entry.
	allow []string
	// turns are the settings that can switch off all hooks.
	turns []turn
}

// A sort says how a shipped file is put into a settings file.
type sort int

const (
	// whole is a file of our own.
	whole sort = iota
	// jsonPart is merged into JSON that may have comments.
	jsonPart
	// tomlPart is added to TOML as lines.
	tomlPart
	// lockPart is JSON with a list that is locked; see lockWord.
	lockPart
	// serversPart gets no hook: only its tool servers are changed.
	serversPart
)

// kinds returns all agents, by name.
func kinds() []kind {
	list := append(hookKinds(), pluginKinds()...)
	slices.SortFunc(list, func(a, b kind) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// hookKinds returns the agents that start a program at each hook.
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
				// Ours go last: Codex ties its trust in a hook to the hook's place in the list, so
				// other hooks must keep theirs.
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

// pluginKinds returns the agents that load our code.
func pluginKinds() []kind {
	return []kind{
		{
			Agent:    Agent{"openclaw", "OpenClaw"},
			programs: []string{"openclaw"}, packages: []string{"openclaw"},
			user: openclawState,
			parts: []part{
				{name: "extensions/floodmark/index.ts", shipped: "openclaw/index.ts"},
				// The settings include this file, so it is written before them.
				{name: "extensions/floodmark/entry.json5", shipped: "openclaw/entry.json5", at: func(m Machine, folder string) string {
					return filepath.Join(filepath.Dir(openclawConfig(m, folder)), "extensions", "floodmark", "entry.json5")
				}},
				{name: "extensions/floodmark/openclaw.plugin.json", shipped: "openclaw/openclaw.plugin.json"},
				{name: "extensions/floodmark/package.json", shipped: "openclaw/package.json"},
				{
					name: "openclaw.json", shipped: "openclaw/settings.json", sort: jsonPart, allow: []string{"plugins", "allow"}, at: openclawConfig,
					// Settings beside an include override the included file.
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

// A file is one settings file of an agent on this machine, with what is to be put into it.
type file struct {
	path string
	part
	text  []byte     // the shipped text, with the paths of this machine filled in
	trust []tomlWant // the lines by which this file trusts our hooks
	// servers are the tool servers it lists; nil if it lists none.
	servers *serverList
}

// settings returns the agent's settings folder.
func (k kind) settings(m Machine) (string, error) {
	if !m.System {
		return k.user(m)
	}
	if k.system == nil {
		return "", errNoSystem
	}
	return k.system(m), nil
}

// loadable returns an error if the agent's settings keep it from loading our code.
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

// files returns the settings files of an agent that are to be changed.
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

// managedSettings returns Claude Code's settings file. The administrator's has another name.
func managedSettings(m Machine, folder string) string {
	if m.System {
		return filepath.Join(folder, "managed-settings.json")
	}
	return filepath.Join(folder, "settings.json")
}

// opencodeSettings returns which of opencode's two files to change: the one that lists providers,
// else opencode.jsonc if it exists. opencode reads opencode.jsonc last, and its list overrides the
// other.
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

// openclawConfig returns OpenClaw's settings file.
func openclawConfig(m Machine, folder string) string {
	if v := m.Getenv("OPENCLAW_CONFIG_PATH"); filepath.IsAbs(v) {
		return v
	}
	return filepath.Join(folder, "openclaw.json")
}

// openclawState returns OpenClaw's folder.
func openclawState(m Machine) (string, error) {
	if m.Getenv("OPENCLAW_STATE_DIR") != "" {
		return m.folder("OPENCLAW_STATE_DIR")
	}
	home, err := m.folder("OPENCLAW_HOME")
	return filepath.Join(home, ".openclaw"), err
}
