package shellscan

import (
	"path"
	"slices"
	"strings"

	"github.com/floodmark/floodmark/internal/shell/knownnames"
	"github.com/floodmark/floodmark/internal/shell/scripts"
)

// showsKeys reports whether a kubectl command may print a file, or objects that may contain keys.
func (j *job) showsKeys() bool {
	kinds := slices.Contains(j.entry.Words, "get") || slices.Contains(j.entry.Words, "describe")
	for i, w := range j.words() {
		for part := range strings.SplitSeq(strings.ToLower(w.text), ",") {
			kind, _, named := strings.Cut(part, "/")
			if kinds && (i == 0 || named) && !(w.exact() && knownnames.Listed("kind", kind)) || strings.Contains(part, "secret") {
				return true
			}
		}
	}
	return slices.ContainsFunc(j.p.list, func(o operand) bool {
		return o.opt != "" && kinds && (!o.w.exact() || strings.Contains(o.w.text, "-file"))
	})
}

// hooks adds the files that a command runs unasked if they exist, in its folder and in each above
// it up to where the line began. If the line may create such a file, it is also recorded as run.
func (s *scanner) hooks(j *job) {
	for _, name := range j.entry.Hooks {
		if j.st.dirs == nil {
			s.doubt("it is not known in which folder it works")
		}
		for _, dir := range j.st.dirs {
			s.hook(path.Join(dir, name))
			for range MaxDepth {
				if dir == s.at.Dir || !scripts.Below(dir, s.at.Dir) {
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

// put reports whether the line may have written a folder or something in it. When git writes a
// tree, that does not include its own folder.
func (s *scanner) put(at string) bool {
	for i := range s.r.Effects {
		e := &s.r.Effects[i]
		if e.Kind != Write || e.Command == "git" && !e.Placed {
			continue
		}
		if e.Path == "" || e.Pattern && meets(e, at) || scripts.Below(e.Path, at) || e.Tree && scripts.Below(at, e.Path) {
			return true
		}
	}
	return false
}

// meets reports whether the pattern of an effect may match a folder or something in it. If the
// effect includes everything below, a match of a folder around it is enough.
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
