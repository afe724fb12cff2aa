package shellscan

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/floodmark/floodmark/internal/shell/knownnames"
	"github.com/floodmark/floodmark/internal/shell/scripts"
)

// branch reads both ways of an if.
func (s *scanner) branch(c *syntax.IfClause, st *state, in feed, depth int) feed {
	out := s.stmts(c.Cond, st, in, depth)
	if len(c.Cond) == 0 { // an else
		return out.and(s.stmts(c.Then, st, in, depth))
	}
	other := st.fork()
	st.dirs = st.entered(st.dirs)
	out = out.and(s.stmts(c.Then, st, in, depth))
	if c.Else != nil {
		out = out.and(s.branch(c.Else, other, in, depth+1))
	}
	st.merge(other)
	return out
}

// loop reads a body that may run any number of times. The variables it assigns are unknown in it,
// because an earlier round may have assigned them.
func (s *scanner) loop(cond, body []*syntax.Stmt, st *state, in feed, depth int) feed {
	s.forget(st, cond, body)
	before := st.fork()
	out := s.stmts(cond, st, in, depth)
	out = out.and(s.stmts(body, st, in, depth))
	if st.elsewhere(before) {
		s.stmts(cond, st, in, depth)
		s.stmts(body, st, in, depth)
	}
	s.forget(st, cond, body)
	return out
}

// elsewhere reports whether a later round begins in another folder or with other variables, set in
// a way that forget does not see, such as eval. If so, it makes st cover the beginning of any
// round.
func (st *state) elsewhere(before *state) bool {
	moved, changed := !sameDirs(before.dirs, st.dirs), false
	for name, v := range before.vars {
		changed = changed || !sameWords(v, st.vars[name]) && !slices.ContainsFunc(v, func(w word) bool { return w.begins })
	}
	if changed {
		st.merge(before)
	}
	if moved {
		st.dirs = nil
	}
	return moved || changed
}

func sameDirs(a, b []string) bool { return (a == nil) == (b == nil) && slices.Equal(a, b) }

// maxRounds is how many words of a loop are followed one by one; in longer loops the variable is
// unknown.
const maxRounds = 12

func (s *scanner) forLoop(c *syntax.ForClause, st *state, in feed, depth int) feed {
	iter, ok := c.Loop.(*syntax.WordIter)
	if !ok || c.Select {
		if l, ok := c.Loop.(*syntax.CStyleLoop); ok {
			s.arithmetic(st, depth, l.Init, l.Cond, l.Post)
			out := s.loop(nil, c.Do, st, in, depth)
			s.arithmetic(st, depth, l.Cond, l.Post) // with the values that the body assigned
			return out
		}
		s.expansions(c.Loop, st, depth)
		if iter != nil {
			st.set(iter.Name.Value, []word{unknown()})
		}
		return s.loop(nil, c.Do, st, in, depth)
	}
	items := st.args
	known := items != nil
	if iter.InPos.IsValid() {
		items, known = s.fields(iter.Items, st, depth), true
	}
	if !known {
		items = []word{unknown()}
	}
	if knownnames.Hides(iter.Name.Value) {
		s.doubt("it sets " + iter.Name.Value)
	}
	if len(items) > maxRounds {
		items = []word{unknown()}
	}
	var out feed
	for _, item := range items {
		item.split = false // not expanded again: the variable holds a matched name
		st.set(iter.Name.Value, []word{item})
		out = out.and(s.loopOnce(c.Do, iter.Name.Value, st, in, depth))
	}
	return out
}

// loopOnce reads the body for one value of the loop's variable.
func (s *scanner) loopOnce(body []*syntax.Stmt, name string, st *state, in feed, depth int) feed {
	value := st.vars[name]
	s.forget(st, body)
	st.set(name, value)
	before := st.fork()
	out := s.stmts(body, st, in, depth)
	if st.elsewhere(before) {
		st.set(name, value)
		s.stmts(body, st, in, depth)
	}
	return out
}

// choice reads every way of a case.
func (s *scanner) choice(c *syntax.CaseClause, st *state, in feed, depth int) feed {
	s.value(c.Word, st, depth)
	out := feed{piped: true}
	before := st.fork()
	for _, item := range c.Items {
		for _, p := range item.Patterns {
			s.value(p, st, depth)
		}
		way := before.fork()
		out = out.and(s.stmts(item.Stmts, way, in, depth))
		st.merge(way)
		if item.Op != syntax.Break { // the next item may run after this one
			before.merge(way)
		}
	}
	return out
}

// forget makes the variables unknown that the statements assign.
func (s *scanner) forget(st *state, lists ...[]*syntax.Stmt) {
	for _, list := range lists {
		for _, stmt := range list {
			s.assigned(stmt, st)
		}
	}
}

