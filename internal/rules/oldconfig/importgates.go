package oldconfig

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/floodmark/floodmark/internal/format/json5"
)

// cautionDefaults returns the tools that seed 1 cautions by default.
func cautionDefaults() []string { return []string{"web_fetch", "email", "webhook", "browser"} }

// caution imports tools.caution of seed 1.
func (m *importer) caution() {
	v := m.root.Get("tools", "caution")
	if !m.mapping(v, "tools.caution") {
		return
	}
	m.found, m.auditor = true, "block"
	if d := v.Get("defaults"); d == nil || m.isTrue(d, "tools.caution.defaults") {
		m.cautious = cautionDefaults()
	}
	for _, k := range v.Members {
		m.cautionKey(k)
	}
	if tools := v.Get("tools"); m.mapping(tools, "tools.caution.tools") {
		for _, k := range tools.Members {
			m.cautionTool(k)
		}
	}
	m.auditorSettings(v.Get("auditor"))
	m.note(nil, "after a cautioned tool the auditor alone decided about every call; now it still looks at each, but sending, changing and running also need a person where the table says confirm, and it never answers for code, for the agent's own settings, or where data could leave")
}

// cautionKey reads the other keys of tools.caution. A tool that is written one level too high is
// accepted if it makes the policy stricter.
func (m *importer) cautionKey(k json5.Member) {
	name := plainKey(k.Name)
	switch {
	case slices.Contains([]string{"defaults", "tools", "auditor"}, k.Name):
	case k.Value.Is("true") && strings.TrimSpace(k.Name) != "" && len(k.Name) <= maxKey:
		m.cautionTool(k)
		m.note(k.Value, "tools.caution.%s should stand under tools.caution.tools; it was read as if it did", name)
	default:
		m.note(k.Value, "tools.caution.%s is not read: tools stand under tools.caution.tools", name)
	}
}

func (m *importer) cautionTool(k json5.Member) {
	name := plainKey(k.Name)
	switch {
	case strings.TrimSpace(k.Name) == "" || len(k.Name) > maxKey:
		m.fault(k.Value, "this names no tool", "write a name")
	case k.Value.Is("true"):
		if !slices.Contains(m.cautious, k.Name) {
			m.cautious = append(m.cautious, k.Name)
		}
	case k.Value.Is("false"):
		m.cautious = slices.DeleteFunc(m.cautious, func(s string) bool { return s == k.Name })
		m.note(k.Value, "caution false for %s: its results are now worth what the catalog says, which may still be untrusted", name)
	default:
		m.fault(k.Value, "tools.caution.tools."+name+" is not true or false", "write true or false")
	}
}

func (m *importer) auditorSettings(v *json5.Value) {
	if !m.mapping(v, "tools.caution.auditor") {
		return
	}
	m.unknown(v, "tools.caution.auditor", "model", "timeoutMs", "failMode")
	if mode, ok := m.word(v.Get("failMode"), "tools.caution.auditor.failMode", "block", "warn", "allow"); ok && mode != "block" {
		m.auditor = mode
		m.note(v.Get("failMode"), "the auditor's failMode is %s: a forced timeout was a yes to anything; now it lets through only what would be allowed without an auditor, and else asks a person; write block to be asked always", mode)
	}
	if at := v.Get("model"); at != nil {
		m.note(at, "the auditor's model belongs into service.yaml: write «model: %s» under auditor, or what your service calls that model", quoted(plainKey(at.Text)))
	}
	if n, ok := m.number(v.Get("timeoutMs"), "tools.caution.auditor.timeoutMs", 1, 30000); ok {
		m.note(v.Get("timeoutMs"), "the auditor's timeoutMs belongs into service.yaml: write «timeout: %dms» under auditor", n)
	}
}

// A gate is a verifier as it will be written.
type gate struct {
	name             string
	include, exclude []string
	allow            bool // a call is allowed if the gate does not answer
	seconds          int
}

// verifiers imports tools.verifier of seed 3, for all agents and for single agents.
func (m *importer) verifiers() {
	m.gates = m.verifier(m.root.Get("tools", "verifier"), "tools.verifier", false)
	agents := m.root.Get("agents", "list")
	if agents == nil || agents.Kind != json5.List {
		return
	}
	for i, a := range agents.List {
		v := a.Get("tools", "verifier")
		if v == nil {
			continue
		}
		name := cmp.Or(a.Get("id"), a.Get("name"))
		if name == nil || name.Kind != json5.String || strings.TrimSpace(name.Text) == "" || len(name.Text) > maxKey {
			m.fault(a, "this agent has no id", "give it one: {id: \"main\"}")
			continue
		}
		id := openclawID(name.Text)
		if slices.ContainsFunc(m.agents, func(x importedAgent) bool { return x.name == id }) {
			m.fault(name, "two agents have this id", "give each its own")
			continue
		}
		if gates := m.verifier(v, fmt.Sprintf("agents.list[%d].tools.verifier", i), true); len(gates) > 0 {
			m.agents = append(m.agents, importedAgent{id, gates})
			m.note(name, "the section for %s counts for that agent of OpenClaw", plainKey(id))
		}
	}
}

