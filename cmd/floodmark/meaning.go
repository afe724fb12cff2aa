package main

import (
	"strings"

	"github.com/floodmark/floodmark"
)

// This file says in words what the levels mean to a person.

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

func trustMeaning(t floodmark.Trust) string {
	switch t {
	case floodmark.Untrusted:
		return "from anyone, such as a web page"
	case floodmark.External:
		return "from known senders, such as mail"
	case floodmark.Shared:
		return "from other agents, groups or shared memory"
	case floodmark.Local:
		return "the owner's own files and commands"
	case floodmark.Owner:
		return "from the owner directly"
	case floodmark.System:
		return "prompt and configuration"
	}
	return "unknown"
}

func secrecyMeaning(s floodmark.Secrecy) string {
	switch s {
	case floodmark.Secret:
		return "keys and passwords"
	case floodmark.Private:
		return "the owner's own data"
	case floodmark.Internal:
		return "for the owner's organisation"
	case floodmark.Public:
		return "anyone may see it"
	}
	return "unknown"
}

func effectMeaning(e floodmark.Effect) string {
	switch e {
	case floodmark.Admin:
		return "changes the agent, its schedule, its instructions, or this monitor"
	case floodmark.Run:
		return "runs arbitrary code"
	case floodmark.Send:
		return "reaches other people or services"
	case floodmark.Change:
		return "deletes, or alters records that others rely on"
	case floodmark.Write:
		return "creates or edits files or notes, so that it can be undone"
	case floodmark.Fetch:
		return "reads over the network"
	case floodmark.Observe:
		return "changes nothing, and nothing leaves"
	}
	return "does something unknown"
}

func verdictMeaning(v floodmark.Verdict) string {
	switch v {
	case floodmark.Restrict:
		return "refused, and nobody is asked"
	case floodmark.Confirm:
		return "not until a person says yes"
	case floodmark.Audit:
		return "not until the auditor agrees"
	case floodmark.Allow:
		return "it goes through"
	}
	return "unknown"
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

func roleMeaning(r floodmark.Role) string {
	switch r {
	case floodmark.Undeclared:
		return "undeclared, so it counts as critical"
	case floodmark.Critical:
		return "critical: decides where the effect lands"
	case floodmark.Content:
		return "content: what the effect carries"
	}
	return "unknown"
}

func whenceMeaning(a floodmark.Argument) string {
	switch a.Whence {
	case floodmark.Stated:
		return "stated by the owner"
	case floodmark.Seen:
		return "seen in " + a.Trust.String() + " content"
	case floodmark.Nowhere:
		return "found nowhere: the model composed it"
	}
	return "unknown"
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
