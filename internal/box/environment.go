package box

import (
	_ "embed"
	"path"
	"slices"
	"strings"
)

//go:embed data/environment.txt
var environmentList string

// variables are the names that a box keeps from the environment, and the variables that it sets.
// The list is parsed once for a whole environment, because that happens before every command.
type variables struct {
	set      []string
	names    map[string]bool
	patterns []string // patterns of names
}

func newVariables() *variables {
	v := &variables{names: map[string]bool{}}
	for _, line := range lines(environmentList) {
		switch {
		case strings.Contains(line, "="):
			v.set = append(v.set, line)
		case strings.ContainsAny(line, `*?[\`):
			v.patterns = append(v.patterns, line)
		default:
			v.names[line] = true
		}
	}
	return v
}

// keeps reports whether a box keeps a variable.
func (v *variables) keeps(name string) bool {
	return v.names[name] || slices.ContainsFunc(v.patterns, func(p string) bool {
		ok, _ := path.Match(p, name)
		return ok
	})
}

// environment returns the variables of a command in a box.
func environment(env []string) []string {
	v := newVariables()
	out := v.set
	for _, text := range env {
		if name, _, _ := strings.Cut(text, "="); v.keeps(name) {
			out = append(out, text)
		}
	}
	return out
}

//go:embed data/mirror.txt
var mirrorList string

// pointed returns an environment in which package managers find the mirror at an address.
func pointed(env []string, at string) []string {
	for _, line := range lines(mirrorList) {
		name, value, set := strings.Cut(line, "=")
		env = slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, name+"=") })
		if set {
			env = append(env, name+"="+strings.ReplaceAll(value, "AT", at))
		}
	}
	return env
}

// Dropped returns the names of the variables that a command in a box does not get.
func Dropped(env []string) (names []string) {
	v := newVariables()
	for _, text := range env {
		if name, _, _ := strings.Cut(text, "="); !v.keeps(name) {
			names = append(names, name)
		}
	}
	return names
}

// lines returns the entries of a shipped list.
func lines(list string) (all []string) {
	for line := range strings.Lines(list) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			all = append(all, line)
		}
	}
	return all
}
