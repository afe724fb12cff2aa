package catalog

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/shellscan"
)

// selfLines reads the command lines of a file with the heading of each. «⏎» stands for a line
// break.
func selfLines(t testing.TB, file string) (lines []string, kind map[string]string) {
	t.Helper()
	text, err := os.ReadFile("testdata/self/" + file)
	if err != nil {
		t.Fatal(err)
	}
	kind = map[string]string{}
	under := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, "# "); ok {
			under = name
			continue
		}
		line = strings.ReplaceAll(line, "⏎", "\n")
		if kind[line] != "" {
			t.Errorf("%s: %q stands there twice", file, line)
		}
		kind[line] = under
		lines = append(lines, line)
	}
	return lines, kind
}

// Every way an agent may tamper with the monitor, its own hooks or another agent's asks at every
// level.
func TestLinesThatTouchTheMonitor(t *testing.T) {
	c := shipped(t)
	lines, kind := selfLines(t, "touches.txt")
	for _, line := range lines {
		u := shell(t, c, line)
		if !u.SelfProtected || !slices.Contains(u.Effects, admin) {
			t.Errorf("%s: %s: %v, opaque %v", kind[line], line, u.Effects, u.Opaque)
		}
	}
	t.Logf("%d lines", len(lines))
}

// Lines that only look similar are unaffected.
func TestLinesThatLeaveTheMonitorAlone(t *testing.T) {
	c := shipped(t)
	lines, kind := selfLines(t, "leaves.txt")
	for _, line := range lines {
		if u := shell(t, c, line); u.SelfProtected {
			t.Errorf("%s: %s: %v, opaque %v", kind[line], line, u.Effects, u.Opaque)
		}
	}
	t.Logf("%d lines", len(lines))
}

// What instructs an agent or runs by itself is admin as well, by other rules.
func TestLinesThatInstruct(t *testing.T) {
	c := shipped(t)
	lines, kind := selfLines(t, "admin.txt")
	for _, line := range lines {
		if u := shell(t, c, line); u.SelfProtected || !slices.Contains(u.Effects, admin) {
			t.Errorf("%s: %s: %v, self-protected %v", kind[line], line, u.Effects, u.SelfProtected)
		}
	}
}

// selfWriters are the tools by which each agent writes, changes and removes files, and the argument
// that names the file. A patch names it in its text.
func selfWriters() map[string][][2]string {
	return map[string][][2]string{
		"claude-code": {{"Write", "file_path"}, {"Edit", "file_path"}, {"MultiEdit", "file_path"}, {"NotebookEdit", "notebook_path"}},
		"codex":       {{"apply_patch", "input"}, {"apply_patch", "command"}},
		"copilot-cli": {{"create", "path"}, {"edit", "path"}, {"str_replace_editor", "path"}, {"apply_patch", "patch"}},
		"cursor":      {{"Write", "path"}, {"StrReplace", "path"}, {"edit_file", "target_file"}, {"ApplyPatch", "patch"}, {"Delete", "path"}},
		"gemini-cli":  {{"write_file", "file_path"}, {"replace", "file_path"}},
		"openclaw":    {{"write", "path"}, {"edit", "path"}, {"apply_patch", "input"}},
		"opencode":    {{"write", "filePath"}, {"edit", "filePath"}, {"apply_patch", "patchText"}},
		"pi":          {{"write", "path"}, {"edit", "path"}},
	}
}

// No tool of an agent, described or not, writes without a question to a place that keeps it or
// another agent on the monitor's path.
func TestToolsThatTouchTheMonitor(t *testing.T) {
	c := shipped(t)
	places, kind := selfLines(t, "places.txt")
	for agent, tools := range selfWriters() {
		for _, tool := range tools {
			for _, place := range places {
				value := place
				if strings.Contains(strings.ToLower(tool[0]), "patch") {
					value = "*** Begin Patch\n*** Add File: " + place + "\n+x\n*** End Patch\n"
				}
				u := c.Classify(builtin(agent, tool[0]), args(tool[1], value), nil, here())
				want := strings.HasPrefix(kind[place], "guarded")
				if u.Profile == nil || u.SelfProtected != want || want && !slices.Contains(u.Effects, admin) {
					t.Errorf("%s %s %s: self-protected %v, want %v (%v)", agent, tool[0], place, u.SelfProtected, want, u.Effects)
				}
			}
		}
	}
	for _, place := range places {
		u := c.Classify(offered("nobody", "put"), args("where", place), nil, here())
		if strings.HasPrefix(kind[place], "guarded") && !u.SelfProtected && strings.ContainsAny(place, "/~.") && !strings.Contains(place, " ") {
			t.Errorf("a tool nobody described: %s: %v", place, u.Effects)
		}
	}
}

