package catalog

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
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

// maxTargets bounds the files one command line is looked at for writing; with
// more of them it counts as doing the worst.
const maxTargets = 512

func (j *judge) parts(list []part, scripts int) {
	base := j.base
	got := map[string]bool{} // names of what was fetched
	fetches := false
	for i := range list {
		p := &list[i]
		p.unwrap()
		if p.fetches() {
			fetches = true
			p.fetched(got)
		}
	}
	for i := range list {
		p := &list[i]
		for _, name := range p.targets(j.folder(base)) {
			j.writes(name, base, false)
		}
		for k, name := range p.folders(j.folder(base)) {
			j.writes(name, base, true)
			if k > 0 && !strings.HasSuffix(name, "/.") && j.folder(base)(name) { // what is put in its place brings everything in it
				j.guards |= isInstructs
			}
		}
		if fetches && (p.runsInput() || p.starts(got)) {
			j.installs = true
		}
		if p.tells() {
			j.most = floodmark.Secret
		}
		if first := p.after(0); first != "" && (p.name() == "cd" || p.name() == "pushd") {
			base = j.enter(first, base)
		}
		if scripts > 0 {
			for _, s := range p.scripts() {
				j.parts(parts(s), scripts-1)
			}
		}
	}
}

// enter is the folder a command line is in after going to another. One that
// goes deeper than any path is not followed; it counts as doing the worst.
func (j *judge) enter(folder, base string) string {
	if len(folder)+len(base) > MaxPathBytes {
		j.installs = true
		return base
	}
	return clean(folder, base, j.at.Home)
}

// folder returns what is known to be a folder: those that hold the project, a
// home or the place where the command runs.
func (j *judge) folder(base string) func(string) bool {
	return func(name string) bool {
		if len(name) > MaxPathBytes {
			return false
		}
		at := clean(name, base, j.at.Home)
		return at == "/" || within(base, at) || within(j.at.Project, at) || within(j.at.Home, at)
	}
}

// writes notes what it means that a command writes a file, or puts a folder
// there.
func (j *judge) writes(name, base string, folder bool) {
	if name == "" {
		return
	}
	if j.targets++; j.targets > maxTargets {
		j.installs = true
		return
	}
	var buf [24]string
	s := j.catalog.paths.look(name, base, j.at, buf[:])
	j.guards |= s.guard & (isInstructs | isProtected)
	if folder {
		j.guards |= j.catalog.paths.holdsGuarded(&s)
	}
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

// after returns the word that follows the i-th, if there is one.
func (p *part) after(i int) string {
	if i+1 < len(p.words) {
		return p.words[i+1]
	}
	return ""
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
	first := p.after(0)
	return first != "" && first[0] != '-' && first[0] != '$' && !strings.HasPrefix(first, "/dev/") && !strings.HasPrefix(first, "/proc/")
}

// inline reports whether the program stands in the command itself, so that
// what is piped into it is data: unless the program runs data.
func (p *part) inline() bool {
	if !oneOf(p.after(0), "-c", "-e", "-m", "-r", "-p", "-ne", "-pe", "-nle", "-ple", "-lane", "-le") {
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

// fetched adds the names of all files the command may have fetched.
func (p *part) fetched(names map[string]bool) {
	for _, list := range [...][]string{p.words, p.writes} {
		for _, w := range list {
			if n := baseName(w); n != "" && !isFetcher(n) {
				names[n] = true
			}
		}
	}
}

// starts reports whether the command is, or interprets, a file of one of
// these names.
func (p *part) starts(names map[string]bool) bool {
	if len(p.words) == 0 {
		return false
	}
	if p.inline() {
		return false
	}
	started := p.words[0]
	if name := p.name(); isInterpreter(name) || oneOf(name, "source", ".", "chmod") {
		started = p.words[len(p.words)-1]
		if p.script() && name != "chmod" {
			started = p.after(0)
		}
	} else if !strings.Contains(started, "/") {
		return false
	}
	file := baseName(started)
	return names[file] && !isInterpreter(file)
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

func oneOf(word string, list ...string) bool { return slices.Contains(list, word) }
