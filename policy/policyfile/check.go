package policyfile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/floodmark/floodmark/internal/text/spelling"
)

// Policy compares a policy with the shape that the language has in a scope, and notes every
// difference. It reports whether the policy may be read.
func (r *Reader) Policy(n *yaml.Node, in Scope) bool { return r.check(n, policyShape().only(in)) }

// check compares a value with its shape and notes every difference. It reports
// whether the value may be read.
func (r *Reader) check(n *yaml.Node, s *shape) bool {
	switch s.kind {
	case mapping:
		return r.checkMapping(n, s)
	case named:
		return r.checkNamed(n, s)
	case list, foreign:
		return r.checkList(n, s)
	case either:
		return r.checkEither(n, s)
	default:
		return r.checkScalar(n, s)
	}
}

func (r *Reader) checkMapping(n *yaml.Node, s *shape) bool {
	if n.Kind != yaml.MappingNode {
		r.wrongKind(n, s, "keys and values: "+strings.Join(s.names(), ", "))
		return false
	}
	ok := true
	keys, values := Pairs(n)
	var meant []string // keys that were probably misspelt, so that they are not also reported as missing
	for i, k := range keys {
		known, found := s.find(k.Value)
		if !found {
			meant = append(meant, r.unknownKey(k, s))
			ok = false
			continue
		}
		ok = r.check(values[i], known.shape) && ok
	}
	for _, k := range s.keys {
		if k.need && Value(n, k.name) == nil && !slices.Contains(meant, k.name) {
			r.Fault(n, "missing-key", fmt.Sprintf("%s needs %q", s.noun, k.name), "add: "+k.name+": "+example(k.shape))
			ok = false
		}
	}
	if len(keys) < s.low {
		r.Fault(n, "empty", "nothing is said here", "write one of "+OneOf(s.names()))
		ok = false
	}
	return ok
}

// unknownKey reports a key that is not allowed here. It returns the key that was
// probably meant.
func (r *Reader) unknownKey(k *yaml.Node, s *shape) string {
	if known, ok := policyShape().find(k.Value); ok && (s.noun == policyNoun || s.noun == sectionNoun) {
		r.Fault(k, "not-here", fmt.Sprintf("%q may not stand here", k.Value), placeHint(known.in, s))
		return ""
	}
	text := fmt.Sprintf("unknown key %q", k.Value)
	if near, ok := spelling.Word(k.Value, s.names()); ok {
		r.Fault(k, "unknown-key", text, fmt.Sprintf("did you mean %q?", near))
		return near
	}
	r.Fault(k, "unknown-key", text, "known keys here: "+strings.Join(s.names(), ", "))
	return ""
}

func placeHint(in Scope, s *shape) string {
	if in&InUser == 0 {
		return "only the shipped profiles say this"
	}
	who := "a project's file"
	if s.noun == sectionNoun {
		who = sectionNoun
	}
	return who + " may only tighten: " + strings.Join(s.names(), ", ") + "; say this in the user's own file"
}

func (r *Reader) checkNamed(n *yaml.Node, s *shape) bool {
	if n.Kind != yaml.MappingNode {
		r.wrongKind(n, s, "names with their values, as in "+example(s))
		return false
	}
	ok := true
	keys, values := Pairs(n)
	if s.high > 0 && len(keys) > s.high {
		r.Fault(n, "too-large", "too many entries", fmt.Sprintf("at most %d", s.high))
		return false
	}
	for i, k := range keys {
		switch {
		case s.keyWords != nil && !slices.Contains(s.keyWords, k.Value):
			r.unknownWord(k, "key", s.keyWords)
			ok = false
			continue
		case k.Value == "":
			r.Fault(k, "bad-key", "a name is empty", "write a name")
			ok = false
		}
		ok = r.check(values[i], s.item) && ok
	}
	return ok
}

func (r *Reader) checkList(n *yaml.Node, s *shape) bool {
	if n.Kind != yaml.SequenceNode {
		hint := "write a list: [first, second]"
		if n.Kind == yaml.ScalarNode && n.Value != "" {
			hint = "write a list: [" + Quote(n) + "]"
		}
		r.Fault(n, "wrong-type", "this should be "+s.noun, hint)
		return false
	}
	if len(n.Content) < s.low {
		r.Fault(n, "empty", "the list is empty", "name at least one, or remove the key")
		return false
	}
	if len(n.Content) > s.high {
		r.Fault(n, "too-large", "the list is too long", fmt.Sprintf("at most %d", s.high))
		return false
	}
	ok := true
	if s.kind == list {
		for _, c := range n.Content {
			ok = r.check(c, s.item) && ok
		}
	}
	return ok
}

// checkEither checks a value against one of two forms: one is for mappings, the
// other for all other values.
func (r *Reader) checkEither(n *yaml.Node, s *shape) bool {
	i := slices.IndexFunc(s.forms, func(f *shape) bool { return (f.kind == mapping) == (n.Kind == yaml.MappingNode) })
	return r.check(n, s.forms[i])
}

