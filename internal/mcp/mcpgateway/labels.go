package mcpgateway

import (
	"encoding/json"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/format/strictjson"
)

// ifc reads the label that a server gives its own result in _meta.ifc. It can only lower the label
// of the monitor: words that would raise it are ignored, and an unknown word is the lowest.
func ifc(result json.RawMessage) *hook.Hints {
	list, err := strictjson.Members(result)
	if err != nil {
		return nil
	}
	meta, err := strictjson.Members(strictjson.Value(list, "_meta"))
	if err != nil {
		return nil
	}
	said := strictjson.Value(meta, "ifc")
	if strictjson.IsNull(said) {
		return nil
	}
	label, err := strictjson.Members(said)
	if err != nil {
		return &hook.Hints{Trust: floodmark.Untrusted.String(), Secrecy: floodmark.Secret.String()}
	}
	var h hook.Hints
	for _, m := range label {
		switch m.Key {
		case "integrity", "trust":
			h.Trust = lowest(words(m.Value), "trusted", "high")
		case "confidentiality", "secrecy":
			h.Secrecy = hush(words(m.Value))
		}
	}
	if h == (hook.Hints{}) {
		return nil
	}
	return &h
}

// LabelKey is the key of a result's label in its _meta, for clients that understand it:
// {"trust": "external", "secrecy": "private"}.
const LabelKey = "dev.floodmark/label"

// labelled returns a result with our label, and without one that the server wrote.
func labelled(list []strictjson.Member, l *floodmark.Label) []strictjson.Member {
	raw := strictjson.Value(list, "_meta")
	meta, err := strictjson.Members(raw)
	if err != nil && !strictjson.IsNull(raw) {
		return list // it has no place for a label
	}
	meta = strictjson.Without(meta, LabelKey)
	if l != nil {
		meta = append(meta, strictjson.Member{Key: LabelKey, Value: strictjson.Object([]strictjson.Member{{Key: "trust", Value: strictjson.Quote(l.Trust.String())}, {Key: "secrecy", Value: strictjson.Quote(l.Secrecy.String())}})})
	}
	if len(meta) == 0 && strictjson.IsNull(raw) {
		return list
	}
	return strictjson.With(list, "_meta", strictjson.Object(meta))
}

// forged reports whether a server wrote a label under our key.
func forged(list []strictjson.Member) bool {
	meta, err := strictjson.Members(strictjson.Value(list, "_meta"))
	return err == nil && strictjson.Value(meta, LabelKey) != nil
}

// words returns the texts of a value that is a text or a list of texts, in lower case.
func words(v json.RawMessage) []string {
	var list []string
	parts, ok := strictjson.Array(v)
	if !ok {
		parts = []json.RawMessage{v}
	}
	for _, p := range parts {
		s, err := strictjson.Text(p)
		if err != nil {
			s = "?" // an unknown word
		}
		list = append(list, strings.ToLower(s))
	}
	return list
}

// lowest returns the lowest trust that words claim; empty if the only word is one of the promises.
func lowest(list []string, promises ...string) string {
	for _, p := range promises {
		if len(list) == 1 && list[0] == p {
			return ""
		}
	}
	t := floodmark.System
	for _, w := range list {
		level, _ := floodmark.ParseTrust(w) // an unknown word is the lowest
		t = min(t, level)
	}
	return t.String()
}

// hush returns the secrecy that words claim; empty if they say that everyone may read the result. A
// word that is no level is the name of a reader, and means private.
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
				level = floodmark.Private // a reader's name
			}
			s = min(s, level)
		}
	}
	if s == floodmark.Public {
		return ""
	}
	return s.String()
}
