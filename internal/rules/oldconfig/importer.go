// Package oldconfig turns an agent's old configuration into a policy. The policy asks and refuses
// at least in all cases in which the old program did. The package does not know how a policy is
// evaluated.
package oldconfig

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/format/json5"
	"github.com/floodmark/floodmark/policy"
)

const (
	trusts  = int(floodmark.System) + 1 // how many trust levels there are
	maxText = 4096                      // bytes of one text in a policy file
)

// A Note says in plain words what an import changed. Line and Column are the place in the old file;
// line 0 means that the note is about a default of the old program.
type Note struct {
	Line, Column int
	Text         string
}

// Import reads an agent's old configuration (JSON or JSON5: the provenance plugin's, tools.caution,
// tools.verifier) and returns a policy that asks and refuses at least in the same cases. As in the
// old program, arguments that the owner stated make nothing more permissive (relax: false). The
// notes name every case that the old default let pass and that is now asked or refused, and
// everything else in the file that restricts something but was not read. If there is an error,
// which is a [floodmark.Problems], there is no policy.
func Import(name string, data []byte) ([]byte, []Note, error) {
	root, err := json5.Parse(name, data)
	if err != nil {
		return nil, nil, err
	}
	m := &importer{file: name, root: root}
	m.provenance()
	m.caution()
	m.verifiers()
	m.notRead()
	if !m.found && len(m.problems) == 0 {
		m.fault(root, "nothing to import was found", "it should hold taintPolicy or toolOverrides, tools.caution or tools.verifier")
	}
	if len(m.problems) > 0 {
		return nil, nil, m.problems
	}
	out := m.write()
	if _, problems := policy.Load(policy.Layer{Name: "floodmark.yaml", Data: out}); problems.Failed() {
		return nil, nil, fmt.Errorf("policy: import %s: %w", name, problems)
	}
	slices.SortStableFunc(m.notes, func(a, b Note) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column)) })
	return out, m.notes, nil
}

// maxKey bounds the bytes of a name that becomes a key. YAML reads keys of at most 1024 characters,
// and quoting can turn each byte into four characters.
const maxKey = 200

// An importer collects what the old file says.
type importer struct {
	file     string
	root     *json5.Value
	found    bool
	problems floodmark.Problems
	notes    []Note

	taint     *[trusts]floodmark.Verdict
	overrides []importedTool
	ttl       string
	rounds    int
	cautious  []string
	auditor   string // the auditor's fail mode; empty if there is no auditor
	gates     []gate
	agents    []importedAgent
}

type importedTool struct {
	name   string
	levels levelWordsOf
	said   bool // the file says it, not a default of the old program
}

// levelWordsOf are verdicts by the word of a level or «*», in the order of the file.
type levelWordsOf []struct{ level, verdict string }

type importedAgent struct {
	name  string
	gates []gate
}

func (m *importer) fault(v *json5.Value, text, hint string) {
	m.problems = append(m.problems, floodmark.Problem{
		File: m.file, Line: v.Line, Column: v.Column, Severity: floodmark.Error, Code: "import", Text: text, Hint: hint,
	})
}

func (m *importer) note(v *json5.Value, format string, args ...any) {
	n := Note{Text: fmt.Sprintf(format, args...)}
	if v != nil {
		n.Line, n.Column = v.Line, v.Column
	}
	m.notes = append(m.notes, n)
}

// unknown adds a note for each key that is not understood.
func (m *importer) unknown(v *json5.Value, where string, known ...string) {
	for _, k := range v.Members {
		if !slices.Contains(known, k.Name) {
			m.note(k.Value, "%s.%s is not understood and was left out", where, plainKey(k.Name))
		}
	}
}

// plainKey returns a foreign name in a short and printable form.
func plainKey(s string) string {
	s = strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f || c > 0x2fff {
			return '?'
		}
		return c
	}, s)
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}

