package shellscan

import (
	"path"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/codescan"
)

// inline reads a program that stands on the line itself, and reports whether
// all it does is known. Then what it touches is noted as if commands did it.
func (s *scanner) inline(j *job, text string) bool {
	r := codescan.Script(interpreted(j.name), text)
	if !r.Understood || j.p.has("-i", "--interactive", "-m") {
		return false
	}
	j.ran, j.part.Inline = true, true
	s.handles(j, Read, r.Reads)
	s.handles(j, Write, r.Writes)
	s.handles(j, Delete, r.Deletes)
	j.part.Effects = slices.DeleteFunc(j.part.Effects, func(e floodmark.Effect) bool { return e == floodmark.Run })
	if len(r.Modules) > 0 || len(r.Roots) > 0 { // a root comes before the standard library
		j.effect(floodmark.Run)
		for _, root := range append([]string{"."}, r.Roots...) {
			s.touch(Effect{Kind: Execute, Tree: true}, literal(root), j.st)
		}
	}
	for _, name := range r.Standard { // the folder it runs in comes first
		for _, dir := range j.st.dirs {
			s.hook(path.Join(dir, strings.ReplaceAll(name, ".", "/")+".py"))
		}
	}
	if len(r.Standard) > 0 && j.st.dirs == nil && interpreted(j.name) == codescan.Python {
		s.doubt("it is not known in which folder it works")
	}
	return true
}

// handles notes the files a program names.
func (s *scanner) handles(j *job, k Kind, paths []string) {
	for _, p := range paths {
		s.touch(Effect{Kind: k, Tree: k == Delete}, word{text: p, glob: strings.ContainsAny(p, "*?[")}, j.st)
	}
}

// interpreted is the language an interpreter reads.
func interpreted(name string) codescan.Language {
	switch strings.TrimRight(name, "0123456789.") {
	case "python", "pypy":
		return codescan.Python
	case "node", "nodejs", "bun":
		return codescan.JavaScript
	}
	return ""
}
