package policy

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/floodmark/floodmark"
)

// write prints the policy. Everything foreign is quoted; nothing that could be
// a secret was kept.
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

// quoted writes a text so that YAML reads exactly it, and as a text.
func quoted(s string) string {
	words := []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
	if regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_/-]*$`).MatchString(s) && !slices.Contains(words, strings.ToLower(s)) {
		return s
	}
	return strconv.QuoteToASCII(s) // Go's escapes are YAML's
}
