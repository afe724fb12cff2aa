package shellscan

import "strings"

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
