package shellscan

import (
	"path"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/shell/commandbook"
	"github.com/floodmark/floodmark/internal/shell/knownnames"
	"github.com/floodmark/floodmark/internal/shell/scripts"
)

// apply records what a word means for the command, according to its role.
func (s *scanner) apply(j *job, o operand) {
	switch o.role {
	case commandbook.Text, commandbook.Assigns:
		if !o.w.vague && len(j.part.Operands) < MaxWords {
			j.part.Operands = append(j.part.Operands, o.w.text)
		}
		if o.role == commandbook.Assigns {
			s.environment(o.w)
		}
	case commandbook.Path:
		s.byEffect(j, o.w)
	case commandbook.Reads:
		s.reads(j, o.w)
	case commandbook.Writes:
		s.writes(j, o.w)
	case commandbook.Deletes:
		s.touch(Effect{Kind: Delete, Tree: recursive(j)}, o.w, j.st)
	case commandbook.Copies, commandbook.Moves:
		j.files = append(j.files, o)
	case commandbook.URL, commandbook.Host:
		s.address(j, o)
	case commandbook.Data:
		s.data(j, o.w)
	case commandbook.Loads:
		s.loads(j, o.w)
	case commandbook.Script:
		s.runs(j, o.w)
	case commandbook.Code:
		s.code(j, o.w)
	case commandbook.Shell:
		s.nested(j, o)
	case commandbook.Sed, commandbook.Awk, commandbook.Jq, commandbook.SQL:
		s.language(j, o)
	case commandbook.Patch:
		s.patch(j, o.w)
	default: // the sorter or run has handled these roles
	}
}

// nested reads a script given as words: sh -c 'x' name words.
func (s *scanner) nested(j *job, o operand) {
	j.ran = true
	st := j.st.fork()
	st.funcs, st.names = nil, nil
	if j.entry != nil && j.entry.Stdin == commandbook.Shell {
		st.args = []word{}
		for _, p := range j.p.list {
			if p.opt == "" {
				st.args = append(st.args, p.w)
			}
		}
	}
	if knownnames.OldShell(j.name) && (strings.Contains(o.w.text, "$'") || strings.Contains(o.w.text, "{") && strings.ContainsAny(o.w.text, ",.")) {
		s.doubt("some shells read this differently")
	}
	out := s.shellText(o.w, st, j.in, j.depth)
	j.out.net = out.net || j.out.net
	if j.entry != nil && j.entry.Stdin == commandbook.Shell {
		j.through = !o.w.vague
		j.out.known, j.out.text, j.out.names = out.known, out.text, out.names
	}
}

// byEffect records a file as deleted, written or read, depending on the effects of the command.
func (s *scanner) byEffect(j *job, w word) {
	switch {
	case j.does(floodmark.Change):
		s.touch(Effect{Kind: Delete, Tree: recursive(j)}, w, j.st)
	case j.does(floodmark.Write):
		s.touch(Effect{Kind: Write, Tree: recursive(j)}, w, j.st)
	default:
		s.reads(j, w)
	}
}

func (s *scanner) reads(j *job, w word) {
	if w.text == "-" && !w.vague {
		return
	}
	if j.name == "git" {
		if w.vague && !w.begins && strings.HasPrefix(w.text, "*") { // a commit that another git command prints
			w = literal(".")
		}
		if _, file, ok := strings.Cut(w.text, ":"); ok { // HEAD:file
			if w.text = file[strings.LastIndexByte(file, ':')+1:]; w.text != file { // -L :function:file
				s.touch(j.read(false), w, j.st)
			}
			w.text = file
		}
	}
	before := len(s.r.Effects)
	if s.touch(j.read(recursive(j)), w, j.st) {
		j.net = true
	}
	for _, e := range s.r.Effects[before:] {
		if e.Kind == Read && e.Path != "" {
			j.roots = append(j.roots, e.Path)
		}
	}
}

func (s *scanner) writes(j *job, w word) {
	if w.text == "-" && !w.vague {
		return
	}
	j.effect(floodmark.Write)
	if len(j.into) > 0 && !strings.HasPrefix(w.text, "/") && knownnames.Brings(j.name) { // curl --output-dir d -o f
		for _, d := range j.into {
			v := d.join(literal("/")).join(w)
			s.touch(Effect{Kind: Write}, v, j.st)
		}
	}
	s.touch(Effect{Kind: Write, Tree: recursive(j) && strings.HasPrefix(j.name, "ch")}, w, j.st)
}

// environment records a variable that is set for the program that is started.
func (s *scanner) environment(w word) {
	name, value, _ := strings.Cut(w.text, "=")
	v := w
	v.text = value
	s.sets(name)
	s.provides(name, []word{v})
}

