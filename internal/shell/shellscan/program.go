package shellscan

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/shell/commandbook"
	"github.com/floodmark/floodmark/internal/shell/knownnames"
)

// A job is one started program, and what is known of it while its words are handled.
type job struct {
	name    string
	entry   *commandbook.Entry
	p       parsed
	part    Part
	st      *state
	in      feed
	depth   int
	sends   bool      // it sends data to its addresses
	net     bool      // it handles network data
	out     feed      // its output, as far as known
	roots   []string  // folders it walks through
	files   []operand // words with the role Copies or Moves
	into    []word    // words with the role Into
	trees   []word    // working folders set by an option before the subcommand
	gitDirs []word    // git folders set by an option
	ran     bool      // what it runs is recorded already
	negated bool      // a find with «!»
	// through: the job is a shell whose whole script was parsed, so it adds no effects itself.
	through bool
	// reading is the effect on each file the job reads, once it is computed.
	reading Effect
}

// program reads a command that is not a builtin.
func (s *scanner) program(words []word, st *state, in feed, depth int) feed {
	name := words[0].text
	if strings.Contains(name, "/") {
		if len(s.c.Of(name)) == 0 {
			plain := knownnames.SystemProgram(name)
			if plain == "" {
				return s.runFile(words, st, in)
			}
			name = plain
		}
	}
	name = strings.TrimSuffix(name, ".exe")
	s.name = name
	if out, ok := s.described(name, words, st, in, depth); ok {
		return out
	}
	return s.undescribed(name, words, st, in, depth)
}

// runFile reads a command that is a path, so that the file is run.
func (s *scanner) runFile(words []word, st *state, in feed) feed {
	if s.touch(Effect{Kind: Execute}, words[0], st) {
		s.r.NetworkIntoInterpreter = true
	}
	for _, w := range words[1:] { // the arguments may be files that it reads
		if w.text != "" && w.text[0] != '-' && !strings.Contains(w.text, "://") {
			s.touch(Effect{Kind: Read}, w, st)
		}
	}
	s.part(Part{Effects: []floodmark.Effect{floodmark.Run}}, words)
	return feed{piped: true, net: in.net}
}

// MaxPartWords is how many words of a simple command are kept.
const MaxPartWords = 32

// part adds a simple command to the report.
func (s *scanner) part(p Part, words []word) {
	words = words[:min(len(words), MaxPartWords)]
	p.Words = make([]string, len(words))
	for i, w := range words {
		p.Words[i] = w.text
	}
	if s.r.Parts == nil {
		s.r.Parts = make([]Part, 0, usualParts)
	}
	s.r.Parts = append(s.r.Parts, p)
}

// described reads a command that an entry describes. If the best entry does not know an option, the
// next one is tried, and the effects of both apply.
func (s *scanner) described(name string, words []word, st *state, in feed, depth int) (feed, bool) {
	list := s.c.Of(name)
	if len(list) == 0 {
		return feed{}, false
	}
	j := &job{name: name, st: st, in: in, depth: depth}
	args := s.globals(j, words[1:])
	if j.name == "tar" {
		args = oldTar(args)
	}
	for _, e := range list {
		if !fits(e, args) {
			continue
		}
		j.part.Entries = append(j.part.Entries, e)
		for _, f := range e.Effects {
			j.effect(f)
		}
		p := parse(e, args[len(e.Words)-1:], knownnames.RunsByOption(name))
		if !p.ok {
			continue
		}
		j.entry, j.p = e, p
		for _, f := range p.adds {
			j.effect(f)
		}
		out := s.run(j)
		if !j.through {
			s.part(j.part, words)
		}
		return out, true
	}
	return feed{}, false
}

func (j *job) effect(e floodmark.Effect) {
	if !slices.Contains(j.part.Effects, e) {
		j.part.Effects = append(j.part.Effects, e)
	}
}

func (j *job) does(e floodmark.Effect) bool { return slices.Contains(j.part.Effects, e) }

