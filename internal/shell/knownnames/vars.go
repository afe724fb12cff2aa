package knownnames

import (
	_ "embed" // the list of variables
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// named lists the variables and other names we know, with a kind and a name in each line.
//
//go:embed variables.txt
var named string

// Listed reports whether the list contains a name with a kind.
func Listed(kind, name string) bool {
	return syntax.ValidName(name) && strings.Contains(named, "\n"+kind+" "+name+"\n")
}

// Hides reports whether a variable can make the shell or its programs run something else even if
// the line does not export it, because most such variables are already in every environment.
func Hides(name string) bool {
	for _, head := range [...]string{"LD_", "DYLD_", "GIT_", "BASH_FUNC_"} {
		if strings.HasPrefix(name, head) {
			return !Listed("harmless", name)
		}
	}
	return Listed("shell", name) || Listed("integer", name)
}

// HidesExported reports whether an exported variable can make a program run something else. Only the
// variables that every program is known to use as plain text cannot.
func HidesExported(name string) bool { return Hides(name) || !Listed("harmless", name) }

// MayBeKey reports whether the name of a variable suggests that it contains a key.
func MayBeKey(name string) bool {
	name = strings.ToLower(name)
	for _, hint := range [...]string{"key", "token", "secret", "pass", "cred", "auth", "pwd", "dsn", "cookie", "database", "postgres", "mysql", "redis", "mongo", "amqp"} {
		if strings.Contains(name, hint) {
			return name != "pwd" && name != "oldpwd"
		}
	}
	return false
}
