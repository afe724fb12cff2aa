package shellscan

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/shell/commandbook"
	"github.com/floodmark/floodmark/internal/shell/knownnames"
)

// copies adds the reads and writes of a command that copies or moves files.
func (s *scanner) copies(j *job) {
	names := j.files
	if len(names) == 0 {
		return
	}
	moves := names[0].role == commandbook.Moves
	into := j.into
	if len(into) == 0 && len(names) > 1 {
		into, names = []word{names[len(names)-1].w}, names[:len(names)-1]
	}
	for _, o := range names {
		if s.remote(j, o.w) {
			continue
		}
		if moves {
			s.touch(Effect{Kind: Delete, Tree: true}, o.w, j.st)
		}
		if s.touch(j.read(moves || recursive(j)), o.w, j.st) {
			j.net = true
		}
	}
	for _, t := range into {
		if !s.remote(j, t) {
			s.target(j, names, t, moves)
			if j.p.has("-b", "--backup") { // the old file is kept as a backup
				s.touch(Effect{Kind: Write}, t.join(word{text: "*~", glob: true}), j.st)
			}
		}
	}
	if j.name == "ln" || j.name == "link" {
		s.links(j, names, into)
	}
	if len(into) == 0 && moves { // mv a: the command will complain
		return
	}
	if len(into) == 0 && len(names) == 1 && j.name == "ln" { // a link here, with the same name
		s.touch(Effect{Kind: Write}, literal(base(names[0].w.text)), j.st)
	}
}

// links records the target of a link as written, because a write to the link changes the target.
func (s *scanner) links(j *job, names []operand, into []word) {
	for _, o := range names {
		whole := s.folders(j, []operand{o}, false)
		if !o.w.exact() || s.holds(o.w.text, j.st) {
			j.effect(floodmark.Run)
		}
		s.touch(Effect{Kind: Write, Tree: whole}, o.w, j.st)
		for _, t := range into { // a symbolic link is relative to its own folder
			if i := strings.LastIndexByte(t.text, '/'); i >= 0 && !strings.HasPrefix(o.w.text, "/") {
				v := t
				v.text = t.text[:i+1]
				s.touch(Effect{Kind: Write, Tree: whole}, v.join(o.w), j.st)
			}
		}
	}
}

// target adds the files that appear when names are copied to t. If there is one name and t looks
// like a file, t is the written file. Otherwise t may be a file or a folder, and both are recorded.
func (s *scanner) target(j *job, names []operand, t word, moves bool) {
	whole := s.folders(j, names, moves)
	last := base(t.text)
	looksFile := strings.LastIndexByte(last, '.') > 0 && last != ".."
	single := len(names) == 1 && len(j.into) == 0 && looksFile && !s.holds(t.text, j.st)
	whole = whole || j.p.has("--parents")
	s.touch(Effect{Kind: Write, Tree: whole}, t, j.st)
	if whole && j.name == "cp" {
		s.unseen(j, t)
	}
	if single && !whole {
		return
	}
	for _, o := range names {
		if len(t.text) > MaxValue {
			s.doubt("a path is too long")
			return
		}
		name := base(o.w.text)
		if strings.HasSuffix(o.w.text, "/.") || o.w.text == "." {
			continue
		}
		v := t.join(literal("/" + name))
		v.vague, v.glob, v.names = v.vague || o.w.vague, v.glob || o.w.glob, nil
		if o.w.names != nil {
			v.glob, v.vague = true, false
			v.text = t.text + "/*"
		}
		s.touch(Effect{Kind: Write, Tree: whole, Placed: whole}, v, j.st)
	}
}

// folders reports whether whole folders may be copied, with files of unknown names.
func (s *scanner) folders(j *job, names []operand, moves bool) bool {
	if !moves && !recursive(j) && j.name != "ln" && j.name != "ditto" && j.name != "scp" {
		return false
	}
	if j.name == "git" && !moves {
		return false
	}
	for _, o := range names {
		if strings.LastIndexByte(base(o.w.text), '.') <= 0 {
			return true
		}
	}
	return false
}