// address adds a word in the place of an address: an address on the network, or a file.
func (s *scanner) address(j *job, o operand) {
	w := o.w
	k := Fetch
	if j.does(floodmark.Send) || j.sends {
		k = Send
	}
	if w.vague && !w.digits {
		if !strings.Contains(w.text, "://") || strings.Index(w.text, "*") < strings.Index(w.text, "://")+4 {
			s.doubt("an address is not known until it runs")
		}
		s.add(Effect{Kind: k, URL: w.text})
		j.part.Operands = append(j.part.Operands, w.text)
		return
	}
	text := w.text
	if first, _, path := strings.Cut(text, "/"); j.entry != nil && j.entry.Registry != "" && (!path || !strings.ContainsAny(first, ".:")) {
		text = j.entry.Registry + "/" + text
	}
	switch {
	case text == "" || knownnames.LookupWord(j.name, text):
	case scripts.NamesFile(text):
		p := scripts.FilePath(text)
		w.text = p
		s.reads(j, w)
		if strings.HasPrefix(strings.ToLower(text), "file:") {
			j.part.Operands = append(j.part.Operands, text)
		}
	case j.name == "git" && !scripts.Repository(text):
		j.part.Operands = append(j.part.Operands, text)
	default:
		if strings.HasPrefix(text, "ext::") || strings.HasPrefix(text, "fd::") || strings.HasPrefix(text, "-") {
			s.doubt("an address that runs a program")
			s.add(Effect{Kind: Execute})
		}
		s.add(Effect{Kind: k, URL: text})
	}
}

// data adds text that is sent; «@file» sends that file.
func (s *scanner) data(j *job, w word) {
	j.effect(floodmark.Send)
	file, ok := strings.CutPrefix(w.text, "@")
	if !ok {
		if i := strings.Index(w.text, "=@"); i >= 0 { // -F part=@file
			file, ok = w.text[i+2:], true
		} else if i := strings.Index(w.text, "=<"); i >= 0 {
			file, ok = w.text[i+2:], true
		} else if i := strings.Index(w.text, "@"); i >= 0 && j.name == "curl" { // name@file
			file, ok = w.text[i+1:], true
		}
	}
	if ok {
		if i := strings.IndexByte(file, ';'); i >= 0 {
			file = file[:i]
		}
		w.text = file
		s.reads(j, w)
	} else if !w.vague {
		j.part.Operands = append(j.part.Operands, w.text)
	}
}

// loads adds a file that is loaded as code.
func (s *scanner) loads(j *job, w word) {
	if w.text == "-" {
		s.doubt("it loads its input")
		s.r.NetworkIntoInterpreter = s.r.NetworkIntoInterpreter || j.in.net
		return
	}
	j.effect(floodmark.Run)
	text, tree := strings.CutSuffix(w.text, "...")
	if w.text = text; tree && text == "" { // in go, everything below
		w.text = "."
	}
	if s.touch(Effect{Kind: Execute, Tree: tree}, w, j.st) {
		s.r.NetworkIntoInterpreter = true
	}
	j.ran = j.ran || j.entry == nil || j.entry.Stdin != commandbook.Shell
}

// runs adds a file that an interpreter runs.
func (s *scanner) runs(j *job, w word) {
	if j.entry.Stdin == commandbook.Shell && j.p.has("-s", "-c") { // the word is an argument of the script
		return
	}
	if j.entry.Stdin == commandbook.Code && j.p.has("-m") { // the word is an argument of the module
		s.reads(j, w)
		return
	}
	if w.text == "-" || strings.HasPrefix(w.text, "/dev/stdin") || strings.HasPrefix(w.text, "/dev/fd/") && !w.proc || strings.HasPrefix(w.text, "/proc/") {
		s.interpretInput(j)
		return
	}
	if w.text == "" && !w.vague {
		return
	}
	j.ran = true
	if w.proc { // bash <(…)
		s.doubt("it runs what another command prints")
	}
	if s.touch(Effect{Kind: Execute}, w, j.st) || w.net {
		s.r.NetworkIntoInterpreter = true
	}
	if j.entry.Stdin == commandbook.Shell && j.in.net { // the script may run what it reads from its input
		s.r.NetworkIntoInterpreter = true
	}
}

// code adds a program that is written on the line itself. It is not parsed, so it may run anything.
func (s *scanner) code(j *job, w word) {
	j.ran = true
	s.doubt("a program for " + j.name)
	s.add(Effect{Kind: Execute})
	low := strings.ToLower(w.text)
	for _, part := range [...]string{"environ", "process.env", "getenv", "%env", "$env", "env[", "env.to", "env:"} {
		if strings.Contains(low, part) {
			s.add(Effect{Kind: Environment})
			break
		}
	}
	s.r.NetworkIntoInterpreter = s.r.NetworkIntoInterpreter || w.net || j.in.net && knownnames.MayRunInput(low)
}

