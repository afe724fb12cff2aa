package catalog

import (
	"slices"
	"strings"
)

// tells reports a command that prints the environment, the history or a store
// of secrets, where keys are kept.
func (p *part) tells() bool {
	name := p.name()
	rest := p.words
	if len(rest) > 0 {
		rest = rest[1:]
	}
	switch {
	case oneOf(name, "printenv", "history", "fc"):
		return true
	case name == "env":
		return !hasOperand(slices.DeleteFunc(slices.Clone(rest), func(w string) bool { return strings.Contains(w, "=") }))
	case name == "set":
		return len(rest) == 0
	case oneOf(name, "export", "declare", "typeset", "setenv", "local", "readonly"):
		return !hasOperand(rest)
	case p.wraps():
		return lastIs(rest, "env", "printenv")
	case oneOf(name, "systemctl", "launchctl", "tmux"):
		return oneOf(strings.Join(rest[:min(len(rest), 1)], ""), "show-environment", "getenv", "export")
	case name == "ps":
		return len(rest) > 0 && rest[0] != "" && rest[0][0] != '-' && strings.Contains(rest[0], "e")
	case oneOf(name, "jq", "yq", "gojq", "jaq"):
		return programTells(rest)
	case name == "kubectl":
		return anyContains(rest, "secret")
	case oneOf(name, "echo", "printf", "print", "write-output"):
		return anyKeyVariable(rest)
	case isInterpreter(name) || oneOf(name, "awk", "gawk", "mawk"):
		return anyContains(rest, "environ", "process.env", "getenv", "%env", "$env", "env[", "env.to", "env:")
	}
	return false
}

// hasOperand reports whether something but options and assignments follows.
func hasOperand(words []string) bool {
	for _, w := range words {
		if w != "" && w[0] != '-' {
			return true
		}
	}
	return false
}

func lastIs(words []string, names ...string) bool {
	return len(words) > 0 && oneOf(baseName(words[len(words)-1]), names...)
}

// programTells reports a jq program that may print the environment: it says
// so, reads its program from a file, or reads no file at all.
func programTells(words []string) bool {
	for _, w := range words {
		if len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.ContainsAny(w, "nfL") {
			return true
		}
		if oneOf(w, "--null-input", "--from-file", "--library-path") {
			return true
		}
	}
	return slices.ContainsFunc(words, func(w string) bool { return callsWord(w, "env") || callsWord(w, "input") })
}

// callsWord reports whether a jq program says word where it is no field of
// something: «env.PATH» but not «.env».
func callsWord(program, word string) bool {
	program = strings.ToLower(program)
	for at := 0; ; {
		i := strings.Index(program[at:], word)
		if i < 0 {
			return false
		}
		i += at
		if i == 0 || program[i-1] != '.' && program[i-1] != '_' && !letterOrDigit(program[i-1]) {
			return true
		}
		at = i + len(word)
	}
}

func letterOrDigit(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// anyKeyVariable reports a variable whose name says that it holds a key.
func anyKeyVariable(words []string) bool {
	for _, w := range words {
		if _, name, ok := strings.Cut(strings.ToLower(w), "$"); ok {
			for _, hint := range [...]string{"key", "token", "secret", "passw", "credential", "auth"} {
				if strings.Contains(name, hint) {
					return true
				}
			}
		}
	}
	return false
}

func anyContains(words []string, parts ...string) bool {
	for _, w := range words {
		w = strings.ToLower(w)
		for _, part := range parts {
			if strings.Contains(w, part) {
				return true
			}
		}
	}
	return false
}