// globals parses the options before a subcommand.
func (s *scanner) globals(j *job, args []word) []word {
	known := s.c.Globals(j.name)
	for len(known) > 0 && len(args) > 0 && args[0].exact() {
		name, value, joined := strings.Cut(args[0].text, "=")
		role, ok := known[name]
		if !ok || role == commandbook.Flag && joined {
			break
		}
		w := literal(value)
		args = args[1:]
		if role != commandbook.Flag && !joined {
			if len(args) == 0 {
				break
			}
			w, args = args[0], args[1:]
		}
		switch role {
		case commandbook.Folder:
			j.st = s.inFolder(j.st, w)
		case commandbook.Into:
			j.trees = append(j.trees, w)
		case commandbook.Flag:
		default:
			s.apply(j, operand{role: role, w: w, opt: name})
			if name == "--git-dir" {
				j.gitDirs = append(j.gitDirs, w)
			}
		}
	}
	return args
}

// inFolder returns the state for a command that works in another folder.
func (s *scanner) inFolder(st *state, w word) *state {
	out := *st
	if w.vague || w.glob {
		s.doubt("it is not known in which folder it works")
		out.dirs = nil
		return &out
	}
	out.dirs = s.paths(w.text, st)
	return &out
}

// run applies the roles of all words.
func (s *scanner) run(j *job) feed {
	before := len(s.r.Effects)
	j.sends = j.does(floodmark.Send)
	j.out = feed{piped: true}
	for _, o := range j.p.list {
		if o.role == commandbook.Folder {
			j.st = s.inFolder(j.st, o.w)
		}
		if o.role == commandbook.Into {
			j.into = append(j.into, o.w)
		}
		j.net = j.net || o.w.net
	}
	s.special(j)
	for _, o := range j.p.list {
		s.apply(j, o)
	}
	for _, w := range j.trees {
		s.byEffect(j, w)
	}
	s.copies(j)
	s.saves(j)
	s.unfollowed(j)
	s.here(j)
	s.others(j)
	s.input(j)
	s.kinds(j, before)
	for _, f := range j.entry.Loads {
		if f == "." {
			s.touch(Effect{Kind: Execute, Tree: true}, literal("."), j.st)
		} else {
			s.touch(Effect{Kind: Execute}, literal(f), j.st)
		}
	}
	s.hooks(j)
	s.obeys(j)
	if j.entry.Tells {
		s.add(Effect{Kind: Environment, Prints: j.does(floodmark.Fetch)})
	}
	s.linked = s.linked || j.name == "ln" || j.name == "cp" && j.p.has("-s", "--symbolic-link", "-l", "--link")
	s.mayRun(j, before)
	s.carry(j, before)
	j.out.net = j.out.net || j.net || j.in.net
	if j.out.names == nil {
		j.out.names = j.listed()
	}
	j.prints()
	return j.out
}

// mayRun records the files that a command reads as run, if the command runs code but it is not
// known which code.
func (s *scanner) mayRun(j *job, before int) {
	if !j.does(floodmark.Run) || len(j.entry.Loads) > 0 || j.ran {
		return
	}
	for _, e := range s.r.Effects[before:] {
		if e.Kind == Read && e.Path != "" {
			e.Kind = Execute
			s.r.Effects = append(s.r.Effects, e)
		}
	}
}

// kinds adds the effects of the entry that no word has added.
func (s *scanner) kinds(j *job, before int) {
	for _, e := range j.part.Effects {
		k := kindOf(e)
		if k == Anything || k == Execute && (len(j.entry.Loads) > 0 || j.ran) || k == Fetch && s.fetched(before) {
			continue
		}
		s.add(Effect{Kind: k})
	}
	j.net = j.net || j.does(floodmark.Fetch) || knownnames.Brings(j.name)
}

// fetched reports whether the effects from index before on include a Fetch.
func (s *scanner) fetched(before int) bool {
	return slices.ContainsFunc(s.r.Effects[before:], func(e Effect) bool { return e.Kind == Fetch })
}

// kindOf returns the kind of an effect that needs no file, and Anything for other effects.
func kindOf(e floodmark.Effect) Kind {
	switch e {
	case floodmark.Admin:
		return Admin
	case floodmark.Run:
		return Execute
	case floodmark.Send:
		return Send
	case floodmark.Fetch:
		return Fetch
	default:
		return Anything
	}
}

