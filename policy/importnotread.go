package policy

import (
	"fmt"
	"slices"
	"strings"
)

// maxNotRead is how many tools of a list a note repeats.
const maxNotRead = 8

// notRead names what the old file restricts by other means than those we read:
// whoever relied on it must know that it is not in the policy.
func (m *importer) notRead() {
	if !m.found {
		return // that nothing was found says it all
	}
	m.toolsNotRead(m.root.get("tools"), "tools")
	m.toolsNotRead(m.root.get("agents", "defaults", "tools"), "agents.defaults.tools")
	if list := m.root.get("agents", "list"); list != nil {
		for i, a := range list.list {
			m.toolsNotRead(a.get("tools"), fmt.Sprintf("agents.list[%d].tools", i))
		}
	}
	for _, path := range [][]string{{"sandbox"}, {"agents", "defaults", "sandbox"}} {
		if v := m.root.get(path...); v != nil {
			m.note(v, "not read: %s; a policy is no sandbox, keep that one", strings.Join(path, "."))
		}
	}
}

func (m *importer) toolsNotRead(v *jvalue, where string) {
	if v == nil || v.kind != jobject {
		return
	}
	for _, k := range v.members {
		name := where + "." + plainKey(k.name)
		tools := namesIn(k.value)
		switch {
		case k.name == "caution" && where == "tools", k.name == "verifier":
		case k.name == "deny" && len(tools) > 0:
			m.note(k.value, "not read: %s denied %s; to keep that, write toolOverrides: {%s: {\"*\": restrict}}",
				name, oneLine(tools, " and "), tools[0])
		case k.name == "allow" && len(tools) > 0:
			m.note(k.value, "not read: %s allowed only %s; now the table decides about every tool", name, oneLine(tools, " and "))
		default:
			m.note(k.value, "not read: %s; if it restricts something, say so in the policy", name)
		}
	}
}

// namesIn are the plain names in a list.
func namesIn(v *jvalue) []string {
	var out []string
	for _, item := range v.list {
		if item.kind == jstring && strings.TrimSpace(item.text) != "" {
			out = append(out, plainKey(item.text))
		}
	}
	return out
}

func oneLine(words []string, last string) string {
	if len(words) > maxNotRead {
		words = append(slices.Clone(words[:maxNotRead]), "others")
	}
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + last + words[n-1]
	}
	return words[0]
}

// mappingExample is what could stand where a mapping was expected.
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
