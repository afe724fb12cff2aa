package codescan

import (
	"path"
	"strings"
)

// A jsScan is one text in JavaScript under examination.
type jsScan struct {
	*lexer
	files    bool            // a whole program, whose files are followed
	counters map[string]bool // names that were found to hold numbers, or not
	paths    map[string]string
	r        Report
}

func scriptJavaScript(src string) (Report, bool) {
	x, ok := lexJavaScript(src, true)
	s := &jsScan{lexer: x, files: true, counters: map[string]bool{}, paths: map[string]string{}}
	ok = ok && s.check()
	return s.r, ok
}

func inertJavaScript(src string) bool {
	x, ok := lexJavaScript(src, false)
	s := &jsScan{lexer: x, counters: map[string]bool{}}
	if !ok || !s.check() {
		return false
	}
	for _, note := range x.notes {
		if !jsQuiet(note) || jsPragma(note) {
			return false
		}
	}
	for _, t := range x.list {
		w := t.word
		if t.kind == pattern {
			w = w[1:strings.LastIndexByte(w, '/')]
		}
		if (t.kind == text || t.kind == piece || t.kind == pattern) && !jsQuiet(w) {
			return false
		}
	}
	return true
}

// jsPragma reports whether a comment tells tools to load something.
func jsPragma(note string) bool {
	for _, w := range []string{"@jest", "@vitest", "@jsx", "<reference", "sourceMappingURL", "sourceURL", "@import", "webpack"} {
		if strings.Contains(note, w) {
			return true
		}
	}
	return false
}

func (s *jsScan) tok(i int) token {
	if i < 0 || i >= len(s.list) {
		return token{pair: -1, up: -1}
	}
	return s.list[i]
}

func (s *jsScan) dotted(i int) bool { return s.tok(i-1).is(".") || s.tok(i-1).is("?.") }

func (s *jsScan) check() bool {
	for i := range s.list {
		t := s.list[i]
		ok := true
		switch {
		case t.held:
		case t.kind == name && s.dotted(i):
			ok = s.attribute(i)
		case t.kind == name:
			ok = s.plain(i)
		case t.kind == text:
			ok = s.word(t.word)
		case t.is("["):
			ok = s.index(i)
		}
		if !ok {
			return false
		}
	}
	return true
}

// word judges a string literal as what it could be: the name of a property.
func (s *jsScan) word(w string) bool {
	return !strings.Contains(w, "constructor") && !strings.Contains(w, "prototype") && !strings.Contains(w, "__proto__")
}

// attribute judges the name i behind a dot.
func (s *jsScan) attribute(i int) bool {
	w := s.list[i].word
	switch {
	case strings.HasPrefix(w, "__"):
		return false
	case w == "exec":
		base := s.tok(i - 2)
		low := strings.ToLower(base.word)
		return base.kind == pattern || base.kind == name && (low == "re" || low == "regex" || low == "regexp" || low == "pattern")
	case w == "meta" && s.tok(i-2).is("import"):
		return false
	case s.files && jsSink(w) != "":
		return s.sink(i)
	}
	return !jsAttribute(w)
}

// plain judges a name that is no attribute.
func (s *jsScan) plain(i int) bool {
	w := s.list[i].word
	next := s.tok(i + 1)
	switch {
	case w == "with" || strings.HasPrefix(w, "__"):
		return false
	case w == "this":
		return next.is(".") || next.is("?.")
	case w == "import":
		return s.imports(i)
	case w == "from" && next.kind == text:
		return s.load(i+1, next.word)
	case w == "constructor":
		return s.method(i)
	case w == "require":
		return s.require(i)
	case w == "setTimeout" || w == "setInterval" || w == "queueMicrotask":
		return next.is("(") && (s.tok(i+2).is("function") || s.tok(i+2).is("(") && s.tok(i+3).is(")") && s.tok(i+4).is("=>"))
	case s.files && w == "process":
		return s.process(i)
	case s.files && w == "fs":
		return s.fs(i)
	case s.files && jsSink(w) != "":
		return s.imported(i) || s.sink(i)
	case w == "module":
		return next.is(".") && s.tok(i+2).is("exports")
	case !s.files && calls(next) && !s.tok(i-1).is("function") && actingName(w):
		return false
	case jsKeyword(w):
		return true
	}
	members, alone, known := jsGlobal(w)
	if known && (next.is(".") || next.is("?.")) {
		member := s.tok(i + 2)
		if member.kind != name || members != "*" && !listed(members, member.word) {
			return false
		}
		if members == "*" && (jsDanger(member.word) || strings.HasPrefix(member.word, "__")) {
			return false
		}
		s.list[i+2].held = true
		return true
	}
	return (!known || alone || s.key(i)) && !jsDanger(w)
}