// remote reports whether a word is «host:path», and adds it as an address if so.
func (s *scanner) remote(j *job, w word) bool {
	if j.name == "cp" || j.name == "mv" || j.name == "install" || j.name == "ln" || j.name == "git" {
		return false
	}
	i := strings.IndexByte(w.text, ':')
	if i <= 0 || strings.Contains(w.text[:i], "/") || i == 1 && len(w.text) > 2 && w.text[2] == '\\' {
		return false
	}
	s.add(Effect{Kind: Send, URL: w.text})
	j.net = true
	return true
}

// saves adds the files that a download names after its address.
func (s *scanner) saves(j *job) {
	by := false
	switch j.name {
	case "curl":
		by = j.p.has("-O", "-J", "--remote-name", "--remote-name-all", "--remote-header-name")
	case "wget", "wget2":
		by = !j.p.has("-O", "--output-document") && !j.p.has("--spider")
	case "aria2c", "axel":
		by = true
	case "http", "https", "xh":
		by = j.p.has("--download", "-d")
	}
	if !by {
		return
	}
	j.effect(floodmark.Write)
	for _, d := range j.into { // the server may choose another name
		s.touch(Effect{Kind: Write, Tree: true}, d, j.st)
	}
	for _, o := range j.p.list {
		if o.role != commandbook.URL {
			continue
		}
		name := o.w.text
		if i := strings.IndexAny(name, "?#"); i >= 0 {
			name = name[:i]
		}
		w := o.w
		if w.text = base(name); w.text == "" || strings.Contains(w.text, "*") {
			w.text, w.vague, w.glob = "*", false, true
		}
		if len(j.into) > 0 {
			w = j.into[0].join(literal("/")).join(w)
		}
		s.touch(Effect{Kind: Write}, w, j.st)
	}
}

// special handles programs that an [Entry] alone cannot describe.
func (s *scanner) special(j *job) {
	switch j.name {
	case "find":
		s.find(j)
	case "tar", "bsdtar", "gtar":
		s.tar(j)
	case "dd":
		s.dd(j)
	case "sed", "gsed":
		j.noSuffix()
		if j.p.has("-i", "--in-place", "-I") {
			s.inPlace(j)
		}
	case "gunzip", "bunzip2", "unxz", "unzstd", "gzip", "bzip2", "xz", "zstd", "lz4", "compress", "uncompress", "brotli", "pigz":
		s.packs(j)
	case "unzip", "7z", "7za", "7zz", "unrar", "unar":
		s.unpacks(j)
	case "git":
		s.git(j)
	case "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack":
		if j.p.has("-e", "--regexp", "-f", "--file", "--files") {
			j.allFiles()
		}
		if recursive(j) && !slices.ContainsFunc(j.p.list, func(o operand) bool { return o.opt == "" && o.role == commandbook.Reads }) {
			s.reads(j, literal("."))
		}
	default:
		s.specialMore(j)
	}
}

// specialMore continues special.
func (s *scanner) specialMore(j *job) {
	switch j.name {
	case "split", "csplit":
		s.pieces(j)
	case "jq", "yq", "gojq", "jaq":
		s.pairs(j)
	case "cat":
		if len(j.p.list) == 0 {
			j.out = j.in
			j.out.piped, j.out.known = true, j.in.known && len(j.p.opts) == 0
		}
	case "less", "more", "most", "bat", "batcat":
		if slices.ContainsFunc(j.p.list, func(o operand) bool { return strings.HasPrefix(o.w.text, "+") }) {
			s.doubt("keys that are typed into it")
		}
	case "mktemp":
		s.temporary(j)
	case "curl":
		s.onlyGets(j)
		for _, o := range j.p.list {
			file, ok := strings.CutPrefix(o.w.text, "@")
			if o.opt == "-b" || o.opt == "--cookie" {
				file, ok = o.w.text, !strings.Contains(o.w.text, "=")
			}
			if ok && o.role != commandbook.URL {
				w := o.w
				w.text = file
				s.reads(j, w)
			}
			if curlNames(o) {
				s.doubt("a file whose name is made, or addresses that are named elsewhere")
			}
			if o.role == commandbook.Text && (ok || o.w.made) { // a header that may come from a file
				j.effect(floodmark.Send)
				j.sends = true
			}
		}
	case "perl", "ruby":
		if j.p.has("-e", "-E") {
			s.edited(j)
		}
	case "kubectl":
		if j.showsKeys() {
			s.add(Effect{Kind: Environment, Prints: j.does(floodmark.Fetch)})
		}
	case "env":
		if len(j.p.rest) == 0 {
			s.add(Effect{Kind: Environment})
		}
	default:
		s.specialFiles(j)
	}
}

