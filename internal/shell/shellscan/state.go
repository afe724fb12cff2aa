package shellscan

import (
	"maps"
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// A state is the state of a shell between commands.
type state struct {
	// dirs are the folders the shell may be in. After «cd a;» these are both the new and the old
	// folder, because cd may fail. Nil means unknown.
	dirs  []string
	last  []string // the folder after the last cd, if it succeeds
	vars  map[string][]word
	funcs map[string]*syntax.Stmt
	names map[string]string // aliases
	args  []word            // $1 …; nil: unknown
	calls []string          // functions that are being called
}

func newState(at Place) *state {
	st := &state{dirs: []string{at.Dir}}
	if len(at.Vars) > 0 {
		st.vars = map[string][]word{}
		for k, v := range at.Vars {
			st.vars[k] = []word{literal(v)}
		}
	}
	return st
}

// fork returns the state of a subshell.
func (st *state) fork() *state {
	out := *st
	out.vars, out.funcs, out.names = maps.Clone(st.vars), maps.Clone(st.funcs), maps.Clone(st.names)
	return &out
}

// set gives a variable a value. Several words are an array.
func (st *state) set(name string, value []word) {
	if st.vars == nil {
		st.vars = map[string][]word{}
	}
	st.vars[name] = value
}

// entered returns the shell's folders if the last command, perhaps a cd, succeeded.
func (st *state) entered(before []string) []string {
	if st.last != nil {
		out := st.last
		st.last = nil
		return out
	}
	return before
}

// merge makes st the state after either of two branches.
func (st *state) merge(other *state) {
	st.dirs = joinDirs(st.dirs, other.dirs)
	st.last = nil
	for name, v := range other.vars {
		if old := st.vars[name]; !sameWords(old, v) {
			st.set(name, []word{pick(append(slices.Clip(old), v...))})
			if old == nil { // its value before the line is unknown
				st.set(name, []word{unknown()})
			}
		}
	}
	for name := range st.vars {
		if _, ok := other.vars[name]; !ok {
			st.vars[name] = []word{unknown()}
		}
	}
	for name, f := range other.funcs {
		if st.funcs[name] != f { // it is not known which of the two is defined
			st.define(name, nil)
		}
	}
	for name, f := range st.funcs {
		if other.funcs[name] != f {
			st.define(name, nil)
		}
	}
	for name, text := range other.names {
		if st.names == nil {
			st.names = map[string]string{}
		}
		if _, ok := st.names[name]; !ok {
			st.names[name] = text
		}
	}
	if !sameWords(st.args, other.args) {
		st.args = nil
	}
}

func (st *state) define(name string, body *syntax.Stmt) {
	if st.funcs == nil {
		st.funcs = map[string]*syntax.Stmt{}
	}
	st.funcs[name] = body
}

func joinDirs(a, b []string) []string {
	if a == nil || b == nil {
		return nil
	}
	out := slices.Clone(a)
	for _, d := range b {
		if !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	if len(out) > MaxDirs {
		return nil
	}
	return out
}

func sameWords(a, b []word) bool {
	return (a == nil) == (b == nil) && slices.EqualFunc(a, b, func(x, y word) bool {
		return x.text == y.text && x.vague == y.vague && x.glob == y.glob && x.net == y.net && x.digits == y.digits && x.begins == y.begins
	})
}
