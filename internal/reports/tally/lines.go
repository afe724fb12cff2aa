package tally

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/rules/finding"
	"github.com/floodmark/floodmark/internal/text/openhost"
	"github.com/floodmark/floodmark/policy"
)

// The kinds of lines, from the narrowest.
const (
	Endorsement = "endorsement" // endorse one content
	Grant       = "grant"       // approve a pattern that the question offered
	PolicyLine  = "policy"
	CatalogLine = "catalog"
)

// A Line is something that an owner could say, or write into the policy, to avoid the same
// question.
type Line struct {
	Kind string
	// Text is what the owner types, or writes into the policy below Key.
	Text string
	Key  string
	// Session and Digest name the content of an endorsement.
	Session string
	Digest  floodmark.Digest
	// About are the questions that the line could have spared.
	About []*Question
	// Saves is how many questions the line would have spared, if that is known without a replay.
	Saves int

	place string            // the place that the line is about
	tool  floodmark.ToolRef // the tool that the line is about
	name  string            // identifies the line among those of its kind
}

// Lines returns the lines that could have spared some of these questions, those about most
// questions first. Endorsements and grants are answers that the owner could have given at the time.
// Lines for the policy are proposed only for questions to which [Why] has no objection.
func Lines(list []*Question, p *policy.Policy) []Line {
	found := map[string]*Line{}
	add := func(l Line, q *Question) {
		name := l.Kind + "\x00" + l.name
		if found[name] == nil {
			found[name] = &l
		}
		found[name].About = append(found[name].About, q)
	}
	for _, q := range list {
		for _, l := range spoken(q) {
			add(l, q)
		}
		for _, l := range written(q, p) {
			add(l, q)
		}
	}
	var lines []Line
	for _, l := range found {
		if l.Kind == Grant {
			if l.Saves = len(l.About) - 1; l.Saves == 0 {
				continue
			}
		}
		lines = append(lines, *l)
	}
	slices.SortFunc(lines, func(a, b Line) int {
		return cmp.Or(cmp.Compare(len(b.About), len(a.About)), cmp.Compare(order(a.Kind), order(b.Kind)), cmp.Compare(a.name, b.name))
	})
	return lines
}

func order(kind string) int {
	return slices.Index([]string{Endorsement, Grant, PolicyLine, CatalogLine}, kind)
}

// spoken returns the answers with which the owner could have spared later questions.
func spoken(q *Question) []Line {
	var lines []Line
	if slices.ContainsFunc(q.Fact.Action.Effects, func(e floodmark.Effect) bool { return e == floodmark.Admin }) || slices.Contains(q.Codes(), floodmark.FlowSecret) || slices.Contains(q.Codes(), floodmark.Undescribed) {
		return nil
	}
	for _, src := range q.Blamed {
		if !src.Digest.IsZero() {
			lines = append(lines, Line{
				Kind: Endorsement, Session: q.Session, Digest: src.Digest, name: q.Session + " " + src.Digest.String(),
				Text: "endorse " + src.Digest.Short(),
			})
		}
	}
	for _, o := range offers(q) {
		lines = append(lines, Line{Kind: Grant, Session: q.Session, name: q.Session + " " + o.Pattern, Text: "approve what the question offers: " + o.Words})
	}
	return lines
}

// offers returns the approvals for a pattern that a question offered.
func offers(q *Question) []floodmark.Offer {
	if len(q.Shown.Offers) == 0 && q.Shown.Pattern != "" {
		return []floodmark.Offer{{Words: q.Shown.Pattern, Pattern: q.Shown.Pattern}}
	}
	var list []floodmark.Offer
	for _, o := range q.Shown.Offers {
		if o.Pattern != "" {
			list = append(list, o)
		}
	}
	return list
}

// written returns lines for the policy.
func written(q *Question, p *policy.Policy) []Line {
	if q.Fact.Basis != nil && q.Fact.Basis.Undescribed {
		return describing(q)
	}
	if Why(q, p.Findings()) != "" {
		return nil
	}
	var lines []Line
	for i, src := range q.Blamed {
		lines = append(lines, trusting(src, q.Read[i], p)...)
	}
	return append(lines, overriding(q)...)
}

// Why says why no line of a policy is proposed that would have spared a question. It is empty if
// there is no objection.
func Why(q *Question, table *finding.Table) string {
	b, a := q.Fact.Basis, &q.Fact.Action
	switch {
	case b == nil || b.Unreadable:
		return "what it followed from was not kept"
	case len(a.Effects) == 0 || slices.Contains(a.Effects, floodmark.Admin) || b.SelfProtected || b.Instructs:
		return "it changes the agent or the monitor"
	case slices.Contains(a.Effects, floodmark.Run) || table.Runs(b.Found()):
		return "it runs code"
	case b.SecretInArgs || b.SecretPath || len(b.Carried) > 0:
		return "it touches secrets"
	case len(b.Found()) > 0:
		return table.First(b.Found()).Does
	}
	for _, c := range q.Codes() {
		if c != floodmark.TaintEscalation {
			return "not only the table asked: " + string(c)
		}
	}
	if path, ok := steered(q); ok {
		return "its argument «" + path + "» was seen only in text of others"
	}
	return ""
}

