package shellscan

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/floodmark/floodmark/internal/shell/commandbook"
	"github.com/floodmark/floodmark/internal/shell/scripts"
)

// The limits of a scan. A line that exceeds a limit is not understood.
const (
	MaxBytes   = 256 << 10 // of a line together with all scripts inside it
	MaxParts   = 2048      // simple commands, counting repetitions
	MaxDepth   = 48        // commands in commands, scripts in scripts
	MaxNesting = 1000      // open brackets, before the parser sees the line
	MaxWords   = 4096      // words of one command, after expansion
	MaxEffects = 4096
	MaxWhy     = 8
	MaxDirs    = 4    // folders a line may be in at one time
	MaxValue   = 4096 // bytes of a variable that is followed
)

// The initial capacities of a report, large enough for most lines.
const (
	usualParts   = 4
	usualEffects = 8
)

// Scan returns what a line does when a shell runs it at a place.
func Scan(line string, at Place, c *commandbook.Commands) Report {
	s := newScanner(at, c)
	st := newState(at)
	s.text(line, st, feed{}, 0)
	if s.parts == 0 && len(s.r.Effects) == 0 {
		s.doubt("there is no command")
	}
	if s.r.Ends = []string{""}; st.dirs != nil {
		s.r.Ends = st.entered(st.dirs)
	}
	return s.report()
}

// ScanWords is Scan for a command that is given as words and started without a shell.
func ScanWords(words []string, at Place, c *commandbook.Commands) Report {
	s := newScanner(at, c)
	list := make([]word, len(words))
	for i, w := range words {
		list[i] = literal(w)
		if strings.IndexByte(w, 0) >= 0 {
			s.doubt(aNul)
		}
	}
	s.call(list, newState(at), feed{}, 0)
	return s.report()
}

// report returns the result.
func (s *scanner) report() Report {
	s.r.Understood = len(s.r.Why) == 0
	return s.r
}

// scanner is the state of scanning one line.
type scanner struct {
	c     *commandbook.Commands
	at    Place
	r     Report
	parts int
	bytes int
	span  [2]int // of the outermost command
	inner int    // how many scripts deep the scanner is; span changes only outside of scripts
	name  string // the current command
	moves bool   // the line may change its folder somewhere
	// linked says that the line has made a link, so that a path may lead to another file.
	linked bool
	// backquotes is how many backquoted substitutions are open.
	backquotes int
	// tuned says that the line has changed git's behaviour.
	tuned bool
	// brought are the files that hold network data.
	brought map[string]bool
}

func newScanner(at Place, c *commandbook.Commands) *scanner {
	return &scanner{c: c, at: at}
}

// A feed is the standard input of a command, or the output that becomes the next input.
type feed struct {
	piped bool // the input is not a terminal
	net   bool // the input is network data
	known bool // text is the whole input
	text  string
	names []string // the input may be names of files in these folders; nil if not
	// revs: it is names of commits and branches. digits: it is numbers. Neither can be an option.
	revs, digits bool
}

// doubt records something that is not understood.
func (s *scanner) doubt(why string) {
	if len(s.r.Why) < MaxWhy {
		s.r.Why = append(s.r.Why, why)
	}
}

func (s *scanner) add(e Effect) {
	if len(s.r.Effects) >= MaxEffects {
		s.doubt("it does too many things")
		return
	}
	if s.r.Effects == nil {
		s.r.Effects = make([]Effect, 0, usualEffects)
	}
	e.Command = s.name
	e.Start, e.End = s.span[0], s.span[1]
	s.r.Effects = append(s.r.Effects, e)
}

// text parses a text as a shell does.
func (s *scanner) text(line string, st *state, in feed, depth int) feed {
	if why := differs(line); why != "" {
		s.doubt(why)
	}
	s.moves = s.moves || strings.Contains(line, "cd") || strings.Contains(line, "pushd")
	if s.bytes += len(line); s.bytes > MaxBytes || depth > MaxDepth || scripts.Nesting(line) > MaxNesting {
		s.doubt("it is too long or too deep")
		st.dirs = nil
		return feed{}
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		s.doubt("no shell we know reads it: " + problem(err))
		st.dirs = nil
		return feed{}
	}
	return s.stmts(file.Stmts, st, in, depth)
}

// aNul is a doubt because some programs end a line at a NUL byte and others skip the byte.
const aNul = "it has a NUL byte"

