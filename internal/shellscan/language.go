package shellscan

import (
	"slices"
	"strings"
	"unicode"

	"github.com/floodmark/floodmark"
)

// language parses a program for sed, awk or jq as far as necessary: whether it runs commands,
// touches other files or prints the environment.
func (s *scanner) language(j *job, o operand) {
	w := o.w
	if w.vague {
		s.doubt("a program for " + j.name + " that is not known until it runs")
		s.r.NetworkIntoInterpreter = s.r.NetworkIntoInterpreter || w.net
		s.add(Effect{Kind: Execute})
		return
	}
	switch o.role {
	case Sed:
		if j.p.has("-e", "--expression", "-f", "--file") && o.opt == "" { // the first operand is a file
			s.apply(j, operand{role: roleOfFiles(j), w: w})
			return
		}
		if !plainSed(w.text) {
			s.doubt("a sed program that runs, reads or writes")
			j.effect(floodmark.Run)
		}
	case Awk:
		if j.p.has("-f", "--file") && o.opt == "" {
			s.apply(j, operand{role: Reads, w: w})
			return
		}
		if strings.Contains(w.text, "ENVIRON") {
			s.add(Effect{Kind: Environment})
		}
		if !plainAwk(w.text) {
			s.doubt("an awk program that runs, reads or writes")
			j.effect(floodmark.Run)
			s.r.NetworkIntoInterpreter = s.r.NetworkIntoInterpreter || j.in.net && strings.Contains(w.text, "system")
		}
	case Jq:
		s.jq(j, w.text)
	default: // statements for a database
		j.ran = true
		j.part.Operands = append(j.part.Operands, w.text)
		if low := strings.ToLower(w.text); strings.Contains(low, `\!`) || strings.Contains(low, "program") || strings.Contains(low, ".sh") || strings.Contains(low, ".sy") || strings.Contains(low, "load") {
			s.doubt("a statement that may run a program")
		}
		s.add(Effect{Kind: Execute})
		for _, e := range s.r.Effects { // a view in the database file may call any function of the program
			if e.Kind == Write && e.Command == j.name {
				e.Kind = Execute
				s.add(e)
			}
		}
	}
}

func roleOfFiles(j *job) Role {
	if j.p.has("-i", "--in-place", "-I") {
		return Writes
	}
	return Reads
}

// jq records that a program for jq may print the environment: if the program says so, comes from a
// file, or has no input file. Some functions of yq may also read any file.
func (s *scanner) jq(j *job, program string) {
	if j.name == "yq" && !onlyCalls(program, "select", "map", "has", "del", "contains", "test", "match", "sub", "split", "join", "sort_by", "group_by", "with_entries", "and", "or") || j.p.has("-n", "--null-input", "-f", "--from-file", "-L", "--library-path") || callsWord(program, "env") || callsWord(program, "input") {
		s.add(Effect{Kind: Environment})
	}
	if callsWord(program, "import") || callsWord(program, "include") {
		s.doubt("a jq program that loads others")
	}
}

// onlyCalls reports whether a program calls only these functions.
func onlyCalls(program string, words ...string) bool {
	for before := range strings.SplitSeq(program[:strings.LastIndexByte(program, '(')+1], "(") {
		before = strings.TrimRight(before, " \t\n")
		word := before[strings.LastIndexFunc(before, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })+1:]
		if word != "" && !slices.Contains(words, word) {
			return false
		}
	}
	return true
}

// callsWord reports whether a program uses word other than as a field: «env.PATH» but not «.env».
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