// curlNames reports whether an option's value lets curl name files or addresses by itself: a format
// with more than fields, a file name made from parts of the address, or a file with addresses.
func curlNames(o operand) bool {
	t, fields := o.w.text, strings.NewReplacer("%%", "", "%{", "", "%header{", "")
	format := (o.opt == "-w" || o.opt == "--write-out") && (!o.w.exact() || strings.HasPrefix(t, "@") || strings.Contains(fields.Replace(t), "%"))
	return format || (o.opt == "-o" || o.opt == "--output") && strings.Contains(t, "#") || o.role == commandbook.URL && strings.HasPrefix(t, "@")
}

// noSuffix drops the empty word of «sed -i ” …».
func (j *job) noSuffix() {
	for i, o := range j.p.list {
		if o.opt != "" {
			continue
		}
		if o.w.text == "" && !o.w.vague && i+1 < len(j.p.list) && j.p.has("-i") {
			j.p.list[i+1].role = o.role
			j.p.list = slices.Delete(j.p.list, i, i+1)
		}
		return
	}
}

// edited records the words after a program as files that are read or, with -i, written.
func (s *scanner) edited(j *job) {
	for i := range j.p.list {
		o := &j.p.list[i]
		if o.opt != "" {
			continue
		}
		if o.role = commandbook.Reads; j.p.has("-i") {
			o.role = commandbook.Writes
		}
	}
}

// pieces adds the files a file is split into.
func (s *scanner) pieces(j *job) {
	name := literal("x")
	files := 0
	for i := range j.p.list {
		o := &j.p.list[i]
		if o.opt == "-f" {
			name = o.w
		}
		if o.opt != "" {
			continue
		}
		if files++; files > 1 {
			if o.role = commandbook.Text; j.name == "split" {
				name = o.w
			}
		}
	}
	if j.p.has("--additional-suffix", "-b", "--suffix-format") || j.name == "csplit" {
		s.touch(Effect{Kind: Write}, name.join(word{text: "*", glob: true}), j.st)
		return
	}
	for n := 1; n <= 5; n++ {
		s.touch(Effect{Kind: Write}, name.join(word{text: strings.Repeat(alnum, n), glob: true}), j.st)
	}
}

// onlyGets removes Send from a request with the method GET or HEAD, unless an option sends data.
func (s *scanner) onlyGets(j *job) {
	gets := false
	for _, o := range j.p.list {
		if o.opt == "-X" || o.opt == "--request" {
			gets = o.w.exact() && (o.w.text == "GET" || o.w.text == "HEAD")
		}
	}
	sends := slices.ContainsFunc(j.p.opts, func(o string) bool {
		return o != "-X" && o != "--request" && slices.Contains(j.entry.Adds[o], floodmark.Send)
	})
	if gets && !sends {
		j.part.Effects = slices.DeleteFunc(j.part.Effects, func(e floodmark.Effect) bool { return e == floodmark.Send })
		j.sends = false
	}
}

// unfollowed scans the words of programs that start commands in ways that we do not follow exactly.
// What it finds can only add effects: the line is not understood in any case.
func (s *scanner) unfollowed(j *job) {
	if !knownnames.StartsUnseen(j.name) || !j.does(floodmark.Run) {
		return
	}
	s.doubt("it starts programs in ways that are not followed")
	s.r.InteractiveShell = s.r.InteractiveShell || j.attends()
	for i, o := range j.p.list {
		if o.role != commandbook.Text || !o.w.exact() {
			continue
		}
		if strings.ContainsAny(o.w.text, " \t\n;|&<>") {
			s.script(o.w.text, j.st.fork(), j.in, j.depth)
			continue
		}
		if plain := o.w.text; knownnames.Brings(plain) || knownnames.Interprets(plain) || knownnames.WritesFiles(plain) || knownnames.SystemProgram(plain) != "" {
			var words []word
			for _, v := range j.p.list[i:] {
				words = append(words, v.w)
			}
			name := s.name
			s.call(words, j.st.fork(), j.in, j.depth+1)
			s.name = name
			return
		}
	}
}

