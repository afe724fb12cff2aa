package tokens

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// maxDigits bounds a number: longer ones are not amounts or counts.
const maxDigits = 32

// numberLen returns the length of the number that s begins with, with its sign,
// currency and per cent, or 0. If it is digits and nothing else, bare is how
// many.
func numberLen(s string) (n, bare int) {
	i := signLen(s)
	i += currencyLen(s[i:])
	digits := figuresLen(s[i:])
	if digits == 0 {
		return 0, 0
	}
	i += digits
	if i < len(s) && s[i] == '%' {
		i++
	} else {
		i += currencyLen(s[i:])
		if code := wordLen(s[i:]); code == 3 && IsCurrency(strings.ToLower(s[i:i+code])) {
			i += code
		}
	}
	if !endsToken(s[i:]) {
		return 0, 0
	}
	if Only(s[:i], "0123456789") {
		bare = i
	}
	return i, bare
}

func signLen(s string) int {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		return 1
	}
	return 0
}

// currencyLen returns the length of the currency sign that s begins with.
func currencyLen(s string) int {
	if s == "" || s[0] < utf8.RuneSelf {
		if s != "" && s[0] == '$' {
			return 1
		}
		return 0
	}
	if r, size := utf8.DecodeRuneInString(s); unicode.Is(unicode.Sc, r) {
		return size
	}
	return 0
}

func wordLen(s string) int {
	n := 0
	for n < len(s) && IsLetter(s[n]) {
		n++
	}
	return n
}

// endsToken reports whether a token may end before rest.
func endsToken(rest string) bool {
	if rest == "" {
		return true
	}
	c := rest[0]
	if isWordByte(c) {
		return c >= utf8.RuneSelf && !letterFirst(rest)
	}
	return !isJoiner(c) || len(rest) == 1 || (!isWordByte(rest[1]) && !isJoiner(rest[1]))
}