// plainAwk reports whether a program only reads its input and prints, because all its functions and
// special variables are known to do no more. Strings are searched too, so that quotes cannot hide a
// word.
func plainAwk(text string) bool {
	text = strings.ReplaceAll(withoutPattern(text), "||", "  ")
	_, printed, _ := strings.Cut(text, "print") // print … > file
	if strings.Contains(printed, ">") || strings.ContainsAny(text, "|@") || strings.Contains(text, "\\\n") || strings.Contains(text, "getline") {
		return false
	}
	for text != "" {
		begin := strings.IndexFunc(text, inAwkName)
		if begin < 0 {
			return true
		}
		text = text[begin:]
		end := strings.IndexFunc(text+" ", func(c rune) bool { return !inAwkName(c) })
		name, rest := text[:end], strings.TrimLeft(text[end:], blanks)
		special := len(name) > 1 && strings.ToUpper(name) == name && strings.ToLower(name) != name
		if special && !slices.Contains(strings.Fields("BEGIN END NR NF FNR FS OFS RS ORS FILENAME SUBSEP RSTART RLENGTH"), name) {
			return false
		}
		if strings.HasPrefix(rest, "(") && !slices.Contains(strings.Fields("if while for else in exit return print printf length substr index split sub gsub match sprintf tolower toupper int sqrt exp log rand srand"), name) {
			return false
		}
		text = text[end:]
	}
	return true
}

// withoutPattern removes a plain leading pattern: /ERROR/.
func withoutPattern(text string) string {
	rest, ok := strings.CutPrefix(strings.TrimLeft(text, blanks), "/")
	if !ok {
		return text
	}
	pattern, after, ok := strings.Cut(rest, "/")
	if !ok || strings.ContainsFunc(pattern, func(c rune) bool { return !inAwkName(c) && !strings.ContainsRune(" .:^$-", c) }) {
		return text
	}
	return after
}

func inAwkName(c rune) bool { return c == '_' || c < 0x80 && letterOrDigit(byte(c)) }

// plainSed reports whether a program only changes its input stream.
func plainSed(text string) bool {
	for text != "" {
		text = strings.TrimLeft(text, " \t\n;{}!")
		if text == "" {
			return true
		}
		var ok bool
		if text, ok = sedAddress(text); !ok {
			return false
		}
		text = strings.TrimLeft(text, " \t!{")
		if text == "" {
			return true
		}
		if text, ok = sedCommand(text); !ok {
			return false
		}
	}
	return true
}

// sedAddress returns the text after an address such as 1,40 or $ or /x/ or 0~3.
func sedAddress(text string) (string, bool) {
	for text != "" {
		switch c := text[0]; {
		case c >= '0' && c <= '9', c == ',', c == '$', c == '~', c == '+', c == ' ':
			text = text[1:]
		case c == '/', c == '\\' && len(text) > 1:
			delim := c
			text = text[1:]
			if c == '\\' {
				delim, text = text[0], text[1:]
			}
			_, rest, ok := sedUntil(text, delim)
			if !ok {
				return "", false
			}
			text = strings.TrimLeft(rest, "IM")
		default:
			return text, true
		}
	}
	return text, true
}

// sedUntil cuts a text at the next delimiter that is not escaped.
func sedUntil(text string, delim byte) (head, rest string, ok bool) {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case delim:
			return text[:i], text[i+1:], true
		}
	}
	return "", "", false
}

