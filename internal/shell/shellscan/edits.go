package shellscan

import (
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/shell/commandbook"
	"github.com/floodmark/floodmark/internal/shell/scripts"
)

// specialFiles continues specialMore with programs that only change files.
func (s *scanner) specialFiles(j *job) {
	switch j.name {
	case "install":
		if j.p.has("-d", "--directory") {
			j.become(commandbook.Copies, commandbook.Writes)
		}
	case "chmod":
		s.modes(j)
	case "rmdir":
		s.emptied(j)
	case "patch":
		s.touch(Effect{Kind: Write, Tree: true}, literal("."), j.st)
	case "zip":
		if j.p.has("-m", "--move") {
			for _, o := range j.p.list {
				if o.role == commandbook.Reads {
					s.touch(Effect{Kind: Delete, Tree: true}, o.w, j.st)
				}
			}
		}
	}
}

// inPlace records the files a command reads as written. If a suffix is given, the backup beside
// each file is written too.
func (s *scanner) inPlace(j *job) {
	j.effect(floodmark.Write)
	end, kept := word{}, false
	for _, o := range j.p.list {
		if o.opt == "-i" || o.opt == "--in-place" {
			if end, kept = o.w, true; strings.ContainsAny(end.text, "*/") {
				end = word{text: "*", glob: true}
			}
		}
	}
	for i := range j.p.list {
		o := &j.p.list[i]
		if o.role != commandbook.Reads || o.opt != "" {
			continue
		}
		o.role = commandbook.Writes
		if kept {
			s.touch(Effect{Kind: Write}, o.w.join(end), j.st)
		}
	}
}

// alnum is a pattern for one letter or digit.
const alnum = "[0-9A-Za-z]"

// temporary adds a file with a random name: each «X» is replaced.
func (s *scanner) temporary(j *job) {
	name := literal("tmp.XXXXXXXXXX")
	for i := range j.p.list {
		if o := &j.p.list[i]; o.opt == "" {
			name, o.role = o.w, commandbook.Text
		}
	}
	if i := strings.LastIndexByte(name.text, 'X'); i >= 0 {
		head := strings.TrimRight(name.text[:i+1], "X")
		name.text = head + strings.Repeat(alnum, i+1-len(head)) + name.text[i+1:]
	}
	name.glob = true
	switch {
	case len(j.into) > 0:
		name = j.into[0].join(literal("/")).join(name)
	case j.plain() == 0 || j.p.has("-t"):
		name = literal("/tmp/").join(name)
	}
	s.touch(Effect{Kind: Write}, name, j.st)
}

// modes sets the roles of chmod's words. It adds Change if the mode may make a file setuid.
func (s *scanner) modes(j *job) {
	if j.p.has("--reference") {
		j.become(commandbook.Text, commandbook.Writes)
		return
	}
	for _, o := range j.p.list {
		if o.opt != "" {
			continue
		}
		t := o.w.text
		if !o.w.exact() || strings.Contains(t, "s") || len(t) > 3 && strings.Trim(t, "01234567") == "" && t[len(t)-4] > '1' {
			j.effect(floodmark.Change)
		}
		return
	}
}

// emptied adds the parent folders that rmdir -p removes.
func (s *scanner) emptied(j *job) {
	if !j.p.has("-p", "--parents") {
		return
	}
	for _, o := range j.p.list {
		for w := o.w; strings.Contains(strings.TrimRight(w.text, "/"), "/"); {
			w.text = strings.TrimRight(w.text, "/")
			if w.text = w.text[:strings.LastIndexByte(w.text, '/')]; w.text != "" {
				s.touch(Effect{Kind: Delete}, w, j.st)
			}
		}
	}
}

// become changes the role of operands.
func (j *job) become(from, to commandbook.Role) {
	for i := range j.p.list {
		if o := &j.p.list[i]; o.opt == "" && o.role == from {
			o.role = to
		}
	}
}

// attends reports whether a program waits for typed input, or keeps a shell open that does.
func (j *job) attends() bool {
	first := ""
	for _, o := range j.p.list {
		if o.opt == "" {
			first = o.w.text
			break
		}
	}
	if len(j.entry.Words) > 1 {
		first = j.entry.Words[1]
	}
	switch j.name {
	case "screen":
		return !j.p.has("-X")
	case "tmux":
		return first == "" || first[0] == 'a' || strings.HasPrefix(first, "new") || strings.HasPrefix(first, "respawn")
	case "su", "runuser", "script", "chroot", "unshare", "nsenter":
		return !j.p.has("-c", "--command") && j.plain() < 2
	case "docker", "podman", "kubectl":
		return (first == "run" || first == "exec" || first == "attach") && j.p.has("-i", "-t", "--interactive", "--tty", "--stdin")
	}
	return false
}

// patch adds what a patch in the form of coding agents changes:
//
//	*** Begin Patch
//	*** Add File: name
//	*** Update File: name
//	*** Move to: name
//	*** Delete File: name
//	*** End Patch
//
// A line of a file's text that begins with «*** » is read as such a line too. This may add a file
// too many, but misses none.
func (s *scanner) patch(j *job, w word) {
	j.ran = true
	if w.vague {
		s.doubt("a patch that is not known until it runs")
		s.touch(Effect{Kind: Write, Tree: true}, literal("."), j.st)
		return
	}
	begun := false
	var last string
	for line := range strings.Lines(w.text) {
		head, ok := strings.CutPrefix(strings.TrimSpace(line), "*** ")
		if !ok {
			continue
		}
		what, name, _ := strings.Cut(head, ": ")
		switch what {
		case "Begin Patch":
			begun = true
		case "End Patch", "End of File":
		case "Add File", "Update File":
			last = name
			s.touch(Effect{Kind: Write}, literal(name), j.st)
		case "Move to":
			s.touch(Effect{Kind: Delete}, literal(last), j.st)
			s.touch(Effect{Kind: Write}, literal(name), j.st)
		case "Delete File":
			s.touch(Effect{Kind: Delete}, literal(name), j.st)
		default:
			s.doubt("a line of a patch that is not known")
		}
	}
	if !begun {
		s.doubt("a patch in a form that is not known")
	}
}

// appliesDiffs reports whether a program changes the files named by a diff on its input.
func appliesDiffs(j *job) bool {
	words := j.entry.Words
	return j.name == "patch" || j.name == "git" && len(words) > 1 && (words[1] == "apply" || words[1] == "am")
}

// diff adds the files named by a diff that is part of the line, each with and without the first
// folder, which «-p1» strips. It may add a file too many, but misses none.
func (s *scanner) diff(j *job) {
	for _, name := range scripts.DiffNames(j.in.text) {
		if _, inner, ok := strings.Cut(name, "/"); ok && !strings.HasPrefix(name, "/") {
			s.touch(Effect{Kind: Write}, literal(inner), j.st)
		}
		s.touch(Effect{Kind: Write}, literal(name), j.st)
	}
}
