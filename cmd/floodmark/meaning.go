package main

import (
	"strings"

	"github.com/floodmark/floodmark"
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