func letterFirst(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// figuresLen returns the length of the digits that s begins with, including
// separators of thousands and decimals. It returns 0 for dots that make no
// number, as in a version. Commas that make none are taken for a list.
func figuresLen(s string) int {
	n := 0
	for n < len(s) && (IsDigit(s[n]) || (n > 0 && isSeparator(s[n]) && n+1 < len(s) && IsDigit(s[n+1]))) {
		n++
		if n > maxDigits {
			return 0
		}
	}
	if _, ok := plainFigures(s[:n]); ok {
		return n
	}
	first, _, _ := strings.Cut(s[:n], ",")
	if _, ok := plainFigures(first); ok {
		return len(first)
	}
	return 0
}

func isSeparator(c byte) bool { return c == '.' || c == ',' }

// plainFigures returns digits with separators in one form: no separators of
// thousands, a dot for decimals, no needless zeros. It refuses what is no number.
func plainFigures(s string) (string, bool) {
	if s == "" {
		return "", false
	}
	whole, fraction := s, ""
	last := strings.LastIndexAny(s, ".,")
	if last >= 0 {
		seps := strings.Count(s, ".") + strings.Count(s, ",")
		same := strings.Count(s, s[last:last+1]) == seps
		switch {
		case seps == 1 && (s[last] == '.' || len(s)-last-1 != 3), !same:
			whole, fraction = s[:last], s[last+1:]
		}
		if !thousands(whole) {
			return "", false
		}
		whole = strings.ReplaceAll(strings.ReplaceAll(whole, ".", ""), ",", "")
	}
	whole = strings.TrimLeft(whole, "0")
	fraction = strings.TrimRight(fraction, "0")
	if whole == "" {
		whole = "0"
	}
	if fraction != "" {
		whole += "." + fraction
	}
	return whole, true
}

// thousands reports whether the separators in s are all the same and stand
// before three digits each.
func thousands(s string) bool {
	first := strings.IndexAny(s, ".,")
	if first < 0 {
		return true
	}
	if first == 0 || first > 3 {
		return false
	}
	for _, group := range strings.Split(s[first+1:], s[first:first+1]) {
		if len(group) != 3 || !Only(group, "0123456789") {
			return false
		}
	}
	return true
}

// PlainNumber returns the plain form of a number token, and whether it carries
// a currency.
func PlainNumber(token string) (plain string, money, ok bool) {
	sign := ""
	if signLen(token) == 1 {
		if token[0] == '-' {
			sign = "-"
		}
		token = token[1:]
	}
	if n := currencyLen(token); n > 0 {
		money, token = true, token[n:]
	}
	figures := strings.TrimRightFunc(token, func(r rune) bool { return !unicode.IsDigit(r) })
	if tail := token[len(figures):]; tail != "" && tail != "%" {
		money = true
	}
	plain, ok = plainFigures(figures)
	if plain == "0" {
		sign = ""
	}
	return sign + plain, money, ok
}

// phoneLen returns the length of the telephone number with a country code that
// s begins with, or 0.
func phoneLen(s string) int {
	if len(s) < 9 || s[0] != '+' || !IsDigit(s[1]) {
		return 0
	}
	digits, end := 1, 2
	for i := 2; i < len(s) && digits < 16; i++ {
		c := s[i]
		if IsDigit(c) {
			digits++
			end = i + 1
		} else if strings.IndexByte(" -().", c) < 0 || i-end > 1 {
			break
		}
	}
	if digits < 8 || digits > 15 || !endsToken(s[end:]) {
		return 0
	}
	return end
}

// cardLen returns the length of the card number in four groups that s begins
// with, or 0.
func cardLen(s string) int {
	const length = 19
	if len(s) < length || (s[4] != ' ' && s[4] != '-') {
		return 0
	}
	for i := range length {
		if i%5 == 4 {
			if s[i] != s[4] {
				return 0
			}
		} else if !IsDigit(s[i]) {
			return 0
		}
	}
	if !endsToken(s[length:]) {
		return 0
	}
	return length
}

// ibanLen returns the length of the bank account that s begins with, or 0. It
// may be written in groups of four. The check digits decide where it ends if
// they can. They need not be right: a wrong account is an account, too.
func ibanLen(s string) int {
	if len(s) < 15 || !IsUpper(s[0]) || !IsUpper(s[1]) || !IsDigit(s[2]) || !IsDigit(s[3]) {
		return 0
	}
	chars, digits, best := 0, 0, 0
	for i, group := 0, 0; i < len(s) && chars < 34; i++ {
		c := s[i]
		if c == ' ' {
			next := groupLen(s[i+1:])
			if group != 4 || next == 0 || (chars > 4 && !strings.ContainsAny(s[i+1:i+1+next], "0123456789")) {
				break
			}
			group = 0
			continue
		}
		if !IsUpper(c) && !IsDigit(c) {
			break
		}
		chars++
		group++
		if IsDigit(c) {
			digits++
		}
		if chars >= 15 && digits >= 8 && endsToken(s[i+1:]) {
			best = i + 1
			if checksOut(s[:best]) {
				break
			}
		}
	}
	return best
}

// groupLen returns the length of the group of at most four that s begins with.
func groupLen(s string) int {
	n := 0
	for n < len(s) && (IsUpper(s[n]) || IsDigit(s[n])) {
		n++
	}
	if n > 4 {
		return 0
	}
	return n
}

// checksOut reports whether an account's check digits are right (ISO 7064).
func checksOut(iban string) bool {
	rest := 0
	iban = strings.ReplaceAll(iban, " ", "")
	for i := range len(iban) {
		c := iban[(i+4)%len(iban)]
		if IsDigit(c) {
			rest = (rest*10 + int(c-'0')) % 97
		} else {
			rest = (rest*100 + int(c-'A') + 10) % 97
		}
	}
	return rest == 1
}

// AsNumber returns the plain form of a value that is a number and nothing else.
func AsNumber(value string) (string, bool) {
	n, _ := numberLen(value)
	if n != len(value) {
		return "", false
	}
	plain, _, ok := PlainNumber(value)
	return plain, ok
}

// ReadTime reads a value as a date, an hour or both, as programs write them.
func ReadTime(value string) (at time.Time, hasDay, hasClock bool) {
	value = strings.TrimSpace(value)
	if len(value) < len("3:04") || len(value) > len("2006-01-02T15:04:05.000000000+07:00") || value[0] < '0' || value[0] > '9' {
		return at, false, false
	}
	for _, layout := range [...]string{
		"2006-01-02", "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02T15:04:05", time.RFC3339,
	} {
		if at, err := time.Parse(layout, value); err == nil {
			return at, true, len(layout) > len("2006-01-02")
		}
	}
	for _, layout := range [...]string{"15:04", "15:04:05"} {
		if at, err := time.Parse(layout, value); err == nil {
			return at, false, true
		}
	}
	return at, false, false
}
