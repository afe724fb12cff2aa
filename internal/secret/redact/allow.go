package redact

import (
	"math"
	"regexp"
	"strings"
)

// An allowance describes text that looks like a secret and is none.
type allowance struct {
	on        string // what the patterns examine: the "match", the "line", or else the secret
	patterns  func() *regexp.Regexp
	stopwords func() *words
}

// maxLine bounds how much of a line is examined on each side of a match.
const maxLine = 512

func (a *allowance) covers(text string, m match) bool {
	if a.stopwords != nil && a.stopwords().has(text[m.start:m.end]) {
		return true
	}
	if a.patterns == nil {
		return false
	}
	part := text[m.start:m.end]
	switch a.on {
	case "match":
		part = strings.Trim(text[m.from:m.to], "\n")
	case "line":
		part = line(text, m)
	}
	return a.patterns().MatchString(part)
}

// line returns the line, or lines, around a match.
func line(text string, m match) string {
	from, to := max(0, m.from-maxLine), min(len(text), m.to+maxLine)
	if at := strings.LastIndexByte(text[from:m.from], '\n'); at >= 0 {
		from += at + 1
	}
	if at := strings.IndexByte(text[m.to:to], '\n'); at >= 0 {
		to = m.to + at
	}
	return text[from:to]
}

// entropy returns the bits per character by Shannon's formula. Like gitleaks, it counts characters
// but divides by the length in bytes.
func entropy(text string) float64 {
	if text == "" {
		return 0
	}
	var ascii [128]int
	var others map[rune]int
	for _, r := range text {
		if r < 128 {
			ascii[r]++
			continue
		}
		if others == nil {
			others = map[rune]int{}
		}
		others[r]++
	}
	bits, inverse := 0.0, 1/float64(len(text))
	add := func(n int) {
		if n > 0 {
			f := float64(n) * inverse
			bits -= f * math.Log2(f)
		}
	}
	for _, n := range ascii {
		add(n)
	}
	for _, n := range others {
		add(n)
	}
	return bits
}