// key reports whether the name i is the key of an object literal.
func (s *jsScan) key(i int) bool {
	return s.tok(i+1).is(":") && (s.tok(i-1).is("{") || s.tok(i-1).is(","))
}

// method accepts the definition of a constructor.
func (s *jsScan) method(i int) bool {
	before, open := s.tok(i-1), s.tok(i+1)
	return (before.is("{") || before.is("}") || before.is(";") || i == 0) && open.is("(") && open.pair > 0 && s.tok(open.pair+1).is("{")
}

// imports judges an import statement or call.
func (s *jsScan) imports(i int) bool {
	next := s.tok(i + 1)
	if next.kind == text { // loaded for nothing but what it does
		return s.files && s.load(i+1, next.word)
	}
	if !next.is("(") {
		return !next.is(".") // the module is judged behind «from»
	}
	return s.files && s.tok(i+2).kind == text && s.tok(i+3).is(")") && s.load(i+2, s.tok(i+2).word)
}

// require judges a call of require.
func (s *jsScan) require(i int) bool {
	m := s.tok(i + 2)
	if !s.tok(i+1).is("(") || m.kind != text || !s.tok(i+3).is(")") {
		return false
	}
	if s.files && (m.word == "fs" || m.word == "node:fs") {
		s.r.Standard = append(s.r.Standard, "fs")
		if s.tok(i + 4).is(".") {
			return jsSink(s.tok(i+5).word) != ""
		}
		return s.tok(i-1).is("=") && (s.tok(i-2).is("fs") || s.destructured(i-2)) && (s.tok(i+4).is(";") || s.tok(i+4).kind == end || s.tok(i+4).is("const"))
	}
	return s.load(i+2, m.word)
}

// destructured accepts a pattern of file functions that closes at i.
func (s *jsScan) destructured(i int) bool {
	shut := s.tok(i)
	if !shut.is("}") || shut.pair < 1 || !s.tok(shut.pair-1).is("const") {
		return false
	}
	for k := shut.pair + 1; k < i; k++ {
		if t := s.list[k]; !t.is(",") && jsSink(t.word) == "" {
			return false
		}
	}
	return true
}

