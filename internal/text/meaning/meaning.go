// Package meaning explains levels, effects and verdicts to a person in words.
package meaning

import "github.com/floodmark/floodmark"

// Trust says who content with a trust level comes from.
func Trust(t floodmark.Trust) string {
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

// Secrecy says what content with a secrecy level is.
func Secrecy(s floodmark.Secrecy) string {
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

// Effect says what a call with an effect does.
func Effect(e floodmark.Effect) string {
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

// Verdict says what happens to a call with a verdict.
func Verdict(v floodmark.Verdict) string {
	switch v {
	case floodmark.Restrict:
		return "refused, and nobody is asked"
	case floodmark.Confirm:
		return "held until a person says yes"
	case floodmark.Audit:
		return "held until the auditor agrees"
	case floodmark.Allow:
		return "it goes through"
	}
	return "unknown"
}

// Role says what an argument with a role decides.
func Role(r floodmark.Role) string {
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

// Whence says where the value of an argument was found.
func Whence(a floodmark.Argument) string {
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
