package oldconfig_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/rules/oldconfig"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The policy and the notes of an import, word for word.
func TestImportExactly(t *testing.T) {
	paths, err := filepath.Glob("testdata/import/*.json5")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files (%v)", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".json5"), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			_, out, notes := imported(t, string(data))
			var b strings.Builder
			b.WriteString(out + "---\n")
			for _, n := range notes {
				fmt.Fprintf(&b, "%d:%d %s\n", n.Line, n.Column, n.Text)
			}
			path = strings.TrimSuffix(path, ".json5") + ".txt"
			if *update {
				if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want, err := os.ReadFile(path); err != nil || b.String() != string(want) {
				t.Errorf("%s: %v\n got %s\nwant %s", path, err, b.String(), want)
			}
		})
	}
}

// Every mistake in an old file is reported with its place, and there is no policy then.
func TestImportMistakes(t *testing.T) {
	long := strings.Repeat("x", 201)
	verifier := func(s string) string { return `{tools: {verifier: {enabled: true, ` + s + `}}}` }
	agents := func(s string) string { return `{taintPolicy: {}, agents: {list: [` + s + `]}}` }
	const ver = `tools: {verifier: {enabled: true, webhook: {}}}`
	for text, want := range map[string]string{
		`{agents: 1}`:         "1:1: error: nothing to import was found\n    it should hold taintPolicy or toolOverrides, tools.caution or tools.verifier",
		`[1]`:                 "1:1: error: nothing to import was found",
		`{tools: 1}`:          "1:1: error: nothing to import was found",
		`{toolOverrides: []}`: "1:17: error: toolOverrides is not a mapping\n    write names and values in braces, as in {\"exec\": {\"external\": \"confirm\"}}",
		`{plugins: {entries: {provenance: {config: 1}}}}`:                       "1:43: error: the plugin's config is not a mapping\n    write names and values in braces, as in {\"taintPolicy\": {\"external\": \"confirm\"}}",
		`{toolOverrides: {"": {}}}`:                                             "1:22: error: this override names no tool\n    name a tool, or use taintPolicy for all of them",
		`{toolOverrides: {" ": {}}}`:                                            "1:23: error: this override names no tool",
		`{toolOverrides: {"a/": {}}}`:                                           "1:24: error: this override names no tool",
		`{toolOverrides: {"` + long + `": {}}}`:                                 "1:223: error: this override names no tool",
		`{toolOverrides: {"é\u0001": 1}}`:                                       "1:29: error: toolOverrides.é? is not a mapping\n    write names and values in braces, as in {\"external\": \"confirm\"}",
		`{toolOverrides: {a: {owner: true}}}`:                                   "1:29: error: toolOverrides.a.owner is not one of allow, confirm or restrict\n    write one of allow, confirm or restrict",
		"{a: [\n {taintPolicy: {}},\n {toolOverrides: {}}]}":                    "3:2: error: there are two configurations of the plugin\n    the first one is on line 2; import them one by one",
		`{approvalTtlSeconds: "90"}`:                                            "1:22: error: approvalTtlSeconds is not a number\n    write a whole number",
		`{approvalTtlSeconds: 1e13}`:                                            "1:22: error: approvalTtlSeconds is not a number",
		`{approvalTtlSeconds: -1e13}`:                                           "1:22: error: approvalTtlSeconds is not a number",
		`{approvalTtlSeconds: NaN}`:                                             "1:22: error: approvalTtlSeconds is not a number",
		`{approvalTtlSeconds: null}`:                                            "1:22: error: approvalTtlSeconds is not a number",
		`{tools: {caution: true}}`:                                              "1:19: error: tools.caution is not a mapping\n    write names and values in braces, as in {\"tools\": {\"web_fetch\": true}}",
		`{tools: {caution: {tools: []}}}`:                                       "1:27: error: tools.caution.tools is not a mapping\n    write names and values in braces, as in {\"web_fetch\": true}",
		`{tools: {caution: {defaults: "false"}}}`:                               "1:30: error: tools.caution.defaults is not true or false\n    write true or false",
		`{tools: {verifier: {enabled: "true", webhook: {}}}}`:                   "1:30: error: tools.verifier.enabled is not true or false\n    write true or false",
		`{tools: {verifier: {enabled: true, telegram: {enabled: 1}}}}`:          "1:56: error: tools.verifier.telegram.enabled is not true or false\n    write true or false",
		`{tools: {caution: {tools: {a: "true"}}}}`:                              "1:31: error: tools.caution.tools.a is not true or false\n    write true or false",
		`{tools: {caution: {tools: {" ": true}}}}`:                              "1:33: error: this names no tool\n    write a name",
		`{tools: {caution: {tools: {"` + long + `": true}}}}`:                   "1:233: error: this names no tool",
		`{tools: {caution: {auditor: 1}}}`:                                      "1:29: error: tools.caution.auditor is not a mapping\n    write names and values in braces, as in {\"failMode\": \"block\"}",
		`{tools: {caution: {auditor: {failMode: "deny"}}}}`:                     "1:40: error: tools.caution.auditor.failMode is not one of block, warn or allow",
		`{tools: {verifier: []}}`:                                               "1:20: error: tools.verifier is not a mapping\n    write names and values in braces, as in {\"enabled\": true}",
		verifier(`scope: 1, webhook: {}`):                                       "1:43: error: tools.verifier.scope is not a mapping\n    write names and values in braces, as in {\"include\": [\"exec\"]}",
		verifier(`scope: {include: "a"}`):                                       "1:53: error: tools.verifier.scope.include is not a list\n    write [\"exec\", \"write\"]",
		verifier(`scope: {exclude: {}}`):                                        "1:53: error: tools.verifier.scope.exclude is not a list",
		verifier(`scope: {include: ["a", 7, " "]}`):                             "1:59: error: this is not the name of a tool\n    write a name in quotes",
		verifier(`scope: {exclude: ["` + strings.Repeat("x", 4097) + `"]}`):     "1:54: error: this is not the name of a tool",
		verifier(`scope: {include: ["a"], exclude: ["b"]}`):                     "1:43: error: include and exclude are both given\n    keep one of them",
		verifier(`failMode: "block"`):                                           "1:46: error: tools.verifier.failMode is not one of deny or allow",
		verifier(`webhook: 1`):                                                  "1:45: error: tools.verifier.webhook is not a mapping\n    write names and values in braces, as in {\"url\": \"https://verifier.example\"}",
		verifier(`telegram: 1`):                                                 "1:46: error: tools.verifier.telegram is not a mapping\n    write names and values in braces, as in {\"enabled\": true}",
		verifier(`webhook: {timeout: "x"}`):                                     "1:55: error: tools.verifier.webhook.timeout is not a number",
		verifier(`telegram: {enabled: true, timeout: "x"}`):                     "1:71: error: tools.verifier.telegram.timeout is not a number",
		agents(`{` + ver + `}`):                                                 "1:35: error: this agent has no id\n    give it one: {id: \"main\"}",
		agents(`{id: 7, ` + ver + `}`):                                          "1:35: error: this agent has no id",
		agents(`{id: " ", ` + ver + `}`):                                        "1:35: error: this agent has no id",
		agents(`{id: "` + long + `", ` + ver + `}`):                             "1:35: error: this agent has no id",
		agents(`{id: "a", ` + ver + `}, {name: "a", ` + ver + `}`):              "1:102: error: two agents have this id\n    give each its own",
		agents(`{id: "a"}, {id: "b", tools: {verifier: 1}}`):                    "1:74: error: agents.list[1].tools.verifier is not a mapping",
		`{toolOverrides: 1, tools: {caution: 2}, approvalTtlSeconds: "second"}`: "1:17: error: toolOverrides is not a mapping",
	} {
		out, notes, err := oldconfig.Import("f", []byte(text))
		if err == nil || out != nil || notes != nil || !strings.HasPrefix(err.Error(), "f:"+want) {
			t.Errorf("%.60s: %v\nwant %s", text, err, want)
		}
	}
}

