package protect

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Clients returns all programs whose tool servers (MCP) can be put behind the gateway, by name. Not
// all of them have hooks.
func Clients() []Agent {
	var list []Agent
	for _, k := range clients() {
		list = append(list, k.Agent)
	}
	return list
}

// clients returns the agents and programs that list tool servers in files.
func clients() []kind {
	list := slices.DeleteFunc(allKinds(), func(k kind) bool { return k.lists == nil })
	return list
}

// allKinds returns the agents, and the clients without hooks, by name.
func allKinds() []kind {
	list := append(kinds(),
		kind{
			Agent: Agent{"claude-desktop", "Claude Desktop"},
			lists: desktopLists, table: plainTable("mcpServers"),
		},
		kind{
			Agent: Agent{"vscode", "VS Code"},
			lists: codeLists, shared: []string{".vscode/mcp.json"}, table: plainTable("servers"),
		},
	)
	slices.SortFunc(list, func(a, b kind) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// ErrNoClient means that there is no client of that name.
var ErrNoClient = errors.New("no such client")

func clientOf(name string) (kind, error) {
	var names []string
	for _, k := range clients() {
		if k.Name == name {
			return k, nil
		}
		names = append(names, k.Name)
	}
	return kind{}, fmt.Errorf("%w as %q (there are %s)", ErrNoClient, name, strings.Join(names, ", "))
}

// anyOf finds an agent or a client by name.
func anyOf(name string) (kind, error) {
	for _, k := range allKinds() {
		if k.Name == name {
			return k, nil
		}
	}
	return kindOf(name) // for the text of its error
}

// serverPaths returns the user's files in which a client lists tool servers, and the files below
// m.Projects in which it does.
func (k kind) serverPaths(m Machine) []string {
	if k.lists == nil || m.System {
		return nil
	}
	list, err := k.lists(m)
	if err != nil {
		return nil // the folder is unknown on this machine
	}
	for _, dir := range m.Projects {
		for _, name := range k.shared {
			list = append(list, filepath.Join(dir, name))
		}
	}
	var once []string
	for _, path := range list {
		if !slices.Contains(once, path) {
			once = append(once, path)
		}
	}
	return once
}

// serversIn returns how a client's servers are read and written on this machine.
func (k kind) serversIn(m Machine) *serverList {
	return &serverList{serverTable: k.table, program: m.Program, place: m.Gateway}
}

// serverFiles returns the files in which a client lists tool servers: those of its present
// settings, and those that were changed earlier, when its settings were elsewhere.
func (k kind) serverFiles(m Machine, rec *record) ([]file, error) {
	hooks, err := k.files(m)
	if err != nil {
		return nil, err
	}
	var list []file
	for _, path := range append(k.serverPaths(m), rec.serverFiles()...) {
		if slices.ContainsFunc(list, func(f file) bool { return f.path == path }) {
			continue
		}
		one := file{path: path, part: part{sort: serversPart}, servers: k.serversIn(m)}
		if at := slices.IndexFunc(hooks, func(f file) bool { return f.path == path }); at >= 0 {
			one = hooks[at]
		}
		list = append(list, one)
	}
	return list, nil
}

// plainTable returns a table at the given path whose servers have a command and arguments.
func plainTable(at ...string) serverTable {
	return serverTable{at: [][]string{at}, name: func(key string) string { return key }}
}

// claudeTable has the servers of the person, and those of the person in one project.
func claudeTable() serverTable {
	t := plainTable("mcpServers")
	t.at = append(t.at, []string{"projects", "*", "mcpServers"})
	t.name = func(key string) string { return strings.Map(nameRune("_-"), key) }
	return t
}

func codexTable() serverTable {
	t := plainTable("mcp_servers")
	t.toml = true
	t.name = func(key string) string { return strings.Map(nameRune("_"), key) }
	return t
}

func geminiTable() serverTable {
	t := plainTable("mcpServers")
	t.alone = []string{"mcp", "serverCommand"}
	return t
}

// opencodeTable allows for the second version of the settings, in which the table is one level
// deeper.
func opencodeTable() serverTable {
	t := plainTable("mcp")
	t.argv, t.inner = true, "servers"
	return t
}

// nameRune returns how agents spell a server's name in the name of a tool: letters, digits and the
// characters of also stay, all others become underscores.
func nameRune(also string) func(rune) rune {
	return func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(also, r) {
			return r
		}
		return '_'
	}
}

func claudeLists(m Machine) ([]string, error) {
	folder, err := m.folder("CLAUDE_CONFIG_DIR")
	return []string{filepath.Join(folder, ".claude.json")}, err
}

func codexLists(m Machine) ([]string, error) {
	folder, err := m.folder("CODEX_HOME", ".codex")
	return []string{filepath.Join(folder, "config.toml")}, err
}

func cursorLists(m Machine) ([]string, error) {
	file, err := m.home(".cursor", "mcp.json")
	return []string{file}, err
}

func geminiFolder(m Machine) (string, error) {
	home, err := m.folder("GEMINI_CLI_HOME")
	return filepath.Join(home, ".gemini"), err
}

func geminiLists(m Machine) ([]string, error) {
	folder, err := geminiFolder(m)
	return []string{filepath.Join(folder, "settings.json")}, err
}

func opencodeFolder(m Machine) (string, error) {
	config, err := m.folder("XDG_CONFIG_HOME", ".config")
	return filepath.Join(config, "opencode"), err
}

// opencodeLists returns all files that opencode reads, in its order.
func opencodeLists(m Machine) ([]string, error) {
	folder, err := opencodeFolder(m)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, name := range []string{"opencode.json", "opencode.jsonc", "config.json"} {
		list = append(list, filepath.Join(folder, name))
	}
	if more := m.Getenv("OPENCODE_CONFIG"); filepath.IsAbs(more) {
		list = append(list, filepath.Clean(more))
	}
	return list, nil
}

func opencodeShared() []string {
	return []string{"opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"}
}

// desktopLists returns the places of the file on Linux and on macOS.
func desktopLists(m Machine) ([]string, error) {
	return m.applications(filepath.Join("Claude", "claude_desktop_config.json"))
}

// codeLists returns the files of each edition and of each of its profiles.
func codeLists(m Machine) ([]string, error) {
	var list []string
	for _, edition := range []string{"Code", "Code - Insiders", "VSCodium"} {
		user, err := m.applications(filepath.Join(edition, "User"))
		if err != nil {
			return nil, err
		}
		for _, folder := range user {
			list = append(list, filepath.Join(folder, "mcp.json"))
			// A pattern that cannot be parsed finds no profiles.
			profiles, _ := filepath.Glob(filepath.Join(plainGlob(folder), "profiles", "*", "mcp.json"))
			list = append(list, profiles...)
		}
	}
	return list, nil
}

// plainGlob escapes a folder, so that none of its characters is a pattern.
func plainGlob(folder string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(folder)
}

// applications returns where desktop programs keep a file, on Linux and on macOS.
func (m Machine) applications(below string) ([]string, error) {
	config, err := m.folder("XDG_CONFIG_HOME", ".config")
	if err != nil {
		return nil, err
	}
	library, err := m.home("Library", "Application Support")
	return []string{filepath.Join(config, below), filepath.Join(library, below)}, err
}