// sedCommand returns the text after one command, or false if it may run or touch something else.
func sedCommand(text string) (string, bool) {
	c := text[0]
	switch {
	case c == 's' || c == 'y':
		if len(text) < 4 {
			return "", false
		}
		_, rest, ok := sedUntil(text[2:], text[1])
		if !ok {
			return "", false
		}
		if _, rest, ok = sedUntil(rest, text[1]); !ok {
			return "", false
		}
		end := strings.IndexAny(rest, ";}\n #")
		if end < 0 {
			end = len(rest)
		}
		return rest[end:], strings.Trim(rest[:end], "gpiIMm0123456789") == ""
	case strings.IndexByte("aic", c) >= 0: // the rest of the line is text
		for strings.HasSuffix(firstLine(text), `\`) && len(firstLine(text)) < len(text) {
			text = text[len(firstLine(text))+1:]
		}
		return text[min(len(text), len(firstLine(text))):], true
	case c == '#':
		return text[len(firstLine(text)):], true
	case strings.IndexByte("btT:", c) >= 0:
		return text[strings.IndexAny(text+";", ";\n}"):], true
	case strings.IndexByte("pPdDnNgGhHxlqQ=z", c) >= 0:
		return strings.TrimLeft(text[1:], " 0123456789"), true
	}
	return "", false
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// undescribed reads a command that no entry describes, or not with its options. It could do
// anything. Its probable effects are recorded too, because some are worse than running code.
func (s *scanner) undescribed(name string, words []word, st *state, in feed, depth int) feed {
	s.doubt("nobody said what this does: " + shorten(name))
	s.add(Effect{Kind: Execute})
	out := feed{piped: true, net: in.net || brings(name)}
	for _, e := range s.c.byWord[name] {
		if e.fits(words[1:]) && (e.Tells || e.Protected) {
			s.part(Part{Entries: []*Entry{e}, Effects: e.Effects}, words)
		}
	}
	if brings(name) {
		s.add(Effect{Kind: Fetch})
	}
	if name == "sudo" || name == "doas" {
		s.r.InteractiveShell = s.r.InteractiveShell || slices.ContainsFunc(words, func(w word) bool {
			return w.text == "-i" || w.text == "-s" || w.text == "--login" || w.text == "--shell"
		})
	}
	if name == "ps" || name == "kubectl" && slices.ContainsFunc(words, func(w word) bool { return strings.Contains(strings.ToLower(w.text), "secret") }) {
		s.add(Effect{Kind: Environment})
	}
	var net bool
	for i, w := range words[1:] {
		net = net || w.net
		if s.wraps(name) && w.exact() && (len(s.c.byWord[w.text]) > 0 || systemProgram(w.text) != "") {
			if started := s.call(words[i+1:], st.fork(), in, depth+1); started.net {
				out.net = true
			}
			break
		}
		s.guess(name, w, st)
		if w.exact() && strings.ContainsAny(w.text, " \t\n;|&<>") && (s.wraps(name) || interprets(name)) {
			s.script(w.text, st.fork(), in, depth)
		}
	}
	if interprets(name) && (in.net || net) {
		s.r.NetworkIntoInterpreter = true
	}
	if in.known && interprets(name) {
		s.script(in.text, st.fork(), feed{piped: true}, depth)
	}
	out.net = out.net || net
	return out
}

// guess adds a word of an undescribed command as a file: as written if such a command writes files,
// and as holding network data if such a command fetches.
func (s *scanner) guess(name string, w word, st *state) {
	text := w.text
	if v, ok := strings.CutPrefix(text, "-"); ok {
		_, value, joined := strings.Cut(v, "=")
		if !joined {
			return
		}
		text = value
	} else if _, value, joined := strings.Cut(text, "="); joined {
		text = value
	}
	if text == "" || w.vague || strings.Contains(text, "://") {
		if brings(name) && !w.vague {
			for _, p := range s.paths(base(text), st) {
				s.bring(p)
			}
		}
		return
	}
	for _, p := range s.paths(text, st) {
		if brings(name) {
			s.bring(p)
		}
		if writesFiles(name) && !strings.Contains(text, ":") {
			s.add(Effect{Kind: Write, Path: p, Pattern: w.glob})
		}
	}
}

func (s *scanner) wraps(name string) bool {
	if slices.ContainsFunc(s.c.byWord[name], func(e *Entry) bool { return slices.Contains(e.Operands, Command) }) {
		return true
	}
	return slices.Contains([]string{"find", "su", "runuser", "script", "chroot", "unbuffer", "ssh", "docker", "podman", "kubectl", "tmux", "screen", "at", "batch"}, name)
}

func interprets(name string) bool {
	name = strings.TrimRight(name, "0123456789.")
	return slices.Contains([]string{
		"sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "rbash", "pwsh", "powershell", "cmd", "python", "pypy", "perl", "ruby", "node", "nodejs",
		"deno", "bun", "php", "lua", "luajit", "osascript", "tclsh", "Rscript", "iex", "Invoke-Expression", "invoke-expression",
	}, name)
}

func writesFiles(name string) bool {
	return brings(name) || slices.Contains([]string{
		"tee", "sed", "gsed", "perl", "ruby", "awk", "gawk", "cp", "mv", "install", "ln", "link", "dd", "rsync", "rm", "unlink", "shred", "truncate", "touch", "chmod", "chown",
		"sponge", "rename", "ditto", "robocopy", "xcopy", "tar", "bsdtar", "gtar", "unzip", "7z", "unrar", "cpio", "gunzip", "gzip", "xz", "zstd", "patch", "mkdir",
	}, name)
}

func shorten(name string) string { return name[:min(len(name), 40)] }