// assigned makes the variables unknown that a node assigns.
func (s *scanner) assigned(node syntax.Node, st *state) {
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil {
				st.set(n.Name.Value, []word{st.later(n)})
			}
		case *syntax.WordIter:
			st.set(n.Name.Value, []word{unknown()})
		case *syntax.ParamExp:
			if n.Exp != nil && n.Param != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
				st.set(n.Param.Value, []word{unknown()})
			}
		case *syntax.BinaryArithm:
			if w, ok := n.X.(*syntax.Word); ok {
				st.forgetNamed(w)
			}
		case *syntax.UnaryArithm:
			if w, ok := n.X.(*syntax.Word); ok {
				st.forgetNamed(w)
			}
		case *syntax.CallExpr: // read a b; printf -v a; mapfile a; getopts … a
			if len(n.Args) > 0 && (n.Args[0].Lit() == "shift" || n.Args[0].Lit() == "set") {
				st.args = nil
			}
			for i, w := range n.Args {
				if name := w.Lit(); i > 0 && syntax.ValidName(name) {
					if _, ok := st.vars[name]; ok {
						st.set(name, []word{unknown()})
					}
				}
			}
		}
		return true
	})
}

// later returns what is known of a variable that a loop assigns: it is a number if it was a number
// before the loop and the loop assigns a computed number. Otherwise it is unknown.
func (st *state) later(a *syntax.Assign) word {
	if a.Value != nil && len(a.Value.Parts) == 1 && !a.Append && numbers(st.vars[a.Name.Value]) {
		if _, ok := a.Value.Parts[0].(*syntax.ArithmExp); ok {
			return number()
		}
	}
	return unknown()
}

func (st *state) forgetNamed(w *syntax.Word) {
	if name := w.Lit(); syntax.ValidName(name) {
		st.set(name, []word{pick(st.vars[name])})
	}
}

// arithmetic reads expressions that are computed in order.
func (s *scanner) arithmetic(st *state, depth int, list ...syntax.ArithmExpr) {
	for _, x := range list {
		if x == nil {
			continue
		}
		s.computed(x, st, depth)
		s.assigned(x, st)
		if name, _ := plainAssign(x); name != "" { // the assignment always happens
			st.set(name, []word{number()})
		}
	}
}

// plainAssign splits «name = …» into the name and the right side.
func plainAssign(x syntax.Node) (string, syntax.ArithmExpr) {
	if b, ok := x.(*syntax.BinaryArithm); ok && b.Op == syntax.Assgn {
		if w, ok := b.X.(*syntax.Word); ok && syntax.ValidName(w.Lit()) {
			return w.Lit(), b.Y
		}
	}
	return "", nil
}

// computed reads an expression in a place where the shell expects a number, such as an index, an
// offset or a comparison. The shell evaluates the values of its words once more and would run a
// command in them, such as a[$(cmd)]. Therefore each value must be a number.
func (s *scanner) computed(x syntax.Node, st *state, depth int) {
	if x == nil {
		return
	}
	syntax.Walk(x, func(n syntax.Node) bool {
		if name, right := plainAssign(n); name != "" { // the old value of the variable is not evaluated
			s.computed(right, st, depth)
			return false
		}
		w, ok := n.(*syntax.Word)
		if !ok {
			return true
		}
		one, many := s.wordParts(w.Parts, st, true, depth)
		for _, v := range append([]word{one}, many...) {
			s.evaluated(v, st, 0)
		}
		return false
	})
}

// evaluated records a doubt about a computed word that is not a number, nor a variable with one.
func (s *scanner) evaluated(w word, st *state, depth int) {
	s.r.NetworkIntoInterpreter = s.r.NetworkIntoInterpreter || w.net
	switch {
	case w.numeric():
	case depth < maxRounds && !w.vague && syntax.ValidName(w.text):
		s.evaluated(only(s.variable(w.text, st)), st, depth+1)
	default: // the expression may also assign
		s.doubt("a number that is not known until it runs")
		for name := range st.vars {
			st.set(name, []word{unknown()})
		}
	}
}

// numeric reports whether a word contains no names: it consists of digits and signs, or is one
// constant such as 0x1f.
func (w word) numeric() bool {
	if w.vague && !w.digits || w.proc {
		return false
	}
	if strings.Trim(w.text, "0123456789 \t\n+-*/%()<>=!&|^~?:,") == "" {
		return true
	}
	return w.text[0] >= '0' && w.text[0] <= '9' && !strings.ContainsFunc(w.text, func(r rune) bool {
		return r > 'z' || r != '#' && r != '_' && !scripts.LetterOrDigit(byte(r))
	})
}

