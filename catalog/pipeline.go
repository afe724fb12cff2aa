package catalog

import (
	"slices"
	"strings"
)

// MaxShellBytes is the longest command line that is looked through for what
// it writes and runs; a longer one counts as doing the worst of it.
const MaxShellBytes = 256 << 10

// maxScripts bounds scripts inside scripts: sh -c "sh -c '…'".
const maxScripts = 4

// shell looks at a command line no entry explains for two things that are
// worse than running code: running what the network sends, and writing files
// that instruct an agent or run by themselves.
func (j *judge) shell(line string) {
	if len(line) > MaxShellBytes {
		j.installs = true
		return
	}
	j.parts(parts(line), maxScripts)
}

// argv does the same for a command given as a list of words.
func (j *judge) argv(words []string) {
	j.parts([]part{{words: slices.Clone(words)}}, maxScripts)
}

func (j *judge) parts(list []part, scripts int) {
	base := j.base
	var got []string // names of what was fetched
	fetches := false
	for i := range list {
		p := &list[i]
		p.unwrap()
		if p.fetches() {
			fetches = true
			got = append(got, p.words...)
			got = append(got, p.writes...)
		}
	}
	for i := range list {
		p := &list[i]
		for _, name := range p.targets() {
			j.written(name, base)
		}
		if fetches && (p.runsInput() || p.starts(got)) {
			j.installs = true
		}
		if first, ok := p.after(0); ok && (p.name() == "cd" || p.name() == "pushd") {
			base = clean(first, base, j.at.Home)
		}
		if scripts > 0 {
			for _, s := range p.scripts() {
				j.parts(parts(s), scripts-1)
			}
		}
	}
}

// written notes what it means that a command writes a file.
func (j *judge) written(name, base string) {
	if name == "" {
		return
	}
	var buf [24]string
	s := j.catalog.paths.look(name, base, j.at, buf[:0])
	j.guards |= s.guard & (isInstructs | isProtected)
}

// unwrap drops the words in front of the command proper: reserved words,
// assignments, and programs that start another one with its own words.
func (p *part) unwrap() {
	for len(p.words) > 0 {
		w := p.words[0]
		name, _, assigns := strings.Cut(w, "=")
		if !oneOf(w, "{", "}", "!", "if", "then", "elif", "else", "while", "until", "do", "time", "coproc") &&
			(!assigns || name == "" || strings.ContainsAny(name, "/-.")) {
			break
		}
		p.words = p.words[1:]
	}
	if !p.wraps() {
		return
	}
	// Which of its options take a value is not worth knowing: the first word
	// that is a command we look for is taken for the command.
	for i, w := range p.words[1:] {
		if n := baseName(w); isFetcher(n) || isInterpreter(n) || isWriter(n) {
			p.words = p.words[i+1:]
			return
		}
	}
}

// name is the command without its folder, in lower case.
func (p *part) name() string {
	if len(p.words) == 0 {
		return ""
	}
	return baseName(p.words[0])
}