func (r *Reader) checkScalar(n *yaml.Node, s *shape) bool {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		want := "a single value, as in " + example(s)
		if s.kind == word {
			want = "one of " + OneOf(s.words)
		}
		r.wrongKind(n, s, want)
		return false
	}
	switch s.kind {
	case word:
		if !slices.Contains(s.words, n.Value) {
			r.unknownWord(n, strings.TrimPrefix(strings.TrimPrefix(s.noun, "a "), "an "), s.words)
			return false
		}
	case text:
		return r.checkText(n, s)
	case whole:
		v, err := strconv.Atoi(n.Value)
		if err != nil || n.Tag != "!!int" || v < s.low || v > s.high {
			r.Fault(n, "wrong-value", fmt.Sprintf("%s should be %s", Quote(n), s.noun), numberHint(s))
			return false
		}
	case flag:
		if n.Tag != "!!bool" || n.Value != "true" && n.Value != "false" {
			r.Fault(n, "wrong-value", fmt.Sprintf("%s should be true or false", Quote(n)), "write true or false, without quotes")
			return false
		}
	case span:
		if d, err := time.ParseDuration(n.Value); err != nil || d < s.shortest || d > s.longest {
			r.Fault(n, "wrong-value", fmt.Sprintf("%s should be %s", Quote(n), s.noun),
				fmt.Sprintf("write a number and s, m or h, from %s to %s", ShortSpan(s.shortest), ShortSpan(s.longest)))
			return false
		}
	case day:
		if _, err := time.Parse(time.DateOnly, n.Value); err != nil {
			r.Fault(n, "wrong-value", fmt.Sprintf("%s should be %s", Quote(n), s.noun), "write year, month and day: 2026-12-31")
			return false
		}
	case clock:
		if _, err := time.Parse("15:04", n.Value); err != nil || len(n.Value) != len("15:04") {
			r.Fault(n, "wrong-value", fmt.Sprintf("%s should be %s", Quote(n), s.noun), "write hours and minutes, from 00:00 to 23:59")
			return false
		}
	}
	return true
}

func (r *Reader) checkText(n *yaml.Node, s *shape) bool {
	switch {
	case n.Tag != "!!str":
		r.Fault(n, "wrong-type", fmt.Sprintf("%s should be %s", Quote(n), s.noun), `put it in quotes: "`+n.Value+`"`)
	case strings.TrimSpace(n.Value) == "":
		r.Fault(n, "empty", "this should be "+s.noun, "write it, or remove the key")
	case len(n.Value) > s.high:
		r.Fault(n, "too-large", "this text is too long", fmt.Sprintf("at most %d bytes", s.high))
	default:
		return true
	}
	return false
}

func (r *Reader) wrongKind(n *yaml.Node, s *shape, want string) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		r.Fault(n, "wrong-type", "nothing stands here", "write "+want+", or remove the key")
		return
	}
	noun := s.noun
	if noun == "" {
		noun = "true or false"
	}
	r.Fault(n, "wrong-type", "this should be "+noun, "write "+want)
}

func (r *Reader) unknownWord(n *yaml.Node, what string, words []string) {
	hint := "write one of " + OneOf(words)
	if near, ok := spelling.Word(n.Value, words); ok {
		hint = fmt.Sprintf("did you mean %q? It is one of %s", near, OneOf(words))
	}
	r.Fault(n, "unknown-word", fmt.Sprintf("%s is not known as %s", Quote(n), article(what)), hint)
}

func numberHint(s *shape) string {
	if s.low == s.high {
		return fmt.Sprintf("write %d", s.low)
	}
	return fmt.Sprintf("write a whole number from %d to %d", s.low, s.high)
}

// article returns a noun with a or an.
func article(noun string) string {
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

// Quote quotes a value for a message and cuts it short.
func Quote(n *yaml.Node) string {
	v := []rune(n.Value)
	if len(v) > 40 {
		return strconv.Quote(string(v[:40]) + "…")
	}
	return strconv.Quote(string(v))
}

// ShortSpan writes a span as a person would: 2m, not 2m0s.
func ShortSpan(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func example(s *shape) string {
	switch s.kind {
	case word:
		return s.words[min(1, len(s.words)-1)]
	case named:
		name := "name"
		if s.keyWords != nil {
			name = s.keyWords[min(len(s.keyWords), len(levelWords()))-1]
		}
		return "{" + name + ": " + example(s.item) + "}"
	case whole:
		return strconv.Itoa(max(s.low, 1))
	case flag:
		return "true"
	case span:
		return ShortSpan(s.shortest)
	case clock:
		return "22:00"
	case day:
		return "2026-12-31"
	default:
		return "…"
	}
}

// OneOf lists words for a hint.
func OneOf(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
