// Package rulesdesk answers the console's page of rules: it shows the owner's policy, checks a
// text, says what it would have answered in the last days, saves it and takes it back. It judges
// nothing by itself: checking, judging again and putting rules in force are done where the command
// line does them. A policy that comes from a signed bundle or from a fleet is only shown.
package rulesdesk

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/rules/policycheck"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/service/owner"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/policy/policyfile"
	"github.com/floodmark/floodmark/wire"
)

// Options are what [New] needs.
type Options struct {
	File     string // the owner's policy
	Versions string // the folder of the versions that were replaced
	Journal  journal.Journal
	Shipped  func() (*catalog.Catalog, error)
	// Own returns what the monitor adds to the catalog, the files of its installation; nil if it adds
	// nothing.
	Own func() (*catalog.File, error)
	// Rules returns the rules in force for a tenant. Reload loads them again.
	Rules  func(tenant string) owner.Rules
	Reload func(ctx context.Context, tenant string) owner.Rules
	// Fleet returns a line about the fleet that this machine joined, or ""; nil if it cannot join
	// one.
	Fleet func() string
	// Note records an incident.
	Note func(ctx context.Context, tenant string, seen floodmark.IncidentSeen) error
	// Saving is told the text that a person saves, before it is in force; nil: nothing is told.
	Saving func(text string)
	Now    func() time.Time
}

// A Desk answers the page of rules. It is safe for concurrent use.
type Desk struct {
	opts Options
	// trying has room for one trial, because each takes a processor and the memory of a session.
	trying chan struct{}
	saving sync.Mutex // is held while the policy is replaced
}

var _ httpapi.RulesPage = (*Desk)(nil)

// New returns a Desk. It does nothing until it is asked.
func New(o Options) *Desk { return &Desk{opts: o, trying: make(chan struct{}, 1)} }

// Rules implements [httpapi.RulesPage].
func (d *Desk) Rules(_ context.Context, who httpapi.Identity, r *wire.RulesRequest) (*wire.RulesResponse, error) {
	held := d.opts.Rules(who.Tenant)
	out := &wire.RulesResponse{Profile: held.Policy.Profile(), InForce: held.Policy.Hash().String(), Table: table(held.Policy.Profile())}
	if r.GetSchema() {
		out.Schema = string(policyfile.Schema())
	}
	if who.Tenant != "" || held.Bundle != "" {
		found := held.Problems
		if who.Tenant != "" {
			found = hidden(found)
		}
		out.Files = []*wire.RulesFile{{Path: "the rules in force", Locked: d.locked(who), Problems: problems(found)}}
		return out, nil
	}
	file, err := d.file(who)
	if err != nil {
		return nil, err
	}
	out.Files = []*wire.RulesFile{file}
	all, err := d.versions()
	if err != nil {
		return nil, err
	}
	for _, v := range all {
		out.Versions = append(out.Versions, v.wire())
	}
	if r.GetVersion() != "" {
		v, err := d.version(r.GetVersion())
		if err != nil {
			return nil, err
		}
		out.VersionText = v.Text
	}
	return out, nil
}

// table returns the table of a shipped profile; nil if there is none of that name.
func table(profile string) (rows []*wire.RulesRow) {
	p, err := policy.Shipped(profile)
	if err != nil {
		return nil
	}
	for e := floodmark.Observe; ; e-- {
		row := &wire.RulesRow{Effect: e.String()}
		for t := floodmark.System; ; t-- {
			row.Cells = append(row.Cells, &wire.RulesCell{Trust: t.String(), Verdict: p.Says(e, t)})
			if t == floodmark.Untrusted {
				break
			}
		}
		if rows = append(rows, row); e == floodmark.Admin {
			return rows
		}
	}
}

// file returns the owner's policy as it is on the disk.
func (d *Desk) file(who httpapi.Identity) (*wire.RulesFile, error) {
	text, err := config.ReadPolicy(d.opts.File)
	if err != nil {
		return nil, unusable(err)
	}
	out := &wire.RulesFile{Path: d.opts.File, Locked: d.locked(who), Missing: text == nil}
	if text == nil {
		return out, nil
	}
	out.Text, out.Digest = strings.ToValidUTF8(string(text), "\uFFFD"), digest(text)
	found, err := d.check(who, string(text))
	out.Problems = problems(found)
	return out, err
}

// digest identifies a text of the policy; empty if there is no file.
func digest(text []byte) string {
	if text == nil {
		return ""
	}
	return floodmark.DigestOf(string(text)).String()
}

// locked says why a caller cannot edit the policy here, or "".
func (d *Desk) locked(who httpapi.Identity) string {
	switch {
	case who.Tenant != "" && d.opts.Rules(who.Tenant).Bundle == "":
		return "the operator of this monitor writes the rules"
	case d.opts.Rules(who.Tenant).Bundle != "":
		return "the rules come from a signed bundle: «floodmark fleet bundle» makes a new version"
	case d.opts.Fleet != nil && d.opts.Fleet() != "":
		return "this machine has the rules of its fleet; your own file can only tighten them, and is changed in an editor"
	case !who.May.Has(httpapi.MayPolicy):
		return "you may only look at it"
	}
	return ""
}

// CheckRules implements [httpapi.RulesPage].
func (d *Desk) CheckRules(_ context.Context, who httpapi.Identity, r *wire.CheckRulesRequest) (*wire.CheckRulesResponse, error) {
	if err := bounded(r.GetText()); err != nil {
		return nil, err
	}
	found, err := d.check(who, r.GetText())
	if err != nil {
		return nil, err
	}
	return &wire.CheckRulesResponse{Problems: problems(found), Errors: errorsIn(found)}, nil
}

// check finds what is wrong in a text, as «floodmark policy check» does.
func (d *Desk) check(who httpapi.Identity, text string) (floodmark.Problems, error) {
	shipped, err := d.opts.Shipped()
	if err != nil {
		return nil, err
	}
	_, found := policycheck.Check(shipped, policy.Layer{Name: d.name(who), Data: []byte(text)})
	return found, nil
}

func bounded(text string) error {
	if len(text) > config.MaxPolicyBytes {
		return fmt.Errorf("%w: text: at most %d bytes", httpapi.ErrInvalid, config.MaxPolicyBytes)
	}
	return nil
}

// maxProblems bounds the problems that are told at once. A person mends the first ones first.
const maxProblems = 500

func problems(found floodmark.Problems) []*wire.Problem {
	var list []*wire.Problem
	for _, p := range found[:min(maxProblems, len(found))] {
		list = append(list, wire.FromProblem(p))
	}
	return list
}

// hidden returns problems for another tenant than the operator: they quote the operator's policy.
func hidden(found floodmark.Problems) floodmark.Problems {
	var list floodmark.Problems
	for _, p := range found {
		list = append(list, floodmark.Problem{Severity: p.Severity, Code: p.Code, Text: "the operator of this monitor has to mend this"})
	}
	return list
}

// name returns the name of the policy that a caller may see: only the operator is told the folder.
func (d *Desk) name(who httpapi.Identity) string {
	if who.Tenant != "" {
		return filepath.Base(d.opts.File)
	}
	return d.opts.File
}

func errorsIn(found floodmark.Problems) (n int32) {
	for _, p := range found {
		if p.Severity != floodmark.Warning {
			n++
		}
	}
	return n
}
