package redact

import "slices"

// An assignment is a name, something that assigns, and a value:
//
//	name [ \t\w.-]{0,20} [\s'"]{0,3} (= > := || : => ?= ,) [`'"\s=]{0,5} value end
//
// Up to 50 bytes of [\w.-] may come before the name. They belong to the match, which only the
// allowances examine. gitleaks uses one pattern for all this in each rule. This code finds the same
// and is a hundred times faster.
const (
	maxBefore = 50
	maxBeside = 20
	maxQuotes = 3
	maxLead   = 5
)

func isWord(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '_'
}

func isSpace(b byte) bool { return b == ' ' || '\t' <= b && b <= '\r' && b != '\v' }

func isBeside(b byte) bool { return isWord(b) || b == ' ' || b == '\t' || b == '.' || b == '-' }

// An attempt is a rule that was tried on the assignment at a position.
type attempt struct {
	rule *rule
	at   int
}

// assigned examines the assignment after a name.
func (s *search) assigned(u *use, to int) {
	r, from := u.rule, to-u.length
	at := assignsAt(s.text, to)
	if at < 0 {
		return
	}
	a := attempt{rule: r, at: at}
	for _, t := range s.tried {
		if t == a {
			return
		}
	}
	if u.spelled != nil && !slices.Contains(u.spelled, s.text[from:to]) {
		return
	}
	s.tried[s.next] = a
	s.next = (s.next + 1) % len(s.tried)
	for first := from; from > 0 && first-from < maxBefore; from-- {
		if b := s.text[from-1]; !isWord(b) && b != '.' && b != '-' {
			break
		}
	}
	if start, end := s.value(r, at); start >= 0 {
		s.keep(r, match{start: start, end: end, from: from, to: closed(s.text, end)})
	}
}

// assignsAt returns the position of the assigning sign, or -1.
func assignsAt(text string, at int) int {
	for n := 0; n < maxBeside && at < len(text) && isBeside(text[at]); n++ {
		at++
	}
	for n := 0; n < maxQuotes && at < len(text) && (isSpace(text[at]) || text[at] == '\'' || text[at] == '"'); n++ {
		at++
	}
	if at == len(text) {
		return -1
	}
	switch text[at] {
	case '=', '>', ':', ',':
		return at
	case '|', '?':
		if at+1 < len(text) && (text[at] == '|' && text[at+1] == '|' || text[at] == '?' && text[at+1] == '=') {
			return at
		}
	}
	return -1
}

// value returns the start and end of the value of an assignment, or -1 if it has no matching value.
func (s *search) value(r *rule, at int) (start, end int) {
	for _, width := range signs(s.text[at:]) {
		if width == 0 {
			continue
		}
		lead := 0
		for lead < maxLead && at+width+lead < len(s.text) && isLead(s.text[at+width+lead]) {
			lead++
		}
		for ; lead >= 0; lead-- {
			if e := r.valueEnd(s.text, at+width+lead); e >= 0 {
				return at + width + lead, e
			}
		}
	}
	return -1, -1
}

func isLead(b byte) bool { return b == '`' || b == '\'' || b == '"' || b == '=' || isSpace(b) }

// signs returns the possible lengths of the assigning sign, in the order to try.
func signs(text string) [2]int {
	switch text[0] {
	case '=':
		if len(text) > 1 && text[1] == '>' {
			return [2]int{1, 2}
		}
	case ':':
		n := 1
		for n < 3 && n < len(text) && text[n] == ':' {
			n++
		}
		if n < len(text) && text[n] == '=' {
			return [2]int{n + 1, 1}
		}
	case '|', '?':
		return [2]int{2, 0}
	}
	return [2]int{1, 0}
}

// valueEnd returns the end of the value that begins at a position, or -1.
func (r *rule) valueEnd(text string, at int) int {
	for i := range r.shapes {
		sh := &r.shapes[i]
		if !fits(sh.sets, text[at:]) {
			continue
		}
		if !sh.exact {
			return r.patternEnd(text, at)
		}
		if e := end(sh.items, text, at); e >= 0 {
			return e
		}
	}
	return -1
}

// patternEnd does the same as valueEnd with the regular expression.
func (r *rule) patternEnd(text string, at int) int {
	part := text[at:min(len(text), at+maxRun)]
	m := r.pattern().FindStringSubmatchIndex(part)
	if m == nil {
		return -1
	}
	return at + m[3]
}

// closes reports whether a value may end at a position: before a quote, a space, a semicolon, an
// escaped line break, or the end of the text.
func closes(text string, at int) bool { return closed(text, at) > at || at == len(text) }

// closed returns the position after a value's terminator.
func closed(text string, at int) int {
	switch {
	case at == len(text):
	case isSpace(text[at]), text[at] == '`', text[at] == '\'', text[at] == '"', text[at] == ';':
		return at + 1
	case text[at] == '\\' && at+1 < len(text) && (text[at+1] == 'n' || text[at+1] == 'r'):
		return at + 2
	}
	return at
}
