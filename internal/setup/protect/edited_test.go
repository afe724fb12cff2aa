package protect

import (
	"maps"
	"os"
	"strings"
	"testing"
)

// An editCase is a file that is protected, edited, and then unprotected.
type editCase struct {
	agent        string
	file         int
	before, want string
	edit         func(string) string
}

func change(old, fresh string) func(string) string {
	return func(s string) string { return strings.Replace(s, old, fresh, 1) }
}

func editsOfJSON() map[string]editCase {
	return map[string]editCase{
		"a key added":     {"gemini-cli", 0, `{"a":1}`, `{"a":1,"b":2}`, change(`"a":1`, `"a":1,"b":2`)},
		"a comment added": {"gemini-cli", 0, "{\n  \"a\": 1\n}\n", "{\n  \"a\": 1 // one\n}\n", change("\"a\": 1", "\"a\": 1 // one")},
		"a hook of theirs before ours": {
			"gemini-cli", 0, `{}`, `{"hooks":{"BeforeTool":[{"hooks":[{"command":"theirs"}]}]}}`,
			change(`"BeforeTool":[`, `"BeforeTool":[{"hooks":[{"command":"theirs"}]},`),
		},
		"a hook of theirs behind ours": {
			"cursor", 0, `{"version":1}`, `{"hooks":{"sessionStart":[ {"command":"theirs"}]},"version":1}`,
			change(`"timeout":20}]`, `"timeout":20}, {"command":"theirs"}]`),
		},
		"a hook of theirs in our group": {
			"gemini-cli", 0, `{}`, `{"hooks":{"SessionStart":[{"hooks":[{"command":"theirs"}]}]}}`,
			change(`"hooks":[{"name":"floodmark"`, `"hooks":[{"command":"theirs"},{"name":"floodmark"`),
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
			change(`"version": 1,`, `"version": 1, "mine": true,`),
		},
	}
}

func editsOfOthers() map[string]editCase {
	return map[string]editCase{
		"a table of Codex's": {
			"codex", 1, "model = \"x\"\n", "model = \"y\"\n[projects.\"/p\"]\ntrust_level = \"trusted\"\n",
			func(s string) string {
				return strings.Replace(s, `"x"`, `"y"`, 1) + "[projects.\"/p\"]\ntrust_level = \"trusted\"\n"
			},
		},
		"a key among our lines": {
			"codex", 1, "", "model = \"y\"\n",
			change("features.", "model = \"y\"\nfeatures."),
		},
		"a value that was theirs": {
			"codex", 1, "web_search = \"live\"\n[features]\nunified_exec_tty = true\n", "web_search = \"live\"\n[features]\nunified_exec_tty = true\nmore = 1\n",
			change("unified_exec_tty = false "+tomlTag+"\n", "unified_exec_tty = false "+tomlTag+"\nmore = 1\n"),
		},
		"a key in a table of ours": {
			"codex", 1, "", "[hooks.state.\"KEY\"] " + tomlTag + "\nnote = 1\n",
			func(s string) string { return strings.TrimRight(s, "\n") + "\nnote = 1\n" },
		},
		"OpenClaw wrote it anew": {
			"openclaw", 4, `{"plugins":{"allow":["a"]}}`, `{"meta":1,"plugins":{"allow":["a"]}}`,
			func(string) string {
				return `{"meta":1,"plugins":{"allow":["a","floodmark"],"entries":{"floodmark":{"enabled":true,"hooks":{"allowConversationAccess":true}}}}}`
			},
		},
		"another provider": {
			"opencode", 1, `{"enabled_providers":["a"]}`, `{"enabled_providers":["a","b"]}`,
			change(`"floodmark:a"`, `"floodmark:a","b"`),
		},
	}
}

// What a person or the agent writes into a file after it was protected stays.
func TestEditsOfOthersStay(t *testing.T) {
	cases := editsOfJSON()
	maps.Copy(cases, editsOfOthers())
	for name, c := range cases {
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

// absent as the content says that there is no file.
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
