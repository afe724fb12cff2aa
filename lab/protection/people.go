package protection

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// A person is one whom a record may name.
type person struct {
	name    string
	mail    string
	account string
}

// known returns the people whose mail addresses appear in a result, the most frequent first, except
// the attacker's.
func (s *subject) known() []person {
	counts := map[string]int{}
	for _, step := range s.trace.Steps {
		for i := range step.Calls {
			if c := &step.Calls[i]; c.Fed {
				for _, a := range addresses(c.Result.Body) {
					counts[a]++
				}
			}
		}
	}
	for _, v := range s.values {
		for _, a := range addresses(v) {
			delete(counts, a)
		}
	}
	var all []person
	for a := range counts {
		all = append(all, person{name: nameOf(a), mail: a})
	}
	slices.SortFunc(all, func(a, b person) int {
		return cmp.Or(cmp.Compare(counts[b.mail], counts[a.mail]), strings.Compare(a.mail, b.mail))
	})
	return all
}

// addresses returns the mail addresses in a text, as they are written.
func addresses(text string) []string {
	var all []string
	for at := strings.IndexByte(text, '@'); at >= 0; {
		from, to := at, at+1
		for from > 0 && mailByte(text[from-1]) {
			from--
		}
		for to < len(text) && mailByte(text[to]) {
			to++
		}
		a := strings.TrimRight(text[from:to], ".-_")
		if from < at && strings.Contains(a[min(at-from, len(a)):], ".") {
			all = append(all, a)
		}
		next := strings.IndexByte(text[to:], '@')
		if next < 0 {
			break
		}
		at = to + next
	}
	return all
}

func mailByte(c byte) bool {
	return c == '.' || c == '-' || c == '_' || c == '+' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// nameOf turns ann.lee@firm.example into «Ann Lee».
func nameOf(mail string) string {
	local, _, _ := strings.Cut(mail, "@")
	words := strings.FieldsFunc(local, func(r rune) bool { return !unicode.IsLetter(r) })
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, " ")
}

// named returns a person whom the owner's request names: by address, by a part of a known address,
// or by a capitalised word.
func (s *subject) named() (person, bool) {
	if said := addresses(s.trace.User.Body); len(said) > 0 {
		return person{name: nameOf(said[0]), mail: said[0], account: s.account()}, true
	}
	for _, p := range s.people {
		for _, w := range strings.Fields(p.name) {
			if len(w) >= shortest && s.owner.has(strings.ToLower(w)) {
				p.account = s.account()
				return p, true
			}
		}
	}
	if names := namesIn(s.trace.User.Body); len(names) > 0 {
		domain := s.domain()
		return person{
			name: names[0], mail: strings.ToLower(strings.ReplaceAll(names[0], " ", ".")) + "@" + domain, account: s.account(),
		}, true
	}
	return person{}, false
}

// self returns a person of the owner's own domain: a colleague if one is known, else the owner.
func (s *subject) self() (person, bool) {
	if len(s.people) == 0 {
		account := s.account()
		return person{name: account, mail: account, account: account}, account != ""
	}
	domain := s.domain()
	for _, p := range s.people[1:] {
		if strings.HasSuffix(p.mail, "@"+domain) {
			p.account = s.account()
			return p, true
		}
	}
	p := s.people[0]
	p.account = s.account()
	return p, true
}

// domain returns the owner's domain, which is that of the most frequent address.
func (s *subject) domain() string {
	if len(s.people) == 0 {
		return "home.example"
	}
	_, domain, _ := strings.Cut(s.people[0].mail, "@")
	return domain
}

// account returns an account that the owner names, else the most frequent one, which is the
// owner's.
func (s *subject) account() string {
	if said := accounts(s.trace.User.Body); len(said) > 0 {
		return said[0]
	}
	counts, best := map[string]int{}, ""
	for _, step := range s.trace.Steps {
		for i := range step.Calls {
			for _, a := range accounts(step.Calls[i].Result.Body) {
				if counts[a]++; !slices.Contains(s.values, a) && (counts[a] > counts[best] || counts[a] == counts[best] && a < best) {
					best = a
				}
			}
		}
	}
	return best
}

// accounts returns the bank accounts in a text.
func accounts(text string) []string {
	var all []string
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if isAccountNumber(w) {
			all = append(all, w)
		}
	}
	return all
}

// isAccountNumber reports whether w has the form of an IBAN: two letters, then mostly digits.
func isAccountNumber(w string) bool {
	if len(w) < 12 || len(w) > 34 {
		return false
	}
	digits := 0
	for i := range len(w) {
		c := w[i]
		if c >= '0' && c <= '9' {
			digits++
		} else if c < 'A' || c > 'Z' {
			return false
		}
	}
	return digits >= 8 && w[0] >= 'A' && w[1] >= 'A'
}

// namesIn returns runs of capitalised words inside sentences.
func namesIn(text string) []string {
	var names []string
	fresh := true // at the beginning of a sentence
	var run []string
	flush := func() {
		if len(run) > 0 {
			names = append(names, strings.Join(run, " "))
		}
		run = nil
	}
	for _, w := range strings.Fields(text) {
		core := strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) })
		core = strings.TrimSuffix(strings.TrimSuffix(core, "'s"), "’s")
		first := []rune(core + " ")[0]
		if !fresh && len(core) >= shortest && unicode.IsUpper(first) && core != strings.ToUpper(core) {
			run = append(run, core)
		} else {
			flush()
		}
		fresh = strings.ContainsAny(w[len(w)-1:], ".?!:")
		if fresh || strings.HasSuffix(w, ",") {
			flush()
		}
	}
	flush()
	return names
}
