package codescan

import "strings"

// A pyScan is one Python text under examination.
type pyScan struct {
	*lexer
	files     bool              // a whole program, whose files are followed
	env       map[string]string // names that imports bound, with what they are; empty for modules of the project
	binds     map[string][]bind // names that the text binds otherwise
	own       map[string]bool   // attributes that the text defines
	project   bool              // something of the project is loaded
	decorated bool
	cases     bool                // it may match patterns, where keywords are attributes
	fuel      int                 // how much may still be followed
	known     map[string][]string // values that were followed
	r         Report
}

func scriptPython(src string) (Report, bool) {
	x, ok := lexPython(src, true)
	s := &pyScan{lexer: x, files: true, env: map[string]string{}, binds: map[string][]bind{}, own: map[string]bool{}, fuel: maxFollowed, known: map[string][]string{}}
	if !ok || !s.imports() || !s.bindings() {
		return Report{}, false
	}
	ok = s.check()
	return s.r, ok
}

func inertPython(src string) bool {
	x, ok := lexPython(src, false)
	s := &pyScan{lexer: x, env: map[string]string{}}
	if !ok || !s.imports() || !s.check() {
		return false
	}
	for _, note := range x.notes {
		if !pyQuiet(note) {
			return false
		}
	}
	for i := range x.list {
		if k := x.list[i].kind; (k == text || k == piece) && !pyQuiet(x.list[i].word) {
			return false
		}
	}
	return true
}

// tok returns token i, or an end.
func (s *pyScan) tok(i int) token {
	if i < 0 || i >= len(s.list) {
		return token{pair: -1, up: -1}
	}
	return s.list[i]
}

// imports reads all import statements, wherever they stand.
func (s *pyScan) imports() bool {
	for i := range s.list {
		if !s.list[i].is("import") {
			continue
		}
		from := i
		for k := s.tok(from - 1); k.kind == name && !pyKeyword(k.word) || k.is(".") || k.is("..."); k = s.tok(from - 1) {
			from--
		}
		if s.tok(from - 1).is("from") {
			if !s.importFrom(from, i) {
				return false
			}
		} else if !s.importPlain(i + 1) {
			return false
		}
	}
	return true
}

// dotted reads a module's name from token i on.
func (s *pyScan) dotted(i int) (module string, next int) {
	from := i
	for s.tok(i).kind == name || s.tok(i).is(".") || s.tok(i).is("...") {
		if s.tok(i).is("import") || s.tok(i).is("as") {
			break
		}
		s.list[i].held = true
		i++
	}
	for _, t := range s.list[from:i] {
		module += t.word
	}
	return module, i
}

// alias reads «as NAME», if it stands at i.
func (s *pyScan) alias(i int, bound string) (string, int) {
	if s.tok(i).is("as") && s.tok(i+1).kind == name {
		s.list[i+1].held = true
		return s.list[i+1].word, i + 2
	}
	return bound, i
}

func (s *pyScan) importPlain(i int) bool {
	for {
		module, next := s.dotted(i)
		if module == "" || strings.HasPrefix(module, ".") {
			return false
		}
		root, _, _ := strings.Cut(module, ".")
		bound, after := s.alias(next, "")
		what := module
		if bound == "" {
			bound, what = root, root
		}
		if !s.load(module) || !s.bind(bound, what) {
			return false
		}
		i = after
		if !s.tok(i).is(",") {
			return s.ends(i)
		}
		i++
	}
}

func (s *pyScan) importFrom(from, at int) bool {
	module, next := s.dotted(from)
	if next != at || module == "" || !s.load(module) {
		return false
	}
	i := at + 1
	paren := s.tok(i).is("(")
	if paren {
		i++
	}
	for {
		if paren && s.tok(i).is(")") {
			return s.ends(i + 1)
		}
		t := s.tok(i)
		if t.kind != name || pyKeyword(t.word) {
			return !s.files && t.kind == end
		}
		s.list[i].held = true
		bound, after := s.alias(i+1, t.word)
		if !s.member(module, t.word) || !s.bind(bound, module+"."+t.word) {
			return false
		}
		i = after
		if !s.tok(i).is(",") {
			if paren {
				return s.tok(i).is(")") && s.ends(i+1) || !s.files && s.tok(i).kind == end
			}
			return s.ends(i)
		}
		i++
	}
}

// ends reports whether a statement ends at i.
func (s *pyScan) ends(i int) bool {
	t := s.tok(i)
	return t.kind == newline || t.kind == end || t.is(";")
}

// load judges that a module is loaded.
func (s *pyScan) load(module string) bool {
	root, _, _ := strings.Cut(module, ".")
	members, _ := pyMembers(module, s.files)
	whole, _ := pyMembers(root, s.files)
	switch {
	case strings.HasPrefix(module, "."):
		return !s.files && !strings.Contains(module, "._")
	case members != "" && whole != "":
		if pyStandard(root) {
			s.r.Standard = append(s.r.Standard, module)
		} else {
			s.r.Modules = append(s.r.Modules, module)
		}
		return true
	case pyStandard(root) || strings.HasPrefix(root, "_") || pyModule(root) || strings.Contains(module, "__"):
		return false
	}
	s.project = true
	s.r.Modules = append(s.r.Modules, module)
	return s.files
}

// member judges that something is taken out of a module.
func (s *pyScan) member(module, word string) bool {
	members, mods := pyMembers(module, s.files)
	if members != "" {
		return listed(members, word) || listed(mods, word)
	}
	if s.files {
		s.r.Modules = append(s.r.Modules, module+"."+word) // it may be a module of its own
	}
	return !strings.HasPrefix(word, "__") && !pyAttribute(word) && !pyDanger(word)
}

// bind notes what an import calls something.
func (s *pyScan) bind(bound, what string) bool {
	root, _, _ := strings.Cut(what, ".")
	if members, _ := pyMembers(root, s.files); members == "" {
		what = ""
	}
	if old, ok := s.env[bound]; ok && old != what {
		return false
	}
	if pyBuiltin(bound) || what == "" && pyDanger(bound) || strings.HasPrefix(bound, "__") {
		return false
	}
	s.env[bound] = what
	return true
}