// Reading them is no write; but the reader of a pass can act as the owner elsewhere.
func TestToolsThatReadSettings(t *testing.T) {
	c := shipped(t)
	places, kind := selfLines(t, "places.txt")
	for agent, tool := range map[string][2]string{
		"claude-code": {"Read", "file_path"}, "codex": {"read_file", "file_path"}, "copilot-cli": {"view", "path"}, "cursor": {"Read", "path"},
		"gemini-cli": {"read_file", "file_path"}, "openclaw": {"read", "path"}, "opencode": {"read", "filePath"}, "pi": {"read", "path"},
	} {
		for _, place := range places {
			pass := strings.HasPrefix(kind[place], "guarded, also against reading")
			u := c.Classify(builtin(agent, tool[0]), args(tool[1], place), nil, here())
			if u.Profile == nil || u.SelfProtected != pass || pass && (!slices.Contains(u.Effects, admin) || u.Returns.Secrecy != floodmark.Secret) {
				t.Errorf("%s %s %s: %v", agent, tool[0], place, u.Effects)
			}
		}
	}
}

// A variable that moves an agent's folder moves the guarded files in it.
func TestMovedHomes(t *testing.T) {
	env := map[string]string{"CODEX_HOME": "/srv/c/", "OPENCODE_CONFIG": "/srv/o.json", "COPILOT_HOME": "here", "PI_CODING_AGENT_DIR": "/srv/*", "HOME": "/x"}
	got := shipped(t).Moved(func(name string) string { return env[name] })
	for _, want := range []string{"/srv/c/hooks.json", "/srv/c/config.toml", "/srv/c/plugins/**", "/srv/o.json"} {
		if !slices.Contains(got["selfProtected"], want) {
			t.Errorf("%s is not guarded: %v", want, got["selfProtected"])
		}
	}
	if !slices.Contains(got["instructs"], "/srv/c/*") || !slices.Contains(got["secret"], "/srv/c/auth.json") || len(got["foreign"]) > 0 {
		t.Errorf("%v", got)
	}
	for _, list := range got {
		for _, glob := range list {
			if !strings.HasPrefix(glob, "/srv/c/") && glob != "/srv/o.json" {
				t.Errorf("%s", glob)
			}
		}
	}
	if got := shipped(t).Moved(func(string) string { return "" }); len(got) > 0 {
		t.Errorf("nothing was moved: %v", got)
	}
}

// Stopping processes by a pattern may stop the monitor.
func TestPatternsThatStopTheMonitor(t *testing.T) {
	for line, want := range map[string]bool{
		"kill -9 -1": true, "kill -- -1": true, "kill -1 7": false, "kill -1": false, "kill": false, "kill floodmark": true, "killall FloodMark": true,
		"killall flood": false, "killall flood*": true, "killall *.service": true, "killall [f]loodmark": true, "killall node*": false, "killall f?oodmark": true,
		"systemctl stop app.floodmark.target": true, "kill *": false,
	} {
		if got := stopsMonitor(shellscan.StopsNames, strings.Fields(line)); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
	for line, want := range map[string]bool{
		"pkill flood": true, "pkill ^floodmark": true, "pkill -f serve$": true, "pkill -f node": false, "pkill (": true, "pkill -u ann": false,
		"pkill FLOOD": true, "pkill -x flood": true, "pkill": false, "pkill -9": false, "pkill *": false, "pkill .*": true, "pkill -f /usr/bin/floodmark": true,
	} {
		if got := stopsMonitor(shellscan.StopsMatches, strings.Fields(line)); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}

// Names in a user's own file count besides the shipped ones.
func TestNamesOfTheUsersOwnAgents(t *testing.T) {
	c := New([]*File{parse(t, `
self: {variables: ["MY_*"], programs: [mine], packages: ["@me/mine"], homes: {MY_HOME: "~/.codex"}}
`)}, shipped(t))
	for line, want := range map[string]bool{
		"MY_X=1 make": true, "YOUR_X=1 make": false, "~/tools/bin/mine x": true, "~/tools/bin/yours x": false, "~/tools/mine x": false,
		"npx @me/mine": true, "npx @you/mine": false, "node node_modules/@me/mine/x.js": true, "node node_modules/@you/mine/x.js": false,
		"make MY_X=1": true, "echo MY_X=1 > notes.txt": false, "CODEX_HOME=/x make": true, "tmux new mine": true, "tmux new yours": false,
	} {
		if u := shell(t, c, line); u.SelfProtected != want {
			t.Errorf("%s: %v, want %v", line, u.SelfProtected, want)
		}
	}
	if got := c.Moved(func(name string) string { return map[string]string{"MY_HOME": "/m", "CODEX_HOME": "/c"}[name] }); !slices.Contains(got["selfProtected"], "/m/hooks.json") || !slices.Contains(got["selfProtected"], "/c/hooks.json") {
		t.Errorf("%v", got)
	}
}
