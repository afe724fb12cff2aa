package oldconfig

import (
	"fmt"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/format/json5"
)

// provenance imports the configuration of the plugin of seed 0, wherever it is in the file.
func (m *importer) provenance() {
	v := m.root.Get("plugins", "entries", "provenance", "config")
	if v == nil {
		found := pluginConfigs(m.root)
		if len(found) == 0 {
			return
		}
		if v = found[0]; len(found) > 1 {
			m.fault(found[1], "there are two configurations of the plugin", fmt.Sprintf("the first one is on line %d; import them one by one", v.Line))
			return
		}
	}
	if !m.mapping(v, "the plugin's config") {
		return
	}
	m.found = true
	if off := m.root.Get("plugins", "entries", "provenance", "enabled"); off.Is("false") {
		m.note(off, "the plugin was switched off; its settings are imported all the same")
	}
	known := []string{"taintPolicy", "toolOverrides", "approvalTtlSeconds", "maxIterations"}
	if v == m.root {
		known = append(known, "tools", "agents") // caution and verifiers read these
	}
	m.unknown(v, "config", known...)
	m.taintPolicy(v.Get("taintPolicy"))
	m.toolOverrides(v.Get("toolOverrides"))
	if ttl, ok := m.number(v.Get("approvalTtlSeconds"), "approvalTtlSeconds", 10, 24*60*60); ok {
		m.ttl = fmt.Sprintf("%ds", ttl)
	} else {
		m.ttl = "60s"
		m.note(nil, "the old program named two lifetimes of a code where none was set, 60 and 120 seconds; the shorter one is kept")
	}
	m.rounds = 10
	if n, ok := m.number(v.Get("maxIterations"), "maxIterations", 1, 10_000); ok {
		m.rounds = n
	}
	for _, text := range []string{
		"tools that change the agent, its schedule or its instructions were treated like any other; now they ask from the owner down and are refused once text from outside is in the context",
		"a context stayed clean after a tainted turn; now what a session has read counts until its context is emptied",
		"a sender without metadata counted as the owner; now as untrusted",
		"a sub-agent started at local; now at the mark of the session that began it",
		"reading a file was always local; now its path and its history decide",
		"the approval code stood in the tool's error, where the model reads it; now only the owner's channel shows it",
		".approve covered every call of a tool; now the calls that were shown (approvals.toolWide: true brings the old meaning back)",
	} {
		m.note(nil, "%s", text)
	}
}

// pluginConfigs finds objects that look like the plugin's configuration.
func pluginConfigs(v *json5.Value) []*json5.Value {
	if v.Kind == json5.Object && slices.ContainsFunc(v.Members, func(k json5.Member) bool {
		return k.Name == "taintPolicy" || k.Name == "toolOverrides" || k.Name == "approvalTtlSeconds"
	}) {
		return []*json5.Value{v}
	}
	var out []*json5.Value
	for _, k := range v.Members {
		out = append(out, pluginConfigs(k.Value)...)
	}
	for _, item := range v.List {
		out = append(out, pluginConfigs(item)...)
	}
	return out
}

// taintPolicy imports the modes of the levels. A level without a mode gets the old program's
// default.
func (m *importer) taintPolicy(v *json5.Value) {
	m.taint = &[trusts]floodmark.Verdict{
		floodmark.System: floodmark.Allow, floodmark.Owner: floodmark.Allow, floodmark.Local: floodmark.Allow,
		floodmark.Shared: floodmark.Confirm, floodmark.External: floodmark.Confirm, floodmark.Untrusted: floodmark.Confirm,
	}
	if !m.mapping(v, "taintPolicy") {
		return
	}
	m.unknown(v, "taintPolicy", levelWords()...)
	for t := range trusts {
		level := floodmark.Trust(t)
		if mode, ok := m.word(v.Get(level.String()), "taintPolicy."+level.String(), "allow", "confirm", "restrict"); ok {
			m.taint[t], _ = floodmark.ParseVerdict(mode)
		}
	}
	for t := trusts - 2; t >= 0; t-- {
		if m.taint[t] > m.taint[t+1] {
			level := floodmark.Trust(t)
			m.note(v.Get(level.String()), "%s would get more than %s; it is corrected to %s, as the old program did", level, level+1, m.taint[t+1])
			m.taint[t] = m.taint[t+1]
		}
	}
}