// Values at a limit and empty values are imported.
func TestImportEdges(t *testing.T) {
	for _, text := range []string{`{approvalTtlSeconds: 1e12}`, `{approvalTtlSeconds: -1e12}`} {
		if _, _, err := oldconfig.Import("f", []byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	_, notes, err := oldconfig.Import("f", []byte(`{taintPolicy: {}, tools: {allow: [], deny: []}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"not read: tools.allow; if it restricts something, say so in the policy", "not read: tools.deny; if it restricts something, say so in the policy"} {
		if !slices.ContainsFunc(notes, func(n oldconfig.Note) bool { return n.Text == want }) {
			t.Errorf("%+v lacks %q", notes, want)
		}
	}
}

// A name may be as long as a YAML key can be, however YAML writes it.
func TestImportLimits(t *testing.T) {
	key, item := strings.Repeat(`\u0001`, 200), strings.Repeat("x", 4096)
	for text, want := range map[string]string{
		`{toolOverrides: {"` + key + `": {"*": "restrict"}}, approvalTtlSeconds: 10}`:                               strings.Repeat(`\x01`, 200),
		`{tools: {caution: {tools: {"` + key + `": true}}}}`:                                                        strings.Repeat(`\x01`, 200),
		`{taintPolicy: {}, agents: {list: [{id: "` + key + `", tools: {verifier: {enabled: true, webhook: {}}}}]}}`: "openclaw/main:",
		`{taintPolicy: {}, tools: {verifier: {enabled: true, scope: {include: ["` + item + `"]}, webhook: {}}}}`:    item,
	} {
		if _, out, _ := imported(t, text); !strings.Contains(out, want) {
			t.Errorf("%.40s: the name is lost", text)
		}
	}
}

// An old file with more tools than a policy may name is refused and not cut. The fourteen defaults
// of the old program are counted too.
func TestImportOfTooManyTools(t *testing.T) {
	tools := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `t%d: {"*": "restrict"},`, i)
		}
		return "{toolOverrides: {" + b.String() + "}}"
	}
	imported(t, tools(1000-14))
	out, notes, err := oldconfig.Import("f", []byte(tools(1000-13)))
	if err == nil || out != nil || notes != nil || !strings.HasPrefix(err.Error(), "policy: import f: floodmark.yaml:14:3: error: too many entries") {
		t.Errorf("%v", err)
	}
}