// input handles the standard input of a command that runs or applies its input.
func (s *scanner) input(j *job) {
	if j.entry.Stdin == commandbook.Patch && !j.ran {
		s.patch(j, word{text: j.in.text, vague: !j.in.known})
	}
	if j.entry.Stdin == commandbook.NoRole && j.in.known && appliesDiffs(j) {
		s.diff(j)
	}
	if j.entry.Stdin == commandbook.NoRole || j.entry.Stdin == commandbook.Patch {
		return
	}
	if j.p.has("-i", "--interactive") && j.name != "perl" && j.name != "ruby" {
		s.r.InteractiveShell = true
		s.doubt("a shell that takes further commands")
	}
	if j.ran && !(j.p.has("-s") && j.entry.Stdin == commandbook.Shell) {
		return
	}
	if j.p.has("--version", "--help", "-V", "-h") && len(j.p.list) == 0 {
		j.ran = true
		return
	}
	s.interpretInput(j)
}

func (s *scanner) interpretInput(j *job) {
	j.ran = true
	switch {
	case !j.in.piped:
		s.r.InteractiveShell = true
		s.doubt("a shell that takes further commands")
		s.add(Effect{Kind: Execute})
	case j.entry.Stdin == commandbook.Shell && j.in.known:
		j.through = true
		if knownnames.OldShell(j.name) && (strings.Contains(j.in.text, "$'") || strings.Contains(j.in.text, "{") && strings.ContainsAny(j.in.text, ",.")) {
			s.doubt("some shells read this differently")
		}
		s.script(j.in.text, j.st.fork(), feed{piped: true}, j.depth)
	default:
		s.doubt("it runs its input")
		s.add(Effect{Kind: Execute})
	}
	s.r.NetworkIntoInterpreter = s.r.NetworkIntoInterpreter || j.in.net
}

// others reads the commands that this one starts.
func (s *scanner) others(j *job) {
	for len(j.p.rest) > 0 {
		words := j.p.rest
		if i := slices.IndexFunc(words, func(w word) bool { return w.text == "\x00" }); i >= 0 {
			words, j.p.rest = words[:i], words[i+1:]
		} else {
			j.p.rest = nil
		}
		name, st := s.name, j.st.fork()
		s.given(j, st)
		s.anew(j)
		if j.p.has("-execdir", "-okdir") { // in the folder of each file
			st.dirs = nil
		}
		out := s.call(s.handed(j, words), st, j.in, j.depth+1)
		s.name = name
		j.ran = true
		j.out.net = j.out.net || out.net
		if j.entry.Stdin == commandbook.NoRole && len(j.part.Effects) <= 1 {
			j.out.known, j.out.text = out.known, out.text
		}
	}
}

// given sets the variables that a command sets for the command it starts.
func (s *scanner) given(j *job, st *state) {
	for _, o := range j.p.list {
		if name, value, ok := strings.Cut(o.w.text, "="); ok && o.role == commandbook.Assigns {
			v := o.w
			v.text = value
			st.set(name, []word{v})
		}
	}
}

// handed returns the words of another command, with placeholders filled in.
func (s *scanner) handed(j *job, words []word) []word {
	out := slices.Clone(words)
	given := unknown()
	given.split = true
	switch j.name {
	case "find", "fd", "fdfind":
		given.names = j.found()
	case "xargs", "parallel":
		given.names, given.net, given.begins = j.in.names, j.in.net, !j.in.revs
	default:
		return out
	}
	mark := "{}"
	for _, o := range j.p.list {
		if o.opt == "-I" || o.opt == "--replace" || o.opt == "-i" {
			mark = o.w.text
		}
	}
	placed := false
	for i, w := range out {
		switch {
		case w.text == mark:
			out[i], placed = given, true
			out[i].split = false
		case mark != "" && strings.Contains(w.text, mark):
			out[i].vague, out[i].net, placed = true, given.net, true
			out[i].text = strings.ReplaceAll(w.text, mark, "*")
			out[i].begins = strings.HasPrefix(w.text, mark)
		}
	}
	if !placed && j.name != "find" {
		out = append(out, given)
	}
	return out
}

// base returns the last part of a path, in the syntax of any system.
func base(name string) string {
	name = strings.TrimRight(name, `/\`)
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	return name[strings.LastIndexByte(name, ':')+1:]
}

// holds reports whether a name is known to be a folder, by its form or by what is inside it.
func (s *scanner) holds(name string, st *state) bool {
	if strings.HasSuffix(name, "/") || name == "." || name == ".." || strings.HasSuffix(name, "/..") || strings.HasSuffix(name, "/.") {
		return true
	}
	for _, p := range s.paths(name, st) {
		for _, inner := range append([]string{s.at.Dir, s.at.Home}, st.dirs...) {
			if inner != "" && (p == "/" || inner == p || strings.HasPrefix(path.Clean(inner), p+"/")) {
				return true
			}
		}
	}
	return false
}
