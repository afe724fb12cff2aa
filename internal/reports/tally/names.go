package tally

import "strings"

// The functions below check names for use in a line. A name must mean one thing, without wildcards,
// and contain no character that a file, a shell or a terminal interprets.

const (
	small  = "abcdefghijklmnopqrstuvwxyz"
	digits = "0123456789"
	maxOne = 253 // letters of a name, as many as the longest host has
)

func only(text, letters string) bool {
	return text != "" && len(text) <= maxOne && strings.Trim(text, letters) == ""
}

// plainHost reports whether a text is the name of one host. An IP address is not accepted, because
// its owner may change.
func plainHost(text string) bool {
	parts := strings.Split(text, ".")
	for _, p := range parts {
		if !only(p, small+digits+"-") || p[0] == '-' || p[len(p)-1] == '-' {
			return false
		}
	}
	return len(parts) > 1 && len(text) <= maxOne && strings.Contains(small, parts[len(parts)-1][:1])
}

// plainPath reports whether a text is one path with at least three parts.
func plainPath(text string) bool {
	if !strings.HasPrefix(text, "/") || strings.Count(text, "/") < 3 || !only(text, small+strings.ToUpper(small)+digits+"._/-") {
		return false
	}
	for p := range strings.SplitSeq(text[1:], "/") {
		if p == "" || p == "." || p == ".." {
			return false
		}
	}
	return true
}

// plainTool reports whether a text is one tool, of a server or built in.
func plainTool(text string) bool {
	server, tool, ok := strings.Cut(text, "/")
	if !ok {
		tool = server
	}
	letters := small + strings.ToUpper(small) + digits + "_-"
	return only(server, letters) && only(tool, letters)
}

// codeLike reports whether a name is typical of tools that run code.
func codeLike(name string) bool {
	low := strings.ToLower(name)
	for _, word := range []string{
		"exec", "eval", "shell", "bash", "command", "cmd", "script", "code", "python", "node", "sql", "query", "run",
		"terminal", "program", "function", "expression", "process", "install", "deploy",
	} {
		if strings.Contains(low, word) {
			return true
		}
	}
	return false
}
