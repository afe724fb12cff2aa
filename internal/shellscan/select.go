package shellscan

import (
	"path"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
)

// asks makes a command that would change a database one that reads it. What it
// reads may run code all the same: a view can call any function the program has,
// and some of those start others. So the file counts as loaded.
func (s *scanner) asks(j *job) {
	j.ran = true
	j.part.Effects = slices.DeleteFunc(j.part.Effects, func(e floodmark.Effect) bool { return e == floodmark.Change || e == floodmark.Write })
	for i := range s.r.Effects {
		if e := &s.r.Effects[i]; e.Kind == Write && e.Command == j.name {
			e.Kind = Execute
		}
	}
}

// onlyShows reports that options say no more than how the answer looks.
func (j *job) onlyShows() bool {
	return !slices.ContainsFunc(j.p.opts, func(o string) bool { return !of("sqlite", strings.TrimLeft(o, "-")) })
}

// showsKeys reports a kubectl that may print a file, or things of a kind not known to hold no keys.
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

// plainSelect reports one statement that only asks: nothing in it can write,
// load or name another file. Every bracket is looked at, also those in texts,
// so that no quote can hide one.
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

// blanks are what SQLite takes for space between two words.
const blanks = " \t\n\f\r"

// mayOpen reports what may stand before a bracket: a sign that computes, another
// bracket, a word of the language, or a function that computes. A name in quotes
// is a name like any other, and not looked into.
func mayOpen(before string) bool {
	word := before[strings.LastIndexFunc(before, notOfName)+1:]
	if word != "" {
		return harmlessFunction(word)
	}
	return before == "" || strings.IndexByte("(,=<>+-*/%|&!~", before[len(before)-1]) >= 0
}

// harmlessFunction reports a word of the language, or a function that computes.
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

// put reports that the line may have written to a folder, or to something in
// it. What git itself puts into a tree goes around its own folder.
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

// meets reports that a pattern may stand for a folder, for something in it or,
// if everything below counts, for one it lies in.
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

// below reports that p lies in a folder, or is it.
func below(p, folder string) bool {
	return p == folder || folder != "" && strings.HasPrefix(p, strings.TrimSuffix(folder, "/")+"/")
}
