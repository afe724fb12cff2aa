package shellscan

import (
	"strconv"
	"strings"
)

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
