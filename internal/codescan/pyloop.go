package codescan

import "strings"

// elements tells the values that a loop over a goes through; with a place, the
// values at that place in each of them.
func (s *pyScan) elements(a span, pos int) ([]string, bool) {
	s.fuel--
	if s.fuel < 0 || a.from >= a.to {
		return nil, false
	}
	first, last := s.list[a.from], s.list[a.to-1]
	switch {
	case (first.is("[") || first.is("(")) && first.pair == a.to-1:
		return s.row(a.from, pos)
	case first.kind == name && a.to == a.from+1:
		return s.listed(first.word, pos)
	case !last.is(")") || last.pair <= a.from:
		if pos < 0 && s.commaIn(a) { // «for f in "a", "b"»
			return s.spans(s.split(a), pos)
		}
		return nil, false
	}
	args, ok := s.args(last.pair)
	if !ok {
		return nil, false
	}
	callee := span{a.from, last.pair}
	switch s.global(callee) {
	case "sorted", "list", "tuple", "set", "reversed":
		if len(args) == 0 {
			return nil, false
		}
		return s.elements(args[0], pos)
	case "enumerate":
		if len(args) == 1 && pos == 1 {
			return s.elements(args[0], -1)
		}
		return nil, false
	case "glob.glob", "glob.iglob":
		return s.globbed(args, pos)
	case "os.listdir":
		return []string{"*"}, pos < 0
	case "os.walk":
		if pos == 0 && len(args) == 1 {
			return s.each(args[0], func(v string) string { return joinPath(v, "**") })
		}
		return nil, false
	}
	return s.pathElements(callee, args, pos)
}

// pathElements tells what the methods of a path list.
func (s *pyScan) pathElements(callee span, args []span, pos int) ([]string, bool) {
	if !s.tok(callee.to-2).is(".") || callee.to-2 <= callee.from || pos >= 0 {
		return nil, false
	}
	base, ok := s.values(span{callee.from, callee.to - 2})
	if !ok {
		return nil, false
	}
	switch word := s.list[callee.to-1].word; {
	case word == "iterdir" && len(args) == 0:
		return combine(base, []string{"*"}, joinPath)
	case (word == "glob" || word == "rglob") && len(args) == 1:
		patterns, ok := s.values(args[0])
		if !ok || !plainPatterns(patterns) {
			return nil, false
		}
		if word == "rglob" {
			if base, ok = combine(base, []string{"**"}, joinPath); !ok {
				return nil, false
			}
		}
		return combine(base, patterns, joinPath)
	}
	return nil, false
}

func (s *pyScan) globbed(args []span, pos int) ([]string, bool) {
	if len(args) == 0 || len(args) > 2 || pos >= 0 || len(args) == 2 && !s.tok(args[1].from).is("recursive") {
		return nil, false
	}
	list, ok := s.values(args[0])
	return list, ok && plainPatterns(list)
}

// plainPatterns accepts patterns with no other signs than the star.
func plainPatterns(list []string) bool {
	for _, p := range list {
		if strings.ContainsAny(p, "?[]") {
			return false
		}
	}
	return true
}

// row tells the values in the literal list whose bracket is at i.
func (s *pyScan) row(i, pos int) ([]string, bool) {
	args, ok := s.args(i)
	if !ok {
		return nil, false
	}
	return s.spans(args, pos)
}

func (s *pyScan) spans(args []span, pos int) ([]string, bool) {
	var out []string
	for _, a := range args {
		if pos >= 0 {
			first := s.list[a.from]
			inner, ok := s.args(a.from)
			if !ok || first.pair != a.to-1 || pos >= len(inner) || first.is("{") {
				return nil, false
			}
			a = inner[pos]
		}
		list, ok := s.values(a)
		if !ok || len(out)+len(list) > maxValues {
			return nil, false
		}
		out = append(out, list...)
	}
	return out, out != nil
}

func (s *pyScan) commaIn(a span) bool { return len(s.split(a)) > 1 }

// split cuts a at its commas.
func (s *pyScan) split(a span) []span {
	var out []span
	from := a.from
	for k := a.from; k <= a.to; k++ {
		if k < a.to && s.list[k].pair > k {
			k = s.list[k].pair
			continue
		}
		if k == a.to || s.list[k].is(",") {
			if k > from {
				out = append(out, span{from, k})
			}
			from = k + 1
		}
	}
	return out
}

// listed tells the values in a list that a variable holds, if nothing but
// loops ever see the list.
func (s *pyScan) listed(word string, pos int) ([]string, bool) {
	var out []string
	at := map[int]bool{}
	for _, b := range s.binds[word] {
		at[b.at] = true
		list, ok := []string{"*"}, pos < 0 && b.how == looped && b.pos > 0 && s.walks(b.span)
		if b.how == assigned {
			list, ok = s.elements(b.span, pos)
		}
		if !ok {
			return nil, false
		}
		out = append(out, list...)
	}
	for i, t := range s.list {
		if t.kind != name || t.word != word || at[i] || s.tok(i-1).is(".") {
			continue
		}
		before := s.tok(i - 1)
		switch s.tok(i - 2).word {
		case "sorted", "len", "print", "enumerate", "reversed":
			if before.is("(") {
				continue
			}
		}
		if !before.is("in") || s.tok(i+1).is(".") || s.tok(i+1).is("[") {
			return nil, false
		}
	}
	s.fuel -= len(s.list) / 16
	return out, out != nil && len(out) <= maxValues
}

// walks reports whether a is a walk through folders.
func (s *pyScan) walks(a span) bool {
	last := s.list[a.to-1]
	return last.is(")") && last.pair > a.from && s.global(span{a.from, last.pair}) == "os.walk"
}

// passed tells what the calls of a function pass for one of its parameters.
func (s *pyScan) passed(b bind) ([]string, bool) {
	if len(s.binds[b.def]) != 1 {
		return nil, false
	}
	word := s.list[b.at].word
	var out []string
	for i, t := range s.list {
		if t.kind != name || t.word != b.def || s.tok(i-1).is("def") {
			continue
		}
		if s.tok(i-1).is(".") || !s.tok(i+1).is("(") {
			return nil, false
		}
		args, ok := s.args(i + 1)
		if !ok {
			return nil, false
		}
		given := b.span
		if b.pos < len(args) && !s.tok(args[b.pos].from+1).is("=") {
			given = args[b.pos]
		}
		for _, a := range args {
			if s.list[a.from].is(word) && s.tok(a.from+1).is("=") {
				given = span{a.from + 2, a.to}
			}
		}
		list, ok := s.values(given)
		if !ok || len(out)+len(list) > maxValues {
			return nil, false
		}
		out = append(out, list...)
	}
	s.fuel -= len(s.list) / 16
	return out, out != nil
}
