package shellscan

import (
	_ "embed" // the list of variables
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// named lists the variables and other names we know, with a kind and a name in each line.
//
//go:embed variables.txt
var named string

// of reports whether the list contains a name with a kind.
func of(kind, name string) bool {
	return syntax.ValidName(name) && strings.Contains(named, "\n"+kind+" "+name+"\n")
}

// hides reports whether a variable can make the shell or its programs run something else even if
// the line does not export it, because most such variables are already in every environment.
func hides(name string) bool {
	for _, head := range [...]string{"LD_", "DYLD_", "GIT_", "BASH_FUNC_"} {
		if strings.HasPrefix(name, head) {
			return !of("harmless", name)
		}
	}
	return of("shell", name) || of("integer", name)
}

// hidesExported reports the same for an exported variable. That is assumed of all variables except
// those that every program is known to use as plain text.
func hidesExported(name string) bool { return hides(name) || !of("harmless", name) }

// Hides reports whether a variable may make a program run something else; «*» means every variable.
func Hides(name string) bool { return name == allVariables || hidesExported(name) }

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
	if (hidesExported(name) || !word) && !harmlessValue(name, value) {
		s.doubt("it sets " + name)
	}
}

// harmlessValue reports whether a value makes an otherwise dangerous variable harmless.
func harmlessValue(name string, value []word) bool {
	if of("integer", name) { // the shell evaluates the value as an expression
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
