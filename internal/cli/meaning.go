package cli

import (
	"fmt"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/wire"
)

// This file has the texts for levels, verdicts and tools.

// TrustWords returns the levels of trust as flags name them.
func TrustWords() []string {
	var words []string
	for t := floodmark.Untrusted; t <= floodmark.System; t++ {
		words = append(words, t.String())
	}
	return words
}

// SecrecyWords returns the levels of secrecy as flags name them.
func SecrecyWords() []string {
	var words []string
	for s := floodmark.Secret; s <= floodmark.Public; s++ {
		words = append(words, s.String())
	}
	return words
}

// VerdictStyle colours text that begins with a verdict, even after a bracket.
func VerdictStyle(st Style, text string) string {
	word := strings.TrimPrefix(text, "[")
	switch {
	case strings.HasPrefix(word, floodmark.Allow.String()), strings.HasPrefix(word, floodmark.Contain), strings.HasPrefix(word, InBox):
		return st.Green(text)
	case strings.HasPrefix(word, floodmark.Restrict.String()):
		return st.Red(text)
	}
	return st.Yellow(text)
}

// ToolTitle names a tool with the agent or server it belongs to.
func ToolTitle(t floodmark.ToolRef) string {
	switch {
	case t.Server != "":
		return t.Server + "/" + t.Name
	case t.Agent != "" && t.Agent != noAgent:
		return t.Name + " of " + t.Agent
	}
	return t.Name
}

// PolicyText says on one line which policy is in force.
func PolicyText(s *wire.PolicyStatus) string {
	text := "profile " + s.GetProfile()
	if len(s.GetFiles()) > 0 {
		text += " and " + strings.Join(s.GetFiles(), ", ")
	}
	if s.GetBundle() != "" {
		text += ", by bundle: " + s.GetBundle()
	}
	if s.GetDryRun() {
		text += "; it makes decisions and does not enforce them"
	}
	return text + " (" + Short(s.GetDigest()) + ")"
}

// ProblemsText prints what is wrong with the policy file on disk.
func ProblemsText(p *Sheet, s *wire.PolicyStatus) {
	refused := false
	for _, one := range s.GetProblems() {
		refused = refused || one.GetSeverity() != string(floodmark.Warning)
	}
	switch {
	case len(s.GetProblems()) == 0:
		return
	case refused:
		p.Title("The policy file is wrong and refused; the rules named above stay")
	default:
		p.Title("The policy file is in force, with warnings")
	}
	for _, one := range s.GetProblems() {
		p.Line(2, fmt.Sprintf("%s:%d:%d: %s: %s", one.GetFile(), one.GetLine(), one.GetColumn(), one.GetSeverity(), one.GetText()))
		if one.GetHint() != "" {
			p.Line(6, "hint: "+one.GetHint())
		}
	}
}

// InBox is shown instead of «allow» for a call that runs in a box.
const InBox = "in a box"
