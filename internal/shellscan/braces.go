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

// patch adds what a patch in the form of coding agents changes:
//
//	*** Begin Patch
//	*** Add File: name
//	*** Update File: name
//	*** Move to: name
//	*** Delete File: name
//	*** End Patch
//
// Lines in between are taken for such a line also where they are only text of a
// file: that names a file too many, never one too few.
func (s *scanner) patch(j *job, w word) {
	j.ran = true
	if w.vague {
		s.doubt("a patch that is not known until it runs")
		s.touch(Effect{Kind: Write, Tree: true}, literal("."), j.st)
		return
	}
	begun := false
	var last string
	for line := range strings.Lines(w.text) {
		head, ok := strings.CutPrefix(strings.TrimSpace(line), "*** ")
		if !ok {
			continue
		}
		what, name, _ := strings.Cut(head, ": ")
		switch what {
		case "Begin Patch":
			begun = true
		case "End Patch", "End of File":
		case "Add File", "Update File":
			last = name
			s.touch(Effect{Kind: Write}, literal(name), j.st)
		case "Move to":
			s.touch(Effect{Kind: Delete}, literal(last), j.st)
			s.touch(Effect{Kind: Write}, literal(name), j.st)
		case "Delete File":
			s.touch(Effect{Kind: Delete}, literal(name), j.st)
		default:
			s.doubt("a line of a patch that is not known")
		}
	}
	if !begun {
		s.doubt("a patch in a form that is not known")
	}
}

// appliesDiffs reports a program that changes the files a diff on its input
// names.
func appliesDiffs(j *job) bool {
	words := j.entry.Words
	return j.name == "patch" || j.name == "git" && len(words) > 1 && (words[1] == "apply" || words[1] == "am")
}

// diff adds the files that a diff on the line itself names, with and without the
// folder that is left out by «-p1». That names a file too many, never one too few.
func (s *scanner) diff(j *job) {
	for line := range strings.Lines(j.in.text) {
		line = strings.TrimSpace(line)
		for _, head := range [...]string{"+++ ", "--- ", "*** ", "Index: ", "rename to ", "rename from ", "copy to "} {
			name, ok := strings.CutPrefix(line, head)
			if !ok {
				continue
			}
			name, _, _ = strings.Cut(name, "\t")
			if plain, err := strconv.Unquote(name); err == nil { // "b/\303\244.txt"
				name = plain
			}
			if name == "" || name == "/dev/null" {
				continue
			}
			if _, inner, ok := strings.Cut(name, "/"); ok && !strings.HasPrefix(name, "/") {
				s.touch(Effect{Kind: Write}, literal(inner), j.st)
			}
			s.touch(Effect{Kind: Write}, literal(name), j.st)
		}
	}
}
