package shellscan

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/floodmark/floodmark/internal/shell/knownnames"
	"github.com/floodmark/floodmark/internal/shell/scripts"
)

// simple reads a simple command: assignments, then words.
func (s *scanner) simple(c *syntax.CallExpr, st *state, in feed, depth int) feed {
	if s.parts++; s.parts > MaxParts {
		s.doubt("it has too many commands")
		return feed{piped: true}
	}
	if len(c.Args) == 0 {
		for _, a := range c.Assigns {
			s.assign(a, st, false, depth)
		}
		return feed{piped: true}
	}
	words := s.fields(c.Args, st, depth)
	s.name = ""
	if len(words) > 0 {
		s.name = words[0].text
	}
	var set []string
	for _, a := range c.Assigns {
		name := a.Name.Value
		if s.name == "read" && name == "IFS" || name == "LC_ALL" || name == "LANG" {
			s.value(a.Value, st, depth)
			continue
		}
		s.assign(a, st, true, depth)
		set = append(set, name)
	}
	if len(words) == 0 || len(words) == 1 && words[0].text == "" && !words[0].vague {
		return feed{piped: true}
	}
	out := s.call(words, st, in, depth)
	for _, name := range set { // the variable was set for that command only
		st.set(name, []word{unknown()})
	}
	return out
}

// call reads a command by its words.
func (s *scanner) call(words []word, st *state, in feed, depth int) feed {
	if depth > MaxDepth || len(words) == 0 {
		s.doubt("it is too deep, or there is no command")
		return feed{piped: true}
	}
	first := words[0]
	if !first.exact() || strings.HasPrefix(first.text, "=") {
		s.doubt("which command it is shows only when it runs")
		s.add(Effect{Kind: Execute})
		s.r.NetworkIntoInterpreter = s.r.NetworkIntoInterpreter || first.net
		return feed{piped: true, net: in.net || first.net}
	}
	name := first.text
	s.name = name
	if body, ok := st.funcs[name]; ok {
		return s.function(name, body, words, st, in, depth)
	}
	if _, ok := st.names[name]; ok {
		s.doubt("an alias")
	}
	if out, ok := s.builtin(name, words, st, in, depth); ok {
		return out
	}
	return s.program(words, st, in, depth)
}

// function reads the body of a function with the words of the call.
func (s *scanner) function(name string, body *syntax.Stmt, words []word, st *state, in feed, depth int) feed {
	if body == nil || slices.Contains(st.calls, name) {
		s.doubt("a function that is not known, or calls itself")
		return feed{piped: true}
	}
	args, calls := st.args, st.calls
	st.args, st.calls = words, append(slices.Clip(calls), name)
	out := s.stmt(body, st, in, depth+1)
	st.args, st.calls = args, calls
	return out
}

// builtin handles the shell's own commands.
func (s *scanner) builtin(name string, words []word, st *state, in feed, depth int) (feed, bool) {
	none := feed{piped: true}
	switch name {
	case "cd", "pushd", "popd":
		s.enter(name, words[1:], st)
		return none, true
	case "eval":
		return s.eval(words[1:], st, in, depth), true
	case "source", ".":
		s.sourced(words[1:], st)
		return none, true
	case "exec":
		return s.exec(words[1:], st, in, depth), true
	case "command", "builtin":
		return s.named(words[1:], st, in, depth), true
	case "trap":
		s.trap(words[1:], st, depth)
		return none, true
	case "alias":
		s.alias(words[1:], st, depth)
		return none, true
	case "set":
		s.settings(words[1:], st)
		return none, true
	case "shift":
		st.args = nil
		return none, true
	case "unset", "read", "getopts", "mapfile", "readarray":
		s.forgets(name, words[1:], st, in)
		return none, true
	case ":", "true", "false", "exit", "return", "break", "continue", "fg", "bg", "disown", "umask", "ulimit", "times", "dirs", "suspend", "logout":
		return none, true
	case "test", "[", "wait", "jobs": // «jobs -x» runs the following words, «wait -p» evaluates a name
		for _, w := range words[1:] {
			s.holdsCommand(w.text)
			if w.text == "-v" && w.exact() || name[0] != 't' && name != "[" && (!w.exact() || strings.ContainsAny(w.text, "px") && name+w.text != "jobs-p") {
				s.doubt("a name that is read again")
			}
		}
		return none, true
	case "shopt":
		for _, w := range words[1:] {
			if !slices.Contains([]string{"-s", "-u", "-q", "-p", "nullglob", "failglob", "inherit_errexit", "checkwinsize", "histappend"}, w.text) {
				s.doubt("it changes how the shell reads")
			}
		}
		return none, true
	case "enable", "hash", "bind", "complete", "compgen", "compopt", "coproc", "zmodload", "autoload", "emulate", "setopt", "unsetopt", "noglob", "nocorrect":
		s.doubt("it changes what the shell does")
		return none, true
	case "echo", "printf", "pwd":
		return s.prints(name, words[1:], st), true
	}
	return none, false
}

