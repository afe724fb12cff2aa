package shellscan

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/shell/commandbook"
	"github.com/floodmark/floodmark/internal/shell/knownnames"
	"github.com/floodmark/floodmark/internal/shell/scripts"
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
	case commandbook.Sed:
		if j.p.has("-e", "--expression", "-f", "--file") && o.opt == "" { // the first operand is a file
			s.apply(j, operand{role: roleOfFiles(j), w: w})
			return
		}
		if !scripts.PlainSed(w.text) {
			s.doubt("a sed program that runs, reads or writes")
			j.effect(floodmark.Run)
		}
	case commandbook.Awk:
		if j.p.has("-f", "--file") && o.opt == "" {
			s.apply(j, operand{role: commandbook.Reads, w: w})
			return
		}
		if strings.Contains(w.text, "ENVIRON") {
			s.add(Effect{Kind: Environment})
		}
		if !scripts.PlainAwk(w.text) {
			s.doubt("an awk program that runs, reads or writes")
			j.effect(floodmark.Run)
			s.r.NetworkIntoInterpreter = s.r.NetworkIntoInterpreter || j.in.net && strings.Contains(w.text, "system")
		}
	case commandbook.Jq:
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

func roleOfFiles(j *job) commandbook.Role {
	if j.p.has("-i", "--in-place", "-I") {
		return commandbook.Writes
	}
	return commandbook.Reads
}

// jq records that a program for jq may print the environment: if the program says so, comes from a
// file, or has no input file. Some functions of yq may also read any file.
func (s *scanner) jq(j *job, program string) {
	if j.name == "yq" && !scripts.OnlyCalls(program, "select", "map", "has", "del", "contains", "test", "match", "sub", "split", "join", "sort_by", "group_by", "with_entries", "and", "or") || j.p.has("-n", "--null-input", "-f", "--from-file", "-L", "--library-path") || scripts.CallsWord(program, "env") || scripts.CallsWord(program, "input") {
		s.add(Effect{Kind: Environment})
	}
	if scripts.CallsWord(program, "import") || scripts.CallsWord(program, "include") {
		s.doubt("a jq program that loads others")
	}
}

// undescribed reads a command that no entry describes, or not with its options. It could do
// anything. Its probable effects are recorded too, because some are worse than running code.
func (s *scanner) undescribed(name string, words []word, st *state, in feed, depth int) feed {
	s.doubt("nobody said what this does: " + shorten(name))
	s.add(Effect{Kind: Execute})
	out := feed{piped: true, net: in.net || knownnames.Brings(name)}
	for _, e := range s.c.Of(name) {
		if fits(e, words[1:]) && (e.Tells || e.Protected) {
			s.part(Part{Entries: []*commandbook.Entry{e}, Effects: e.Effects}, words)
		} else if e.Finds != "" && mayFit(e, words) {
			s.part(Part{Entries: []*commandbook.Entry{e}}, append(slices.Clip(words), unknown()))
		}
	}
	if knownnames.Brings(name) {
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
		if s.wraps(name) && w.exact() && (len(s.c.Of(w.text)) > 0 || knownnames.SystemProgram(w.text) != "") {
			if started := s.call(words[i+1:], st.fork(), in, depth+1); started.net {
				out.net = true
			}
			break
		}
		s.guess(name, w, st)
		if w.exact() && strings.ContainsAny(w.text, " \t\n;|&<>") && (s.wraps(name) || knownnames.Interprets(name)) {
			s.script(w.text, st.fork(), in, depth)
		}
	}
	if knownnames.Interprets(name) && (in.net || net) {
		s.r.NetworkIntoInterpreter = true
	}
	if in.known && knownnames.Interprets(name) {
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
		if knownnames.Brings(name) && !w.vague {
			for _, p := range s.paths(base(text), st) {
				s.bring(p)
			}
		}
		return
	}
	for _, p := range s.paths(text, st) {
		if knownnames.Brings(name) {
			s.bring(p)
		}
		if knownnames.WritesFiles(name) && !strings.Contains(text, ":") {
			s.add(Effect{Kind: Write, Path: p, Pattern: w.glob})
		}
	}
}

func (s *scanner) wraps(name string) bool {
	if slices.ContainsFunc(s.c.Of(name), func(e *commandbook.Entry) bool { return slices.Contains(e.Operands, commandbook.Command) }) {
		return true
	}
	return slices.Contains([]string{"find", "su", "runuser", "script", "chroot", "unbuffer", "ssh", "docker", "podman", "kubectl", "tmux", "screen", "at", "batch"}, name)
}

func shorten(name string) string { return name[:min(len(name), 40)] }
