package codescan

import (
	"path"
	"strings"
)

const (
	// maxFollowed is how many steps values are followed in one text.
	maxFollowed = 20_000
	// maxValues is how many values one expression may have.
	maxValues = 64
)

// values tells which texts the expression a can have, if it is made of
// literals only: as strings, or as paths.
func (s *pyScan) values(a span) ([]string, bool) {
	s.fuel--
	if s.fuel < 0 || a.from >= a.to {
		return nil, false
	}
	if first := s.list[a.from]; first.is("(") && first.pair == a.to-1 {
		return s.values(span{a.from + 1, a.to - 1})
	}
	if at := s.operatorIn(a); at > 0 {
		left, ok := s.values(span{a.from, at})
		right, ok2 := s.values(span{at + 1, a.to})
		if !ok || !ok2 {
			return nil, false
		}
		if s.list[at].is("+") {
			return combine(left, right, func(l, r string) string { return l + r })
		}
		return combine(left, right, joinPath)
	}
	switch first := s.list[a.from]; first.kind {
	case text, opener:
		return s.literal(a)
	case name:
		if a.to == a.from+1 {
			return s.variable(first.word)
		}
		return s.called(a)
	}
	return nil, false
}

// operatorIn finds the last operator of a that is not in brackets: 0 for none,
// -1 for one that is not followed.
func (s *pyScan) operatorIn(a span) int {
	found := 0
	for k := a.from; k < a.to; k++ {
		t := s.list[k]
		if t.kind == opener {
			for ; k < a.to && s.list[k].kind != closer; k++ {
			}
			continue
		}
		if t.pair > k {
			k = t.pair
			continue
		}
		if t.kind == op && (t.word == "/" || t.word == "+") && k > a.from {
			found = k
		}
	}
	return found
}

func combine(left, right []string, f func(l, r string) string) ([]string, bool) {
	if len(left)*len(right) > maxValues {
		return nil, false
	}
	out := make([]string, 0, len(left)*len(right))
	for _, l := range left {
		for _, r := range right {
			out = append(out, f(l, r))
		}
	}
	return out, true
}

func joinPath(l, r string) string {
	switch {
	case strings.HasPrefix(r, "/") || l == "" || l == ".":
		return r
	case strings.HasSuffix(l, "/"):
		return l + r
	}
	return l + "/" + r
}

// literal reads one string literal, or several that stand side by side.
func (s *pyScan) literal(a span) ([]string, bool) {
	out := []string{""}
	for k := a.from; k < a.to; k++ {
		t := s.list[k]
		part := []string{t.word}
		switch {
		case strings.Contains(t.mark, "b"):
			return nil, false
		case t.kind == text && !strings.ContainsAny(t.word, "\\\x00"):
		case t.kind == piece && !strings.ContainsAny(t.word, "\\{}"):
		case t.kind == opener || t.kind == closer:
			continue
		case t.is("{") && t.pair > k && s.tok(k-1).kind != name:
			var ok bool
			if part, ok = s.values(span{k + 1, t.pair}); !ok {
				return nil, false
			}
			k = t.pair
		default:
			return nil, false
		}
		var ok bool
		if out, ok = combine(out, part, func(l, r string) string { return l + r }); !ok {
			return nil, false
		}
	}
	return out, true
}

// variable tells the values of a name: those of every place that binds it.
func (s *pyScan) variable(word string) ([]string, bool) {
	if list, ok := s.known[word]; ok {
		return list, list != nil
	}
	s.known[word] = nil // while it is being followed, it is not known
	var out []string
	for _, b := range s.binds[word] {
		list, ok := s.bound(b)
		if !ok || len(out)+len(list) > maxValues {
			return nil, false
		}
		out = append(out, list...)
	}
	if out != nil {
		s.known[word] = out
	}
	return out, out != nil
}

func (s *pyScan) bound(b bind) ([]string, bool) {
	switch b.how {
	case assigned:
		return s.values(b.span)
	case looped:
		return s.elements(b.span, b.pos)
	case parameter:
		return s.passed(b)
	}
	return nil, false
}

// called tells what a call or a chain of attributes gives. The last link of
// the chain decides, the rest is followed in turn.
func (s *pyScan) called(a span) ([]string, bool) {
	last := s.list[a.to-1]
	if last.kind == name && s.tok(a.to-2).is(".") && last.word == "parent" {
		return s.each(span{a.from, a.to - 2}, func(v string) string { return path.Dir(v) })
	}
	if !last.is(")") || last.pair <= a.from {
		return nil, false
	}
	args, ok := s.args(last.pair)
	if !ok {
		return nil, false
	}
	callee := span{a.from, last.pair}
	switch s.global(callee) {
	case "pathlib.Path", "pathlib.PurePath", "pathlib.PurePosixPath", "os.path.join":
		return s.joined([]string{""}, args)
	case "str", "os.path.abspath", "os.path.normpath", "os.path.realpath":
		if len(args) == 1 {
			return s.values(args[0])
		}
		return nil, false
	case "os.path.dirname":
		if len(args) == 1 {
			return s.each(args[0], path.Dir)
		}
		return nil, false
	}
	if !s.tok(callee.to-2).is(".") || callee.to-2 <= callee.from {
		return nil, false
	}
	return s.method(span{callee.from, callee.to - 2}, s.list[callee.to-1].word, args)
}

// method tells what a method of a path gives.
func (s *pyScan) method(base span, word string, args []span) ([]string, bool) {
	switch {
	case word == "joinpath":
		from, ok := s.values(base)
		if !ok {
			return nil, false
		}
		return s.joined(from, args)
	case (word == "resolve" || word == "absolute" || word == "as_posix") && len(args) == 0:
		return s.values(base)
	case (word == "with_suffix" || word == "with_name") && len(args) == 1:
		from, ok := s.values(base)
		to, ok2 := s.values(args[0])
		if !ok || !ok2 {
			return nil, false
		}
		return combine(from, to, func(l, r string) string {
			if word == "with_name" {
				return joinPath(path.Dir(l), r)
			}
			return strings.TrimSuffix(l, path.Ext(l)) + r
		})
	}
	return nil, false
}

// each changes every value of a, if none of them is a pattern.
func (s *pyScan) each(a span, f func(string) string) ([]string, bool) {
	list, ok := s.values(a)
	if !ok {
		return nil, false
	}
	out := make([]string, len(list))
	for i, v := range list {
		if strings.Contains(v, "*") {
			return nil, false
		}
		out[i] = f(v)
	}
	return out, true
}

func (s *pyScan) joined(out []string, args []span) ([]string, bool) {
	if len(args) == 0 && out[0] == "" {
		return []string{"."}, true
	}
	for _, a := range args {
		list, ok := s.values(a)
		if !ok {
			return nil, false
		}
		if out, ok = combine(out, list, joinPath); !ok {
			return nil, false
		}
	}
	return out, true
}

// global tells what a dotted name means, if an import or Python bound it.
func (s *pyScan) global(a span) string {
	what := ""
	for k := a.from; k < a.to; k++ {
		t := s.list[k]
		switch {
		case (k-a.from)%2 == 1:
			if !t.is(".") {
				return ""
			}
		case t.kind != name:
			return ""
		case k > a.from:
			what += "." + t.word
		case s.env[t.word] != "":
			what = s.env[t.word]
		case pyBuiltin(t.word) && len(s.binds[t.word]) == 0:
			what = t.word
		default:
			return ""
		}
	}
	return what
}