// word reads a text that must be one of some words.
func (m *importer) word(v *json5.Value, what string, words ...string) (string, bool) {
	if v == nil {
		return "", false
	}
	if v.Kind != json5.String || !slices.Contains(words, v.Text) {
		m.fault(v, fmt.Sprintf("%s is not one of %s", what, oneLine(words, " or ")), "write one of "+oneLine(words, " or "))
		return "", false
	}
	return v.Text, true
}

// number reads a whole number. It adds a note if it has to change the number to keep it within
// limits.
func (m *importer) number(v *json5.Value, what string, low, high int) (int, bool) {
	if v == nil {
		return 0, false
	}
	var n float64
	if _, err := fmt.Sscanf(v.Text, "%g", &n); err != nil || v.Kind != json5.Number || n != n || n > 1e12 || n < -1e12 {
		m.fault(v, what+" is not a number", "write a whole number")
		return 0, false
	}
	kept := min(max(int(n), low), high)
	if float64(kept) != n {
		m.note(v, "%s is %s in the old file; %d is the nearest the new one takes", what, plainKey(v.Text), kept)
	}
	return kept, true
}

// mapping reports whether a value is an object. Another value is a fault.
func (m *importer) mapping(v *json5.Value, what string) bool {
	if v == nil {
		return false
	}
	if v.Kind != json5.Object {
		m.fault(v, what+" is not a mapping", "write names and values in braces, as in "+mappingExample(what))
		return false
	}
	return true
}

// tools reads a list of tool names.
func (m *importer) tools(v *json5.Value, what string) []string {
	if v == nil {
		return nil
	}
	if v.Kind != json5.List {
		m.fault(v, what+" is not a list", "write [\"exec\", \"write\"]")
		return nil
	}
	var out []string
	for _, item := range v.List {
		if item.Kind != json5.String || strings.TrimSpace(item.Text) == "" || len(item.Text) > maxText {
			m.fault(item, "this is not the name of a tool", "write a name in quotes")
			continue
		}
		out = append(out, item.Text)
	}
	return out
}

// write returns the policy. All foreign text in it is quoted, and values that could be secrets were
// never read.
func (m *importer) write() []byte {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# Imported. Arguments the owner stated raise nothing here (relax: false), as")
	line("# before; write true to be asked less.")
	line("version: 1")
	line("profile: assistant")
	line("relax: false")
	if m.taint != nil {
		line("taintPolicy:")
		for t := trusts - 1; t >= 0; t-- {
			line("  %s: %s", floodmark.Trust(t), m.taint[t])
		}
		line("toolOverrides:")
		for _, t := range m.overrides {
			if len(t.levels) == 0 {
				continue
			}
			line("  %s: {%s}", quoted(t.name), t.levels)
		}
		line("approvals: {ttl: %s, toolWide: false}", m.ttl)
		line("maxIterations: %d", m.rounds)
	}
	if m.auditor != "" {
		line("auditor: {on: true, failMode: %s}", m.auditor)
		line("rules:")
		line("  - name: caution")
		line("    when: {context_taint_includes: [untrusted]}")
		line("    action: {verdict: audit}")
		line("    reason: after text that anyone could have written, each call gets a second look")
	}
	if len(m.cautious) > 0 {
		line("caution:")
		for _, name := range m.cautious {
			line("  %s: true", quoted(name))
		}
	}
	writeGates(line, "", m.gates)
	if len(m.agents) > 0 {
		line("agents:")
		for _, a := range m.agents {
			line("  %s:", quoted(a.name))
			writeGates(line, "    ", a.gates)
		}
	}
	return []byte(b.String())
}

func (ls levelWordsOf) String() string {
	cells := make([]string, len(ls))
	for i, l := range ls {
		cells[i] = quoted(l.level) + ": " + l.verdict
	}
	return strings.Join(cells, ", ")
}

func writeGates(line func(string, ...any), indent string, gates []gate) {
	if len(gates) == 0 {
		return
	}
	line("%sverifiers:", indent)
	for _, g := range gates {
		line("%s  - name: %s", indent, quoted(g.name))
		if len(g.include) > 0 {
			line("%s    include: [%s]", indent, quotedList(g.include))
		}
		if len(g.exclude) > 0 {
			line("%s    exclude: [%s]", indent, quotedList(g.exclude))
		}
		mode := "deny"
		if g.allow {
			mode = "allow"
		}
		line("%s    failMode: %s", indent, mode)
		line("%s    timeout: %ds", indent, g.seconds)
	}
}

