package box

import (
	_ "embed"
	"path"
	"slices"
	"strings"
)

//go:embed data/environment.txt
var environmentList string

// environment is what a command in a box has of its environment.
func environment(env []string) []string {
	var names, out []string
	for _, line := range lines(environmentList) {
		if strings.Contains(line, "=") {
			out = append(out, line)
		} else {
			names = append(names, line)
		}
	}
	for _, v := range env {
		name, _, _ := strings.Cut(v, "=")
		for _, keep := range names {
			if ok, _ := path.Match(keep, name); ok {
				out = append(out, v)
				break
			}
		}
	}
	return out
}

//go:embed data/mirror.txt
var mirrorList string

// pointed is an environment in which package managers find the mirror at an address.
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

// Dropped are the names of variables that a command in a box does not have.
func Dropped(env []string) (names []string) {
	for _, v := range env {
		if name, _, _ := strings.Cut(v, "="); len(environment([]string{v})) == len(environment(nil)) {
			names = append(names, name)
		}
	}
	return names
}

// lines are the entries of a list that is shipped.
func lines(list string) (all []string) {
	for line := range strings.Lines(list) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			all = append(all, line)
		}
	}
	return all
}
