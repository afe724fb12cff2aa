package codescan

import "strings"

// What a text calls by a name may be something of the file it is put into, or
// of the project. By custom some names start programs or fetch something: with
// them a text that computes nothing but a word of theirs acts.

// actingName reports such a name, whatever language it stands in.
func actingName(w string) bool {
	for part := range nameParts(w) {
		switch part {
		case "exec", "shell", "sh", "bash", "zsh", "system", "spawn", "subprocess", "popen", "cmd", "command", "eval", "curl", "wget", "download", "upload",
			"deploy", "publish", "rollout", "provision", "migrate", "destroy", "purge", "wipe", "install", "uninstall", "reboot", "shutdown":
			return true
		}
	}
	return w == "run" || strings.Trim(w, "$") == ""
}

// actingFile reports a module that acts when it is loaded, by its name or that of
// its folder.
func actingFile(m string) bool {
	for part := range strings.FieldsFuncSeq(m, func(c rune) bool { return c == '/' || c == '.' || c == '-' }) {
		if part == "scripts" || part == "bin" || actingName(part) {
			return true
		}
	}
	return false
}

// nameParts are the words a name is made of, in lower case: runCmd, run_cmd.
func nameParts(w string) map[string]bool {
	parts := map[string]bool{}
	from := 0
	for i := range len(w) {
		switch c := w[i]; {
		case c == '_' || c == '$' || c == '#':
			parts[strings.ToLower(w[from:i])] = true
			from = i + 1
		case 'A' <= c && c <= 'Z' && i > 0 && (w[i-1] < 'A' || w[i-1] > 'Z'):
			parts[strings.ToLower(w[from:i])] = true
			from = i
		}
	}
	parts[strings.ToLower(w[from:])] = true
	return parts
}

// calls reports whether the token after a name makes it a call.
func calls(next token) bool { return next.is("(") || next.is("?.") || next.kind == opener }

// dangling reports whether a dot stands in a text without the name that belongs
// to it directly behind: an edit could put another one there.
func dangling(src string, at int) bool {
	if at >= len(src) {
		return true
	}
	c := src[at]
	return !(isWord(c) || c == '$' || c == '#' || c == '(' || c == '[' || c == '`' || c == '.')
}
