package shellscan

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/floodmark/floodmark/internal/shell/knownnames"
)

// param returns the value of $name or ${name…}, as far as it is known.
func (s *scanner) param(p *syntax.ParamExp, st *state, quoted bool, depth int) []word {
	if !everyElement(p.Index) {
		s.computed(p.Index, st, depth)
	}
	if p.Param == nil {
		s.doubt("a construct of another shell")
		return []word{unknown()}
	}
	name := p.Param.Value
	if _, ok := st.vars[name]; !ok {
		s.told(name)
	}
	if p.Exp != nil || p.Repl != nil || p.Slice != nil || p.Excl || p.Length || p.Names != 0 {
		return s.changed(p, st, quoted, depth)
	}
	list := s.variable(name, st)
	if p.Index != nil && !wholeArray(p) {
		list = []word{pick(list)}
	}
	if quoted {
		return unglob(list)
	}
	return loosen(list)
}

// pick returns a word for one of several words when it is not known which.
func pick(list []word) word {
	w := unknown()
	if numbers(list) {
		w = number()
	}
	for _, v := range list {
		w.net = w.net || v.net
	}
	return w
}

// unglob returns a value as used inside quotes, where the shell does not split or expand it.
func unglob(list []word) []word {
	for i := range list {
		if list[i].split && len(list) == 1 && list[i].vague {
			continue
		}
		if list[i].glob || list[i].split {
			list = append([]word(nil), list...)
			list[i].split = false
		}
	}
	return list
}

// loosen returns a value as used outside quotes, where the shell splits and expands it.
func loosen(list []word) []word {
	out := make([]word, len(list))
	for i, w := range list {
		w.split = w.vague && !w.digits && w.names == nil || strings.ContainsAny(w.text, " \t\n")
		w.glob = w.glob || strings.ContainsAny(w.text, "*?[") && !w.vague
		out[i] = w
	}
	return out
}

// variable returns the value of a variable. An array has several words.
func (s *scanner) variable(name string, st *state) []word {
	if v, ok := st.vars[name]; ok {
		return v
	}
	switch name {
	case "HOME":
		return []word{literal(s.home())}
	case "PWD":
		if len(st.dirs) == 1 && st.dirs[0] != "" {
			return []word{literal(st.dirs[0])}
		}
	case "?", "#", "$", "!", "RANDOM", "SECONDS", "LINENO", "UID", "EUID", "PPID", "BASHPID", "COLUMNS", "LINES":
		return []word{number()}
	case "@", "*":
		if st.args == nil {
			w := unknown()
			w.split = true
			return []word{w}
		}
		return st.args[min(1, len(st.args)):]
	}
	if len(name) == 1 && name[0] >= '0' && name[0] <= '9' && st.args != nil {
		if i := int(name[0] - '0'); i < len(st.args) {
			return []word{st.args[i]}
		}
		return []word{{}}
	}
	return []word{unknown()}
}

// changed returns the value of an expansion that modifies a value; most results are unknown.
func (s *scanner) changed(p *syntax.ParamExp, st *state, quoted bool, depth int) []word {
	var other word
	if p.Exp != nil && p.Exp.Word != nil {
		s.quotedAgain(p.Exp.Word)
		other, _ = s.wordParts(p.Exp.Word.Parts, st, quoted, depth)
	}
	if p.Repl != nil {
		s.value(p.Repl.Orig, st, depth)
		s.value(p.Repl.With, st, depth)
	}
	if p.Slice != nil {
		s.computed(p.Slice.Offset, st, depth)
		s.computed(p.Slice.Length, st, depth)
	}
	if p.Length {
		return []word{number()}
	}
	value, set := st.vars[p.Param.Value]
	w := unknown()
	w.split = !quoted
	for _, v := range value {
		w.net = w.net || v.net
	}
	w.net = w.net || other.net
	if p.Excl || p.Exp != nil && p.Exp.Op == syntax.OtherParamOps {
		s.doubt("a value that is read again")
	}
	if p.Exp == nil || p.Excl {
		return []word{w}
	}
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if knownnames.Hides(p.Param.Value) && (p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull) {
			s.doubt("it sets " + p.Param.Value)
		}
		if set && len(value) == 1 && value[0].exact() && value[0].text != "" {
			return value
		}
	case syntax.RemSmallSuffix, syntax.RemLargeSuffix, syntax.RemSmallPrefix, syntax.RemLargePrefix:
		if len(value) == 1 && value[0].exact() && !strings.ContainsAny(other.text, "*?[") && other.exact() {
			return []word{literal(removed(value[0].text, other.text, p.Exp.Op))}
		}
		// The rest of a file's name is treated as a name in the same folders.
		if len(value) == 1 && value[0].names != nil {
			return []word{{text: "*", vague: true, begins: true, names: value[0].names}}
		}
	default:
	}
	return []word{w}
}

// quotedAgain records a doubt about single quotes with a command in a default, because they do not
// quote inside double quotes, and about process substitutions in it, because they run.
func (s *scanner) quotedAgain(w *syntax.Word) {
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.SglQuoted:
			s.holdsCommand(p.Value)
		case *syntax.Lit:
			if strings.Contains(p.Value, "<(") || strings.Contains(p.Value, ">(") {
				s.doubt("a process in a default")
			}
		}
	}
}

func removed(text, part string, op syntax.ParExpOperator) string {
	if op == syntax.RemSmallSuffix || op == syntax.RemLargeSuffix {
		return strings.TrimSuffix(text, part)
	}
	return strings.TrimPrefix(text, part)
}

// printed reads the commands of a substitution. It records a doubt about nested backquotes: a shell
// removes their backslashes twice, but our parser only once.
func (s *scanner) printed(c *syntax.CmdSubst, st *state, depth int) feed {
	if c.Backquotes {
		if s.backquotes > 0 {
			s.doubt("backquotes in backquotes")
		}
		s.backquotes++
		defer func() { s.backquotes-- }()
	}
	return s.stmts(c.Stmts, st.fork(), feed{}, depth+1)
}

// substitute returns a word made of the output of commands.
func (s *scanner) substitute(c *syntax.CmdSubst, st *state, quoted bool, depth int) word {
	name, span := s.name, s.span
	out := s.printed(c, st, depth)
	s.name, s.span = name, span
	if out.known {
		w := literal(strings.TrimRight(out.text, "\n"))
		w.net = out.net
		if !quoted {
			return loosen([]word{w})[0]
		}
		return w
	}
	w := unknown()
	w.net, w.names, w.made = out.net, out.names, !out.revs && !out.digits
	w.split = !quoted
	if out.revs || out.digits {
		w.begins, w.digits = false, out.digits
	}
	return w
}

// process returns the word for <(cmd) or >(cmd), which is the name of a pipe.
func (s *scanner) process(c *syntax.ProcSubst, st *state, depth int) word {
	name, span := s.name, s.span
	in := feed{}
	if c.Op == syntax.CmdOut {
		in = feed{piped: true, net: s.r.Has(Fetch)}
	}
	out := s.stmts(c.Stmts, st.fork(), in, depth+1)
	s.name, s.span = name, span
	return word{text: "/dev/fd/63", vague: true, proc: true, net: out.net}
}

// told records the use of a variable that may contain a key.
func (s *scanner) told(name string) {
	if knownnames.MayBeKey(name) {
		s.add(Effect{Kind: Environment})
	}
}
