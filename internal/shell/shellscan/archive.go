package shellscan

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/shell/commandbook"
	"github.com/floodmark/floodmark/internal/shell/knownnames"
)

// tar sets the roles of tar's words, depending on whether it packs, unpacks or lists.
func (s *scanner) tar(j *job) {
	unpacks := j.p.has("-x", "--extract", "--get")
	packs := j.p.has("-c", "--create", "-r", "--append", "-u", "--update", "-A", "--concatenate", "--delete")
	for i := range j.p.list {
		o := &j.p.list[i]
		switch {
		case o.opt == "-f" || o.opt == "--file":
			o.role = commandbook.Reads
			if packs {
				o.role = commandbook.Writes
			}
			if strings.Contains(o.w.text, ":") { // host:file is fetched with rsh
				s.doubt("an archive on another machine")
			}
		case o.opt == "" && unpacks:
			o.role = commandbook.Writes
			if len(j.into) > 0 {
				o.w = j.into[0].join(literal("/")).join(o.w)
			}
		case o.opt == "" && packs:
			o.role = commandbook.Reads
			if len(j.into) > 0 {
				o.w = j.into[len(j.into)-1].join(literal("/")).join(o.w)
			}
		case o.opt == "":
			o.role = commandbook.Text
		}
	}
	if unpacks {
		to := slices.Concat(j.into, []word{literal(".")})[0]
		s.touch(Effect{Kind: Write, Tree: true}, to, j.st)
		s.unseen(j, to)
	}
	if packs && len(j.into) > 0 {
		j.into = nil
	}
	if j.p.has("-T", "--files-from") || unpacks && j.p.has("-P", "--transform") {
		s.doubt("files that are named elsewhere, and may lie anywhere")
	}
	if j.p.has("-d", "--diff", "--compare") {
		s.touch(Effect{Kind: Read, Tree: true}, literal("."), j.st)
	}
}

// unseen adds Run if files with unknown names are put into an unknown folder or into one that
// exists, because they may replace a file that instructs an agent or runs by itself. In a new
// folder they replace nothing.
func (s *scanner) unseen(j *job, to word) {
	if !to.exact() || s.holds(to.text, j.st) {
		j.effect(floodmark.Run)
	}
}

// oldTar rewrites option letters without a dash as separate options. Options that need a value take
// the following words, in order.
func oldTar(args []word) []word {
	if len(args) == 0 || !args[0].exact() || args[0].text == "" || args[0].text[0] == '-' {
		return args
	}
	rest := args[1:]
	var out []word
	for _, c := range args[0].text {
		out = append(out, literal("-"+string(c)))
		if strings.ContainsRune("fCTXbNgVK", c) && len(rest) > 0 {
			out, rest = append(out, rest[0]), rest[1:]
		}
	}
	return append(out, rest...)
}

// packs adds the output file of a packer, and its input file if that is deleted.
func (s *scanner) packs(j *job) {
	if j.p.has("-c", "--stdout", "--to-stdout", "-t", "--test", "-l", "--list") {
		for i := range j.p.list {
			j.p.list[i].role = commandbook.Reads
		}
		j.part.Effects = slices.DeleteFunc(j.part.Effects, func(e floodmark.Effect) bool { return e == floodmark.Write })
		return
	}
	end := knownnames.PackedEnding(j.name)
	tree := j.p.has("-r", "--recursive")
	for i := range j.p.list {
		o := &j.p.list[i]
		if o.w.text == "-" || o.role == commandbook.Text || o.opt != "" {
			continue
		}
		o.role = commandbook.Reads
		if !j.p.has("-k", "--keep") {
			j.effect(floodmark.Change)
			s.touch(Effect{Kind: Delete, Tree: tree}, o.w, j.st)
		}
		w := left(o.w, end, j.p.has("-d", "--decompress") || strings.Contains(j.name, "un"))
		if tree {
			w = o.w
			s.unseen(j, w)
		}
		s.touch(Effect{Kind: Write, Tree: tree}, w, j.st)
		if j.p.has("-f", "--force") { // an existing file is replaced
			j.effect(floodmark.Change)
			s.touch(Effect{Kind: Delete}, w, j.st)
		}
	}
}

// left returns the name of a packer's output. If the suffix of the file or of the packer is
// unknown, the output may have any name with the same beginning.
func left(w word, end string, unpacks bool) word {
	name, own := strings.CutSuffix(w.text, end)
	if !own {
		name = w.text + end
	}
	if end != "" && w.exact() && (own || !unpacks) {
		return literal(name)
	}
	last := len(w.text) - len(base(w.text))
	if i := strings.LastIndexAny(w.text, ".-_"); i > last { // .gz, .tgz, -gz, _z and so on
		w.text = w.text[:i]
	}
	return w.join(word{text: "*", glob: true})
}

// unpacks adds the files, with unknown names, that an unpacker creates.
func (s *scanner) unpacks(j *job) {
	if !j.does(floodmark.Write) {
		return
	}
	to := slices.Concat(j.into, []word{literal(".")})[0]
	s.touch(Effect{Kind: Write, Tree: true}, to, j.st)
	s.unseen(j, to)
	for i := range j.p.list {
		o := &j.p.list[i]
		if o.opt != "" || o.role != commandbook.Reads {
			continue
		}
		if i > 0 && len(j.p.list) > 1 && j.name == "unzip" { // members to extract
			o.role = commandbook.Writes
		}
	}
}
