package catalog

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/shell/commandbook"
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

// A selfWriter is a tool by which an agent writes, changes or removes files, and the argument that
// names the file or holds a patch, which names it in its text.
type selfWriter struct {
	agent, tool, arg string
	patch            bool
}

// selfWriters returns all that the catalog describes, so that a new one is tried as well.
func selfWriters(c *Catalog) (list []selfWriter) {
	for _, p := range c.Profiles() {
		if !slices.Contains(p.Effects(), floodmark.Write) {
			continue
		}
		for _, agent := range p.Agents() {
			for _, tool := range p.Tools() {
				for _, arg := range p.ArgNames() {
					if a, _ := p.Arg(arg); a.Is == IsPath || a.Is == IsPatch {
						list = append(list, selfWriter{agent, tool, arg, a.Is == IsPatch})
					}
				}
			}
		}
	}
	return list
}

// No tool of an agent, described or not, writes without a question to a place that keeps it or
// another agent on the monitor's path.
func TestToolsThatTouchTheMonitor(t *testing.T) {
	c := shipped(t)
	places, kind := selfLines(t, "places.txt")
	writers := selfWriters(c)
	for _, w := range writers {
		for _, place := range places {
			value := place
			if w.patch {
				value = "*** Begin Patch\n*** Add File: " + place + "\n+x\n*** End Patch\n"
			}
			u := c.Classify(builtin(w.agent, w.tool), args(w.arg, value), nil, here())
			want := strings.HasPrefix(kind[place], "guarded")
			if u.Profile == nil || u.SelfProtected != want || want && !slices.Contains(u.Effects, admin) {
				t.Errorf("%s %s %s: self-protected %v, want %v (%v)", w.agent, w.tool, place, u.SelfProtected, want, u.Effects)
			}
		}
	}
	for _, agent := range []string{"claude-code", "codex", "copilot-cli", "cursor", "gemini-cli", "openclaw", "opencode", "pi"} {
		if !slices.ContainsFunc(writers, func(w selfWriter) bool { return w.agent == agent }) {
			t.Errorf("no tool of %s writes", agent)
		}
	}
	for _, place := range places {
		u := c.Classify(offered("nobody", "put"), args("where", place), nil, here())
		if strings.HasPrefix(kind[place], "guarded") && !u.SelfProtected && strings.ContainsAny(place, "/~.") && !strings.Contains(place, " ") {
			t.Errorf("a tool nobody described: %s: %v", place, u.Effects)
		}
	}
}

// Reading such a file is no write, except for a pass: its reader can act as the owner elsewhere.
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
		if got := stopsMonitor(commandbook.StopsNames, strings.Fields(line)); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
	for line, want := range map[string]bool{
		"pkill flood": true, "pkill ^floodmark": true, "pkill -f serve$": true, "pkill -f node": false, "pkill (": true, "pkill -u ann": false,
		"pkill FLOOD": true, "pkill -x flood": true, "pkill": false, "pkill -9": false, "pkill *": false, "pkill .*": true, "pkill -f /usr/bin/floodmark": true,
	} {
		if got := stopsMonitor(commandbook.StopsMatches, strings.Fields(line)); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}

// Names in a user's own file are used besides the shipped ones.
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
