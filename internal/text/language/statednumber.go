package language

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/ledger/tokens"
)

// A statedNumber is one place where the owner typed a number.
type statedNumber struct {
	money  bool   // it carries a currency
	before string // the nearest word before it that can say what it is
	next   string // the word right before it
	after  string // the word right behind it
}

// maxFillers bounds the words between a number and what names it: «set the
// limit to 50», «invoice number 7».
const maxFillers = 3

func (s *Stated) addNumber(items []item, i int, raw string) {
	plain, money, ok := tokens.PlainNumber(raw)
	if !ok {
		return
	}
	n := statedNumber{money: money}
	for j, fillers := i-1, 0; j >= 0 && fillers <= maxFillers; j-- {
		if !isWordItem(items[j]) || (items[j+1].apart && !items[j+1].label) {
			break
		}
		word := strings.ToLower(items[j].Folded)
		if isHan(items[j]) {
			n.before = unparted(items, j, -1)
			break
		}
		if j == i-1 {
			n.next = singular(word)
		}
		if !tokens.InGroup("filler", word) {
			n.before = singular(word)
			break
		}
		fillers++
	}
	if i+1 < len(items) && isWordItem(items[i+1]) && !items[i+1].apart {
		word := strings.ToLower(items[i+1].Folded)
		n.after = singular(word)
		if isHan(items[i+1]) {
			n.after = unparted(items, i+1, 1)
		}
		n.money = n.money || tokens.IsCurrency(word)
	}
	if tokens.IsCurrency(n.next) { // EUR 50
		n.money = true
	}
	s.numbers[plain] = append(s.numbers[plain], n)
}

// maxUnparted bounds the characters beside a number that may say what it is.
const maxUnparted = 6

// unparted returns an item together with the Chinese characters that touch it: those after it if
// step is 1, those before it if step is -1.
func unparted(items []item, i, step int) string {
	run := items[i].raw
	for n := 1; n < maxUnparted; n++ {
		next := i + step
		if next < 0 || next >= len(items) || !isHan(items[next]) || items[max(i, next)].Start != items[min(i, next)].End {
			break
		}
		if i = next; step < 0 {
			run = items[i].raw + run
		} else {
			run += items[i].raw
		}
	}
	return run
}

// touches reports whether the characters beside a number begin or end with a word
// of a group that is in a script without blanks.
func touches(group, run string) bool {
	for w := range tokens.GroupWords(group) {
		if w[0] >= utf8.RuneSelf && (strings.HasSuffix(run, w) || strings.HasPrefix(strings.TrimPrefix(run, "的"), w)) {
			return true
		}
	}
	return false
}

func isWordItem(it item) bool { return (it.Kind == tokens.Word || it.Kind == tokens.Name) && !it.inner }

// hasNumber reports whether the owner stated a number in this role.
func (s *Stated) hasNumber(value, plain string, kind hook.LeafKind, role string) bool {
	words := roleWords(role)
	money := namesAny(words, "money")
	for _, n := range s.numbers[plain] {
		switch {
		case n.money && money:
			return true
		case n.money:
		case names(words, n.before) || names(words, n.next) || names(words, n.after):
			return true
		}
	}
	if money || namesAny(words, "count") {
		return false
	}
	if len(plain) == 4 && (plain[:2] == "19" || plain[:2] == "20") && names(words, "year") {
		return len(s.numbers[plain]) > 0
	}
	if s.hasToken(value) { // an account
		return true
	}
	_, ok := s.quoted[value]
	return ok && kind == hook.String
}

// roleWords returns the words of an argument's name that say what it is:
// «invoice» for «invoice_id» and «invoiceId».
func roleWords(role string) []string {
	var all, telling []string
	for word := range strings.FieldsFuncSeq(splitCamel(role), notLetter) {
		word = singular(strings.ToLower(word))
		all = append(all, word)
		if !tokens.InGroup("telling-nothing", word) {
			telling = append(telling, word)
		}
	}
	if len(telling) == 0 {
		return all
	}
	return telling
}

func notLetter(r rune) bool { return !unicode.IsLetter(r) }

func splitCamel(s string) string {
	if strings.IndexFunc(s, unicode.IsUpper) < 0 {
		return s
	}
	var b strings.Builder
	lower := false
	for _, r := range s {
		if lower && unicode.IsUpper(r) {
			b.WriteByte(' ')
		}
		lower = unicode.IsLower(r)
		b.WriteRune(r)
	}
	return b.String()
}

// names reports whether a neighbouring word is one of the role's words, or is in the
// same group as one of them.
func names(words []string, neighbour string) bool {
	for _, w := range words {
		if w == neighbour {
			return true
		}
		for _, group := range [...]string{"money", "count", "limit", "file", "request"} {
			if tokens.InGroup(group, w) && (tokens.InGroup(group, neighbour) || touches(group, neighbour)) {
				return true
			}
		}
	}
	return false
}

func namesAny(words []string, group string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return tokens.InGroup(group, word) })
}

// singular returns a word without the ending of a plural, roughly.
func singular(word string) string {
	switch {
	case len(word) > 4 && strings.HasSuffix(word, "ies"):
		return word[:len(word)-3] + "y"
	case len(word) > 3 && strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss"):
		return word[:len(word)-1]
	}
	return word
}
