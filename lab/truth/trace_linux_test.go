package truth

import (
	"path/filepath"
	"strconv"
	"strings"
)

// A call is one system call of a trace, with its strings decoded.
type call struct {
	pid    int
	name   string
	args   string
	result string
}

// parseTrace returns the calls of a trace. It joins the two parts of a call that strace split.
func parseTrace(text string) []call {
	var calls []call
	open := map[int]string{}
	for line := range strings.Lines(text) {
		number, rest, ok := strings.Cut(strings.TrimRight(line, "\n"), " ")
		pid, err := strconv.Atoi(number)
		if !ok || err != nil {
			continue
		}
		rest = strings.TrimLeft(rest, " ")
		if head, found := strings.CutSuffix(rest, " <unfinished ...>"); found {
			open[pid] = head
			// The call gets the place where it began, because a new process may appear in the
			// trace before the call that started it has ended.
			calls = append(calls, call{pid: pid})
			continue
		}
		if strings.HasPrefix(rest, "<... ") {
			_, tail, _ := strings.Cut(rest, " resumed>")
			rest = open[pid] + tail
			delete(open, pid)
			if c, ok := parseCall(pid, rest); ok {
				fillPlace(calls, c)
			}
			continue
		}
		if c, ok := parseCall(pid, rest); ok {
			calls = append(calls, c)
		}
	}
	// A call that never returned was still made.
	for pid, head := range open {
		if c, ok := parseCall(pid, head+") = ?"); ok {
			fillPlace(calls, c)
		}
	}
	return calls
}

// fillPlace puts a finished call into the place where it began.
func fillPlace(calls []call, c call) {
	for i := len(calls) - 1; i >= 0; i-- {
		if calls[i].pid == c.pid && calls[i].name == "" {
			calls[i] = c
			return
		}
	}
}

func parseCall(pid int, text string) (call, bool) {
	name, rest, ok := strings.Cut(text, "(")
	if !ok || name == "" || strings.ContainsAny(name, " +-") {
		return call{}, false
	}
	// The result comes after the last «)», spaces and «=».
	for eq := len(rest); ; {
		eq = strings.LastIndex(rest[:eq], " = ")
		if eq < 0 {
			return call{}, false
		}
		if args, ok := strings.CutSuffix(strings.TrimRight(rest[:eq], " "), ")"); ok {
			return call{pid, name, args, strings.TrimSpace(rest[eq+3:])}, true
		}
	}
}

// failed returns the name of the error with which a call returned, and whether there was one.
func (c call) failed() (string, bool) {
	rest, ok := strings.CutPrefix(c.result, "-1 ")
	if !ok {
		return "", false
	}
	word, _, _ := strings.Cut(rest, " ")
	return word, true
}

// refused reports whether a call failed only because the user of the line may not change the root.
func (c call) refused() bool {
	word, ok := c.failed()
	return ok && (word == "EACCES" || word == "EPERM" || word == "EROFS")
}

// done reports whether a call succeeded, or would have succeeded for a user with more rights.
func (c call) done() bool {
	_, failed := c.failed()
	return !failed || c.refused()
}

// strings returns the quoted strings among the arguments, decoded.
func (c call) strings() []string {
	var all []string
	for s := c.args; ; {
		i := strings.IndexByte(s, '"')
		if i < 0 {
			return all
		}
		text, n := unquote(s[i+1:])
		all = append(all, text)
		s = s[i+1+n:]
	}
}

// unquote decodes a string as strace writes it, up to its closing quote. It returns the text and
// how many bytes it read.
func unquote(s string) (string, int) { return decode(s, '"') }

func decode(s string, end byte) (string, int) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == end:
			return b.String(), i + 1
		case s[i] != '\\' || i+1 == len(s):
			b.WriteByte(s[i])
		default:
			i++
			if at := strings.IndexByte("ntrvf", s[i]); at >= 0 {
				b.WriteByte("\n\t\r\v\f"[at])
			} else if s[i] >= '0' && s[i] <= '7' {
				n, v := 0, 0
				for n < 3 && i+n < len(s) && s[i+n] >= '0' && s[i+n] <= '7' {
					v = v*8 + int(s[i+n]-'0')
					n++
				}
				b.WriteByte(byte(v))
				i += n - 1
			} else {
				b.WriteByte(s[i])
			}
		}
	}
	return b.String(), len(s)
}

// named returns the path that strace prints after a descriptor in an argument or a result, as in
// 3</some/path>. If there is none, it returns the empty string.
func named(s string) string {
	_, rest, ok := strings.Cut(s, "<")
	if !ok {
		return ""
	}
	if !strings.HasPrefix(rest, "/") {
		return ""
	}
	path, _ := decode(rest, '>')
	return path
}

// A process is what the trace shows about a process.
type process struct {
	cwd  string
	exe  string
	argv []string
}

// A table follows processes through a trace.
type table map[int]*process

// of returns the process with a number. A new process is a copy of its parent.
func (t table) of(pid int, parents map[int]int) *process {
	if p := t[pid]; p != nil {
		return p
	}
	p := &process{cwd: project, exe: "/bin/bash"}
	if parent, ok := parents[pid]; ok && parent != pid {
		*p = *t.of(parent, parents)
	}
	t[pid] = p
	return p
}

// parentsOf returns the parent of each process that the calls started.
func parentsOf(calls []call) map[int]int {
	parents := map[int]int{}
	for _, c := range calls {
		switch c.name {
		case "clone", "clone3", "fork", "vfork":
			if child, err := strconv.Atoi(c.result); err == nil && child > 0 {
				parents[child] = c.pid
			}
		}
	}
	return parents
}

// at returns a path of a call as an absolute path. If the call has an argument for the folder, dir
// is that argument; otherwise the path is relative to the working folder.
func (p *process) at(path, dir string) string {
	if !strings.HasPrefix(path, "/") {
		base := named(dir)
		if base == "" {
			base = p.cwd
		}
		path = base + "/" + path
	}
	return filepath.Clean(path)
}
