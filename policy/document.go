package policy

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"go.yaml.in/yaml/v3"
)

// A document is one file that was read and found in order.
type document struct {
	section
	reader   *reader
	profile  string
	table    [effects]levels
	flowsOff []floodmark.Code
	places   places
	groups   map[string]floodmark.Trust
	caution  map[toolName]bool
	tools    []*catalog.File
	agents   map[string]*section
	standing []Standing
	settings func(*Settings) // what the file changes
	// projectLocal says that what lies in the project is the owner's own; only
	// shipped profiles say it.
	projectLocal bool
}

// A section is what may also stand for one agent or in a project.
type section struct {
	where         string // «» for the user's own, else «agents.codex.» or «project.yaml: »
	taint         levels
	overrides     []override
	rules         []*rule
	maxIterations int // 0 if not said
	verifiers     []Verifier
}

// An override is the verdicts the policy gives one tool.
type override struct {
	tool   toolName
	text   string
	levels levels
}

const (
	effects = int(floodmark.Observe) + 1
	trusts  = int(floodmark.System) + 1
)

// levels are verdicts by trust.
type levels [trusts]level

// A level is what was said and where it was written; nil means that nothing was.
type level struct {
	says answer
	node *yaml.Node
}

// A toolName is a tool as the policy names it. A Name of * is every tool of
// the server.
type toolName struct{ server, name string }

func parseTool(s string) toolName {
	if i := strings.LastIndexByte(s, '/'); i >= 0 {
		return toolName{server: s[:i], name: s[i+1:]}
	}
	return toolName{name: s}
}

// read reads a layer as far as it can. The document is nil if it is wrong.
func (r *reader) read(in scope, conditions *conditions) *document {
	root := r.parse()
	if root == nil || !r.check(root, policyShape().only(in)) {
		return nil
	}
	before := len(r.problems)
	d := &document{reader: r, agents: map[string]*section{}}
	if n := value(root, "profile"); n != nil {
		d.profile = n.Value
	}
	d.section = r.section(root, "", in, conditions)
	for e := range effects {
		d.table[e] = readLevels(value(value(root, "table"), floodmark.Effect(e).String()))
	}
	for _, code := range strs(value(value(root, "flows"), "off")) {
		d.flowsOff = append(d.flowsOff, floodmark.Code(code))
	}
	d.places = r.places(root)
	d.groups = readGroups(value(root, "groups"))
	d.caution = r.caution(value(root, "caution"))
	d.tools = r.tools(value(root, "tools"))
	d.standing = r.standing(value(root, "standing"))
	d.settings = r.readSettings(root)
	d.projectLocal = yes(value(root, "projectTrust"), "local")
	keys, values := pairs(value(root, "agents"))
	for i, k := range keys {
		s := r.section(values[i], "agents."+k.Value+".", inAgent, conditions)
		d.agents[k.Value] = &s
	}
	if r.problems[before:].Failed() {
		return nil
	}
	return d
}

func (r *reader) section(root *yaml.Node, where string, in scope, conditions *conditions) section {
	s := section{where: where, taint: readLevels(value(root, "taintPolicy"))}
	keys, values := pairs(value(root, "toolOverrides"))
	r.mention(true, keys...)
	for i, k := range keys {
		name := parseTool(k.Value)
		if name.name == "" || name == (toolName{name: "*"}) {
			r.fault(k, "wrong-value", fmt.Sprintf("%s names no tool", shown(k)), "write a tool, server/tool or server/*; for all tools use table or taintPolicy")
		}
		s.overrides = append(s.overrides, override{tool: name, text: k.Value, levels: readLevels(values[i])})
	}
	s.rules = r.rules(value(root, "rules"), where, in, conditions)
	s.maxIterations = number(value(root, "maxIterations"))
	s.verifiers = r.verifiers(value(root, "verifiers"))
	return s
}

// readLevels reads verdicts by level. A «*» holds where nothing else is said.
func readLevels(n *yaml.Node) levels {
	var ls levels
	keys, values := pairs(n)
	for i, k := range keys {
		v := parseAnswer(values[i].Value)
		if k.Value == "*" {
			for t := range ls {
				if value(n, floodmark.Trust(t).String()) == nil {
					ls[t].says, ls[t].node = v, values[i]
				}
			}
			continue
		}
		if t, err := floodmark.ParseTrust(k.Value); err == nil {
			ls[t].says, ls[t].node = v, values[i]
		}
	}
	return ls
}

func readGroups(n *yaml.Node) map[string]floodmark.Trust {
	groups := map[string]floodmark.Trust{}
	keys, values := pairs(n)
	for i, k := range keys {
		groups[k.Value], _ = floodmark.ParseTrust(values[i].Value)
	}
	return groups
}

