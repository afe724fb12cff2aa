package policy

import (
	"cmp"
	"embed"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/rules/finding"
	"github.com/floodmark/floodmark/policy/condition"
	"github.com/floodmark/floodmark/policy/policyfile"
)

//go:embed profiles/*.yaml
var profiles embed.FS

// Load reads the user's layer, if there is one, and any number of project
// layers over the shipped profile the user chose (assistant if none). The
// Policy is nil if any problem is an error. Warnings are returned in any case.
func Load(layers ...Layer) (*Policy, floodmark.Problems) {
	var problems floodmark.Problems
	var user *document
	var projects []*document
	cs := &condition.Set{}
	for i, l := range layers {
		r := &policyfile.Reader{Name: l.Name, Data: l.Data}
		if !l.Project && slices.ContainsFunc(layers[:i], func(l Layer) bool { return !l.Project }) {
			r.Note(floodmark.Error, 1, 1, "two-layers", "there are two user layers", "load one of them, or mark the other as a project's")
		}
		in := policyfile.InUser
		if l.Project {
			in = policyfile.InProject
		}
		d := readDocument(r, in, cs)
		if d != nil && l.Project {
			d.where = l.Name + ": "
			projects = append(projects, d)
		} else if d != nil {
			user = d
			checkAuditorMode(r, d)
		}
		problems = append(problems, r.Problems...)
	}
	if problems.Failed() {
		return nil, problems
	}
	return assemble(layers, user, projects, problems)
}

// assemble builds the policy of documents that are in order.
func assemble(layers []Layer, user *document, projects []*document, problems floodmark.Problems) (*Policy, floodmark.Problems) {
	name := "assistant"
	if user != nil && user.profile != "" {
		name = user.profile
	}
	shipped, data, err := readProfile(name)
	table, lines, wrong := finding.Shipped()
	if err = cmp.Or(err, wrong); err != nil {
		return nil, append(problems, floodmark.Problem{File: name, Line: 1, Column: 1, Severity: floodmark.Error, Code: "profile", Text: err.Error()})
	}
	if user == nil {
		user = &document{reader: &policyfile.Reader{}, settings: func(*Settings) {}}
	}
	before := len(user.reader.Problems)
	p := build(name, shipped, user, projects, table)
	p.hash, p.profile = hashOf(data, lines, layers), name
	p.named = user.reader.Named
	for _, d := range projects {
		p.named = append(p.named, d.reader.Named...)
	}
	return p, append(problems, user.reader.Problems[before:]...)
}

// Shipped returns a profile as it comes with the program.
func Shipped(profile string) (*Policy, error) {
	if !slices.Contains(policyfile.ProfileWords(), profile) {
		return nil, fmt.Errorf("policy: no profile %q (there are %s)", profile, policyfile.OneOf(policyfile.ProfileWords()))
	}
	p, problems := Load(Layer{Name: profile, Data: []byte("version: 1\nprofile: " + profile + "\n")})
	if problems.Failed() {
		return nil, fmt.Errorf("policy: profile %s: %w", profile, problems)
	}
	return p, nil
}

func readProfile(name string) (*document, []byte, error) {
	data, err := profiles.ReadFile("profiles/" + name + ".yaml")
	if err != nil {
		return nil, nil, fmt.Errorf("policy: no profile %q", name)
	}
	r := &policyfile.Reader{Name: name + ".yaml", Data: data}
	d := readDocument(r, policyfile.InProfile, &condition.Set{})
	if d == nil {
		return nil, nil, r.Problems
	}
	return d, data, nil
}

// checkAuditorMode warns if calls can pass although the auditor does not answer.
func checkAuditorMode(r *policyfile.Reader, d *document) {
	var s Settings
	if d.settings(&s); s.AuditorFailMode == FailBlock || d.profile == "dry-run" {
		return
	}
	root := r.Parse()
	r.Warn(policyfile.Value(policyfile.Value(root, "auditor"), "failMode"), "fails-open",
		"an auditor that does not answer lets through only what would be allowed without one; about all else a person is asked", "nothing, if that is what you want; else failMode: block")
}

// hashOf hashes all files that the policy was made from. Each has its length before
// it, so that two files never look like one.
func hashOf(profile, findings []byte, layers []Layer) floodmark.Digest {
	var b strings.Builder
	add := func(kind string, data []byte) {
		b.WriteString(kind + " " + strconv.Itoa(len(data)) + "\n" + string(data))
	}
	add("profile", profile)
	add("findings", findings)
	for _, l := range layers {
		if l.Project {
			add("project", l.Data)
		} else {
			add("user", l.Data)
		}
	}
	return floodmark.DigestOf(b.String())
}

// readTools reads the user's own catalog.
func readTools(r *policyfile.Reader, n *yaml.Node) []*catalog.File {
	if n == nil {
		return nil
	}
	f, err := catalog.ParseTools(r.Name, n)
	if err != nil {
		if ps, ok := err.(floodmark.Problems); ok { //nolint:errorlint // the contract says so, and a wrapped one would lose its places
			r.Problems = append(r.Problems, ps...)
		} else {
			r.Fault(n, "tools", err.Error(), "")
		}
		return nil
	}
	r.Problems = append(r.Problems, f.Warnings()...)
	return []*catalog.File{f}
}

// agentNames lists the agents with a section, in order.
func (d *document) agentNames() []string { return slices.Sorted(maps.Keys(d.agents)) }
