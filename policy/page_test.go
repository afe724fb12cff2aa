package policy_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/policy/policyfile"
)

//go:generate go test . -run ^TestPolicyPage$ -update

// The page that explains the language to people is compared with the language.
const policyPage = "../docs/reference/policy.md"

const (
	tablesBegin = "<!-- profiles: written by go generate from policy/profiles. Change those, not this. -->\n"
	tablesEnd   = "<!-- /profiles -->\n"
)

// The page's tables are those of the shipped profiles. With -update they are
// written.
func TestPolicyPage(t *testing.T) {
	text := readPage(t)
	head, rest, ok1 := strings.Cut(text, tablesBegin)
	_, tail, ok2 := strings.Cut(rest, tablesEnd)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no place for the profiles", policyPage)
	}
	want := head + tablesBegin + "\n" + profileTables(t) + tablesEnd + tail
	if *update {
		if err := os.WriteFile(policyPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if text != want {
		t.Errorf("%s does not show the profiles as they are; run go generate", policyPage)
	}
}

// Every example is part of a policy that loads without a complaint.
func TestPolicyPageExamplesLoad(t *testing.T) {
	counts := map[string]int{}
	for _, f := range pageFences(t, readPage(t)) {
		counts[f.info]++
		layer := policy.Layer{Name: fmt.Sprintf("policy.md:%d", f.line), Data: []byte(f.text)}
		switch f.info {
		case "yaml", "yaml project":
			layer.Project = f.info == "yaml project"
			if !strings.HasPrefix(f.text, "version:") {
				layer.Data = []byte("version: 1\n" + f.text)
			}
		case "cel":
			condition := "      " + strings.ReplaceAll(strings.TrimSpace(f.text), "\n", "\n      ")
			layer.Data = []byte("version: 1\nrules:\n  - name: example\n    when: |\n" + condition + "\n    action: {verdict: confirm}\n")
		default:
			t.Errorf("line %d: a fence of kind %q is not tested", f.line, f.info)
			continue
		}
		if _, problems := policy.Load(layer); len(problems) > 0 {
			t.Errorf("line %d: %v", f.line, problems)
		}
	}
	if counts["yaml"] < 15 || counts["yaml project"] == 0 || counts["cel"] < 2 {
		t.Errorf("too few examples: %v", counts)
	}
}

// Every word of the language is on the page.
func TestPolicyPageIsComplete(t *testing.T) {
	text := readPage(t)
	var schema any
	if err := json.Unmarshal(policyfile.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	words := slices.Compact(slices.Sorted(slices.Values(schemaWords(schema))))
	if len(words) < 60 {
		t.Fatalf("only %d words: %v", len(words), words)
	}
	for _, w := range words {
		if !strings.Contains(text, "`"+w+"`") && !strings.Contains(text, w+":") {
			t.Errorf("%q is not explained", w)
		}
	}
	for _, name := range []string{
		"agent", "call.agent", "call.server", "call.tool", "call.effect", "call.args", "arg", "sources",
		"mark.trust", "mark.secrecy", "trust", "iteration", "turn",
	} {
		if !strings.Contains(text, "| `"+name+"` |") {
			t.Errorf("the variable %q is not explained", name)
		}
	}
}

// schemaWords returns the keys and the fixed words a schema knows.
func schemaWords(v any) []string {
	var out []string
	switch v := v.(type) {
	case map[string]any:
		if keys, ok := v["properties"].(map[string]any); ok {
			for k := range keys {
				out = append(out, k)
			}
		}
		if words, ok := v["enum"].([]any); ok {
			for _, w := range words {
				if s, ok := w.(string); ok && s != "*" {
					out = append(out, s)
				}
			}
		}
		for _, below := range v {
			out = append(out, schemaWords(below)...)
		}
	case []any:
		for _, below := range v {
			out = append(out, schemaWords(below)...)
		}
	}
	return out
}

func readPage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(policyPage)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

type pageFence struct {
	info, text string
	line       int
}

func pageFences(t *testing.T, page string) []pageFence {
	t.Helper()
	var list []pageFence
	open, n := false, 0
	for line := range strings.Lines(page) {
		n++
		info, ok := strings.CutPrefix(line, "```")
		switch {
		case ok && !open:
			list, open = append(list, pageFence{info: strings.TrimSpace(info), line: n}), true
		case ok:
			open = false
		case open:
			list[len(list)-1].text += line
		}
	}
	return list
}

// A profileFile is a shipped profile as it is written.
type profileFile struct {
	Table         map[string]map[string]string
	Relax         bool
	FreeContent   string `yaml:"freeContent"`
	FetchSteered  string `yaml:"fetchSteered"`
	Planted       string `yaml:"planted"`
	Choices       struct{ Secret, Private int }
	ProjectTrust  string `yaml:"projectTrust"`
	MaxIterations int    `yaml:"maxIterations"`
	Approvals     struct {
		TTL      string
		ToolWide bool `yaml:"toolWide"`
		MaxTries int  `yaml:"maxTries"`
	}
	Auditor struct {
		On       bool
		FailMode string `yaml:"failMode"`
	}
	Enforce bool
}

// profileTables prints the tables of the profiles, one below the other, then
// their settings beside each other.
func profileTables(t *testing.T) string {
	t.Helper()
	names := []string{"assistant", "coding", "strict", "dry-run"}
	files := make([]profileFile, len(names))
	var b strings.Builder
	shown := map[string]string{}
	for i, name := range names {
		data, err := os.ReadFile("profiles/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(data, &files[i]); err != nil {
			t.Fatal(err)
		}
		table := effectTable(files[i].Table)
		if same, ok := shown[table]; ok {
			fmt.Fprintf(&b, "The table of `%s` is that of `%s`.\n\n", name, same)
			continue
		}
		shown[table] = name
		fmt.Fprintf(&b, "`%s`:\n\n%s\n", name, table)
	}
	b.WriteString("Their settings:\n\n| setting | `" + strings.Join(names, "` | `") + "` |\n|---|---|---|---|---|\n")
	for _, row := range []struct {
		name string
		get  func(profileFile) any
	}{
		{"enforce", func(f profileFile) any { return f.Enforce }},
		{"freeContent", func(f profileFile) any { return f.FreeContent }},
		{"fetchSteered", func(f profileFile) any { return f.FetchSteered }},
		{"planted", func(f profileFile) any { return f.Planted }},
		{"choices.secret", func(f profileFile) any { return f.Choices.Secret }},
		{"choices.private", func(f profileFile) any { return f.Choices.Private }},
		{"projectTrust", func(f profileFile) any { return f.ProjectTrust }},
		{"relax", func(f profileFile) any { return f.Relax }},
		{"maxIterations", func(f profileFile) any { return f.MaxIterations }},
		{"approvals.ttl", func(f profileFile) any { return f.Approvals.TTL }},
		{"approvals.toolWide", func(f profileFile) any { return f.Approvals.ToolWide }},
		{"approvals.maxTries", func(f profileFile) any { return f.Approvals.MaxTries }},
		{"auditor.on", func(f profileFile) any { return f.Auditor.On }},
		{"auditor.failMode", func(f profileFile) any { return f.Auditor.FailMode }},
	} {
		b.WriteString("| `" + row.name + "`")
		for _, f := range files {
			fmt.Fprintf(&b, " | %v", row.get(f))
		}
		b.WriteString(" |\n")
	}
	return b.String() + "\n"
}

func effectTable(cells map[string]map[string]string) string {
	var b strings.Builder
	b.WriteString("| effect |")
	for level := floodmark.System; ; level-- {
		fmt.Fprintf(&b, " %s |", level)
		if level == floodmark.Untrusted {
			break
		}
	}
	b.WriteString("\n|---|---|---|---|---|---|---|\n")
	for e := floodmark.Observe; ; e-- {
		fmt.Fprintf(&b, "| `%s` |", e)
		for level := floodmark.System; ; level-- {
			fmt.Fprintf(&b, " %s |", cells[e.String()][level.String()])
			if level == floodmark.Untrusted {
				break
			}
		}
		b.WriteString("\n")
		if e == floodmark.Admin {
			return b.String()
		}
	}
}
