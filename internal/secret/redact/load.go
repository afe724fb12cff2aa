package redact

import (
	_ "embed"
	"encoding/json"
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

//go:embed rules.json
var gitleaks []byte

//go:embed ours.json
var ours []byte

// A table is a file of rules, written by tools/secretrules.
type table struct {
	Allow []allowData `json:"allow"`
	Rules []ruleData  `json:"rules"`
	// Also adds allowances to rules of another file, by their names.
	Also map[string][]allowData `json:"also"`
}

// A ruleData is a rule as written in the file: either a token, which has a Regex, or an assignment,
// which has Names and a Value.
type ruleData struct {
	ID string `json:"id"`
	// Keywords are words, in lower case, of which one occurs in or near a token.
	Keywords []string `json:"keywords"`
	// Regex matches a token. The secret is its first non-empty group, or the whole match.
	Regex string `json:"regex"`
	// Needs are words of which one must also occur near the token; empty if none is needed.
	Needs []string `json:"needs"`
	// Reach is the greatest length of a token whose pattern has no bound.
	Reach int `json:"reach"`
	// Names are the names to which a secret is assigned, in lower case.
	Names []string `json:"names"`
	// Spelled gives the exact spellings of a name for which case matters.
	Spelled map[string][]string `json:"spelled"`
	// Value is the pattern of an assigned secret.
	Value string `json:"value"`
	// Entropy is the entropy that a secret must exceed.
	Entropy float64     `json:"entropy"`
	Allow   []allowData `json:"allow"`
}

type allowData struct {
	On        string   `json:"on"`
	Regexes   []string `json:"regexes"`
	Stopwords []string `json:"stopwords"`
}

// A machine holds all rules, prepared for searching.
type machine struct {
	words *words
	uses  [][]use // the uses of each word
	allow []allowance
}

// A rule is one prepared rule.
type rule struct {
	id      string
	entropy float64
	short   int // a secret of at most this length cannot exceed the entropy
	allow   []allowance
	pattern func() *regexp.Regexp
	shapes  []ready
	// Only for a token.
	needs  []string
	reach  int
	seated bool // each shape contains a keyword at a fixed position
	// Only for an assignment.
	value string
}

// A ready is a shape with the sets of its first bytes.
type ready struct {
	shape
	sets []set
}

func (r *rule) named() bool { return r.value != "" }

// shipped prepares the shipped rules. It panics on an error in them, because they are part of the
// program.
func shipped() *machine {
	var t table
	for _, file := range [][]byte{gitleaks, ours} {
		var part table
		if err := json.Unmarshal(file, &part); err != nil {
			panic("redact: " + err.Error())
		}
		t.Allow, t.Rules = append(t.Allow, part.Allow...), append(t.Rules, part.Rules...)
		for i, r := range t.Rules {
			t.Rules[i].Allow = append(r.Allow, part.Also[r.ID]...)
		}
	}
	return build(t)
}

func build(t table) *machine {
	m := &machine{allow: allowances(t.Allow)}
	var list []string
	place := func(word string, u use) {
		at := slices.Index(list, word)
		if at < 0 {
			at = len(list)
			list, m.uses = append(list, word), append(m.uses, nil)
		}
		u.length = len(word)
		m.uses[at] = append(m.uses[at], u)
	}
	for _, d := range t.Rules {
		r := &rule{id: d.ID, entropy: d.Entropy, allow: allowances(d.Allow), needs: d.Needs, value: d.Value}
		r.short = int(math.Exp2(r.entropy))
		if r.named() {
			r.assignment(d)
			for _, name := range d.Names {
				place(name, use{rule: r, spelled: d.Spelled[name]})
			}
			continue
		}
		seats := r.token(d)
		for i, word := range d.Keywords {
			if !r.seated || len(seats[i]) > 0 {
				place(word, use{rule: r, seats: seats[i]})
			}
		}
	}
	m.words = newWords(list)
	return m
}

func (r *rule) assignment(d ruleData) {
	r.shapes = readyShapes(d.Value)
	for i := range r.shapes {
		r.shapes[i].exact = r.shapes[i].exact && r.shapes[i].loose() <= maxLoose
	}
	r.pattern = lazily(`\A(` + d.Value + ")(?:[\\x60'\"\\s;]|\\\\[nr]|$)")
}

// token prepares a token's rule and returns the positions of its keywords in the token. If every
// shape of the token contains a keyword at a fixed position, a token is searched only at such
// positions.
func (r *rule) token(d ruleData) [][]seat {
	r.pattern = lazily(d.Regex)
	r.shapes = readyShapes(d.Regex)
	if r.reach = d.Reach; r.reach == 0 {
		r.reach = reach(d.Regex)
	}
	seats := make([][]seat, len(d.Keywords))
	r.seated = len(r.shapes) > 0
	for _, sh := range r.shapes {
		sits := false
		for i, word := range d.Keywords {
			if at := seatOf(word, sh.sets); at >= 0 {
				seats[i] = append(seats[i], seat{offset: at, sets: sh.sets})
				sits = true
			}
		}
		r.seated = r.seated && sits
	}
	if !r.seated {
		return make([][]seat, len(d.Keywords))
	}
	return seats
}

// seatOf returns the position of a word in the first bytes of a token, or -1. At most two of the
// word's characters may vary in the token, as in «xox[os]-».
func seatOf(word string, sets []set) int {
	for at := 0; at+len(word) <= len(sets); at++ {
		others := 0
		for i := range len(word) {
			s, b := sets[at+i], word[i]
			if !s.has(b) && !s.has(upper(b)) {
				others = len(word)
			}
			var one set
			one.add(b)
			one.add(upper(b))
			for k := range s {
				if s[k]&^one[k] != 0 {
					others++
					break
				}
			}
		}
		if others <= 2 && others < len(word) {
			return at
		}
	}
	return -1
}

func readyShapes(pattern string) []ready {
	var list []ready
	for _, sh := range shapes(parse(pattern)) {
		list = append(list, ready{shape: sh, sets: sh.prefix()})
	}
	return list
}

func parse(pattern string) *syntax.Regexp {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		panic("redact: " + err.Error())
	}
	return re
}

