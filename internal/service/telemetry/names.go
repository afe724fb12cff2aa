package telemetry

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/provenance"
)

// other replaces foreign names that are not known. Such a name may be content, and there may be any
// number of them.
const other = "other"

// A who identifies the tenant, session and agent of a fact, by names that may be shown.
type who struct{ tenant, session, agent string }

// names restricts names to known ones.
type names struct {
	catalog func() *catalog.Catalog
	of      *catalog.Catalog // the catalog that agents was made from
	agents  map[string]bool
}

func newNames(c func() *catalog.Catalog) names { return names{catalog: c} }

// agent returns the name of an agent that the catalog knows, other for an unknown one, and an empty
// name unchanged.
func (n *names) agent(name string) string {
	if now := n.catalog(); now != n.of {
		n.of, n.agents = now, map[string]bool{"floodmark": true}
		for _, p := range now.Profiles() {
			for _, a := range p.Agents() {
				n.agents[a] = true
			}
		}
	}
	if name = floodmark.Program(name); name == "" || n.agents[name] {
		return name
	}
	return other
}

// tool restricts a tool's names.
func (n *names) tool(t *tool) {
	ref := floodmark.ToolRef{Agent: t.Agent, Server: t.Server, Name: t.Name}
	t.Agent = n.agent(t.Agent)
	if t.Name == "" && t.Server == "" {
		return
	}
	if _, known := n.catalog().Lookup(ref); !known {
		t.Name = other
		if t.Server != "" {
			t.Server = other
		}
	}
}

// bound restricts a fact's names to those that may be shown.
func (n *names) bound(f told) {
	switch f := f.(type) {
	case *opened:
		f.Agent = n.agent(f.Agent)
	case *decided:
		n.tool(&f.Action.Tool)
		f.Action.Call = n.id(f.Action.Call)
		for i := range f.Decision.Reasons {
			r := &f.Decision.Reasons[i]
			r.Code, r.Rule = knownCode(r.Code), n.id(r.Rule)
		}
	case *loop:
		f.Model = n.id(f.Model)
	case *announced:
		f.Call = n.id(f.Call)
	case *incident:
		n.tool(&f.Tool)
		f.Call, f.Kind = n.id(f.Call), knownIncident(f.Kind)
	case *closed, *turn, *answer, *spawned, *arrived, *asked, *guessed, *replied, *vouched, *granted, *used, *opined:
	}
}

// maxID is the longest name of sessions and calls in practice.
const maxID = 128

// id returns a name if it looks like one, and otherwise a digest, because a foreign name can be an
// address, a sentence or a key.
func (*names) id(name string) string { return plainName(name) }

func plainName(name string) string {
	plain := len(name) <= maxID && !looksSecret(name)
	for i := 0; plain && i < len(name); i++ {
		c := name[i]
		plain = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("._:-*", c) >= 0
	}
	if plain {
		return name
	}
	return "sha256:" + floodmark.DigestOf(name).String()[:16]
}

// looksSecret reports whether a text has the prefix of a common kind of key or token.
func looksSecret(s string) bool {
	for _, p := range secretBeginnings() {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

func secretBeginnings() [17]string {
	return [...]string{
		"sk-", "sk_", "pk_", "rk_", "ghp_", "gho_", "ghs_", "ghu_", "ghr_", "github_pat_",
		"glpat-", "xox", "AKIA", "ASIA", "eyJ", "npm_", "AIza",
	}
}

// knownCode restricts reason codes to known ones.
func knownCode(c floodmark.Code) floodmark.Code {
	switch c {
	case floodmark.TaintEscalation, floodmark.RuleMatched, floodmark.ToolOverride, floodmark.SelfProtection, floodmark.Interactive,
		floodmark.FlowSecret, floodmark.Undescribed, floodmark.FlowPrivate, floodmark.FlowFetch, floodmark.ActiveContent,
		floodmark.OwnerStated, floodmark.Granted, floodmark.Denied, floodmark.Audited, floodmark.Verified, floodmark.Iterations,
		floodmark.DryRun, floodmark.Paused, floodmark.Unjudged, floodmark.Contained, floodmark.BoxHost, floodmark.OutsideBox, floodmark.PushShown:
		return c
	}
	return other
}

// incidentKinds are the kinds shown by name.
func incidentKinds() []string {
	return []string{
		"agent-at-owner-door", "clear-not-believed", "judging-panicked", "machine-stopped", "monitor-killed",
		"not-permitted", "refused-call-ran", "snapshot-refused", "store-changed", "unknown-child", "unknown-peer",
		"unmediated-call", "unseen-session", "wrong-user",
	}
}

func knownIncident(kind string) string {
	if slices.Contains(incidentKinds(), kind) {
		return kind
	}
	return other
}

// An errorClass is a class in which errors are counted.
type errorClass struct {
	err  error
	name string
	// names is set if the text of such an error contains the name of a session, which may be
	// private. Then the log shows only the text of err.
	names bool
}

func errorClasses() []errorClass {
	return []errorClass{
		{monitor.ErrBusy, "busy", true},
		{monitor.ErrClosed, "closed", false},
		{monitor.ErrNoSession, "no-session", true},
		{monitor.ErrNoTicket, "no-question", true},
		{monitor.ErrPanic, "panic", true},
		{monitor.ErrChildExists, "child-exists", true},
		{journal.ErrUnknownSession, "unknown-session", true},
		{journal.ErrForged, "forged", true},
		{journal.ErrBroken, "broken", true},
		{journal.ErrInDoubt, "in-doubt", true},
		{journal.ErrConflict, "conflict", true},
		{journal.ErrTooLarge, "too-large", true},
		{journal.ErrFull, "disk-full", false},
		{journal.ErrStopped, "journal-stopped", false},
		{journal.ErrAway, "journal-away", false},
		{journal.ErrClosed, "journal-closed", false},
		{hook.ErrTooLarge, "event-too-large", true},
		{provenance.ErrSources, "too-many-sources", true},
		{context.DeadlineExceeded, "deadline", false},
		{context.Canceled, "canceled", false},
	}
}

// classOf returns the class of an error.
func classOf(err error) string {
	for _, c := range errorClasses() {
		if errors.Is(err, c.err) {
			return c.name
		}
	}
	return other
}