// openclawID returns the name of one of OpenClaw's agents, with the id in the form that OpenClaw
// itself uses.
func openclawID(id string) string {
	if id = strings.ToLower(strings.TrimSpace(id)); !regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`).MatchString(id) {
		id = strings.Trim(regexp.MustCompile(`[^a-z0-9_-]+`).ReplaceAllString(id, "-"), "-")
	}
	return "openclaw/" + cmp.Or(id[:min(len(id), 64)], "main")
}

// verifier reads the verifier configuration of one agent or of all. If an agent's configuration
// does not say whether it is on, it is on if the configuration for all agents is.
func (m *importer) verifier(v *json5.Value, where string, agent bool) []gate {
	if !m.mapping(v, where) {
		return nil
	}
	m.found = true
	m.unknown(v, where, "enabled", "scope", "failMode", "webhook", "telegram")
	enabled := v.Get("enabled")
	on, why := m.isTrue(enabled, where+".enabled") || enabled == nil && m.gates != nil, "was not switched on, and is left out"
	if on {
		if out := m.gatesOf(v, where, agent); len(out) > 0 {
			return out
		}
		why = "is switched on but names neither webhook nor telegram; there is nothing to ask"
	} else if m.gates != nil {
		why = "was switched off for one agent; the strictest counts, so that it stays on"
	}
	m.note(v, "%s "+why, where)
	return nil
}

// gatesOf returns the gates of a section. An agent's section without gates gets those of the
// section for all agents, even if that one is off, but with its own scope and failMode if it has
// them.
func (m *importer) gatesOf(v *json5.Value, where string, agent bool) []gate {
	g, scope := gate{}, v.Get("scope")
	if m.mapping(scope, where+".scope") {
		g.include, g.exclude = m.tools(scope.Get("include"), where+".scope.include"), m.tools(scope.Get("exclude"), where+".scope.exclude")
		if len(g.include) > 0 && len(g.exclude) > 0 {
			m.fault(scope, "include and exclude are both given", "keep one of them")
		}
		if at := scope.Get("include"); at != nil && len(g.include) == 0 {
			m.note(at, "%s.scope.include is empty, which verified nothing; now every tool is verified", where)
		}
	}
	mode, said := m.word(v.Get("failMode"), where+".failMode", "deny", "allow")
	g.allow = mode == "allow"
	var out []gate
	if at := v.Get("webhook"); m.mapping(at, where+".webhook") {
		out = append(out, m.webhook(at, where, g))
	}
	if at := v.Get("telegram"); m.mapping(at, where+".telegram") && m.isTrue(at.Get("enabled"), where+".telegram.enabled") {
		out = append(out, m.telegram(at, where, g))
	} else if at != nil {
		m.note(at, "%s.telegram was not switched on, and is left out", where)
	}
	if agent && len(out) == 0 {
		if out = slices.Clone(m.gates); out == nil {
			out = m.gatesOf(m.root.Get("tools", "verifier"), "tools.verifier", false)
		}
		for i := range out {
			if scope != nil {
				out[i].include, out[i].exclude = g.include, g.exclude
			}
			out[i].allow = said && g.allow || !said && out[i].allow
		}
	}
	for i := 0; said && i < len(out); i++ {
		m.failing(v.Get("failMode"), where, &out[i])
	}
	return out
}

// isTrue reports whether a switch is on. A value other than true and false is a fault.
func (m *importer) isTrue(v *json5.Value, what string) bool {
	if v != nil && !v.Is("true") && !v.Is("false") {
		m.fault(v, what+" is not true or false", "write true or false")
	}
	return v.Is("true")
}

// failing makes a gate's failMode at least as strict as that for all agents, and adds a note about
// allow.
func (m *importer) failing(at *json5.Value, where string, g *gate) {
	switch {
	case g.allow && slices.ContainsFunc(m.gates, func(o gate) bool { return !o.allow }):
		g.allow = false
		m.note(at, "%s.failMode allow cannot weaken the deny that holds for all agents", where)
	case g.allow:
		m.note(at, "%s.failMode is allow: while %s cannot be reached, calls pass it; write deny to close that", where, g.name)
	}
}

func (m *importer) webhook(v *json5.Value, where string, g gate) gate {
	m.unknown(v, where+".webhook", "url", "timeout", "headers", "secret")
	g.name, g.seconds = "webhook", 30
	if n, ok := m.number(v.Get("timeout"), where+".webhook.timeout", 1, 600); ok {
		g.seconds = n
	}
	if url := v.Get("url"); url != nil && url.Kind == json5.String && strings.HasPrefix(strings.ToLower(strings.TrimSpace(url.Text)), "http:") {
		m.note(url, "%s.webhook.url is http: anybody on the way could answer allow; service.yaml takes https, or http to this very machine", where)
	}
	m.note(v, "the webhook's url, headers and secret belong into service.yaml, under verifier.webhook (for one agent: agents.openclaw/ID.verifier.webhook) and by the same names, not into the policy; they were left out")
	return g
}

func (m *importer) telegram(v *json5.Value, where string, g gate) gate {
	m.unknown(v, where+".telegram", "enabled", "botToken", "chatId", "timeout", "allowedUserIds")
	g.name, g.seconds = "telegram", 120
	if n, ok := m.number(v.Get("timeout"), where+".telegram.timeout", 1, 600); ok {
		g.seconds = n
	}
	if ids := v.Get("allowedUserIds"); ids == nil || ids.Kind != json5.List || len(ids.List) == 0 {
		m.note(v, "%s.telegram has no allowedUserIds: anybody in the chat could answer; now they must be named, and without them nobody can say yes", where)
	}
	m.note(v, "telegram's botToken, chatId and allowedUserIds belong into service.yaml, under verifier.telegram (for one agent: agents.openclaw/ID.verifier.telegram) and by the same names, not into the policy; they were left out")
	return g
}
