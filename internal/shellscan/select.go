package shellscan

import (
	"path"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
)

// asks makes a command that would change a database one that reads it. Its input may still run
// code: a view can call any function of the program, and some start others. So the file counts as
// loaded.
func (s *scanner) asks(j *job) {
	j.ran = true
	j.part.Effects = slices.DeleteFunc(j.part.Effects, func(e floodmark.Effect) bool { return e == floodmark.Change || e == floodmark.Write })
	for i := range s.r.Effects {
		if e := &s.r.Effects[i]; e.Kind == Write && e.Command == j.name {
			e.Kind = Execute
		}
	}
}

// onlyShows reports that all options only format the answer.
func (j *job) onlyShows() bool {
	return !slices.ContainsFunc(j.p.opts, func(o string) bool { return !of("sqlite", strings.TrimLeft(o, "-")) })
}

// showsKeys reports a kubectl that may print a file, or objects that may hold keys.
func (j *job) showsKeys() bool {
	kinds := slices.Contains(j.entry.Words, "get") || slices.Contains(j.entry.Words, "describe")
	for i, w := range j.words() {
		for part := range strings.SplitSeq(strings.ToLower(w.text), ",") {
			kind, _, named := strings.Cut(part, "/")
			if kinds && (i == 0 || named) && !(w.exact() && of("kind", kind)) || strings.Contains(part, "secret") {
				return true
			}
		}
	}
	return slices.ContainsFunc(j.p.list, func(o operand) bool {
		return o.opt != "" && kinds && (!o.w.exact() || strings.Contains(o.w.text, "-file"))
	})
}

// plainSelect reports a single query: nothing in it can write, load or name another file. Every
// bracket is examined, also in strings, so that no quote can hide one.
func plainSelect(text string) bool {
	text = strings.ToLower(strings.TrimSuffix(strings.Trim(text, blanks), ";"))
	if !strings.HasPrefix(text, "select ") || strings.ContainsAny(text, ";\x00") || strings.Contains(text, "--") || strings.Contains(text, "/*") {
		return false
	}
	for {
		before, rest, more := strings.Cut(text, "(")
		if !more {
			return true
		}
		if !mayOpen(strings.TrimRight(before, blanks)) {
			return false
		}
		text = rest
	}
}

// blanks are SQLite's white space.
const blanks = " \t\n\f\r"

// mayOpen reports what may precede a bracket: an operator, another bracket, a keyword, or a pure
// function. A quoted name counts as any other name.
func mayOpen(before string) bool {
	word := before[strings.LastIndexFunc(before, notOfName)+1:]
	if word != "" {
		return harmlessFunction(word)
	}
	return before == "" || strings.IndexByte("(,=<>+-*/%|&!~", before[len(before)-1]) >= 0
}

// harmlessFunction reports a keyword or a pure function.
func harmlessFunction(name string) bool { return of("sql", name) }

func notOfName(c rune) bool {
	return !(c == '_' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9')
}

// hooks adds the files a command runs by itself if they exist: in its folder, or in one above up to
// where the line began. If this very line may create one, it runs code.
func (s *scanner) hooks(j *job) {
	for _, name := range j.entry.Hooks {
		if j.st.dirs == nil {
			s.doubt("it is not known in which folder it works")
		}
		for _, dir := range j.st.dirs {
			s.hook(path.Join(dir, name))
			for range MaxDepth {
				if dir == s.at.Dir || !below(dir, s.at.Dir) {
					break
				}
				dir = path.Dir(dir)
				s.hook(path.Join(dir, name))
			}
		}
	}
}

func (s *scanner) hook(at string) {
	s.add(Effect{Kind: Hook, Path: at, Tree: true})
	if s.put(at) {
		s.add(Effect{Kind: Execute, Path: at, Tree: true})
	}
}

// put reports that the line may have written to a folder, or to something in it. Git's own writes
// into a tree exclude its folder.
func (s *scanner) put(at string) bool {
	for i := range s.r.Effects {
		e := &s.r.Effects[i]
		if e.Kind != Write || e.Command == "git" && !e.Placed {
			continue
		}
		if e.Path == "" || e.Pattern && meets(e, at) || below(e.Path, at) || e.Tree && below(at, e.Path) {
			return true
		}
	}
	return false
}

// meets reports that a pattern may match a folder, something in it or, if everything below counts,
// a folder around it.
func meets(e *Effect, at string) bool {
	pattern, names := strings.Split(e.Path, "/"), strings.Split(at, "/")
	for i, p := range pattern {
		if i == len(names) || p == "**" {
			return true
		}
		if ok, err := path.Match(p, names[i]); !ok && err == nil {
			return false
		}
	}
	return e.Tree || len(pattern) >= len(names)
}

// below reports that p is a folder, or lies in it.
func below(p, folder string) bool {
	return p == folder || folder != "" && strings.HasPrefix(p, strings.TrimSuffix(folder, "/")+"/")
}