func quotedList(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = quoted(n)
	}
	return strings.Join(out, ", ")
}

// quoted returns a text in a form that YAML reads as exactly this string.
func quoted(s string) string {
	words := []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
	if regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_/-]*$`).MatchString(s) && !slices.Contains(words, strings.ToLower(s)) {
		return s
	}
	return strconv.QuoteToASCII(s) // YAML understands Go's escapes
}

// maxNotRead is how many tools of a list a note names.
const maxNotRead = 8

// notRead adds notes about restrictions in the old file that are not read, so that the owner knows
// that they are not in the policy.
func (m *importer) notRead() {
	if !m.found {
		return // the error that nothing was found is enough
	}
	m.toolsNotRead(m.root.Get("tools"), "tools")
	m.toolsNotRead(m.root.Get("agents", "defaults", "tools"), "agents.defaults.tools")
	if list := m.root.Get("agents", "list"); list != nil {
		for i, a := range list.List {
			m.toolsNotRead(a.Get("tools"), fmt.Sprintf("agents.list[%d].tools", i))
		}
	}
	for _, path := range [][]string{{"sandbox"}, {"agents", "defaults", "sandbox"}} {
		if v := m.root.Get(path...); v != nil {
			m.note(v, "not read: %s; a policy is no sandbox, keep that one", strings.Join(path, "."))
		}
	}
}

func (m *importer) toolsNotRead(v *json5.Value, where string) {
	if v == nil || v.Kind != json5.Object {
		return
	}
	for _, k := range v.Members {
		name := where + "." + plainKey(k.Name)
		tools := namesIn(k.Value)
		switch {
		case k.Name == "caution" && where == "tools", k.Name == "verifier":
		case k.Name == "deny" && len(tools) > 0:
			m.note(k.Value, "not read: %s denied %s; to keep that, write toolOverrides: {%s: {\"*\": restrict}}, for one agent under agents: openclaw/ID",
				name, oneLine(tools, " and "), tools[0])
		case k.Name == "allow" && len(tools) > 0:
			m.note(k.Value, "not read: %s allowed only %s; now the table decides about every tool", name, oneLine(tools, " and "))
		default:
			m.note(k.Value, "not read: %s; if it restricts something, say so in the policy", name)
		}
	}
}

// namesIn returns the names in a list.
func namesIn(v *json5.Value) []string {
	var out []string
	for _, item := range v.List {
		if item.Kind == json5.String && strings.TrimSpace(item.Text) != "" {
			out = append(out, plainKey(item.Text))
		}
	}
	return out
}

// oneLine lists a few words.
func oneLine(words []string, last string) string {
	if len(words) > maxNotRead {
		words = append(slices.Clone(words[:maxNotRead]), "others")
	}
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + last + words[n-1]
	}
	return words[0]
}

// mappingExample returns an example for a place where a mapping was expected.
func mappingExample(what string) string {
	switch {
	case strings.HasPrefix(what, "toolOverrides."), what == "taintPolicy":
		return `{"external": "confirm"}`
	case what == "toolOverrides":
		return `{"exec": {"external": "confirm"}}`
	case what == "tools.caution":
		return `{"tools": {"web_fetch": true}}`
	case what == "tools.caution.tools":
		return `{"web_fetch": true}`
	case what == "tools.caution.auditor":
		return `{"failMode": "block"}`
	case strings.HasSuffix(what, ".scope"):
		return `{"include": ["exec"]}`
	case strings.HasSuffix(what, ".webhook"):
		return `{"url": "https://verifier.example"}`
	case strings.HasSuffix(what, "verifier"), strings.HasSuffix(what, ".telegram"):
		return `{"enabled": true}`
	}
	return `{"taintPolicy": {"external": "confirm"}}`
}
