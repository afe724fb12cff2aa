package protect

import (
	"os"
	"strings"
	"testing"
)

// What a person or the agent wrote into a file after it was protected stays.
func TestEditsOfOthersStay(t *testing.T) {
	edit := func(old, fresh string) func(string) string {
		return func(s string) string { return strings.Replace(s, old, fresh, 1) }
	}
	for name, c := range map[string]struct {
		agent        string
		file         int
		before, want string
		edit         func(string) string
	}{
		"a key added":     {"gemini-cli", 0, `{"a":1}`, `{"a":1,"b":2}`, edit(`"a":1`, `"a":1,"b":2`)},
		"a comment added": {"gemini-cli", 0, "{\n  \"a\": 1\n}\n", "{\n  \"a\": 1 // one\n}\n", edit("\"a\": 1", "\"a\": 1 // one")},
		"a hook of theirs before ours": {
			"gemini-cli", 0, `{}`, `{"hooks":{"BeforeTool":[{"hooks":[{"command":"theirs"}]}]}}`,
			edit(`"BeforeTool":[`, `"BeforeTool":[{"hooks":[{"command":"theirs"}]},`),
		},
		"a hook of theirs behind ours": {
			"cursor", 0, `{"version":1}`, `{"hooks":{"sessionStart":[ {"command":"theirs"}]},"version":1}`,
			edit(`"timeout":20}]`, `"timeout":20}, {"command":"theirs"}]`),
		},
		"a hook of theirs in our group": {
			"gemini-cli", 0, `{}`, `{"hooks":{"SessionStart":[{"hooks":[{"command":"theirs"}]}]}}`,
			edit(`"hooks":[{"name":"floodmark"`, `"hooks":[{"command":"theirs"},{"name":"floodmark"`),
		},
		"a hook of ours moved": {
			"gemini-cli", 0, `{"a":1}`, `{"a":1,"z":1}`,
			func(s string) string {
				return strings.Replace(strings.Replace(s, `"BeforeTool"`, `"BeforeModel"`, 1), `"a":1`, `"a":1,"z":1`, 1)
			},
		},
		"all of it theirs": {"gemini-cli", 0, `{"a":1}`, `{"z":0}`, func(string) string { return `{"z":0}` }},
		"made by us, then used": {
			"cursor", 0, absent, "{\n  \"version\": 1, \"mine\": true\n}\n",
			edit(`"version": 1,`, `"version": 1, "mine": true,`),
		},
		"a table of Codex's": {
			"codex", 1, "model = \"x\"\n", "model = \"y\"\n[projects.\"/p\"]\ntrust_level = \"trusted\"\n",
			func(s string) string {
				return strings.Replace(s, `"x"`, `"y"`, 1) + "[projects.\"/p\"]\ntrust_level = \"trusted\"\n"
			},
		},
		"a key among our lines": {
			"codex", 1, "", "model = \"y\"\n",
			edit("features.", "model = \"y\"\nfeatures."),
		},
		"a value that was theirs": {
			"codex", 1, "web_search = \"live\"\n[features]\nunified_exec_tty = true\n", "web_search = \"live\"\n[features]\nunified_exec_tty = true\nmore = 1\n",
			edit("unified_exec_tty = false "+tomlTag+"\n", "unified_exec_tty = false "+tomlTag+"\nmore = 1\n"),
		},
		"a key in a table of ours": {
			"codex", 1, "", "[hooks.state.\"KEY\"] " + tomlTag + "\nnote = 1\n",
			func(s string) string { return strings.TrimRight(s, "\n") + "\nnote = 1\n" },
		},
		"another provider": {
			"opencode", 1, `{"enabled_providers":["a"]}`, `{"enabled_providers":["a","b"]}`,
			edit(`"floodmark:a"`, `"floodmark:a","b"`),
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			path := b.have(c.agent)[c.file].path
			if c.before != absent {
				b.write(path, c.before)
			}
			b.apply(b.protect(c.agent))
			b.write(path, c.edit(b.read(path)))
			p := b.unprotect(c.agent)
			if len(p.Changes) > 0 && c.want != `{"z":0}` && !noted(p, path) {
				t.Error("nothing is said of the edit")
			}
			b.apply(p)
			got := b.read(path)
			if i := strings.Index(got, "[hooks.state."); i >= 0 && strings.Contains(c.want, "KEY") {
				got = got[:i] + `[hooks.state."KEY"` + got[strings.Index(got, "] "+tomlTag):]
			}
			if got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// absent stands for no file.
const absent = "(absent)"

func noted(p *Plan, path string) bool {
	for _, c := range p.Changes {
		if c.Path == path {
			return c.Note != ""
		}
	}
	return false
}

func (b *bench) read(path string) string {
	b.t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		b.t.Fatal(err)
	}
	return string(data)
}