// load judges that a module is loaded.
func (s *jsScan) load(i int, m string) bool {
	if strings.Contains(m, `\`) {
		return false
	}
	s.list[i].held = true
	switch {
	case strings.HasPrefix(m, "./") || strings.HasPrefix(m, "../"):
		if s.files && strings.HasSuffix(m, ".json") {
			s.r.Reads = append(s.r.Reads, m)
		} else {
			s.r.Modules = append(s.r.Modules, m)
		}
		return !strings.ContainsAny(m, "?#%*") && jsSource(m) && (s.files || !actingFile(m))
	case jsModule(m) && (!s.files || jsBuiltin(m)):
		s.r.Standard = append(s.r.Standard, m)
		return true
	case s.files && (m == "fs" || m == "node:fs") && s.tok(i-1).is("from"):
		s.r.Standard = append(s.r.Standard, "fs")
		return s.tok(i-2).is("fs") || s.tok(i-2).is("}")
	}
	return false
}

// jsSource reports whether a path names source text or data. Whatever else a
// program requires is run as source text too.
func jsSource(m string) bool {
	switch path.Ext(m) {
	case "", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx", ".json":
		return !strings.Contains(m[2:], "/../") && !strings.Contains(m, "node_modules")
	}
	return false
}

// index judges a bracket that may be an access by a computed name.
func (s *jsScan) index(i int) bool {
	before := s.tok(i - 1)
	shut := s.list[i].pair
	access := before.kind == name && (!jsKeyword(before.word) || s.dotted(i-1) || before.is("this") || before.is("super")) || before.is(")") || before.is("]") || before.is("}") ||
		before.kind == text || before.kind == closer || before.is("?.") || before.kind == pattern || before.is("!") || before.kind == end
	if !access && !before.is("{") && !before.is(",") {
		switch before.word {
		case "get", "set", "async", "static", "of", "type", "as", "from", "is", "let", "*", "readonly", "await", "yield":
			access = true // a name or a word of the language, who knows
		}
	}
	if !access {
		up := s.list[i].up
		inObject := up >= 0 && s.list[up].is("{") && (before.is("{") || before.is(",") || before.is(";"))
		return !inObject || shut > 0 && !s.tok(shut+1).is(":") && !s.tok(shut+1).is("(") && !s.tok(shut+1).is("=")
	}
	return shut > 0 && s.numeric(i+1, shut)
}

// numeric reports whether an index can only be a number, or a name that is
// written out and harmless. Only a sum could be a text.
func (s *jsScan) numeric(from, to int) bool {
	if from == to {
		return true // «string[]»
	}
	if to == from+1 {
		switch t := s.list[from]; t.kind {
		case number:
			return true
		case text:
			return !strings.Contains(t.word, `\`) && !jsAttribute(t.word) && !strings.HasPrefix(t.word, "__") && t.word != "exec"
		case name:
			return s.counts(t.word)
		}
		return false
	}
	sure := false
	for k := from; k < to; k++ {
		t := s.list[k]
		switch {
		case t.pair > k && t.is("("):
			k = t.pair
		case t.kind == number, t.kind == name && (!jsKeyword(t.word) || t.is("this")), t.is("."):
		case t.is("-"), t.is("*"), t.is("/"), t.is("%"), t.is("|"), t.is("&"), t.is(">>"), t.is(">>>"), t.is("<<"), t.is("^"), t.is("++"), t.is("--"):
			sure = true
		case t.is("+"):
			a, b := s.tok(k-1), s.tok(k+1)
			if k != from+1 || to != from+3 || a.kind != name || b.kind != number || !s.counts(a.word) {
				return false
			}
			sure = true
		default:
			return false
		}
	}
	return sure
}

// maxCounters is how many names may be looked at as counters.
const maxCounters = 32

// counts reports what counter does, and remembers it.
func (s *jsScan) counts(w string) bool {
	known, seen := s.counters[w]
	if !seen && len(s.counters) < maxCounters {
		known = s.counter(w)
		s.counters[w] = known
	}
	return known
}

// counter reports whether every place that gives the name a value gives it a
// number, and at least one does.
func (s *jsScan) counter(w string) bool {
	declared := false
	for i, t := range s.list {
		if t.kind != name || t.word != w {
			continue
		}
		if s.dotted(i) {
			return false // at the top «this.i» may be the same as «i»
		}
		before, next := s.tok(i-1), s.tok(i+1)
		switch {
		case before.is("let") || before.is("var") || before.is("const"):
			if !next.is("=") || s.tok(i+2).kind != number || !s.tok(i+3).is(";") && !s.tok(i+3).is(",") {
				return false
			}
			declared = true
		case next.is("++") || next.is("--") || before.is("++") || before.is("--"), next.is("<") || next.is(">") || next.is("<=") || next.is(">="),
			before.is("[") && next.is("]") && s.tok(i-2).kind == name && !jsKeyword(s.tok(i-2).word), next.is("-") || next.is("*") || next.is("%"), before.is("-"):
		case (next.is("+=") || next.is("-=")) && s.tok(i+2).kind == number && (s.tok(i+3).is(";") || s.tok(i+3).is(")")):
		case next.is("+") && s.tok(i+2).kind == number:
		case before.is("(") && next.is(")") && s.tok(i-2).kind == name && !jsKeyword(s.tok(i-2).word) && !s.tok(i+2).is("=>") && !s.tok(i+2).is("{") && !s.tok(i+2).is(":"):
		default:
			return false
		}
	}
	return declared
}