// only returns the single word of a list. From several words it returns one of unknown value.
func only(list []word) word {
	if len(list) == 1 {
		return list[0]
	}
	return pick(list)
}

// numbers reports whether a list is not empty and all its words are numbers.
func numbers(list []word) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(w word) bool { return !w.numeric() })
}

// expansions reads the commands inside a node that is not a command itself.
func (s *scanner) expansions(node syntax.Node, st *state, depth int) {
	if node == nil {
		return
	}
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			s.printed(n, st, depth)
			return false
		case *syntax.ProcSubst:
			s.stmts(n.Stmts, st.fork(), feed{piped: true}, depth+1)
			return false
		case *syntax.ParamExp:
			s.param(n, st, true, depth)
			return false
		case *syntax.ExtGlob:
			s.doubt("a pattern in which another shell would run commands")
		case *syntax.SglQuoted:
			s.holdsCommand(n.Value)
		case *syntax.Lit:
			s.holdsCommand(n.Value)
		case *syntax.UnaryTest:
			if w, ok := n.X.(*syntax.Word); (n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar) && !(ok && syntax.ValidName(w.Lit())) {
				s.doubt("a name that is read again")
			}
		case *syntax.BinaryTest:
			switch n.Op {
			case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
				s.computed(n.X, st, depth)
				s.computed(n.Y, st, depth)
				return false
			default:
			}
		}
		return true
	})
}

// holdsCommand records a doubt if a text contains a command or expansion. It is called where a
// shell may parse the text again, as a number or as the name of a variable.
func (s *scanner) holdsCommand(text string) {
	if strings.Contains(text, "$(") || strings.Contains(text, "`") || strings.Contains(text, "${") {
		s.doubt("a text that a shell may read again")
	}
}

func (s *scanner) declare(c *syntax.FuncDecl, st *state) {
	if c.Name == nil {
		s.doubt("a function without a name")
		return
	}
	s.r.Defines = true
	st.define(c.Name.Value, c.Body)
}

// declaration reads export, declare, local, readonly and similar commands.
func (s *scanner) declaration(c *syntax.DeclClause, st *state, depth int) feed {
	operands, exported := false, c.Variant.Value == "export"
	for _, a := range c.Args {
		if a.Naked && a.Name == nil { // an option, or a name computed when it runs
			w := s.value(a.Value, st, depth)
			if !w.exact() || w.text == "" || w.text[0] != '-' {
				s.doubt("a declaration of something unknown")
			}
			if w.exact() && len(w.text) > 1 && (c.Variant.Value == "nameref" || scripts.HasLetter(w.text, "nfi")) && !(c.Variant.Value == "export" && w.text == "-n") {
				s.doubt("a declaration that changes what a name means")
			}
			exported = exported || scripts.HasLetter(w.text, "x")
			continue
		}
		operands = true
		s.assign(a, st, exported, depth)
	}
	if !operands {
		s.name = c.Variant.Value
		s.add(Effect{Kind: Environment})
	}
	return feed{piped: true}
}

// assign reads one assignment. An exported variable reaches every later program.
func (s *scanner) assign(a *syntax.Assign, st *state, exported bool, depth int) {
	name := a.Name.Value
	var value []word
	switch {
	case a.Naked:
		if exported { // the variable keeps its value
			s.sets(name)
			s.provides(name, s.variable(name, st))
		}
		return
	case a.Array != nil:
		for _, e := range a.Array.Elems {
			if e.Index != nil {
				s.computed(e.Index, st, depth)
				value = append(value, unknown())
			}
			if e.Value != nil {
				value = append(value, s.fields([]*syntax.Word{e.Value}, st, depth)...)
			}
		}
		if value == nil {
			value = []word{}
		}
	default:
		w := s.value(a.Value, st, depth)
		w.split = false
		value = []word{w}
	}
	if a.Index != nil {
		s.computed(a.Index, st, depth)
		value = []word{unknown()}
	}
	if a.Append {
		value = appended(st.vars[name], value, a.Array != nil)
	}
	for _, v := range value {
		s.holdsCommand(v.text)
		if strings.Contains(v.text, ":~") {
			s.doubt("a home inside a value")
		}
	}
	s.sets(name)
	if exported {
		s.provides(name, value)
	} else if knownnames.Hides(name) && !harmlessValue(name, value) {
		s.doubt("it sets " + name)
	}
	st.set(name, value)
}

// appended returns the value of a variable after «+=».
func appended(old, more []word, array bool) []word {
	if array {
		if old == nil {
			return more
		}
		return append(slices.Clip(old), more...)
	}
	if len(old) != 1 || len(more) != 1 {
		return []word{unknown()}
	}
	return []word{old[0].join(more[0])}
}
