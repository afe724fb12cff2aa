package shellscan

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxBraces bounds the words one brace expression is expanded to; beyond it
// the word is left as a pattern.
const maxBraces = 256

func braced(w *syntax.Word) bool {
	for _, p := range w.Parts {
		if lit, ok := p.(*syntax.Lit); ok && strings.IndexByte(lit.Value, '{') >= 0 {
			return true
		}
	}
	return false
}

// braces expands a{b,c}d to its words.
func braces(w *syntax.Word) []*syntax.Word {
	word := &syntax.Word{Parts: append([]syntax.WordPart(nil), w.Parts...)}
	if !syntax.SplitBraces(word) {
		return []*syntax.Word{w}
	}
	out := expandBraces(word)
	if len(out) > maxBraces {
		return []*syntax.Word{{Parts: []syntax.WordPart{&syntax.ExtGlob{Pattern: &syntax.Lit{Value: "*"}}}}}
	}
	return out
}

func expandBraces(w *syntax.Word) []*syntax.Word {
	out := []*syntax.Word{{}}
	for _, p := range w.Parts {
		var ways []*syntax.Word
		if b, ok := p.(*syntax.BraceExp); ok {
			ways = braceWays(b)
		} else {
			ways = []*syntax.Word{{Parts: []syntax.WordPart{p}}}
		}
		var next []*syntax.Word
		for _, head := range out {
			for _, tail := range ways {
				if len(next) > maxBraces {
					return next
				}
				next = append(next, &syntax.Word{Parts: append(slices.Clip(head.Parts), tail.Parts...)})
			}
		}
		out = next
	}
	return out
}

func braceWays(b *syntax.BraceExp) []*syntax.Word {
	var out []*syntax.Word
	if !b.Sequence {
		for _, e := range b.Elems {
			out = append(out, expandBraces(e)...)
		}
		return out
	}
	if first := b.Elems[0].Lit(); len(first) > 1 && (first[0] == '0' || strings.HasPrefix(first, "-0")) {
		return []*syntax.Word{{Parts: []syntax.WordPart{&syntax.ArithmExp{X: &syntax.Word{}}}}}
	}
	from, err := strconv.Atoi(b.Elems[0].Lit())
	to, err2 := strconv.Atoi(b.Elems[1].Lit())
	if err != nil || err2 != nil || len(b.Elems) > 2 || to-from > maxBraces || from-to > maxBraces {
		return []*syntax.Word{{Parts: []syntax.WordPart{&syntax.ArithmExp{X: &syntax.Word{}}}}} // some letter or number
	}
	step := 1
	if to < from {
		step = -1
	}
	for n := from; ; n += step {
		out = append(out, &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: strconv.Itoa(n)}}})
		if n == to {
			return out
		}
	}
}
