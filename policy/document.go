package policy

import (
	"fmt"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/policy/condition"
	"github.com/floodmark/floodmark/policy/policyfile"
)

// A document is one file that was read and found in order.
type document struct {
	section
	reader   *policyfile.Reader
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
	// projectLocal says that files in the project are the owner's own. Only
	// shipped profiles set it.
	projectLocal bool
}

// A section is the part of a policy that one agent or a project may have, too.
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

// A level is an answer and where it was written. A nil node means that none was.
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

// readDocument reads a layer and notes its problems. It returns nil if one is an error.
func readDocument(r *policyfile.Reader, in policyfile.Scope, conditions *condition.Set) *document {
	root := r.Parse()
	if root == nil || !r.Policy(root, in) {
		return nil
	}
	before := len(r.Problems)
	d := &document{reader: r, agents: map[string]*section{}}
	if n := policyfile.Value(root, "profile"); n != nil {
		d.profile = n.Value
	}
	d.section = readSection(r, root, "", in, conditions)
	for e := range effects {
		d.table[e] = readLevels(policyfile.Value(policyfile.Value(root, "table"), floodmark.Effect(e).String()))
	}
	for _, code := range policyfile.Strings(policyfile.Value(policyfile.Value(root, "flows"), "off")) {
		d.flowsOff = append(d.flowsOff, floodmark.Code(code))
	}
	d.places = readPlaces(r, root)
	d.groups = readGroups(policyfile.Value(root, "groups"))
	d.caution = readCaution(r, policyfile.Value(root, "caution"))
	d.tools = readTools(r, policyfile.Value(root, "tools"))
	d.standing = readStanding(r, policyfile.Value(root, "standing"))
	d.settings = readSettings(r, root)
	d.projectLocal = yes(policyfile.Value(root, "projectTrust"), "local")
	keys, values := policyfile.Pairs(policyfile.Value(root, "agents"))
	for i, k := range keys {
		s := readSection(r, values[i], "agents."+k.Value+".", policyfile.InAgent, conditions)
		d.agents[k.Value] = &s
	}
	if r.Problems[before:].Failed() {
		return nil
	}
	return d
}

func readSection(r *policyfile.Reader, root *yaml.Node, where string, in policyfile.Scope, conditions *condition.Set) section {
	s := section{where: where, taint: readLevels(policyfile.Value(root, "taintPolicy"))}
	keys, values := policyfile.Pairs(policyfile.Value(root, "toolOverrides"))
	r.Mention(true, keys...)
	for i, k := range keys {
		name := parseTool(k.Value)
		if name.name == "" || name == (toolName{name: "*"}) {
			r.Fault(k, "wrong-value", fmt.Sprintf("%s names no tool", policyfile.Quote(k)), "write a tool, server/tool or server/*; for all tools use table or taintPolicy")
		}
		s.overrides = append(s.overrides, override{tool: name, text: k.Value, levels: readLevels(values[i])})
	}
	s.rules = readRules(r, policyfile.Value(root, "rules"), where, in, conditions)
	s.maxIterations = policyfile.Number(policyfile.Value(root, "maxIterations"))
	s.verifiers = readVerifiers(r, policyfile.Value(root, "verifiers"))
	return s
}