func baseName(word string) string {
	word = strings.ToLower(word[strings.LastIndexAny(word, `/\`)+1:])
	return strings.TrimSuffix(word, ".exe")
}

// after returns the word that follows the i-th.
func (p *part) after(i int) (string, bool) {
	if i+1 < len(p.words) {
		return p.words[i+1], true
	}
	return "", false
}

func (p *part) wraps() bool {
	return oneOf(p.name(), "sudo", "doas", "env", "command", "builtin", "exec", "nohup", "nice", "ionice", "timeout", "xargs",
		"stdbuf", "setsid", "busybox", "toybox", "unbuffer", "chroot", "parallel", "watch", "find", "su", "runuser", "script")
}

func (p *part) fetches() bool { return isFetcher(p.name()) }

// runsInput reports whether the command takes what other commands print for
// a program.
func (p *part) runsInput() bool {
	name := p.name()
	switch fed := p.fed || p.names(); {
	case !p.piped && !fed:
		return false
	case oneOf(name, "eval", "source", ".", "iex", "invoke-expression", "$"):
		return true
	case isShell(name):
		return p.piped || !p.script()
	case isInterpreter(name):
		return !p.script() && (fed || !p.inline())
	}
	return false
}

// names reports whether a whole word is a variable, which may hold what was
// fetched.
func (p *part) names() bool {
	return slices.ContainsFunc(p.words, func(w string) bool { return w != "" && w[0] == '$' })
}

// script reports whether the first word names a file with the program.
func (p *part) script() bool {
	first, ok := p.after(0)
	return ok && first != "" && first[0] != '-' && first[0] != '$' && !strings.HasPrefix(first, "/dev/") && !strings.HasPrefix(first, "/proc/")
}

// inline reports whether the program stands in the command itself, so that
// what is piped into it is data: unless the program runs data.
func (p *part) inline() bool {
	first, ok := p.after(0)
	if !ok || !oneOf(first, "-c", "-e", "-m", "-r", "-p", "-ne", "-pe", "-nle", "-ple", "-lane", "-le") {
		return false
	}
	text := strings.ToLower(strings.Join(p.words[2:], " "))
	for _, word := range [...]string{
		"exec", "eval", "compile", "system", "popen", "spawn", "subprocess", "pickle", "marshal", "function(", "runpy", "child_process",
		"instance_", "qx", "`", "__", "code", "pdb", "import(", "vm.", "assert", "include", "require", "do(", "/dev/stdin",
	} {
		if strings.Contains(text, word) {
			return false
		}
	}
	return text != ""
}

// starts reports whether the command is, or interprets, a file of one of
// these names.
func (p *part) starts(names []string) bool {
	if len(p.words) == 0 {
		return false
	}
	if p.inline() {
		return false
	}
	started := p.words[0]
	if name := p.name(); isInterpreter(name) || oneOf(name, "source", ".", "chmod") {
		started = p.words[len(p.words)-1]
		if first, _ := p.after(0); p.script() && name != "chmod" {
			started = first
		}
	} else if !strings.Contains(started, "/") {
		return false
	}
	file := baseName(started)
	return file != "" && !isInterpreter(file) && slices.ContainsFunc(names, func(n string) bool {
		return !isFetcher(baseName(n)) && baseName(n) == file
	})
}

// scripts are the texts among the words that a shell will read as commands.
func (p *part) scripts() []string {
	name := p.name()
	switch {
	case oneOf(name, "eval", "iex", "invoke-expression"):
		return []string{strings.Join(p.words[1:], " ")}
	case !isShell(name) && !p.wraps() && !oneOf(name, "ssh", "docker", "podman", "kubectl", "tmux", "screen", "at", "batch"):
		return nil
	}
	out := slices.Clone(p.text)
	for _, w := range p.words[1:] {
		if strings.ContainsAny(w, " \t\n;|&<>") {
			out = append(out, w)
		}
	}
	return out
}

// targets are the files a command writes: by redirection, or because that is
// what the command is for.
func (p *part) targets() []string {
	out := p.writes
	name := p.name()
	if !isWriter(name) {
		return out
	}
	var plain []string
	into := ""
	inPlace := false
	for i, w := range p.words[1:] {
		switch {
		case oneOf(w, "-t", "--target-directory") && i+2 < len(p.words):
			into = p.words[i+2]
		case strings.HasPrefix(w, "--target-directory="):
			into = w[len("--target-directory="):]
		case strings.HasPrefix(w, "of="):
			out = append(slices.Clip(out), w[len("of="):])
		case strings.HasPrefix(w, "-"):
			inPlace = inPlace || strings.HasPrefix(w, "--in-place") || !strings.HasPrefix(w, "--") && strings.Contains(w, "i")
		default:
			plain = append(plain, w)
		}
	}
	switch {
	case name == "dd":
		return out
	case oneOf(name, "sed", "gsed", "perl", "ruby", "awk", "gawk"):
		if !inPlace {
			return out
		}
		return append(slices.Clip(out), plain...)
	case oneOf(name, "cp", "install", "ln", "rsync", "scp"):
		return append(slices.Clip(out), copied(plain, into)...)
	case name == "mv":
		return append(append(slices.Clip(out), plain...), copied(plain, into)...)
	}
	return append(slices.Clip(out), plain...)
}

// copied are the files that appear when names are copied: to the last of
// them, or into it if it is a folder. One name and a target that looks like a
// file are taken for what they look like.
func copied(names []string, into string) []string {
	if into == "" {
		if len(names) < 2 {
			return nil
		}
		names, into = names[:len(names)-1], names[len(names)-1]
		if last := into[strings.LastIndexAny(into, `/\`)+1:]; len(names) == 1 && strings.LastIndexByte(last, '.') > 0 && last != ".." {
			return []string{into}
		}
	}
	out := []string{into}
	for _, n := range names {
		out = append(out, into+"/"+n[strings.LastIndexAny(n, `/\`)+1:])
	}
	return out
}

func isFetcher(name string) bool {
	return oneOf(name, "curl", "wget", "wget2", "fetch", "nc", "ncat", "netcat", "http", "https", "httpie", "xh", "aria2c", "axel",
		"lynx", "w3m", "links", "elinks", "socat", "telnet", "ftp", "lftp", "tftp", "sftp", "scp", "ssh", "gh", "glab",
		"iwr", "irm", "invoke-webrequest", "invoke-restmethod", "start-bitstransfer", "certutil")
}

func isShell(name string) bool {
	return oneOf(name, "sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "rbash", "pwsh", "powershell", "cmd")
}

func isInterpreter(name string) bool {
	return isShell(name) || oneOf(strings.TrimRight(name, "0123456789."), "python", "pypy", "perl", "ruby", "node", "nodejs", "deno",
		"bun", "php", "lua", "luajit", "osascript", "tclsh", "rscript", "iex", "invoke-expression", "eval", "source")
}

// isWriter reports a command that writes the files it names.
func isWriter(name string) bool {
	return oneOf(name, "tee", "sed", "gsed", "perl", "ruby", "awk", "gawk", "cp", "mv", "install", "ln", "dd", "rsync", "scp", "rm", "unlink",
		"shred", "truncate", "touch", "chmod", "chown", "sponge")
}

func oneOf(word string, list ...string) bool { return slices.Contains(list, word) }
