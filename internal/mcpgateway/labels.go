package mcpgateway

import (
	"encoding/json"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

// ifc reads what a server says of its own result in _meta.ifc. It can only
// lower what we think of it, so that words which promise something are left out
// and those we do not know count as the lowest.
func ifc(result json.RawMessage) *hook.Hints {
	list, err := members(result)
	if err != nil {
		return nil
	}
	meta, err := members(value(list, "_meta"))
	if err != nil {
		return nil
	}
	said := value(meta, "ifc")
	if isNull(said) {
		return nil
	}
	label, err := members(said)
	if err != nil {
		return &hook.Hints{Trust: floodmark.Untrusted.String(), Secrecy: floodmark.Secret.String()}
	}
	var h hook.Hints
	for _, m := range label {
		switch m.key {
		case "integrity", "trust":
			h.Trust = lowest(words(m.value), "trusted", "high")
		case "confidentiality", "secrecy":
			h.Secrecy = hush(words(m.value))
		}
	}
	if h == (hook.Hints{}) {
		return nil
	}
	return &h
}

// LabelKey is where a result's label stands in its _meta, for clients that
// understand it: {"trust": "external", "secrecy": "private"}.
const LabelKey = "dev.floodmark/label"

// labelled is a result with our label, and without one that the server wrote.
func labelled(list []member, l *floodmark.Label) []member {
	raw := value(list, "_meta")
	meta, err := members(raw)
	if err != nil && !isNull(raw) {
		return list // it has no place for a label
	}
	meta = without(meta, LabelKey)
	if l != nil {
		meta = append(meta, member{LabelKey, object([]member{{"trust", quoted(l.Trust.String())}, {"secrecy", quoted(l.Secrecy.String())}})})
	}
	if len(meta) == 0 && isNull(raw) {
		return list
	}
	return with(list, "_meta", object(meta))
}

// forged reports whether a server wrote a label as we do.
func forged(list []member) bool {
	meta, err := members(value(list, "_meta"))
	return err == nil && value(meta, LabelKey) != nil
}

// words are the texts of a value that is one or a list of them.
func words(v json.RawMessage) []string {
	var list []string
	parts, ok := array(v)
	if !ok {
		parts = []json.RawMessage{v}
	}
	for _, p := range parts {
		s, err := text(p)
		if err != nil {
			s = "?" // not a word anybody knows
		}
		list = append(list, strings.ToLower(s))
	}
	return list
}

// lowest is the trust that words claim; empty if they only promise.
func lowest(list []string, promises ...string) string {
	for _, p := range promises {
		if len(list) == 1 && list[0] == p {
			return ""
		}
	}
	t := floodmark.System
	for _, w := range list {
		level, _ := floodmark.ParseTrust(w) // a word we do not know is the lowest
		t = min(t, level)
	}
	return t.String()
}

// hush is the secrecy that words claim; empty if they say that all may know. A
// list of readers is private.
func hush(list []string) string {
	s := floodmark.Public
	for _, w := range list {
		switch w {
		case "public", "low", "everyone", "*":
		case "high":
			s = floodmark.Secret
		default:
			level, err := floodmark.ParseSecrecy(w)
			if err != nil && w != "?" {
				level = floodmark.Private // somebody's name
			}
			s = min(s, level)
		}
	}
	if s == floodmark.Public {
		return ""
	}
	return s.String()
}
