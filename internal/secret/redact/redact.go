// Package redact finds secrets in text: keys, tokens and passwords, each with its position and the
// rule for its form. The rules are those of gitleaks (see rules.json and LICENSE.gitleaks). The
// search is our own: one pass over the text for all keywords of the rules, and a closer look only
// where one occurs.
//
// It recognises only forms. It does not find a password that looks like a word, and it finds a
// made-up key that looks like a key. It keeps nothing of what it read.
//
// Two rules of gitleaks are left out because they need the name of a file: PKCS #12 files, and any
// quoted word after "password" in Terraform files. A secret that occurs only in a call's arguments
// is treated as one only if its form identifies its maker, because other random text may be
// anything.
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

// Unchecked is the rule of a whole text that is treated as a secret because there is no detector.
const Unchecked = "unchecked"

// Generic is the rule that identifies no maker. It finds random-looking values that are called a
// key, a token or a password.
const Generic = "generic-api-key"

// A Detector finds secrets. It is safe for concurrent use. A nil Detector treats every text as a
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

// Find returns the secrets in a text, in order and without overlaps.
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
	// tried are the last assignments examined, so that «api_key_token = …», which contains several
	// names, is examined only once for each rule.
	tried [8]attempt
	next  int
}

func (s *search) run() {
	s.words.scan(s.text, s.hit)
	for _, p := range s.pending {
		s.look(p)
	}
}

// hit handles a word that was found in the text.
func (s *search) hit(word, end int) {
	for i := range s.uses[word] {
		if u := &s.uses[word][i]; u.rule.named() {
			s.assigned(u, end)
		} else {
			s.sighted(u, end)
		}
	}
}

// keep adds a match as a secret, unless its entropy is too low or an allowance covers it.
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