// enter changes the folder.
func (s *scanner) enter(name string, args []word, st *state) {
	for len(args) > 0 && (args[0].text == "-P" || args[0].text == "-L" || args[0].text == "--") && args[0].exact() {
		args = args[1:]
	}
	var to []string
	switch {
	case name == "popd", len(args) > 1:
	case len(args) == 0 && name == "cd":
		to = []string{s.home()}
	case len(args) == 0, args[0].text == "-", args[0].vague && !args[0].digits && !args[0].glob, strings.HasPrefix(args[0].text, "+"):
	case args[0].glob || args[0].vague:
		to = nil
	default:
		to = s.paths(args[0].text, st)
	}
	if to == nil {
		st.dirs = nil
		return
	}
	st.last = to
	st.dirs = joinDirs(to, st.dirs)
}

// eval reads words as one command line.
func (s *scanner) eval(args []word, st *state, in feed, depth int) feed {
	line := sentence(args)
	if line.vague {
		st.dirs = nil
	}
	return s.shellText(line, st, in, depth)
}

// sentence joins words into one text.
func sentence(args []word) word {
	var whole word
	var b strings.Builder
	for i, w := range args {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.text)
		whole.vague = whole.vague || !w.exact()
		whole.net = whole.net || w.net
	}
	whole.text = b.String()
	return whole
}

// shellText reads a text that a shell will parse.
func (s *scanner) shellText(w word, st *state, in feed, depth int) feed {
	s.r.NetworkIntoInterpreter = s.r.NetworkIntoInterpreter || w.net
	if w.vague {
		s.doubt("a script that is not known until it runs")
		s.add(Effect{Kind: Execute})
		return feed{piped: true, net: w.net || in.net}
	}
	out := s.script(w.text, st, in, depth)
	out.piped = true
	return out
}

// sourced reads «. file», which runs the commands of the file in this shell.
func (s *scanner) sourced(args []word, st *state) {
	if len(args) == 0 {
		return
	}
	if s.touch(Effect{Kind: Execute}, args[0], st) {
		s.r.NetworkIntoInterpreter = true
	}
	if args[0].text == "/dev/stdin" || strings.HasPrefix(args[0].text, "/dev/fd") || strings.HasPrefix(args[0].text, "/proc/") {
		s.r.NetworkIntoInterpreter = s.r.NetworkIntoInterpreter || s.r.Has(Fetch)
	}
	s.doubt("it runs the commands of a file in this shell")
	st.dirs = nil
}

// exec replaces the shell, or changes its descriptors.
func (s *scanner) exec(args []word, st *state, in feed, depth int) feed {
	for len(args) > 0 && args[0].exact() && strings.HasPrefix(args[0].text, "-") {
		if args[0].text == "-a" && len(args) > 1 {
			args = args[1:]
		} else if strings.Trim(args[0].text, "-cl") != "" {
			s.doubt("an option of exec that is not known")
		}
		args = args[1:]
	}
	if len(args) == 0 {
		return in
	}
	return s.call(args, st, in, depth+1)
}

// named reads «command x» and «builtin x», where x is not a function.
func (s *scanner) named(args []word, st *state, in feed, depth int) feed {
	for len(args) > 0 && args[0].exact() && strings.HasPrefix(args[0].text, "-") {
		if scripts.HasLetter(args[0].text, "vV") {
			return feed{piped: true}
		}
		args = args[1:]
	}
	if len(args) == 0 {
		return feed{piped: true}
	}
	plain := *st
	plain.funcs, plain.names = nil, nil
	out := s.call(args, &plain, in, depth+1)
	st.dirs, st.last, st.vars, st.args = plain.dirs, plain.last, plain.vars, plain.args
	return out
}

