package protection

import (
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"
)

// folded is a text prepared for comparison: lower case, with quotes, dashes and white space folded,
// and with its numbers extracted.
type folded struct {
	body    string
	numbers []float64 // sorted
}

func newFolded(text string) *folded {
	f := &folded{body: fold(text)}
	f.numbers = numbersIn(f.body)
	return f
}

// fold makes texts equal if they differ only in quotes, dashes, white space and case.
func fold(s string) string {
	s = strings.Map(func(r rune) rune {
		switch r {
		case '‘', '’':
			return '\''
		case '“', '”':
			return '"'
		case '–', '—', '‑':
			return '-'
		}
		return unicode.ToLower(r)
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// bare folds a value and removes what people leave out when they quote it: the scheme and the last
// slash of a URL, and punctuation at the end.
func bare(s string) string {
	s = fold(s)
	if rest, ok := strings.CutPrefix(s, "https://"); ok {
		s = rest
	} else {
		s = strings.TrimPrefix(s, "http://")
	}
	return strings.TrimRight(strings.TrimRight(s, "/"), ".,;:!?")
}

// has reports whether f contains value, not as a part of a word.
func (f *folded) has(value string) bool {
	if value == "" {
		return true
	}
	first, _ := utf8.DecodeRuneInString(value)
	last, _ := utf8.DecodeLastRuneInString(value)
	for from := 0; ; {
		i := strings.Index(f.body[from:], value)
		if i < 0 {
			return false
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(f.body[:i])
		after, _ := utf8.DecodeRuneInString(f.body[i+len(value):])
		if !(alnum(before) && alnum(first)) && !(alnum(after) && alnum(last)) {
			return true
		}
		from = i + 1
	}
}

// names reports whether f contains the digits as the number of something.
func (f *folded) names(digits string) bool {
	for from := 0; digits != ""; {
		i := strings.Index(f.body[from:], digits)
		if i < 0 {
			return false
		}
		i += from
		after, _ := utf8.DecodeRuneInString(f.body[i+len(digits):])
		if !word(after) && namesNext(f.body[:i]) {
			return true
		}
		from = i + 1
	}
	return false
}

// namesNext reports whether before ends in «id», «number» or «#».
func namesNext(before string) bool {
	if strings.HasSuffix(before, "#") {
		return true
	}
	head := strings.TrimRightFunc(before, func(r rune) bool { return !word(r) })
	gap := utf8.RuneCountInString(before[len(head):])
	if gap <= 4 && endsInWord(strings.TrimSuffix(head, "_"), "id") {
		return true
	}
	return gap >= 1 && gap <= 2 && endsInWord(head, "number")
}

func endsInWord(s, w string) bool {
	head, ok := strings.CutSuffix(s, w)
	last, _ := utf8.DecodeLastRuneInString(head)
	return ok && !word(last)
}

func (f *folded) hasNumber(n float64) bool {
	_, ok := slices.BinarySearch(f.numbers, n)
	return ok
}

// numbersIn returns the values of all plain numbers in s, without their signs.
func numbersIn(s string) []float64 {
	var all []float64
	for i := 0; i < len(s); {
		if !digit(s, i) {
			i++
			continue
		}
		end := i
		for digit(s, end) {
			end++
		}
		for end < len(s) && s[end] == ',' && digit(s, end+1) && digit(s, end+2) && digit(s, end+3) {
			end += 4
		}
		if end < len(s) && s[end] == '.' && digit(s, end+1) {
			for end++; digit(s, end); end++ {
			}
		}
		if n, err := strconv.ParseFloat(strings.ReplaceAll(s[i:end], ",", ""), 64); err == nil {
			all = append(all, n)
		}
		i = end
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// identifiers reports whether every line of a result is a plain identifier, so that it cannot
// contain a sentence.
func identifiers(result string) bool {
	for line := range strings.Lines(result) {
		line = strings.Trim(strings.TrimSpace(line), "- ")
		if line == "" {
			continue
		}
		if utf8.RuneCountInString(line) > 64 {
			return false
		}
		for _, r := range line {
			if !word(r) && !strings.ContainsRune(".-#@+", r) {
				return false
			}
		}
	}
	return true
}

func digit(s string, i int) bool { return i < len(s) && s[i] >= '0' && s[i] <= '9' }

// alnum reports whether r is a letter or number. It is false for utf8.RuneError, which DecodeRune
// returns at the edge of a text.
func alnum(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

func word(r rune) bool { return r == '_' || alnum(r) }

// A cache keeps a value computed from each text. Two goroutines may compute the same value at the
// same time; that is harmless.
type cache[T any] struct {
	compute func(Text) T
	kept    []atomic.Pointer[T]
}

func newCache[T any](texts int, compute func(Text) T) *cache[T] {
	return &cache[T]{compute: compute, kept: make([]atomic.Pointer[T], texts)}
}

func (c *cache[T]) get(t Text) T {
	if t.ID < 0 {
		return c.compute(t)
	}
	if v := c.kept[t.ID].Load(); v != nil {
		return *v
	}
	v := c.compute(t)
	c.kept[t.ID].Store(&v)
	return v
}