// caution reads the tools whose results are untrusted. Saying false cannot
// make a result more believed: what it is worth is the catalog's business.
func (r *reader) caution(n *yaml.Node) map[toolName]bool {
	out := map[toolName]bool{}
	keys, values := pairs(n)
	r.mention(false, keys...)
	for i, k := range keys {
		if yes(values[i], "true") {
			out[parseTool(k.Value)] = true
			continue
		}
		r.warn(values[i], "no-effect", fmt.Sprintf("caution: false for %s changes nothing", shown(k)),
			"to say what a tool returns, describe it under tools with returns")
	}
	return out
}

func (r *reader) readSettings(root *yaml.Node) func(*Settings) {
	approvals, auditor := value(root, "approvals"), value(root, "auditor")
	quiet, people := r.quiet(value(approvals, "quiet")), r.people(approvals)
	return func(s *Settings) {
		set(value(root, "enforce"), func(n *yaml.Node) { s.Enforce = yes(n, "true") })
		set(value(root, "relax"), func(n *yaml.Node) { s.Relax = yes(n, "true") })
		set(value(root, "stopUnseen"), func(n *yaml.Node) { s.StopUnseen = yes(n, "true") })
		set(value(root, "maxIterations"), func(n *yaml.Node) { s.MaxIterations = number(n) })
		set(value(root, "freeContent"), func(n *yaml.Node) {
			if s.FreeContent = CapAudit; n.Value == "inert" {
				s.FreeContent = InertAllows
			}
		})
		set(value(root, "fetchSteered"), func(n *yaml.Node) { s.FetchSteered, _ = floodmark.ParseVerdict(n.Value) })
		set(value(root, "planted"), func(n *yaml.Node) { s.Planted, _ = floodmark.ParseVerdict(n.Value) })
		for s0 := range s.Choices {
			set(value(value(root, "choices"), floodmark.Secrecy(s0).String()), func(n *yaml.Node) { s.Choices[s0] = number(n) })
		}
		set(value(approvals, "ttl"), func(n *yaml.Node) { s.TicketTTL = duration(n) })
		set(value(approvals, "wait"), func(n *yaml.Node) { s.Wait = duration(n) })
		set(value(approvals, "toolWide"), func(n *yaml.Node) { s.ToolWide = yes(n, "true") })
		set(value(approvals, "maxTries"), func(n *yaml.Node) { s.MaxTries = number(n) })
		set(value(approvals, "perHour"), func(n *yaml.Node) { s.PerHour = number(n) })
		set(value(approvals, "quiet"), func(*yaml.Node) { s.Quiet = quiet })
		set(value(approvals, "admin"), func(n *yaml.Node) { s.AdminTwo = yes(n, "two") })
		set(value(approvals, "people"), func(*yaml.Node) { s.People = people })
		set(value(auditor, "on"), func(n *yaml.Node) { s.AuditorOn = yes(n, "true") })
		set(value(auditor, "failMode"), func(n *yaml.Node) { s.AuditorFailMode = failMode(n) })
	}
}

func (r *reader) verifiers(n *yaml.Node) []Verifier {
	var out []Verifier
	seen := map[string]bool{}
	for _, c := range items(n) {
		r.mention(false, items(value(c, "include"))...)
		r.mention(true, items(value(c, "exclude"))...)
		v := Verifier{
			Name: value(c, "name").Value, Include: strs(value(c, "include")), Exclude: strs(value(c, "exclude")),
			FailMode: failMode(value(c, "failMode")), Timeout: duration(value(c, "timeout")),
		}
		if len(v.Include) > 0 && len(v.Exclude) > 0 {
			r.fault(value(c, "exclude"), "conflict", "include and exclude are both given", "keep one of them")
		}
		if seen[v.Name] {
			r.fault(value(c, "name"), "duplicate-name", fmt.Sprintf("there are two verifiers named %q", v.Name), "give each a name of its own")
		}
		seen[v.Name] = true
		out = append(out, v)
	}
	return out
}

func set(n *yaml.Node, use func(*yaml.Node)) {
	if n != nil {
		use(n)
	}
}

func yes(n *yaml.Node, word string) bool { return n != nil && n.Value == word }

func number(n *yaml.Node) int {
	if n == nil {
		return 0
	}
	v, _ := strconv.Atoi(n.Value)
	return v
}

func duration(n *yaml.Node) time.Duration {
	if n == nil {
		return 0
	}
	d, _ := time.ParseDuration(n.Value)
	return d
}

func failMode(n *yaml.Node) FailMode {
	switch {
	case yes(n, "warn"):
		return FailWarn
	case yes(n, "allow"):
		return FailAllow
	default:
		return FailBlock
	}
}
