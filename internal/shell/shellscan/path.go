package shellscan

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/floodmark/floodmark/internal/shell/scripts"
)

// touch adds an effect on the file a word names, in every folder the shell may be in. It reports
// whether the file came from the network.
func (s *scanner) touch(e Effect, w word, st *state) (brought bool) {
	if strings.Contains(w.text, "://") && !scripts.NamesFile(w.text) { // the program takes it as an address
		s.add(Effect{Kind: Fetch, URL: w.text})
	}
	switch {
	case w.proc:
		return w.net
	case w.names != nil:
		for _, root := range w.names {
			e.Path, e.Tree, e.Pattern = root, !strings.Contains(root, "/**/"), true
			s.add(e)
			brought = brought || s.known(e)
		}
		return brought || w.net
	case w.vague && !w.digits && !w.glob:
		s.doubt("a file is not known until it runs")
		e.Path, e.Pattern = "", true
		s.add(e)
		return w.net
	case w.text == "" || s.device(w.text, e):
		return s.r.Has(Send) && strings.HasPrefix(w.text, "/dev/")
	}
	e.Pattern = e.Pattern || w.glob || w.vague
	for _, p := range s.paths(w.text, st) {
		e.Path = p
		s.add(e)
		brought = brought || s.known(e)
	}
	return brought || w.net
}

// known reports whether the file of an effect holds network data.
func (s *scanner) known(e Effect) bool { return s.brought[e.Path] }

func (s *scanner) bring(p string) {
	if s.brought == nil {
		s.brought = map[string]bool{}
	}
	s.brought[p] = true
}

// device handles names that are not files: devices such as /dev/null, and bash's names for network
// connections. It returns true if the caller has nothing more to do.
func (s *scanner) device(name string, e Effect) bool {
	rest, ok := strings.CutPrefix(name, "/dev/")
	if !ok {
		return false
	}
	switch {
	case rest == "null" || rest == "zero" || rest == "tty" || rest == "stdin" || rest == "stdout" || rest == "stderr" ||
		rest == "random" || rest == "urandom" || strings.HasPrefix(rest, "fd/") && !strings.Contains(rest, ".."):
		return true
	case strings.HasPrefix(rest, "tcp/"), strings.HasPrefix(rest, "udp/"):
		host, port, _ := strings.Cut(rest[4:], "/")
		e.URL, e.Path = rest[:3]+"://"+host+":"+port, ""
		e.Kind = Send
		s.add(e)
		e.Kind = Fetch
		s.add(e)
		return true
	}
	return false
}

// paths returns the absolute paths that a name may mean.
func (s *scanner) paths(name string, st *state) []string {
	if len(name) > MaxValue {
		s.doubt("a path is too long")
		return nil
	}
	if s.linked {
		s.doubt("a path that may lead through a link")
	}
	if strings.Contains(name, "/proc/") && (strings.Contains(name, "/cwd") || strings.Contains(name, "/root") || strings.Contains(name, "/fd") || strings.Contains(name, "/task")) {
		s.doubt("a path that leads through a process")
	}
	if strings.HasPrefix(name, "/") {
		return []string{path.Clean(name)}
	}
	if st.dirs == nil {
		s.doubt("it is not known in which folder it works")
		return []string{path.Clean(name)}
	}
	out := make([]string, 0, len(st.dirs))
	for _, d := range st.dirs {
		if len(d)+len(name) > MaxValue {
			s.doubt("a path is too long")
			continue
		}
		out = append(out, path.Join(d, name))
	}
	return out
}

// redirected is the result of one command's redirections.
type redirected struct {
	away   bool     // the command's output goes to a file
	writes []string // the files that output goes to
}

// finish marks the written files as holding network data if the output does.
func (r *redirected) finish(s *scanner, out feed) {
	if !out.net {
		return
	}
	for _, p := range r.writes {
		s.bring(p)
	}
}

func (s *scanner) redirects(list []*syntax.Redirect, st *state, in *feed, depth int) redirected {
	var r redirected
	for _, rd := range list {
		name := s.name
		s.name = ""
		s.redirect(rd, st, in, &r, depth)
		s.name = name
	}
	return r
}

func (s *scanner) redirect(rd *syntax.Redirect, st *state, in *feed, r *redirected, depth int) {
	var w word
	if rd.Op != syntax.Hdoc && rd.Op != syntax.DashHdoc {
		w = s.value(rd.Word, st, depth)
	}
	stdin := rd.N == nil || rd.N.Value == "0"
	switch rd.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		if text := s.document(rd, st, depth); stdin {
			*in = feed{piped: true, known: text.exact(), text: text.text, net: text.net}
		}
	case syntax.WordHdoc:
		*in = feed{piped: true, known: !w.vague, text: w.text + "\n", net: w.net}
	case syntax.RdrIn:
		brought := s.touch(Effect{Kind: Read}, w, st)
		if stdin {
			*in = feed{piped: true, net: brought}
		}
	case syntax.DplIn:
		*in = feed{piped: true, net: s.r.Has(Fetch) || s.r.Has(Send)}
		if !scripts.Descriptor(w.text) || w.vague {
			s.doubt("an input that is not known")
		}
	case syntax.RdrInOut:
		brought := s.touch(Effect{Kind: Read}, w, st)
		s.written(w, st, r, false)
		*in = feed{piped: true, net: brought || s.r.Has(Send)}
	case syntax.DplOut:
		if !scripts.Descriptor(w.text) || w.vague {
			s.written(w, st, r, rd.N == nil)
		}
	default:
		s.written(w, st, r, rd.N == nil || rd.N.Value == "1")
	}
}

// written adds a file that output goes to.
func (s *scanner) written(w word, st *state, r *redirected, stdout bool) {
	before := len(s.r.Effects)
	s.touch(Effect{Kind: Write}, w, st)
	for _, e := range s.r.Effects[before:] {
		r.writes = append(r.writes, e.Path)
	}
	r.away = r.away || stdout
}

// document returns the text of a here-document.
func (s *scanner) document(rd *syntax.Redirect, st *state, depth int) word {
	if rd.Hdoc == nil {
		return word{}
	}
	if end := rd.Word.Lit(); end == "" || strings.Contains(end, `\`) { // quoted: nothing is expanded
		var b strings.Builder
		for _, p := range rd.Hdoc.Parts {
			if lit, ok := p.(*syntax.Lit); ok {
				b.WriteString(lit.Value)
			}
		}
		return literal(b.String())
	}
	w := word{}
	for _, p := range rd.Hdoc.Parts {
		part, _ := s.wordParts([]syntax.WordPart{p}, st, true, depth)
		w.text += part.text
		w.vague = w.vague || part.vague
		w.net = w.net || part.net
	}
	return w
}
