package main

import (
	"fmt"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/wire"
)

// This file names levels, verdicts and tools to a person.

func trustWords() []string {
	var words []string
	for t := floodmark.Untrusted; t <= floodmark.System; t++ {
		words = append(words, t.String())
	}
	return words
}

func secrecyWords() []string {
	var words []string
	for s := floodmark.Secret; s <= floodmark.Public; s++ {
		words = append(words, s.String())
	}
	return words
}

// verdictStyle colours text that begins with a verdict, or has it in brackets.
func verdictStyle(st style, text string) string {
	word := strings.TrimPrefix(text, "[")
	switch {
	case strings.HasPrefix(word, floodmark.Allow.String()), strings.HasPrefix(word, floodmark.Contain), strings.HasPrefix(word, inBox):
		return st.green(text)
	case strings.HasPrefix(word, floodmark.Restrict.String()):
		return st.red(text)
	}
	return st.yellow(text)
}

// toolTitle names a tool with the agent or server it belongs to.
func toolTitle(t floodmark.ToolRef) string {
	switch {
	case t.Server != "":
		return t.Server + "/" + t.Name
	case t.Agent != "" && t.Agent != noAgent:
		return t.Name + " of " + t.Agent
	}
	return t.Name
}

func policyText(s *wire.PolicyStatus) string {
	text := "profile " + s.GetProfile()
	if len(s.GetFiles()) > 0 {
		text += " and " + strings.Join(s.GetFiles(), ", ")
	}
	if s.GetBundle() != "" {
		text += ", by bundle: " + s.GetBundle()
	}
	if s.GetDryRun() {
		text += "; it decides and enforces nothing"
	}
	return text + " (" + short(s.GetDigest()) + ")"
}

// problemsText says what is wrong with the policy file on disk.
func problemsText(p *sheet, s *wire.PolicyStatus) {
	refused := false
	for _, one := range s.GetProblems() {
		refused = refused || one.GetSeverity() != string(floodmark.Warning)
	}
	switch {
	case len(s.GetProblems()) == 0:
		return
	case refused:
		p.title("The policy file is wrong and refused; the rules named above stay")
	default:
		p.title("The policy file holds, with warnings")
	}
	for _, one := range s.GetProblems() {
		p.line(2, fmt.Sprintf("%s:%d:%d: %s: %s", one.GetFile(), one.GetLine(), one.GetColumn(), one.GetSeverity(), one.GetText()))
		if one.GetHint() != "" {
			p.line(6, "hint: "+one.GetHint())
		}
	}
}

// inBox stands for allow where a call runs in a box.
const inBox = "in a box"
