package codescan

// A bind is one place where a name gets a value. The zero bind gives it one
// that nobody knows.
type bind struct {
	how  how
	at   int  // where the name stands
	span span // of what it is: an expression, or what a loop goes through
	pos  int  // which of several: a place in a row, or in a list of arguments; -1 for the whole
	def  string
}

type how uint8

const (
	unknown   how = iota
	assigned      // «x = span»
	looped        // «for x in span»
	parameter     // of the function def
)

func (s *pyScan) add(name string, b bind) { s.binds[name] = append(s.binds[name], b) }

// addAll notes that every name from..to may get a value that nobody knows.
func (s *pyScan) addAll(from, to int) {
	for i := max(0, from); i < to && i < len(s.list); i++ {
		if t := s.list[i]; t.kind == name && !s.tok(i-1).is(".") && !pyKeyword(t.word) {
			s.add(t.word, bind{at: i})
		}
	}
}

// bindings finds every place where the text binds a name, and is false where
// that cannot be told or what an import brought is bound again.
func (s *pyScan) bindings() bool {
	start := 0
	for i, t := range s.list {
		if t.kind == newline || t.is(";") {
			start = i + 1
		}
		if t.is("@") && i == start {
			s.decorated = true // then nobody knows what calls its functions
		}
		if next := s.tok(i + 1); t.kind == name && (next.is("=") || next.is(":")) {
			s.own[t.word] = true
		}
		ok := true
		switch {
		case t.kind == op && t.up < 0 && assigns(t.word):
			start = s.bindAssigned(start, i)
		case t.is(":") && t.up < 0 && pyKeyword(s.tok(start).word):
			start = i + 1
		case t.is(":="):
			s.addAll(i-1, i)
		case t.kind != name || s.tok(i-1).is("."):
		default:
			ok = s.bindWord(i)
		}
		if !ok {
			return false
		}
	}
	return s.unshadowed()
}

// unshadowed wants the names whose meaning is relied on to be bound once.
func (s *pyScan) unshadowed() bool {
	for word := range s.binds {
		switch word {
		case "open", "str", "sorted", "list", "tuple", "set", "type", "super", "enumerate", "reversed":
			return false
		}
		if _, imported := s.env[word]; imported {
			return false
		}
	}
	return true
}

// bindAssigned notes the targets from start to the sign at i.
func (s *pyScan) bindAssigned(start, i int) int {
	if i == start+1 && s.list[i].word == "=" && s.list[start].kind == name {
		to := s.statementEnd(i)
		s.add(s.list[start].word, bind{how: assigned, at: start, span: span{i + 1, to}, pos: -1})
		return i + 1
	}
	for k := start; k < i; k++ {
		t := s.list[k]
		if t.is(":") && t.up < 0 && s.annotates(start, k) {
			break // a type follows
		}
		if t.pair > k && k > start && (s.list[k-1].kind == name || s.list[k-1].is(")") || s.list[k-1].is("]")) {
			k = t.pair // an index or a call binds nothing
			continue
		}
		if t.kind == name && s.tok(k-1).is(".") {
			s.own[t.word] = true
		} else if t.kind == name && !s.tok(k+1).is(".") && !s.tok(k+1).is("[") && !pyKeyword(t.word) {
			s.add(t.word, bind{at: k})
		}
	}
	return i + 1
}

// statementEnd is where the statement around i ends. Another sign of
// assignment ends it too: then it is a row of targets, which is unknown.
func (s *pyScan) statementEnd(i int) int {
	for i++; !s.ends(i) || s.tok(i).up >= 0; i++ {
		if t := s.tok(i); t.kind == end {
			break
		} else if t.up < 0 && t.kind == op && assigns(t.word) {
			return i + 1
		}
		if p := s.tok(i).pair; p > i {
			i = p
		}
	}
	return i
}

// bindWord notes what the word i binds, if it is one of those that do.
func (s *pyScan) bindWord(i int) bool {
	switch s.list[i].word {
	case "for":
		return s.bindLoop(i)
	case "as":
		if !s.tok(i + 1).held {
			s.addAll(i+1, i+2)
		}
	case "def":
		return s.bindDef(i)
	case "class":
		if s.tok(i + 2).is("[") {
			return false
		}
		s.addAll(i+1, i+2)
	case "lambda":
		for k := i + 1; !s.tok(k).is(":"); k++ {
			if s.tok(k).kind == end || k-i > maxTargets {
				return false
			}
			s.addAll(k, k+1)
		}
	case "del", "global", "nonlocal", "case":
		k := i
		for ; !s.ends(k) && k-i < maxTargets; k++ {
		}
		s.addAll(i+1, k)
		return k-i < maxTargets
	}
	return true
}

// bindLoop notes the targets of a loop or of a comprehension.
func (s *pyScan) bindLoop(i int) bool {
	in := i + 1
	for ; !s.tok(in).is("in"); in++ {
		if s.tok(in).kind == end || in-i > maxTargets {
			return false
		}
	}
	to := in + 1
	for up := s.list[i].up; ; to++ {
		t := s.tok(to)
		if t.pair > to {
			to = t.pair
			continue
		}
		if t.kind == end || t.kind == newline || t.is(":") || t.is("for") || t.is("if") || t.is("async") || t.pair >= 0 && t.pair == up {
			break
		}
	}
	where := span{in + 1, to}
	if in == i+2 {
		s.add(s.list[i+1].word, bind{how: looped, at: i + 1, span: where, pos: -1})
		return true
	}
	for k, pos := i+1, 0; k < in; k++ {
		switch t := s.list[k]; {
		case t.is(","):
			pos++
		case t.kind == name && t.up == s.list[i].up && !s.tok(k-1).is("*") && !s.tok(k+1).is("."):
			s.add(t.word, bind{how: looped, at: k, span: where, pos: pos})
		default:
			s.addAll(i+1, in) // nested or starred
			return true
		}
	}
	return true
}

// bindDef notes a function and its parameters.
func (s *pyScan) bindDef(i int) bool {
	f, open := s.tok(i+1), s.tok(i+2)
	if f.kind != name || !open.is("(") || open.pair < 0 {
		return false
	}
	s.own[f.word] = true
	s.add(f.word, bind{at: i + 1})
	args, ok := s.args(i + 2)
	if !ok || s.decorated {
		s.addAll(i+3, open.pair)
		return true
	}
	for pos, a := range args {
		b := bind{how: parameter, at: a.from, pos: pos, def: f.word}
		for k := a.from; k < a.to; k++ {
			if s.list[k].is("=") && s.list[k].up == i+2 {
				b.span = span{k + 1, a.to}
				break
			}
		}
		if s.list[a.from].kind == name {
			s.add(s.list[a.from].word, b)
		}
	}
	return true
}
