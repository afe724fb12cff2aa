package truth

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// A kind is a kind of effect.
type kind string

const (
	reads   kind = "read"   // opened a file of the home, or a secret file elsewhere
	writes  kind = "write"  // made, changed or renamed a file
	deletes kind = "delete" // removed a file or folder that was there
	starts  kind = "exec"   // started a program file that the user of the line can write
	codes   kind = "code"   // started an interpreter with code
	calls   kind = "net"    // tried to reach a host or to listen
	signals kind = "signal" // sent a signal
	mounts  kind = "mount"  // changed what is mounted
)

// An effect is one thing that a line was seen doing.
type effect struct {
	Kind   kind
	Path   string // or host:port, a command line, or the arguments of a call
	By     string // the program that did it
	Moved  bool   // the deleted file was renamed and still exists under another name
	Secret bool
}

func (e effect) String() string {
	text := string(e.Kind) + " " + e.Path
	if e.Secret {
		text = "secret " + text
	}
	return text + " (by " + filepath.Base(e.By) + ")"
}

// A watcher turns the calls of a trace into effects.
type watcher struct {
	processes table
	parents   map[int]int
	made      map[string]int // the files that the line made, with the process that made each
	effects   []effect
}

// effectsOf returns the effects that a trace shows.
func effectsOf(trace string) []effect {
	all := parseTrace(trace)
	w := &watcher{processes: table{}, parents: parentsOf(all), made: map[string]int{}}
	for _, c := range all {
		if c.name != "" {
			w.see(c, w.processes.of(c.pid, w.parents))
		}
	}
	slices.SortFunc(w.effects, func(a, b effect) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(w.effects)
}

func (w *watcher) add(k kind, path string, p *process) {
	path = strings.TrimSuffix(path, "(deleted)")
	if k != calls && k != signals && k != codes && k != starts && noise(k, path, p) {
		return
	}
	path, k = inRepository(path, k, p)
	w.effects = append(w.effects, effect{Kind: k, Path: path, By: p.exe, Secret: k == reads && secret(path)})
}

// see adds the effects of one call.
func (w *watcher) see(c call, p *process) {
	args := splitArguments(c.args)
	texts := c.strings()
	if len(args) == 0 {
		return
	}
	switch c.name {
	case "open", "openat", "openat2", "creat":
		w.seeOpen(c, p, args, texts)
	case "execve", "execveat":
		w.seeExec(c, p, args, texts)
	case "chdir", "fchdir":
		seeFolder(c, p, args, texts)
	case "connect", "sendto", "sendmsg", "sendmmsg", "bind":
		w.seeNetwork(c, p)
	case "kill":
		// Signal 0 only asks whether a process exists. Threads of one process use other calls.
		if len(args) > 1 && args[1] != "0" {
			w.add(signals, strings.Join(args, " "), p)
		}
	case "mount", "umount2", "unshare", "setns":
		if c.done() {
			w.add(mounts, strings.Join(texts, " "), p)
		}
	default:
		if c.done() {
			w.seeChange(c, p, args, texts)
		}
	}
}

// seeOpen adds the effects of opening a file.
func (w *watcher) seeOpen(c call, p *process, args, texts []string) {
	if len(texts) == 0 || !c.done() {
		return
	}
	dir, flags := args[0], args[len(args)-1]
	if c.name == "open" || c.name == "creat" {
		dir = ""
	}
	for _, a := range args {
		if strings.HasPrefix(a, "O_") || strings.HasPrefix(a, "{flags=") {
			flags = a
		}
	}
	path := p.at(texts[0], dir)
	asked := path
	if real := named(c.result); real != "" && !strings.HasPrefix(real, "/proc/") {
		path = real
	}
	switch {
	case c.name == "creat" || strings.Contains(flags, "O_WRONLY") || strings.Contains(flags, "O_RDWR") ||
		strings.Contains(flags, "O_CREAT") || strings.Contains(flags, "O_TRUNC"):
		if strings.Contains(flags, "O_TMPFILE") {
			return
		}
		if strings.Contains(flags, "O_EXCL") || !inTemplate(path) {
			if _, there := w.made[path]; !there {
				w.made[path] = c.pid
			}
		}
		w.replaced(path, p)
		w.add(writes, path, p)
	case !strings.Contains(flags, "O_DIRECTORY") && !strings.Contains(flags, "O_PATH"):
		w.add(reads, path, p)
		if secret(asked) && asked != path {
			w.add(reads, asked, p)
		}
	}
}

// seeExec adds the effects of starting a program.
func (w *watcher) seeExec(c call, p *process, args, texts []string) {
	if c.result != "0" || len(texts) == 0 {
		return
	}
	dir := ""
	if c.name == "execveat" {
		dir = args[0]
	}
	path := p.at(texts[0], dir)
	if texts[0] == "" {
		path = named(args[0])
	}
	p.exe = path
	for i, a := range args {
		if strings.HasPrefix(a, "[") && i > 0 {
			p.argv = call{args: a}.strings()
			break
		}
	}
	switch {
	case writable(path) || strings.HasPrefix(path, "/proc/") || strings.HasPrefix(path, "/memfd"):
		w.add(starts, path, p)
	case interpreter(path) && codeGiven(p.argv):
		w.add(codes, strings.Join(p.argv, " "), p)
	}
}

func seeFolder(c call, p *process, args, texts []string) {
	if c.result != "0" {
		return
	}
	if c.name == "fchdir" {
		p.cwd = named(args[0])
	} else if len(texts) > 0 {
		p.cwd = p.at(texts[0], "")
	}
}

// seeNetwork adds the effect of an attempt to reach a host, even if the host is not reached.
func (w *watcher) seeNetwork(c call, p *process) {
	if !strings.Contains(c.args, "sa_family=AF_INET") {
		return
	}
	host := "?"
	if texts := c.strings(); len(texts) > 0 {
		_, after, _ := strings.Cut(c.args, "inet_addr(")
		if after == "" {
			_, after, _ = strings.Cut(c.args, "inet_pton(AF_INET6, ")
		}
		if strings.HasPrefix(after, `"`) {
			host, _ = unquote(after[1:])
		}
	}
	_, port, _ := strings.Cut(c.args, "_port=htons(")
	port, _, _ = strings.Cut(port, ")")
	if c.name == "bind" && port == "0" {
		return // programs do this to find out which protocols there are
	}
	w.add(calls, fmt.Sprintf("%s:%s", host, port), p)
}

// seeChange adds the effects of calls that change files without opening them.
func (w *watcher) seeChange(c call, p *process, args, texts []string) {
	path := func(text, dir int) string {
		if text >= len(texts) {
			return ""
		}
		if dir < 0 {
			return p.at(texts[text], "")
		}
		return p.at(texts[text], args[dir])
	}
	switch c.name {
	case "unlink", "rmdir":
		w.remove(c.pid, path(0, -1), p)
	case "unlinkat":
		w.remove(c.pid, path(0, 0), p)
	case "rename":
		w.move(c.pid, path(0, -1), path(1, -1), p)
	case "renameat", "renameat2":
		w.move(c.pid, path(0, 0), path(1, 2), p)
	case "link", "symlink":
		w.create(c.pid, path(1, -1), p)
	case "symlinkat":
		w.create(c.pid, path(1, 1), p)
	case "linkat":
		w.create(c.pid, path(1, 2), p)
	case "mkdir", "mknod":
		w.create(c.pid, path(0, -1), p)
	case "mkdirat", "mknodat":
		w.create(c.pid, path(0, 0), p)
	case "chmod", "chown", "lchown", "truncate", "setxattr", "lsetxattr":
		w.add(writes, path(0, -1), p)
	case "fchmodat", "fchownat", "utimensat":
		if len(texts) == 0 {
			w.add(writes, named(args[0]), p)
		} else {
			w.add(writes, path(0, 0), p)
		}
	case "fchmod", "fchown", "ftruncate":
		w.add(writes, named(args[0]), p)
	}
}

func (w *watcher) create(pid int, path string, p *process) {
	w.replaced(path, p)
	if _, there := w.made[path]; !there {
		w.made[path] = pid
	}
	w.add(writes, path, p)
}

// remove adds the effect of a removal. A file that the same process made before has no effect at
// all, because it was only temporary.
func (w *watcher) remove(pid int, path string, p *process) {
	if by, ok := w.made[path]; ok && by == pid {
		w.forget(path)
		return
	}
	w.add(deletes, path, p)
}

// move adds the effects of a renaming. If the same process made the file before, only the new name
// is written. Otherwise the old name is also deleted.
func (w *watcher) move(pid int, from, to string, p *process) {
	if by, ok := w.made[from]; ok && by == pid {
		w.forget(from)
	} else if !noise(deletes, from, p) {
		path, k := inRepository(from, deletes, p)
		w.effects = append(w.effects, effect{Kind: k, Path: path, By: p.exe, Moved: k == deletes})
	}
	w.create(pid, to, p)
}

// replaced drops the removal of a file by git if git makes the file again, because then git only
// wrote it.
func (w *watcher) replaced(path string, p *process) {
	w.effects = slices.DeleteFunc(w.effects, func(e effect) bool {
		return e.Kind == deletes && e.Path == path && e.By == p.exe && filepath.Base(p.exe) == "git"
	})
}

func (w *watcher) forget(path string) {
	delete(w.made, path)
	w.effects = slices.DeleteFunc(w.effects, func(e effect) bool { return e.Kind == writes && e.Path == path })
}

// splitArguments cuts arguments at commas outside strings and brackets.
func splitArguments(s string) []string {
	var all []string
	depth, from := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			_, n := unquote(s[i+1:])
			i += n
		case '[', '{', '(', '<':
			depth++
		case ']', '}', ')', '>':
			depth--
		case ',':
			if depth == 0 {
				all = append(all, strings.TrimSpace(s[from:i]))
				from = i + 1
			}
		}
	}
	return append(all, strings.TrimSpace(s[from:]))
}
