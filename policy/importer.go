package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
)

// A Note says in plain words what an import changed, and where the old file
// said otherwise. Line 0 means that it follows from the old program itself.
type Note struct {
	Line, Column int
	Text         string
}

// Import reads an agent's old configuration (JSON or JSON5: the provenance
// plugin's, tools.caution, tools.verifier) and writes a policy that asks and
// refuses at least where these did. Arguments the owner stated raise nothing
// there (relax: false), because they did not. Notes name every place where the
// old default let something pass that is now asked or refused, and what else
// restricts something in the file and was not read. With an error, which is
// [floodmark.Problems], there is no policy.
func Import(name string, data []byte) ([]byte, []Note, error) {
	root, err := parseJSON5(name, data)
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
	if _, problems := Load(Layer{Name: "floodmark.yaml", Data: out}); problems.Failed() {
		return nil, nil, fmt.Errorf("policy: import %s: %w", name, problems)
	}
	slices.SortStableFunc(m.notes, func(a, b Note) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column)) })
	return out, m.notes, nil
}

// maxKey is the most bytes of a name that becomes a key: YAML reads at most
// 1024 signs as one, and quoting can make four of each byte.
const maxKey = 200

// An importer collects what the old file says.
type importer struct {
	file     string
	root     *jvalue
	found    bool
	problems floodmark.Problems
	notes    []Note

	taint     *[trusts]floodmark.Verdict
	overrides []importedTool
	ttl       string
	rounds    int
	cautious  []string
	auditor   string // its fail mode; empty if there is none
	gates     []gate
	agents    []importedAgent
}

type importedTool struct {
	name   string
	levels levelWordsOf
	said   bool // by the file, not by the old program
}

// levelWordsOf are verdicts by level word, «*» included, in the order written.
type levelWordsOf []struct{ level, verdict string }

type importedAgent struct {
	name  string
	gates []gate
}

func (m *importer) fault(v *jvalue, text, hint string) {
	m.problems = append(m.problems, floodmark.Problem{
		File: m.file, Line: v.line, Column: v.column, Severity: floodmark.Error, Code: "import", Text: text, Hint: hint,
	})
}

func (m *importer) note(v *jvalue, format string, args ...any) {
	n := Note{Text: fmt.Sprintf(format, args...)}
	if v != nil {
		n.Line, n.Column = v.line, v.column
	}
	m.notes = append(m.notes, n)
}

// unknown tells about keys nobody reads.
func (m *importer) unknown(v *jvalue, where string, known ...string) {
	for _, k := range v.members {
		if !slices.Contains(known, k.name) {
			m.note(k.value, "%s.%s is not understood and was left out", where, plainKey(k.name))
		}
	}
}

// plainKey keeps a foreign name short and printable.
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
func (m *importer) word(v *jvalue, what string, words ...string) (string, bool) {
	if v == nil {
		return "", false
	}
	if v.kind != jstring || !slices.Contains(words, v.text) {
		m.fault(v, fmt.Sprintf("%s is not one of %s", what, oneOf(words)), "write one of "+oneOf(words))
		return "", false
	}
	return v.text, true
}

// number reads a whole number and keeps it within limits, saying so.
func (m *importer) number(v *jvalue, what string, low, high int) (int, bool) {
	if v == nil {
		return 0, false
	}
	var n float64
	if _, err := fmt.Sscanf(v.text, "%g", &n); err != nil || v.kind != jnumber || n != n || n > 1e12 || n < -1e12 {
		m.fault(v, what+" is not a number", "write a whole number")
		return 0, false
	}
	kept := min(max(int(n), low), high)
	if float64(kept) != n {
		m.note(v, "%s is %s in the old file; %d is the nearest the new one takes", what, plainKey(v.text), kept)
	}
	return kept, true
}

// mapping reads an object.
func (m *importer) mapping(v *jvalue, what string) bool {
	if v == nil {
		return false
	}
	if v.kind != jobject {
		m.fault(v, what+" is not a mapping", "write names and values in braces, as in "+mappingExample(what))
		return false
	}
	return true
}

// tools reads a list of tool names.
func (m *importer) tools(v *jvalue, what string) []string {
	if v == nil {
		return nil
	}
	if v.kind != jlist {
		m.fault(v, what+" is not a list", "write [\"exec\", \"write\"]")
		return nil
	}
	var out []string
	for _, item := range v.list {
		if item.kind != jstring || strings.TrimSpace(item.text) == "" || len(item.text) > maxText {
			m.fault(item, "this is not the name of a tool", "write a name in quotes")
			continue
		}
		out = append(out, item.text)
	}
	return out
}