// trap reads a command that runs later.
func (s *scanner) trap(args []word, st *state, depth int) {
	for len(args) > 0 && (args[0].text == "--" || args[0].text == "-p" || args[0].text == "-l") {
		args = args[1:]
	}
	if len(args) < 2 || args[0].text == "" && !args[0].vague || args[0].text == "-" {
		return
	}
	s.r.Loops = true // the command runs after later ones
	later := st.fork()
	if s.moves {
		later.dirs = nil // the shell may be in another folder by then
	}
	for name := range later.vars {
		later.vars[name] = []word{unknown()}
	}
	s.shellText(args[0], later, feed{}, depth)
}

// alias reads name=text. The text is read as a command at once, as the shell may expand it later.
func (s *scanner) alias(args []word, st *state, depth int) {
	for _, w := range args {
		name, text, ok := strings.Cut(w.text, "=")
		if !ok {
			continue
		}
		s.r.Defines = true
		if !w.exact() {
			s.doubt("an alias that is not known")
			continue
		}
		if st.names == nil {
			st.names = map[string]string{}
		}
		st.names[name] = text
		s.shellText(literal(text), st.fork(), feed{}, depth)
	}
}

// settings reads the builtin set, whose operands are the new $1 and so on.
func (s *scanner) settings(args []word, st *state) {
	if len(args) == 0 {
		s.add(Effect{Kind: Environment})
		return
	}
	for i, w := range args {
		if !w.exact() {
			st.args = nil
			return
		}
		switch {
		case w.text == "--":
			st.args = append([]word{{}}, args[i+1:]...)
			return
		case strings.HasPrefix(w.text, "-") || strings.HasPrefix(w.text, "+"):
			if w.text[0] == '+' && w.text != "+e" && w.text != "+x" && w.text != "+u" || scripts.HasLetter(w.text, "f") {
				s.doubt("it changes how the shell reads")
			}
			if scripts.HasLetter(w.text, "ak") {
				s.doubt("it exports every variable")
			}
		case w.text == "allexport" || w.text == "keyword":
			s.doubt("it exports every variable")
		case i > 0 && scripts.HasLetter(args[i-1].text, "o"): // -o pipefail
		default:
			st.args = append([]word{{}}, args[i:]...)
			return
		}
	}
}

// forgets reads commands that give variables an unknown value, such as read, and unset.
func (s *scanner) forgets(name string, args []word, st *state, in feed) {
	for _, w := range args {
		if !w.exact() {
			s.doubt("it assigns to a variable that is not known")
			continue
		}
		s.holdsCommand(w.text)
		if name == "mapfile" || name == "readarray" {
			if strings.HasPrefix(w.text, "-C") {
				s.doubt("it runs a command for what it reads")
			}
		}
		if !syntax.ValidName(w.text) {
			continue
		}
		if knownnames.Hides(w.text) {
			s.doubt("it sets " + w.text)
		}
		s.sets(w.text)
		v := unknown()
		v.net, v.names = in.net, in.names
		if name == "unset" {
			delete(st.funcs, w.text)
			delete(st.names, w.text)
			v = word{}
		}
		st.set(w.text, []word{v})
	}
	if name == "read" && len(args) == 0 {
		v := unknown()
		v.net = in.net
		st.set("REPLY", []word{v})
	}
}

// prints handles the builtins that print their words.
func (s *scanner) prints(name string, args []word, st *state) feed {
	s.described(name, append([]word{literal(name)}, args...), st, feed{piped: true}, 0)
	out := feed{piped: true, known: true}
	if name == "pwd" {
		if len(st.dirs) == 1 && st.dirs[0] != "" {
			out.text = st.dirs[0]
			return out
		}
		return feed{piped: true}
	}
	if text, ok := printed(name, args); ok {
		out.text = text
		return out
	}
	for i, w := range args {
		out.net = out.net || w.net
		if !w.exact() || strings.ContainsAny(w.text, `\`) || i == 0 && strings.HasPrefix(w.text, "-") || name == "printf" && (strings.Contains(w.text, "%") || i > 0) {
			out.known = false
		}
		if name == "printf" && i == 0 && w.text == "-v" {
			s.forgets("read", args[1:min(2, len(args))], st, feed{})
		}
		if i > 0 {
			out.text += " "
		}
		if len(out.text) < MaxBytes {
			out.text += w.text
		}
	}
	out.text += "\n"
	return out
}
