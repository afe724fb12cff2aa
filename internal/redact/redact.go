// Package redact finds secrets in text: keys, tokens and passwords, each by its position and by the
// rule for its shape. The rules are gitleaks' (see rules.json and LICENSE.gitleaks), the search is
// ours: one pass over the text for all words a rule begins with, then a closer look only where one
// occurs.
//
// It knows shapes, not truth. A password that looks like a word is not found, and a made-up key
// that looks like a key is. It keeps nothing of what it read.
//
// Two rules are left out because they need the name of a file: PKCS #12 files, and any quoted word
// after "password" in Terraform files. A secret that occurs only in a call's arguments counts only
// if its shape identifies its maker: other random text may be anything.
package redact

import (
	"slices"
	"strings"
	"sync"
)

// A Span is a secret: the bytes from Start up to End, and the rule's name.
type Span struct {
	Start, End int
	Rule       string
}

// Unchecked is the rule of text that counts as a secret as a whole, without a detector.
const Unchecked = "unchecked"

// Generic is the rule without a maker: something named a key, a token or a password, with a
// random-looking value.
const Generic = "generic-api-key"

// A Detector finds secrets. It is safe for concurrent use. For a nil Detector everything is a
// secret.
type Detector struct {
	machine func() *machine
	kept    func() *values
}

// New returns a detector. The rules are loaded on first use, and each pattern is compiled when a
// text first needs it.
func New() *Detector {
	return &Detector{machine: sync.OnceValue(shipped), kept: sync.OnceValue(newValues)}
}

// Find returns the secrets in a text, in order, none overlapping another.
func (d *Detector) Find(text string) []Span {
	if text == "" {
		return nil
	}
	if d == nil || d.machine == nil {
		return []Span{{End: len(text), Rule: Unchecked}}
	}
	s := search{machine: d.machine(), text: text}
	s.run()
	return tidy(s.found)
}

// tidy orders spans and joins overlapping ones. A maker's rule takes precedence over the generic
// one.
func tidy(found []Span) []Span {
	slices.SortStableFunc(found, func(a, b Span) int {
		if a.Start != b.Start {
			return a.Start - b.Start
		}
		if a.End != b.End {
			return b.End - a.End
		}
		return strings.Compare(a.Rule, b.Rule)
	})
	var list []Span
	for _, s := range found {
		last := len(list) - 1
		if last < 0 || s.Start >= list[last].End {
			list = append(list, s)
			continue
		}
		list[last].End = max(list[last].End, s.End)
		if list[last].Rule == Generic {
			list[last].Rule = s.Rule
		}
	}
	return list
}

// A search is the state of searching one text.
type search struct {
	*machine
	text    string
	pending []window
	found   []Span
	// The last assignments examined, so that «api_key_token = …» is examined once for each rule.
	tried [8]attempt
	next  int
}

func (s *search) run() {
	s.words.scan(s.text, s.hit)
	for _, p := range s.pending {
		s.look(p)
	}
}

// hit is called for every word found in the text.
func (s *search) hit(word, end int) {
	for i := range s.uses[word] {
		if u := &s.uses[word][i]; u.rule.named() {
			s.assigned(u, end)
		} else {
			s.sighted(u, end)
		}
	}
}

// keep adds a secret unless it is allowed.
func (s *search) keep(r *rule, m match) {
	secret := s.text[m.start:m.end]
	if r.entropy > 0 && (len(secret) <= r.short || entropy(secret) <= r.entropy) {
		return
	}
	for _, list := range [][]allowance{s.allow, r.allow} {
		for _, a := range list {
			if a.covers(s.text, m) {
				return
			}
		}
	}
	s.found = append(s.found, Span{Start: m.start, End: m.end, Rule: r.id})
}

// A match is the position of a secret, and of the matched text around it.
type match struct{ start, end, from, to int }
