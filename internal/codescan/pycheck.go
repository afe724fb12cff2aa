package codescan

import "strings"

// check looks at every token that is a name, a field or a target.
func (s *pyScan) check() bool {
	if !s.targets() {
		return false
	}
	for i := range s.list {
		t := s.list[i]
		if t.is("case") || t.is("match") {
			s.cases = true
		}
	}
	for i := range s.list {
		t := s.list[i]
		ok := true
		switch {
		case t.held:
		case t.kind == name && s.tok(i-1).is("."):
			ok = s.attribute(i)
		case t.kind == name:
			ok = s.plain(i)
		}
		if !ok {
			return false
		}
	}
	return true
}

func assigns(w string) bool {
	switch w {
	case "==", "!=", "<=", ">=", ":=":
		return false
	}
	return strings.HasSuffix(w, "=")
}

// plain judges a name that is no attribute.
func (s *pyScan) plain(i int) bool {
	w := s.list[i].word
	next := s.tok(i + 1)
	switch {
	case pyKeyword(w):
		return w != "del" || s.spared(i+1)
	case next.is("=") && s.inCall(i): // the name of an argument
		return w != "metaclass" && w != "opener" && !strings.HasPrefix(w, "__") && (!s.cases || !pyAttribute(w) && !strings.HasPrefix(w, "_"))
	case s.env[w] != "":
		return s.resolved(i)
	case strings.HasPrefix(w, "__"):
		return s.dunder(i)
	case w == "type":
		return next.is("(") && s.count(i+1) == 1
	case w == "open":
		return s.files && s.open(i, i+1, nil)
	case pyDanger(w), !s.files && (pyFixture(w) || calls(next) && !s.tok(i-1).is("def") && actingName(w)):
		return false
	}
	if members, _ := pyMembers(w, false); members != "" && next.is(".") && s.tok(i+2).kind == name && listed(members, s.tok(i+2).word) && !s.files {
		s.list[i+2].held = true
		return s.tok(i+2).word != "main" || s.tok(i+3).is("(") && s.count(i+3) == 0
	}
	return true
}

// dunder judges a plain name with two underscores before it.
func (s *pyScan) dunder(i int) bool {
	switch w := s.list[i].word; w {
	case "__name__", "__all__", "__version__", "__author__", "__slots__", "__":
		return true
	default:
		return s.tok(i-1).is("def") && pyDunder(w)
	}
}

// inCall reports whether the innermost bracket around i is a call's.
func (s *pyScan) inCall(i int) bool {
	up := s.list[i].up
	return up >= 0 && s.list[up].is("(")
}

// count counts the arguments between the bracket at i and its partner; -1 if
// they are not all there or some are unpacked.
func (s *pyScan) count(i int) int {
	args, ok := s.args(i)
	if !ok {
		return -1
	}
	return len(args)
}

// A span is a row of tokens, the last one not included.
type span struct{ from, to int }

// args splits what stands between the bracket at i and its partner.
func (s *pyScan) args(i int) ([]span, bool) {
	last := s.tok(i).pair
	if last < 0 {
		return nil, false
	}
	var list []span
	from := i + 1
	for k := from; k <= last; k++ {
		t := s.list[k]
		if k < last && t.pair > k {
			k = t.pair
			continue
		}
		if k == last || t.is(",") {
			if k > from {
				if s.list[from].is("*") || s.list[from].is("**") {
					return nil, false
				}
				list = append(list, span{from, k})
			}
			from = k + 1
		}
		if t.is("for") && k < last { // a generator is one argument of unknown content
			return []span{{i + 1, last}}, true
		}
	}
	return list, true
}

// resolved judges a name that an import of a known module has bound.
func (s *pyScan) resolved(i int) bool {
	what := s.env[s.list[i].word]
	for {
		members, _ := pyMembers(what, s.files)
		if members == "" {
			break
		}
		t := s.tok(i + 2)
		if !s.tok(i+1).is(".") || t.kind != name {
			return false // a module is no value
		}
		_, mods := pyMembers(what, s.files)
		if !listed(members, t.word) && !listed(mods, t.word) {
			return false
		}
		what += "." + t.word
		s.list[i+2].held = true
		i += 2
	}
	next := s.tok(i + 1)
	switch what {
	case "unittest.main":
		return !s.files && next.is("(") && s.count(i+1) == 0
	case "sys.argv", "sys.stdin":
		s.r.Arguments = true
	case "sys.path":
		return s.roots(i)
	case "pathlib.Path", "pathlib.PurePath", "pathlib.PurePosixPath":
		return next.is("(")
	}
	if letters := pySink(what); letters != "" {
		return next.is("(") && s.sink(letters, nil, i+1, what)
	}
	return true
}

