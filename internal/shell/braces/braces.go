// Package braces expands the braces in a word of a shell.
package braces

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// most bounds the words that one word is expanded to. With more, it becomes the pattern «*».
const most = 256

func braced(w *syntax.Word) bool {
	for _, p := range w.Parts {
		if lit, ok := p.(*syntax.Lit); ok && strings.IndexByte(lit.Value, '{') >= 0 {
			return true
		}
	}
	return false
}

// Expand returns the words that a shell expands a word such as a{b,c}d to.
func Expand(w *syntax.Word) []*syntax.Word {
	if !braced(w) {
		return []*syntax.Word{w}
	}
	word := &syntax.Word{Parts: append([]syntax.WordPart(nil), w.Parts...)}
	if !syntax.SplitBraces(word) {
		return []*syntax.Word{w}
	}
	out := words(word)
	if len(out) > most {
		return []*syntax.Word{{Parts: []syntax.WordPart{&syntax.ExtGlob{Pattern: &syntax.Lit{Value: "*"}}}}}
	}
	return out
}

func words(w *syntax.Word) []*syntax.Word {
	out := []*syntax.Word{{}}
	for _, p := range w.Parts {
		tails := []*syntax.Word{{Parts: []syntax.WordPart{p}}}
		if b, ok := p.(*syntax.BraceExp); ok {
			tails = ways(b)
		}
		var next []*syntax.Word
		for _, head := range out {
			for _, tail := range tails {
				if len(next) > most {
					return next
				}
				next = append(next, &syntax.Word{Parts: append(slices.Clip(head.Parts), tail.Parts...)})
			}
		}
		out = next
	}
	return out
}

func ways(b *syntax.BraceExp) []*syntax.Word {
	var out []*syntax.Word
	if !b.Sequence {
		for _, e := range b.Elems {
			out = append(out, words(e)...)
		}
		return out
	}
	first, last := b.Elems[0].Lit(), b.Elems[1].Lit()
	from, err := strconv.Atoi(first)
	to, err2 := strconv.Atoi(last)
	switch {
	case letters(first, last):
		from, to = int(first[0]), int(last[0])
	case err != nil || err2 != nil: // unknown, like a variable that no line sets
		return []*syntax.Word{{Parts: []syntax.WordPart{&syntax.ParamExp{Short: true, Param: &syntax.Lit{Value: "_"}}}}}
	case len(b.Elems) > 2 || to-from > most || from-to > most || len(first) > 1 && (first[0] == '0' || strings.HasPrefix(first, "-0")):
		return []*syntax.Word{{Parts: []syntax.WordPart{&syntax.ArithmExp{X: &syntax.Word{}}}}} // an unknown number
	}
	step := 1
	if to < from {
		step = -1
	}
	for n := from; ; n += step {
		text := strconv.Itoa(n)
		if err != nil {
			text = string(rune(n))
		}
		out = append(out, &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: text}}})
		if n == to {
			return out
		}
	}
}

// letters reports whether a and b are single letters of the same case.
func letters(a, b string) bool {
	in := func(low, high string) bool { return low <= a && a <= high && low <= b && b <= high }
	return len(a) == 1 && len(b) == 1 && (in("a", "z") || in("A", "Z"))
}
