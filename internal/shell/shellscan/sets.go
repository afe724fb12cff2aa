package shellscan

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark/internal/shell/knownnames"
)

// Hides reports whether a variable may make a program run something else; «*» means every variable.
func Hides(name string) bool { return name == allVariables || knownnames.HidesExported(name) }

const (
	// allVariables in Report.Sets means a new environment.
	allVariables = "*"
	// maxSets bounds the names in Report.Sets. A line that sets more is treated as setting all.
	maxSets = 64
)

// sets records that a variable is set or removed.
func (s *scanner) sets(name string) {
	if len(s.r.Sets) >= maxSets {
		name = allVariables
	}
	if !slices.Contains(s.r.Sets, name) {
		s.r.Sets = append(s.r.Sets, name)
	}
}

// anew records a command that starts another one in a new environment.
func (s *scanner) anew(j *job) {
	switch j.name {
	case "sudo", "doas": // another account's
		s.sets(allVariables)
	case "env":
		if j.p.has("-i", "-", "--ignore-environment") {
			s.sets(allVariables)
		}
		for _, o := range j.p.list {
			if o.opt == "-u" || o.opt == "--unset" {
				s.sets(o.w.text)
			}
		}
	}
}

// provides records that a program gets a variable, with a doubt unless the value is harmless.
func (s *scanner) provides(name string, value []word) {
	word := len(value) == 1 && (value[0].exact() || value[0].digits) && strings.IndexAny(value[0].text, "/:~") != 0 && !strings.Contains(value[0].text, "..")
	if (knownnames.HidesExported(name) || !word) && !harmlessValue(name, value) {
		s.doubt("it sets " + name)
	}
}

// harmlessValue reports whether a value makes an otherwise dangerous variable harmless.
func harmlessValue(name string, value []word) bool {
	if knownnames.Listed("integer", name) { // the shell evaluates the value as an expression
		return numbers(value)
	}
	if len(value) != 1 || !value[0].exact() {
		return false
	}
	switch name {
	case "PAGER", "GIT_PAGER", "MANPAGER", "GH_PAGER", "AWS_PAGER", "GIT_EDITOR", "EDITOR", "GIT_SEQUENCE_EDITOR":
		return slices.Contains([]string{"cat", "", "less", "true", ":", "more"}, value[0].text)
	case "GOFLAGS":
		return slices.Contains([]string{"-mod=mod", "-mod=readonly", "-count=1", ""}, value[0].text)
	}
	return false
}