// attribute judges the name i behind a dot.
func (s *pyScan) attribute(i int) bool {
	w := s.list[i].word
	call := s.tok(i + 1).is("(")
	base := s.tok(i - 2)
	switch {
	case w == "format":
		return s.formats(i - 2)
	case w == "replace":
		return call && s.replaces(i)
	case strings.HasPrefix(w, "__"):
		return w == "__name__" || w == "__doc__" || w == "__init__" && call && base.is(")") && base.pair > 0 && s.tok(base.pair-1).is("super")
	case strings.HasPrefix(w, "_"):
		return (base.is("self") || base.is("cls")) && !(s.files && s.usesPaths()) && !pyModule(strings.TrimLeft(w, "_"))
	}
	if s.files {
		if letters := pyPathSink(w); letters != "" {
			return call && s.pathSink(w, letters, i)
		}
		if !s.project && !pyMethod(w) && !s.own[w] {
			return false
		}
	}
	return !pyAttribute(w)
}

func (s *pyScan) usesPaths() bool {
	for _, what := range s.env {
		if strings.HasPrefix(what, "pathlib") {
			return true
		}
	}
	return false
}

// formats accepts a literal's own format method where no field of the literal
// looks into what it shows.
func (s *pyScan) formats(i int) bool {
	if t := s.tok(i); t.is(")") && t.pair >= 0 {
		for k := t.pair + 1; k < i; k++ {
			if s.list[k].kind != text || !plainFields(s.list[k].word) {
				return false
			}
		}
		return i > t.pair+1
	}
	if s.tok(i).kind != text {
		return false
	}
	for ; s.tok(i).kind == text; i-- {
		if !plainFields(s.list[i].word) {
			return false
		}
	}
	return s.tok(i).kind != closer
}

// plainFields reports whether the fields of a format name no attributes or
// items. A dot is fine only behind the colon.
func plainFields(s string) bool {
	if strings.ContainsAny(s, "\\[") {
		return !strings.Contains(s, "{") || !strings.ContainsAny(s, "\\[")
	}
	for {
		i := strings.IndexByte(s, '{')
		if i < 0 {
			return true
		}
		s = s[i+1:]
		field := s[:strings.IndexAny(s+"}", ":}")]
		if strings.Contains(field, ".") {
			return false
		}
	}
}

// replaces tells the method of strings and dates from that of paths, which
// moves a file.
func (s *pyScan) replaces(i int) bool {
	args, ok := s.args(i + 1)
	if !ok {
		return false
	}
	for _, a := range args {
		if !s.tok(a.from + 1).is("=") {
			continue
		}
		switch s.list[a.from].word {
		case "year", "month", "day", "hour", "minute", "second", "microsecond", "tzinfo", "fold", "count":
		default:
			return false
		}
	}
	if len(args) == 1 && !s.tok(args[0].from+1).is("=") {
		return s.files && s.pathSink("replace", "dw", i)
	}
	return len(args) > 0
}

// targets looks whether a part of a module is assigned to, in any of the ways
// Python has.
func (s *pyScan) targets() bool {
	start, bound, hot := 0, 0, -1 // a statement, a part of it, the last module in it
	for i, t := range s.list {
		if t.kind == name && s.env[t.word] != "" && !t.held && !s.tok(i-1).is(".") {
			hot = i
		}
		switch {
		case t.is("for") && !s.spared(i+1), t.is("as") && (s.tok(i+1).is("(") || s.tok(i+1).is("[") || s.tok(i+2).is(".")):
			return false
		case t.up >= 0:
		case t.kind == newline || t.is(";"):
			start, bound = i+1, i+1
		case t.is(":"):
			if hot >= bound && !pyKeyword(s.tok(start).word) && bound == start {
				return false
			}
			bound = i + 1
			if s.annotates(start, i) {
				hot = -1
				bound = len(s.list)
			}
		case t.kind == op && assigns(t.word):
			if hot >= bound {
				return false
			}
			bound = i + 1
		}
	}
	return true
}

// annotates reports whether the colon i is that of «x: T».
func (s *pyScan) annotates(start, i int) bool {
	for k := start; k < i; k++ {
		if t := s.list[k]; (k-start)%2 == 1 && !t.is(".") || (k-start)%2 == 0 && (t.kind != name || pyKeyword(t.word)) || k-start > maxTargets {
			return false
		}
	}
	return (i-start)%2 == 1
}

// maxTargets is how many tokens the target of a loop may have.
const maxTargets = 64

// spared reports whether no module's part stands from i to where the targets
// of a loop or of a deletion end.
func (s *pyScan) spared(i int) bool {
	for from := i; !s.ends(i) && !s.tok(i).is("in"); i++ {
		if t := s.tok(i); s.env[t.word] != "" && !s.tok(i-1).is(".") || i-from > maxTargets {
			return false
		}
	}
	return true
}