func levelWords() []string {
	words := make([]string, trusts)
	for t := range trusts {
		words[trusts-1-t] = floodmark.Trust(t).String()
	}
	return words
}

// safeTools returns the tools that the old program always allowed.
func safeTools() []string {
	return []string{
		"read", "memory_search", "memory_get", "web_fetch", "web_search", "image", "session_status", "sessions_list",
		"sessions_history", "agents_list", "vestige_search", "vestige_promote", "vestige_demote",
	}
}

func (m *importer) toolOverrides(v *json5.Value) {
	if m.mapping(v, "toolOverrides") {
		for _, k := range v.Members {
			if strings.HasSuffix(k.Name, "/") || k.Name == "*" || strings.TrimSpace(k.Name) == "" || len(k.Name) > maxKey {
				m.fault(k.Value, "this override names no tool", "name a tool, or use taintPolicy for all of them")
				continue
			}
			if m.mapping(k.Value, "toolOverrides."+plainKey(k.Name)) {
				m.override(k)
			}
		}
	}
	for _, name := range safeTools() {
		m.overrideDefault(name, levelWordsOf{{"*", "allow"}})
	}
	var gateway levelWordsOf
	for _, l := range levelWords()[1:] {
		gateway = append(gateway, struct{ level, verdict string }{l, "confirm"})
	}
	m.overrideDefault("gateway", gateway)
	m.gateway()
}

func (m *importer) override(k json5.Member) {
	t := importedTool{name: k.Name, said: true}
	m.unknown(k.Value, "toolOverrides."+plainKey(k.Name), append(levelWords(), "*")...)
	for _, level := range append(levelWords(), "*") {
		if mode, ok := m.word(k.Value.Get(level), "toolOverrides."+plainKey(k.Name)+"."+level, "allow", "confirm", "restrict"); ok {
			t.levels = append(t.levels, struct{ level, verdict string }{level, mode})
		}
	}
	m.overrides = append(m.overrides, t)
}

// overrideDefault adds the old program's default for a tool, unless the file overrides the tool.
func (m *importer) overrideDefault(name string, levels levelWordsOf) {
	if !slices.ContainsFunc(m.overrides, func(t importedTool) bool { return t.name == name }) {
		m.overrides = append(m.overrides, importedTool{name: name, levels: levels})
	}
}

// gateway makes the tool gateway, which could switch off the protection, ask at the level owner and
// below, whatever the file says.
func (m *importer) gateway() {
	i := slices.IndexFunc(m.overrides, func(t importedTool) bool { return t.name == "gateway" })
	g := &m.overrides[i]
	if !g.said {
		m.note(nil, "gateway asked from local down; now also when only the owner spoke, because it can switch the protection off")
		return
	}
	loosened := false
	for _, level := range levelWords()[1:] {
		at := slices.IndexFunc(g.levels, func(l struct{ level, verdict string }) bool { return l.level == level })
		star := slices.IndexFunc(g.levels, func(l struct{ level, verdict string }) bool { return l.level == "*" })
		switch {
		case at >= 0 && g.levels[at].verdict == "allow":
			g.levels[at].verdict, loosened = "confirm", true
		case at < 0 && (star < 0 || g.levels[star].verdict == "allow"):
			g.levels = append(g.levels, struct{ level, verdict string }{level, "confirm"})
			loosened = true
		}
	}
	if loosened {
		m.note(nil, "gateway was allowed at some levels; now it asks from the owner down, because it can switch the protection off")
	}
}
