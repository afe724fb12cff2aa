package catalog

import "strings"

// part is one simple command of a command line, as far as a quick look can
// tell. It is for finding what is dangerous, never for allowing.
type part struct {
	words  []string // without quotes
	writes []string // what redirections write to
	text   []string // here-documents it reads
	piped  bool     // it reads what another command prints
	fed    bool     // what another command prints is among its words
}

// The limits of the quick look. Substitutions nested deeper are read as part
// of the command around them, further here-documents as commands.
const (
	maxShellDepth = 8
	maxHereDocs   = 64
)

// parts cuts a command line into simple commands: at lists, pipes and
// newlines, and at substitutions, which are commands of their own.
func parts(line string) []part {
	s := &shellScan{line: line}
	for s.at < len(line) { // a bracket too many ends a list, not the line
		s.list(0, false, 0)
	}
	return s.found
}

// shellScan is the reading of one command line.
type shellScan struct {
	line  string
	at    int
	found []part
	docs  int // here-documents so far
}

// words collects the words of one part.
type words struct {
	part part
	word []byte
	has  bool // a word has begun, perhaps an empty one
	then what // what the next word is for
	ends []string
}

type what uint8

const (
	operand what = iota
	target       // a file that is written
	input        // a file that is read
	ender        // the word that ends a here-document
)

func (w *words) add(text string) { w.word, w.has = append(w.word, text...), true }

func (w *words) addByte(c byte) { w.word, w.has = append(w.word, c), true }

// end ends the word.
func (w *words) end() {
	if !w.has {
		return
	}
	text := string(w.word)
	switch w.then {
	case operand:
		w.part.words = append(w.part.words, text)
	case target:
		w.part.writes = append(w.part.writes, text)
	case ender:
		w.ends = append(w.ends, strings.TrimPrefix(text, "-"))
	}
	w.word, w.has, w.then = w.word[:0], false, operand
}

// finish ends the part and begins another.
func (s *shellScan) finish(w *words, piped bool) {
	w.end()
	if len(w.part.words)+len(w.part.writes) > 0 {
		s.found = append(s.found, w.part)
	}
	w.part, w.then = part{piped: piped}, operand
}

// list reads commands up to the byte that closes them, or to the end.
func (s *shellScan) list(closing byte, piped bool, depth int) {
	w := &words{part: part{piped: piped}}
	for s.at < len(s.line) {
		c := s.line[s.at]
		s.at++
		if c == closing && closing != 0 || c == ')' {
			break
		}
		switch c {
		case ' ', '\t', '\r':
			w.end()
		case '\n':
			s.here(w)
			s.finish(w, false)
		case ';':
			s.finish(w, false)
		case '&':
			if s.skip('>') {
				s.redirect(w, depth)
			} else { // a second «&» ends nothing more
				s.finish(w, false)
			}
		case '|':
			or := s.skip('|')
			s.skip('&')
			s.finish(w, !or)
		case '>':
			s.redirect(w, depth)
		case '<':
			s.reads(w, depth)
		case '(':
			w.end()
			s.nested(')', w.part.piped, depth)
		case '#':
			if w.has {
				w.add("#")
			} else {
				s.until('\n')
			}
		default:
			s.text(w, c, depth)
		}
	}
	s.finish(w, false)
}

// text reads what belongs to a word.
func (s *shellScan) text(w *words, c byte, depth int) {
	switch c {
	case '\'':
		w.add(s.until('\''))
		s.skip('\'')
	case '"':
		w.add("")
		for s.at < len(s.line) && s.line[s.at] != '"' {
			inner := s.line[s.at]
			s.at++
			if inner == '\\' || inner == '$' || inner == '`' {
				s.text(w, inner, depth)
			} else {
				w.addByte(inner)
			}
		}
		s.skip('"')
	case '\\':
		if s.at < len(s.line) {
			if s.line[s.at] != '\n' {
				w.add(s.line[s.at : s.at+1])
			}
			s.at++
		}
	case '`':
		s.substitute(w, '`', depth)
	case '$':
		if s.skip('(') {
			s.substitute(w, ')', depth)
		} else {
			w.add("$")
		}
	default:
		w.addByte(c)
	}
}

// substitute reads a command whose output becomes part of a word.
func (s *shellScan) substitute(w *words, closing byte, depth int) {
	w.part.fed = true
	w.add("$")
	s.nested(closing, false, depth)
}

func (s *shellScan) nested(closing byte, piped bool, depth int) {
	if depth < maxShellDepth {
		s.list(closing, piped, depth+1)
	}
}

// redirect reads what follows «>».
func (s *shellScan) redirect(w *words, depth int) {
	if w.has && digits(string(w.word)) { // 2>file
		w.word, w.has = w.word[:0], false
	}
	w.end()
	if s.skip('(') {
		s.nested(')', true, depth)
		return
	}
	s.skip('>')
	s.skip('|')
	s.skip('&')
	w.then = target
}

// reads reads what follows «<».
func (s *shellScan) reads(w *words, depth int) {
	w.end()
	switch {
	case s.skip('('):
		w.part.fed = true
		s.nested(')', false, depth)
	case !s.skip('<'):
		w.then = input
	case s.skip('<'): // a here-string: the text itself is read
		w.part.piped = true
	default:
		w.then = ender
	}
}

// here passes over here-documents, which are text; given to a shell they are
// commands.
func (s *shellScan) here(w *words) {
	w.end()
	for _, end := range w.ends {
		if s.docs++; s.docs > maxHereDocs {
			break
		}
		rest := s.line[s.at:]
		size, found := 0, false
		for line := range strings.Lines(rest) {
			if found = strings.Trim(line, "\t\r\n") == end; found {
				break
			}
			size += len(line)
		}
		if !found {
			break // no such end: what follows are commands for all we know
		}
		w.part.text = append(w.part.text, rest[:size])
		s.at += size
		s.until('\n')
		s.skip('\n')
	}
	w.ends = nil
}

// until passes over everything before c and returns it.
func (s *shellScan) until(c byte) string {
	rest := s.line[s.at:]
	if i := strings.IndexByte(rest, c); i >= 0 {
		rest = rest[:i]
	}
	s.at += len(rest)
	return rest
}

// skip passes over c if it is next.
func (s *shellScan) skip(c byte) bool {
	if s.at < len(s.line) && s.line[s.at] == c {
		s.at++
		return true
	}
	return false
}
