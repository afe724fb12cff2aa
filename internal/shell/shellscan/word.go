package shellscan

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/floodmark/floodmark/internal/shell/braces"
	"github.com/floodmark/floodmark/internal/shell/scripts"
)

// A word is what is known of a word of a command.
type word struct {
	text   string   // «*» stands for unknown parts
	vague  bool     // parts of text are unknown
	begins bool     // even the first character is unknown, so the word may be an option
	glob   bool     // the shell matches the word with the names of files
	split  bool     // the word may become several words, or none
	net    bool     // parts of the word are network data
	digits bool     // the unknown part is a number
	names  []string // the word names something in one of these folders
	proc   bool     // the word is a pipe to another command of the line
	made   bool     // parts of the word are another command's output
}

func literal(text string) word { return word{text: text} }

func unknown() word { return word{text: "*", vague: true, begins: true} }

func number() word { return word{text: "*", vague: true, digits: true} }

// exact reports whether the command gets exactly text.
func (w word) exact() bool { return !w.vague && !w.glob && !w.split && !w.proc }

// but returns the same word with another text.
func (w word) but(text string) word { w.text = text; return w }

// join joins two adjacent words.
func (w word) join(v word) word {
	if w.text == "" && !w.vague {
		v.split = v.split || w.split
		return v
	}
	w.begins = w.begins || w.text == "" && v.begins
	w.digits = (w.digits || !w.vague) && (v.digits || !v.vague)
	w.text += v.text
	w.vague = w.vague || v.vague
	w.glob = w.glob || v.glob
	w.split = w.split || v.split
	w.net = w.net || v.net
	w.proc = w.proc || v.proc
	w.made = w.made || v.made
	w.names = nil
	if len(w.text) > MaxValue {
		w.text, w.vague, w.glob = w.text[:64]+"*", true, false
	}
	return w
}

// value returns a word that the shell does not split, of an assignment or a redirection.
func (s *scanner) value(w *syntax.Word, st *state, depth int) word {
	if w == nil {
		return word{}
	}
	out, _ := s.wordParts(w.Parts, st, false, depth)
	return out
}

// fields returns the words of a command after all expansions.
func (s *scanner) fields(words []*syntax.Word, st *state, depth int) []word {
	out := make([]word, 0, len(words))
	for _, w := range words {
		if lit := w.Lit(); lit != "" && strings.IndexByte(lit, '{') < 0 { // a fast path for most words
			out = append(out, s.expandTilde(bare(lit), lit))
			continue
		}
		for _, one := range braces.Expand(w) {
			got, many := s.wordParts(one.Parts, st, false, depth)
			switch {
			case many != nil:
				out = append(out, many...)
			case got.split && !got.vague && len(one.Parts) == 1: // x='ls -l'; $x
				for _, f := range strings.Fields(got.text) {
					out = append(out, word{text: f, net: got.net, glob: strings.ContainsAny(f, "*?[")})
				}
			default:
				out = append(out, got)
			}
		}
		if len(out) > MaxWords {
			s.doubt("a command has too many words")
			return out[:MaxWords]
		}
	}
	return out
}

// wordParts joins the parts of a word. If it is a whole array, many holds its elements.
func (s *scanner) wordParts(parts []syntax.WordPart, st *state, quoted bool, depth int) (out word, many []word) {
	for i, part := range parts {
		var w word
		switch p := part.(type) {
		case *syntax.Lit:
			if quoted {
				w = literal(scripts.Unescape(p.Value))
			} else {
				w = bare(p.Value)
				if i == 0 {
					w = s.expandTilde(w, p.Value)
				}
			}
		case *syntax.SglQuoted:
			w = literal(p.Value)
			if p.Dollar {
				w = ansi(p.Value)
			}
		case *syntax.DblQuoted:
			inner, list := s.wordParts(p.Parts, st, true, depth)
			if list != nil && len(parts) == 1 {
				return word{}, list
			}
			inner.split = inner.split && list != nil
			w = inner // a pattern in a variable means the names that it matched
		case *syntax.ParamExp:
			list := s.param(p, st, quoted, depth)
			if wholeArray(p) && len(parts) == 1 {
				return word{split: true}, list
			}
			w = one(list)
		case *syntax.CmdSubst:
			w = s.substitute(p, st, quoted, depth)
		case *syntax.ArithmExp:
			s.arithmetic(st, depth, p.X)
			w = number()
		case *syntax.ProcSubst:
			w = s.process(p, st, depth)
		case *syntax.ExtGlob:
			s.doubt("a pattern in which another shell would run commands")
			w = word{text: "*", vague: true, glob: true, begins: true, split: true}
		default:
			w = unknown()
			w.split = true
		}
		out = out.join(w)
	}
	return out, nil
}

// one joins a list of words, with spaces, for a place where only one word is possible.
func one(list []word) word {
	switch len(list) {
	case 0:
		return word{}
	case 1:
		return list[0]
	}
	out := list[0]
	for _, w := range list[1:] {
		out = out.join(literal(" ")).join(w)
	}
	return out
}

func wholeArray(p *syntax.ParamExp) bool {
	if p.Param == nil || p.Length || p.Excl {
		return false
	}
	if p.Param.Value == "@" || p.Param.Value == "*" {
		return true
	}
	return everyElement(p.Index)
}

// everyElement reports whether a subscript is [@] or [*], which mean all elements.
func everyElement(x syntax.ArithmExpr) bool {
	w, ok := x.(*syntax.Word)
	return ok && (w.Lit() == "@" || w.Lit() == "*")
}

// bare returns a literal as used outside quotes, where a backslash escapes the next character.
func bare(text string) word {
	w := word{text: text}
	if len(text) > 1 && text[0] == '=' && scripts.LetterOrDigit(text[1]) { // zsh looks up the command of that name
		w.vague, w.begins = true, true
	}
	if strings.IndexByte(text, '\\') >= 0 {
		var b strings.Builder
		for i := 0; i < len(text); i++ {
			if text[i] == '\\' && i+1 < len(text) {
				i++
				if text[i] == '\n' {
					continue
				}
				b.WriteByte(text[i])
				continue
			}
			w.glob = w.glob || strings.IndexByte("*?[", text[i]) >= 0
			b.WriteByte(text[i])
		}
		w.text = b.String()
		return w
	}
	w.glob = strings.ContainsAny(text, "*?[")
	if w.glob && text == "[" {
		w.glob = false
	}
	return w
}

// ansi returns the value of $'…'.
func ansi(text string) word {
	value, known := scripts.ANSI(text)
	if !known {
		return unknown()
	}
	return literal(value)
}

// expandTilde replaces a leading «~» by the owner's home. Another user's home is unknown.
func (s *scanner) expandTilde(w word, raw string) word {
	if raw == "" || raw[0] != '~' {
		return w
	}
	if w.text == "~" || strings.HasPrefix(w.text, "~/") {
		w.text = s.home() + w.text[1:]
		return w
	}
	switch {
	case strings.HasPrefix(w.text, "~+"), strings.HasPrefix(w.text, "~-"):
		return unknown()
	}
	w.text, w.vague, w.begins = "/~*", true, true // another user's home
	return w
}

// home returns the owner's home, or «/~» if it is unknown.
func (s *scanner) home() string {
	if s.at.Home == "" {
		return "/~"
	}
	return s.at.Home
}