// steered returns an argument that is not content and was seen only in text of others.
func steered(q *Question) (path string, ok bool) {
	for _, arg := range q.Fact.Action.Arguments {
		if arg.Role != floodmark.Content && arg.Whence == floodmark.Seen && arg.Trust < floodmark.Local {
			return arg.Path, true
		}
	}
	return "", false
}

// trusting returns a line that trusts the place from which a source came: one host or one path that
// the owner named.
func trusting(src floodmark.Source, read floodmark.ActionDecided, p *policy.Policy) []Line {
	if src.Origin.Kind != floodmark.FromTool || !namedByOwner(read) {
		return nil
	}
	place := src.Origin.Place
	switch {
	case plainHost(place) && !openhost.Is(place) && !known(p, place):
		return []Line{{Kind: PolicyLine, Key: "sources", Text: fmt.Sprintf("- {host: %s, trust: shared}", place), name: "host " + place, place: place}}
	case plainPath(place):
		return []Line{{Kind: PolicyLine, Key: "workspace", Text: "- " + place, name: "path " + place, place: place}}
	}
	return nil
}

// known reports whether the policy already contains a trust for a host.
func known(p *policy.Policy, host string) bool {
	_, ok := p.HostTrust(host)
	return ok
}

// namedByOwner reports whether a call read what the owner named: the owner typed an argument that
// matters, and no such argument came from content trusted less than Owner.
func namedByOwner(read floodmark.ActionDecided) bool {
	typed := false
	for _, a := range read.Action.Arguments {
		if a.Role == floodmark.Content {
			continue
		}
		if a.Whence == floodmark.Seen && a.Trust < floodmark.Owner {
			return false
		}
		typed = typed || a.Whence == floodmark.Stated
	}
	return typed
}

// overriding returns a line that allows one tool at one trust level. Because such a line covers all
// arguments, there is none for untrusted content, and only for effects that can be undone and send
// nothing to people.
func overriding(q *Question) []Line {
	tool, level := q.Fact.Action.Tool, q.Fact.Trust
	name := tool.Name
	if tool.Server != "" {
		name = tool.Server + "/" + tool.Name
	}
	if level < floodmark.External || level > floodmark.Shared || !plainTool(name) || codeLike(name) ||
		slices.ContainsFunc(q.Fact.Action.Effects, func(e floodmark.Effect) bool { return e < floodmark.Write }) {
		return nil
	}
	return []Line{{Kind: PolicyLine, Key: "toolOverrides", Text: fmt.Sprintf("%s: {%s: allow}", name, level), name: "tool " + name + " " + level.String(), tool: tool}}
}

// describing returns a line that describes a server's tool as one that sends. Without a
// description, the tool is treated as running arbitrary code. The line does not change the label of
// its results.
func describing(q *Question) []Line {
	a, b := &q.Fact.Action, q.Fact.Basis
	if a.Tool.Server == "" || !plainTool(a.Tool.Server+"/"+a.Tool.Name) || codeLike(a.Tool.Name) ||
		b.Unreadable || b.SelfProtected || b.Instructs || len(b.Found()) > 0 || b.SecretInArgs || len(b.Carried) > 0 {
		return nil
	}
	for _, c := range q.Codes() {
		if c != floodmark.TaintEscalation {
			return nil
		}
	}
	for _, arg := range a.Arguments {
		if codeLike(arg.Path) {
			return nil
		}
	}
	if _, ok := steered(q); ok {
		return nil
	}
	return []Line{{
		Kind: CatalogLine, Key: "tools", name: a.Tool.Server + "/" + a.Tool.Name, tool: a.Tool,
		Text: fmt.Sprintf("- {server: %s, tool: %s, about: check this yourself, effect: send, remote: true}", a.Tool.Server, a.Tool.Name),
	}}
}

// Trusts reports whether the line trusts this source: its content, or the place it came from.
func (l *Line) Trusts(s floodmark.Source) bool {
	if l.Kind == Endorsement {
		return l.Digest == s.Digest
	}
	return l.Kind == PolicyLine && l.place != "" && l.place == s.Origin.Place
}

// Describes reports whether the line describes a tool.
func (l *Line) Describes(tool floodmark.ToolRef) bool { return l.Kind == CatalogLine && l.tool == tool }
