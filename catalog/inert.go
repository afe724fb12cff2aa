package catalog

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/floodmark/floodmark/internal/codescan"
	"github.com/floodmark/floodmark/internal/shellscan"
)

// inertPuts are the files into which a line writes nothing but text that stands
// on it and can only compute when it is run.
func inertPuts(r *shellscan.Report) []string {
	texts := map[string]int{} // how often each was written with text that is known
	var list []string
	for _, p := range r.Puts {
		if !strings.HasSuffix(p.Text, "\n") || !Inert(p.Path, p.Text) { // another text may follow on the same line
			texts[p.Path] = -len(r.Effects) - len(r.Puts) - 1 // no others make up for it
		}
		texts[p.Path]++
	}
	for i := range r.Effects {
		e := &r.Effects[i]
		if e.Kind == shellscan.Write && !e.Pattern && !e.Tree && codescan.Of(e.Path) == codescan.Prose && !strings.Contains(strings.ToLower(e.Path), "test") && !slices.Contains(list, e.Path) {
			list = append(list, e.Path) // whatever it says; pytest runs the examples in test*.txt
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

// Climbs is how many folders up a text names something: what lies outside of the
// project is not what the project's own tests load.
func Climbs(text string) int {
	most := 0
	for i := 0; i+2 < len(text); i++ {
		n := 0
		for ; strings.HasPrefix(text[i:], "../") || strings.HasPrefix(text[i:], `..\`); i += 3 {
			n++
		}
		most = max(most, n)
	}
	return most
}

// InertEdit reports the same of text that takes the place of other text. Both
// must begin alike and end alike, so that nothing around them is joined anew,
// comes out of a comment or becomes part of something else.
func InertEdit(path, old, text string) bool {
	return Inert(path, text) && head(old) != "" && head(old) == head(text) && tail(old) == tail(text)
}

// head is what a text begins with: blanks, a word that may be only the end of
// one, and what follows it. It is empty if the text is no longer than that.
func head(text string) string {
	rest := strings.TrimLeft(text, " \t")
	rest = strings.TrimLeft(rest[strings.IndexFunc(rest+"\n", notInWord):], " \t")
	if rest == "" {
		return ""
	}
	_, size := utf8.DecodeRuneInString(rest)
	return text[:len(text)-len(rest)+size]
}

// tail is the same of its end.
func tail(text string) string {
	rest := strings.TrimRightFunc(strings.TrimRight(text, " \t"), func(c rune) bool { return !notInWord(c) })
	rest = strings.TrimRight(rest, " \t")
	_, size := utf8.DecodeLastRuneInString(rest)
	return text[len(rest)-size:]
}

func notInWord(c rune) bool {
	return !(c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= 0x80)
}
