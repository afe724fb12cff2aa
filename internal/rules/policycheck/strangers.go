package policycheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/reports/toolbook"
	"github.com/floodmark/floodmark/internal/text/spelling"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/policy/policyfile"
)

// replyTool is the name under which a reply to a person other than the owner is judged. No catalog
// contains it.
const replyTool = "reply"

// strangers warns about unknown tools that a policy names. The name may be right, but more often it
// is mistyped and the line has no effect.
func strangers(p *policy.Policy, shipped *catalog.Catalog) (found floodmark.Problems) {
	if p == nil {
		return nil
	}
	all := toolbook.KnownTo(catalog.New(p.Tools(), shipped))
	for _, n := range p.NamedTools() {
		if text, hint := strange(all, n); text != "" {
			found = append(found, floodmark.Problem{
				File: n.File, Line: n.Line, Column: n.Column, Severity: floodmark.Warning,
				Code: "unknown-tool", Text: text, Hint: hint,
			})
		}
	}
	return found
}

// strange says what is wrong with the name of a tool and what to write instead; empty if the tool
// is known.
func strange(k toolbook.Known, n policyfile.NamedTool) (text, hint string) {
	i := strings.LastIndexByte(n.Tool, '/')
	if i < 0 {
		return strangeBare(k, n)
	}
	server, tool := n.Tool[:i], n.Tool[i+1:]
	o, ok := k.Named(true, server)
	switch {
	case ok && (tool == "*" || o.Has(tool)):
		return "", ""
	case !ok:
		if near := spelling.Nearest(server, k.Owners(true), 1); len(near) > 0 {
			return fmt.Sprintf("nothing is known about a server %q", server), "did you mean " + near[0] + "/" + tool + "?"
		}
		return fmt.Sprintf("nothing is known about a server %q", server), "if you have one, describe its tools under «tools:»"
	}
	return fmt.Sprintf("nothing is known about a tool %q of the server %s", tool, server), meant(k, tool, server)
}

func strangeBare(k toolbook.Known, n policyfile.NamedTool) (text, hint string) {
	builtIn := func(o toolbook.Owner) bool { return !o.Server }
	offering := k.Offering(n.Tool)
	switch {
	case n.Tool == "*" || n.Tool == replyTool || slices.ContainsFunc(offering, builtIn), len(offering) > 0 && !n.Narrow:
		return "", ""
	case len(offering) > 0:
		return fmt.Sprintf("%q is the tool of a server; here a name alone means one that is built in", n.Tool),
			"write " + offering[0].Ref(n.Tool).String()
	}
	if server, tool := toolbook.Split(n.Tool); server != "" {
		return fmt.Sprintf("a server's tool is not written %q here", n.Tool), "write " + server + "/" + tool
	}
	return fmt.Sprintf("nothing is known about a tool %q", n.Tool), meant(k, n.Tool, "")
}

// meant suggests the name that was probably meant.
func meant(k toolbook.Known, tool, server string) string {
	if near := k.Near3(tool, "", server); len(near) > 0 {
		return "did you mean " + spelling.Either(near) + "?"
	}
	return "if you have such a tool, describe it under «tools:»"
}
