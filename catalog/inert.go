package catalog

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark/internal/codescan"
	"github.com/floodmark/floodmark/internal/shellscan"
)

// inertPuts are the files into which a line writes nothing but text that stands
// on it and can only compute when it is run.
func inertPuts(r *shellscan.Report) []string {
	texts := map[string]int{} // how often each was written with text that is known
	var list []string
	for _, p := range r.Puts {
		if !Inert(p.Path, p.Text) {
			texts[p.Path] = -len(r.Effects) - len(r.Puts) - 1 // no others make up for it
		}
		texts[p.Path]++
	}
	for i := range r.Effects {
		e := &r.Effects[i]
		if e.Kind == shellscan.Write && !e.Pattern && !e.Tree && codescan.Of(e.Path) == codescan.Prose && !slices.Contains(list, e.Path) {
			list = append(list, e.Path) // whatever it says
			continue
		}
		if e.Kind != shellscan.Write || e.Pattern || e.Tree || texts[e.Path] <= 0 || slices.Contains(list, e.Path) {
			continue
		}
		n := 0
		for k := range r.Effects {
			if o := &r.Effects[k]; o.Kind == shellscan.Write && o.Path == e.Path {
				n++
			}
		}
		if n == texts[e.Path] {
			list = append(list, e.Path)
		}
	}
	return list
}

// Inert reports whether text in a file can only compute when that is run. An
// edge must not make another word of what it is put beside.
func Inert(path, text string) bool {
	return codescan.Inert(codescan.Of(path), text)
}

// InertEdit reports the same of text that takes the place of other text: what
// stands at its edges is what stood there before, or no word.
func InertEdit(path, old, text string) bool {
	if !Inert(path, text) {
		return false
	}
	first, last := edges(text)
	wasFirst, wasLast := edges(old)
	return (first == "" || first == wasFirst) && (last == "" || last == wasLast)
}

// edges are the words a text begins and ends with, if it does.
func edges(text string) (first, last string) {
	if i := strings.IndexFunc(text, notInWord); i >= 0 {
		first = text[:i]
		last = text[strings.LastIndexFunc(text, notInWord)+1:]
		return first, strings.TrimLeftFunc(last, notInWord)
	}
	return text, text
}

func notInWord(c rune) bool {
	return !(c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= 0x80)
}