// carry marks the files that this command writes as holding network data if it handles such data.
func (s *scanner) carry(j *job, before int) {
	for _, e := range s.r.Effects[before:] {
		j.net = j.net || e.Kind == Read && s.brought[e.Path]
	}
	if !j.net && !j.in.net {
		return
	}
	for _, e := range s.r.Effects[before:] {
		if e.Kind == Write && e.Path != "" {
			s.bring(e.Path)
		}
	}
}

// here adds what a command reads when no files are given.
func (s *scanner) here(j *job) {
	if !j.entry.Here || len(j.roots) > 0 && j.name != "git" {
		return
	}
	for _, o := range j.p.list {
		if o.opt == "" && (o.role == commandbook.Reads || o.role == commandbook.Path) && j.name != "git" { // git's words may be revisions
			return
		}
	}
	s.touch(j.read(recursive(j)), literal("."), j.st)
	j.roots = append(j.roots, s.paths(".", j.st)...)
}

// read returns the effect on a file or folder that the command reads.
func (j *job) read(tree bool) Effect {
	if j.reading.Kind != Read {
		j.reading = j.reads()
	}
	e := j.reading
	e.Tree = tree
	return e
}

// reads returns the effect on files that the command reads. Git shows only its own data, unless an
// option makes it read other files. rg skips names that begin with a dot.
func (j *job) reads() Effect {
	e := Effect{Kind: Read}
	if j.entry != nil {
		e.Sight = j.entry.Returns.Sight
	}
	if j.name == "git" && e.Sight != commandbook.Names && !j.p.has("--no-index", "--untracked") {
		e.Sight = commandbook.History
	}
	for _, o := range j.p.list {
		name := o.w.text
		if o.opt != "--include" && (j.name != "rg" || o.opt != "-g" && o.opt != "--glob") || strings.HasPrefix(name, "!") {
			continue
		}
		if !o.w.exact() || name == "" || strings.ContainsAny(name, "/{[\\|") {
			e.Only = "" // too many to list
			return e
		}
		e.Only = strings.Trim(e.Only+"|"+name+"|."+strings.TrimPrefix(name, "?"), "|") // here «*» and «?» also match a dot
	}
	if j.name == "rg" && e.Only == "" && !j.p.has("--hidden", "-u", "--unrestricted") {
		e.Only = "*"
	}
	return e
}

// recursive reports whether a command walks through folders.
func recursive(j *job) bool {
	switch j.name {
	case "find", "rg", "ag", "fd", "fdfind", "tree", "du", "tar", "rsync", "git", "ack", "gofmt", "gofumpt", "goimports":
		return true
	case "ls":
		return j.p.has("-R", "--recursive")
	case "grep", "egrep", "fgrep", "zgrep", "cp", "rm", "scp", "chmod", "chown", "chgrp", "zip", "diff", "setfacl", "chattr", "shred", "trash":
		return j.p.has("-r", "-R", "-a", "--archive", "--dereference-recursive", "-d") || slices.ContainsFunc(j.p.opts, func(o string) bool {
			return len(o) > 2 && strings.HasPrefix("--recursive", o) // rm --recu
		})
	}
	return false
}

// listed returns the folders whose file names the command prints.
func (j *job) listed() []string {
	switch j.name {
	case "find", "fd", "fdfind", "ls", "tree":
		if j.name == "find" && j.p.has("-printf", "-exec", "-execdir") {
			return nil
		}
		return j.found()
	case "git":
		if len(j.part.Entries) > 0 && len(j.part.Entries[0].Words) > 1 && j.part.Entries[0].Words[1] == "ls-files" {
			return j.roots
		}
	case "grep", "rg", "egrep", "fgrep":
		if j.p.has("-l", "--files-with-matches", "-L", "--files") && len(j.roots) > 0 {
			return j.roots
		}
		return j.in.names
	case "sort", "uniq", "head", "tail", "tee":
		return j.in.names
	}
	return nil
}