// readLevels reads verdicts by level. «*» is for the levels that are not named.
func readLevels(n *yaml.Node) levels {
	var ls levels
	keys, values := policyfile.Pairs(n)
	for i, k := range keys {
		v := parseAnswer(values[i].Value)
		if k.Value == "*" {
			for t := range ls {
				if policyfile.Value(n, floodmark.Trust(t).String()) == nil {
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
	keys, values := policyfile.Pairs(n)
	for i, k := range keys {
		groups[k.Value], _ = floodmark.ParseTrust(values[i].Value)
	}
	return groups
}

// readCaution reads the tools whose results are untrusted. False changes nothing, because
// only the catalog can say that a result is believed more.
func readCaution(r *policyfile.Reader, n *yaml.Node) map[toolName]bool {
	out := map[toolName]bool{}
	keys, values := policyfile.Pairs(n)
	r.Mention(false, keys...)
	for i, k := range keys {
		if yes(values[i], "true") {
			out[parseTool(k.Value)] = true
			continue
		}
		r.Warn(values[i], "no-effect", fmt.Sprintf("caution: false for %s changes nothing", policyfile.Quote(k)),
			"to say what a tool returns, describe it under tools with returns")
	}
	return out
}

func readSettings(r *policyfile.Reader, root *yaml.Node) func(*Settings) {
	approvals, auditor := policyfile.Value(root, "approvals"), policyfile.Value(root, "auditor")
	quiet, people := readQuiet(r, policyfile.Value(approvals, "quiet")), readPeople(r, approvals)
	return func(s *Settings) {
		set(policyfile.Value(root, "enforce"), func(n *yaml.Node) { s.Enforce = yes(n, "true") })
		set(policyfile.Value(root, "relax"), func(n *yaml.Node) { s.Relax = yes(n, "true") })
		set(policyfile.Value(root, "stopUnseen"), func(n *yaml.Node) { s.StopUnseen = yes(n, "true") })
		set(policyfile.Value(root, "maxIterations"), func(n *yaml.Node) { s.MaxIterations = policyfile.Number(n) })
		set(policyfile.Value(root, "freeContent"), func(n *yaml.Node) {
			if s.FreeContent = CapAudit; n.Value == "inert" {
				s.FreeContent = InertAllows
			}
		})
		set(policyfile.Value(root, "fetchSteered"), func(n *yaml.Node) { s.FetchSteered, _ = floodmark.ParseVerdict(n.Value) })
		set(policyfile.Value(root, "planted"), func(n *yaml.Node) { s.Planted, _ = floodmark.ParseVerdict(n.Value) })
		for s0 := range s.Choices {
			set(policyfile.Value(policyfile.Value(root, "choices"), floodmark.Secrecy(s0).String()), func(n *yaml.Node) { s.Choices[s0] = policyfile.Number(n) })
		}
		set(policyfile.Value(approvals, "ttl"), func(n *yaml.Node) { s.TicketTTL = duration(n) })
		set(policyfile.Value(approvals, "wait"), func(n *yaml.Node) { s.Wait = duration(n) })
		set(policyfile.Value(approvals, "toolWide"), func(n *yaml.Node) { s.ToolWide = yes(n, "true") })
		set(policyfile.Value(approvals, "maxTries"), func(n *yaml.Node) { s.MaxTries = policyfile.Number(n) })
		set(policyfile.Value(approvals, "perHour"), func(n *yaml.Node) { s.PerHour = policyfile.Number(n) })
		set(policyfile.Value(approvals, "quiet"), func(*yaml.Node) { s.Quiet = quiet })
		set(policyfile.Value(approvals, "admin"), func(n *yaml.Node) { s.AdminTwo = yes(n, "two") })
		set(policyfile.Value(approvals, "people"), func(*yaml.Node) { s.People = people })
		set(policyfile.Value(auditor, "on"), func(n *yaml.Node) { s.AuditorOn = yes(n, "true") })
		set(policyfile.Value(auditor, "failMode"), func(n *yaml.Node) { s.AuditorFailMode = failMode(n) })
	}
}

func readVerifiers(r *policyfile.Reader, n *yaml.Node) []Verifier {
	var out []Verifier
	seen := map[string]bool{}
	for _, c := range policyfile.Items(n) {
		r.Mention(false, policyfile.Items(policyfile.Value(c, "include"))...)
		r.Mention(true, policyfile.Items(policyfile.Value(c, "exclude"))...)
		v := Verifier{
			Name: policyfile.Value(c, "name").Value, Include: policyfile.Strings(policyfile.Value(c, "include")), Exclude: policyfile.Strings(policyfile.Value(c, "exclude")),
			FailMode: failMode(policyfile.Value(c, "failMode")), Timeout: duration(policyfile.Value(c, "timeout")),
		}
		if len(v.Include) > 0 && len(v.Exclude) > 0 {
			r.Fault(policyfile.Value(c, "exclude"), "conflict", "include and exclude are both given", "keep one of them")
		}
		if seen[v.Name] {
			r.Fault(policyfile.Value(c, "name"), "duplicate-name", fmt.Sprintf("there are two verifiers named %q", v.Name), "give each a name of its own")
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
