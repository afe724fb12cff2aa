package codescan

import (
	"path"
	"strings"
)

// note writes down what one letter of a sink says about paths.
func (s *pyScan) note(letter byte, paths []string) {
	for _, p := range paths {
		switch letter {
		case 'r':
			s.r.Reads = append(s.r.Reads, p)
		case 'R':
			s.r.Reads = append(s.r.Reads, p, joinPath(p, "**"))
		case 'w':
			s.r.Writes = append(s.r.Writes, p)
		case 'W':
			s.r.Writes = append(s.r.Writes, p, joinPath(p, "**"))
		case 'd':
			s.r.Deletes = append(s.r.Deletes, p)
		case 'D':
			s.r.Deletes = append(s.r.Deletes, p, joinPath(p, "**"))
		}
	}
}

// sink judges a call that touches files: the receiver, if there is one, then
// the arguments of the bracket at i.
func (s *pyScan) sink(letters string, receiver *span, i int, what string) bool {
	args, ok := s.args(i)
	if !ok {
		return false
	}
	if receiver != nil {
		args = append([]span{*receiver}, args...)
	}
	if (what == "os.listdir" || what == "os.walk") && len(args) == 0 {
		s.note('r', []string{"."})
		return what == "os.listdir"
	}
	if len(args) < len(letters) {
		return false
	}
	var lists [][]string
	for k := range len(letters) {
		if s.tok(args[k].from + 1).is("=") {
			return false
		}
		list, ok := s.values(args[k])
		if !ok || strings.HasPrefix(what, "glob.") && !plainPatterns(list) {
			return false
		}
		s.note(letters[k], list)
		lists = append(lists, list)
	}
	for _, a := range args[len(letters):] {
		if !s.harmless(a) {
			return false
		}
	}
	switch what {
	case "shutil.copy", "shutil.copy2", "shutil.move": // the second may be a folder
		into, ok := combine(lists[1], lists[0], func(l, r string) string { return joinPath(l, path.Base(r)) })
		s.note('w', into)
		return ok
	}
	return true
}

// harmless accepts further arguments by name, except those that bring a
// function in or a folder to start from.
func (s *pyScan) harmless(a span) bool {
	if !s.tok(a.from + 1).is("=") {
		return true
	}
	switch s.list[a.from].word {
	case "encoding", "errors", "newline", "exist_ok", "parents", "missing_ok", "mode", "recursive", "ignore_errors", "dirs_exist_ok",
		"topdown", "follow_symlinks", "buffering", "data":
		return true
	}
	return false
}

// pathSink judges a method that touches the path it is called on.
func (s *pyScan) pathSink(word, letters string, i int) bool {
	base, ok := s.receiver(i - 1)
	if !ok {
		return false
	}
	switch word {
	case "open":
		return s.open(i, i+1, &base)
	case "glob", "rglob":
		list, ok := s.elements(span{base.from, s.list[i+1].pair + 1}, -1)
		s.note('r', list)
		return ok
	case "iterdir":
		list, ok := s.values(base)
		s.note('r', list)
		return ok
	case "mkdir":
		list, ok := s.values(base)
		s.note('w', list)
		args, fine := s.args(i + 1)
		for _, a := range args {
			fine = fine && s.harmless(a)
		}
		return ok && fine
	}
	return s.sink(letters, &base, i+1, word)
}

// receiver finds what stands before the dot at i.
func (s *pyScan) receiver(i int) (span, bool) {
	from := i
	for {
		k := from - 1
		t := s.tok(k)
		switch {
		case (t.is(")") || t.is("]")) && t.pair >= 0:
			from = t.pair
			if before := s.tok(from - 1); before.kind == name && !pyKeyword(before.word) || before.is(")") || before.is("]") {
				continue
			}
			return span{from, i}, true
		case t.kind == name && !pyKeyword(t.word):
			from = k
			if !s.tok(from - 1).is(".") {
				return span{from, i}, true
			}
			from--
		default:
			return span{}, false
		}
	}
}

// open judges a call of open: on a path if there is a receiver, else on the
// first argument.
func (s *pyScan) open(at, i int, receiver *span) bool {
	if !s.tok(i).is("(") || s.tok(at-1).is("def") {
		return false
	}
	args, ok := s.args(i)
	if !ok {
		return false
	}
	if receiver != nil {
		args = append([]span{*receiver}, args...)
	}
	if len(args) == 0 || s.tok(args[0].from+1).is("=") {
		return false
	}
	mode := "r"
	for k, a := range args[1:] {
		given := span{a.from, a.to}
		if s.tok(a.from + 1).is("=") {
			if !s.harmless(a) {
				return false
			}
			if s.list[a.from].word != "mode" {
				continue
			}
			given.from += 2
		} else if k > 0 {
			continue // buffering, encoding
		}
		list, ok := s.values(given)
		if !ok || len(list) != 1 {
			return false
		}
		mode = list[0]
	}
	list, ok := s.values(args[0])
	if !ok || len(args) > 5 {
		return false
	}
	if strings.ContainsAny(mode, "wax+") {
		s.note('w', list)
	}
	if !strings.ContainsAny(mode, "wax") || strings.Contains(mode, "+") {
		s.note('r', list)
	}
	return true
}

// roots judges what is done with the folders modules are looked for in.
func (s *pyScan) roots(i int) bool {
	word := s.tok(i + 2).word
	if !s.tok(i+1).is(".") || word != "insert" && word != "append" || !s.tok(i+3).is("(") {
		return false
	}
	s.list[i+2].held = true
	args, ok := s.args(i + 3)
	if !ok || len(args) == 0 || len(args) > 2 {
		return false
	}
	list, ok := s.values(args[len(args)-1])
	s.r.Roots = append(s.r.Roots, list...)
	return ok
}