// lazily compiles a pattern on first use, because most patterns are never used.
func lazily(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

func allowances(list []allowData) []allowance {
	var out []allowance
	for _, d := range list {
		a := allowance{on: d.On}
		if len(d.Regexes) > 0 {
			a.patterns = lazily("(?:" + strings.Join(d.Regexes, ")|(?:") + ")")
		}
		if len(d.Stopwords) > 0 {
			a.stopwords = sync.OnceValue(func() *words { return newWords(d.Stopwords) })
		}
		out = append(out, a)
	}
	return out
}

// reach returns how many bytes a pattern may match, plus one for its context.
func reach(pattern string) int {
	n := longest(parse(pattern))
	if n < 0 || n >= maxReach {
		return maxReach
	}
	return n + 1
}

// longest returns the greatest length of a match in bytes, or -1 if it is unbounded.
func longest(re *syntax.Regexp) int {
	sum, top := 0, 0
	for _, sub := range re.Sub {
		n := longest(sub)
		if n < 0 {
			return -1
		}
		sum, top = sum+n, max(top, n)
	}
	switch re.Op { //nolint:exhaustive // the others are as long as their parts
	case syntax.OpLiteral:
		return len(string(re.Rune))
	case syntax.OpCharClass:
		if _, bytes := classSet(re.Rune); bytes {
			return 1
		}
		return utf8.UTFMax
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return utf8.UTFMax
	case syntax.OpStar, syntax.OpPlus:
		return -1
	case syntax.OpRepeat:
		if re.Max < 0 {
			return -1
		}
		return sum * re.Max
	case syntax.OpAlternate:
		return top
	}
	return sum
}