// allFiles treats each operand as a file, because an option has taken the role of the first one.
func (j *job) allFiles() {
	for i := range j.p.list {
		if o := &j.p.list[i]; o.opt == "" && (o.role == commandbook.Text || o.role == commandbook.Jq) {
			o.role = commandbook.Reads
		}
	}
}

// pairs removes the second values of --arg and similar options.
func (s *scanner) pairs(j *job) {
	var list []operand
	drop, program := false, !j.p.has("-f", "--from-file")
	for _, o := range j.p.list {
		switch {
		case o.opt != "":
			drop = o.opt == "--arg" || o.opt == "--argjson"
		case drop:
			drop = false
			continue
		case program:
			o.role, program = commandbook.Jq, false
		default:
			o.role = commandbook.Reads
		}
		list = append(list, o)
	}
	j.p.list = list
	if !program && j.p.has("-f", "--from-file") {
		s.jq(j, "")
	}
}

// find separates the folders from the expression.
func (s *scanner) find(j *job) {
	var list []operand
	skip := false
	for _, o := range j.p.list {
		if skip { // the format of -fprintf
			skip = false
			continue
		}
		j.negated = j.negated || o.opt == "" && o.w.text == "!"
		if o.opt == "" && (o.w.text == "!" || o.w.text == "(" || o.w.text == ")" || o.w.text == ",") {
			continue
		}
		skip = o.opt == "-fprintf"
		list = append(list, o)
		if o.opt == "" && o.role == commandbook.Reads && !o.w.vague {
			j.roots = append(j.roots, s.paths(o.w.text, j.st)...)
		}
	}
	j.p.list = list
	if len(j.roots) == 0 {
		s.touch(j.read(true), literal("."), j.st)
		j.roots = s.paths(".", j.st)
	}
	if j.p.has("-delete") {
		for _, f := range j.found() {
			if !strings.Contains(f, "/**/") {
				s.add(Effect{Kind: Delete, Path: f})
				f += "/**/*"
			}
			s.add(Effect{Kind: Delete, Path: f, Pattern: true})
			s.add(Effect{Kind: Delete, Path: strings.Replace(f, "/**/", "/", 1), Pattern: true})
		}
	}
}

// found returns patterns for the files that find visits: all below its folders, or with one -name.
func (j *job) found() []string {
	pattern := ""
	for _, o := range j.p.list {
		if o.opt == "-name" {
			if pattern != "" || o.w.vague || strings.Contains(o.w.text, "/") {
				return j.roots
			}
			pattern = o.w.text
		}
	}
	if j.name != "find" || pattern == "" || j.p.has("-o", "-or", "-not", "-prune") || j.negated {
		return j.roots
	}
	out := make([]string, 0, len(j.roots))
	for _, r := range j.roots {
		out = append(out, r+"/**/"+pattern)
	}
	return out
}

func (s *scanner) dd(j *job) {
	for i := range j.p.list {
		o := &j.p.list[i]
		name, value, ok := strings.Cut(o.w.text, "=")
		if !ok {
			continue
		}
		switch name {
		case "if":
			o.role, o.w.text = commandbook.Reads, value
		case "of":
			o.role, o.w.text = commandbook.Writes, value
			if strings.HasPrefix(value, "/dev/") || !o.w.exact() { // a disk
				j.effect(floodmark.Change)
				j.effect(floodmark.Run)
			}
		}
	}
}

// printed returns the output of printf for a single text without fields.
func printed(name string, args []word) (string, bool) {
	if name != "printf" || len(args) != 1 || !args[0].exact() || strings.Contains(args[0].text, "%") || strings.HasPrefix(args[0].text, "-") {
		return "", false
	}
	text := args[0].text
	for at := 0; at < len(text); at++ {
		if text[at] != '\\' {
			continue
		}
		if at++; at >= len(text) || strings.IndexByte(`nt\`, text[at]) < 0 {
			return "", false
		}
	}
	return strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\\`, `\`).Replace(text), true
}