// differs returns why shells may parse a line differently from our parser, or "".
func differs(line string) string {
	if strings.IndexByte(line, '\r') >= 0 {
		return "it has a carriage return"
	}
	if strings.IndexByte(line, 0) >= 0 {
		return aNul
	}
	for l := range strings.Lines(line) {
		if strings.Contains(l, "#") && strings.HasSuffix(strings.TrimSuffix(l, "\n"), `\`) {
			return "a comment that may go on, or not"
		}
	}
	return ""
}

// script parses a script inside the line: of sh -c, eval or a here-document.
func (s *scanner) script(line string, st *state, in feed, depth int) feed {
	s.inner++
	name := s.name
	out := s.text(line, st, in, depth+1)
	s.name = name
	s.inner--
	return out
}

func problem(err error) string {
	text := err.Error()
	if i := strings.Index(text, ": "); i >= 0 {
		text = text[i+2:]
	}
	return text[:min(len(text), 80)]
}

// stmts reads a list of statements and returns the output of all of them.
func (s *scanner) stmts(list []*syntax.Stmt, st *state, in feed, depth int) feed {
	var out feed
	for i, stmt := range list {
		one := s.stmt(stmt, st, in, depth)
		if i == 0 {
			out = one
		} else {
			out = out.and(one)
		}
	}
	return out
}

// and returns the output of two commands in sequence.
func (f feed) and(g feed) feed {
	names := append(slices.Clip(f.names), g.names...)
	if f.names == nil || g.names == nil {
		names = nil
	}
	return feed{piped: true, net: f.net || g.net, names: names, revs: f.revs && g.revs, digits: f.digits && g.digits}
}

func (s *scanner) stmt(stmt *syntax.Stmt, st *state, in feed, depth int) feed {
	if depth > MaxDepth {
		s.doubt("it is too deep")
		return feed{}
	}
	if s.inner == 0 && depth == 0 {
		s.span = [2]int{int(stmt.Pos().Offset()), int(stmt.End().Offset())} //nolint:gosec // a line is short
	}
	if stmt.Background || stmt.Coprocess {
		s.r.Loops = true
		st = st.fork()
	}
	st.last = nil
	rs := s.redirects(stmt.Redirs, st, &in, depth)
	out := s.command(stmt.Cmd, st, in, depth)
	rs.finish(s, out)
	if rs.away {
		out = feed{piped: true}
	}
	return out
}

func (s *scanner) command(cmd syntax.Command, st *state, in feed, depth int) feed {
	switch c := cmd.(type) {
	case nil:
		return in
	case *syntax.CallExpr:
		return s.simple(c, st, in, depth)
	case *syntax.BinaryCmd:
		return s.binary(c, st, in, depth)
	case *syntax.Block:
		return s.stmts(c.Stmts, st, in, depth+1)
	case *syntax.Subshell:
		return s.stmts(c.Stmts, st.fork(), in, depth+1)
	case *syntax.IfClause:
		return s.branch(c, st, in, depth+1)
	case *syntax.WhileClause:
		s.r.Loops = true
		return s.loop(c.Cond, c.Do, st, in, depth+1)
	case *syntax.ForClause:
		s.r.Loops = true
		return s.forLoop(c, st, in, depth+1)
	case *syntax.CaseClause:
		return s.choice(c, st, in, depth+1)
	case *syntax.FuncDecl:
		s.r.Loops = true
		s.parts++
		s.declare(c, st)
		return feed{piped: true}
	case *syntax.DeclClause:
		return s.declaration(c, st, depth)
	case *syntax.TimeClause:
		if c.Stmt == nil {
			return feed{piped: true}
		}
		return s.stmt(c.Stmt, st, in, depth+1)
	case *syntax.TestClause:
		s.parts++
		s.expansions(c, st, depth)
		return feed{piped: true}
	case *syntax.ArithmCmd:
		s.parts++
		s.arithmetic(st, depth, c.X)
		return feed{piped: true}
	case *syntax.LetClause:
		s.parts++
		s.arithmetic(st, depth, c.Exprs...)
		return feed{piped: true}
	case *syntax.CoprocClause:
		return s.stmt(c.Stmt, st.fork(), feed{piped: true}, depth+1)
	default:
		s.doubt("a construct we do not know")
		return feed{piped: true}
	}
}

func (s *scanner) binary(c *syntax.BinaryCmd, st *state, in feed, depth int) feed {
	switch c.Op {
	case syntax.Pipe, syntax.PipeAll:
		left := s.stmt(c.X, st.fork(), in, s.deeper(c.X, depth))
		left.piped = true
		return s.stmt(c.Y, st.fork(), left, s.deeper(c.Y, depth)) // zsh would run the last command in this shell
	case syntax.AndStmt:
		left := s.stmt(c.X, st, in, s.deeper(c.X, depth))
		before := st.fork()
		st.dirs = st.entered(before.dirs)
		out := left.and(s.stmt(c.Y, st, in, s.deeper(c.Y, depth)))
		well := st.entered(st.dirs)
		st.dirs, st.last = joinDirs(st.dirs, before.dirs), well
		for name, old := range before.vars { // the right side may not have run
			if !sameWords(old, st.vars[name]) {
				st.set(name, []word{pick(append(slices.Clip(old), st.vars[name]...))})
			}
		}
		return out
	default:
		left := s.stmt(c.X, st, in, s.deeper(c.X, depth))
		if leaves(c.Y, st) { // cd x || exit
			st.dirs = st.entered(st.dirs)
			s.stmt(c.Y, st.fork(), in, s.deeper(c.Y, depth))
			return left
		}
		before := st.fork()
		out := left.and(s.stmt(c.Y, st, in, s.deeper(c.Y, depth)))
		st.merge(before)
		return out
	}
}

// leaves reports whether a statement is exit or return.
func leaves(stmt *syntax.Stmt, st *state) bool {
	c, ok := stmt.Cmd.(*syntax.CallExpr)
	return ok && len(c.Args) > 0 && (c.Args[0].Lit() == "exit" || c.Args[0].Lit() == "return") && len(st.funcs)+len(st.names) == 0
}

// deeper returns the depth of a command in a list. It counts a level only if the command can
// contain commands, so that a long list is not deeper than a short one.
func (s *scanner) deeper(stmt *syntax.Stmt, depth int) int {
	if b, ok := stmt.Cmd.(*syntax.BinaryCmd); ok && len(stmt.Redirs) == 0 && b.X != nil {
		return max(depth, 1)
	}
	return depth + 1
}
