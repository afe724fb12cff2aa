// Package deeds says what a command line deletes or pushes, in a few words for a card that also
// shows the line. It explains only commands that it understands completely. For all others a card
// says only that a command runs. The package decides nothing.
package deeds

import (
	"bytes"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A Piece is a part of an explanation. A Foreign piece is text from the line itself.
type Piece struct {
	Text    string
	Foreign bool
}

// A Deed is one thing that a line does, such as «delete “build”».
type Deed struct {
	// Verb is the verb after «wants to», such as «delete». Verbs is the verb after «a command
	// that», such as «deletes». Rest follows the verb.
	Verb, Verbs string
	Rest        []Piece
	// Push says that the deed changes branches of a remote repository.
	Push bool
	// To is the remote or address of a push, as written in the line; empty if the line has none.
	To string
	// Settled says that nothing in the line can change what the name of a remote means, and that
	// the push is made in the folder where the line runs.
	Settled bool
}

// maxLine bounds the lines that are explained.
const maxLine = 16 << 10

// The limits of an explanation.
const (
	maxDeeds = 3 // deeds of a line
	maxNamed = 3 // names in a deed
)

// Of returns what a line deletes and pushes, in order, and whether the line does nothing else. A
// line that gives the names of commands another meaning is not explained.
func Of(line string) (list []Deed, all bool) {
	if len(line) > maxLine {
		return nil, false
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return nil, false
	}
	calls, bent, settled := 0, false, true
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl, *syntax.DeclClause, *syntax.LetClause:
			bent = true
		case *syntax.CallExpr:
			calls++
			bent = bent || len(n.Assigns) > 0
			if len(n.Args) > 0 {
				words := wordsOf(n.Args)
				bent = bent || bends(words[0].text) || !words[0].known
				found := deedsOf(words)
				list = append(list, found...)
				settled = settled && (len(found) > 0 && found[0].Settled || keepsRemotes(words))
			}
		case *syntax.Redirect:
			calls++
			text, known := "", false
			if n.Word != nil {
				text, known = literal(n.Word.Parts)
			}
			settled = settled && known && (text == "/dev/null" || n.Op == syntax.DplOut && text == "1")
		case *syntax.TestClause, *syntax.ArithmCmd, *syntax.ForClause, *syntax.WhileClause, *syntax.IfClause, *syntax.CaseClause:
			calls++ // the line does more than one command
		}
		return true
	})
	if bent || len(list) > maxDeeds {
		return nil, false
	}
	for i := range list {
		list[i].Settled = list[i].Settled && settled
	}
	return list, calls == 1 && len(list) == 1
}

// keepsRemotes reports whether a command never changes what the name of a remote means. All other
// commands of a line must be such commands, because in a loop or in parallel they may run before a
// push.
func keepsRemotes(words []word) bool {
	name := words[0].text
	if name == "git" && len(words) > 1 && words[1].known {
		name += " " + words[1].text
	}
	switch name {
	case "git add", "git commit", "git tag", "git status", "echo", "true", "tail", "head":
		return true
	}
	return false
}

// bends reports whether a command can give other commands another meaning.
func bends(name string) bool {
	switch name {
	case "alias", "unalias", "eval", "source", ".", "exec", "enable", "hash", "shopt", "trap", "set":
		return true
	}
	return false
}

// A word is a word of a command. Known says that the command gets exactly its text.
type word struct {
	text  string
	known bool
}

func wordsOf(args []*syntax.Word) []word {
	words := make([]word, len(args))
	for i, a := range args {
		text, known := literal(a.Parts)
		if !known {
			var b bytes.Buffer
			_ = syntax.NewPrinter(syntax.SingleLine(true)).Print(&b, a) // cannot fail for a parsed word
			text = b.String()
		}
		words[i] = word{text, known}
	}
	return words
}

// literal returns the value of a word, and false if the shell expands something in it.
func literal(parts []syntax.WordPart) (string, bool) {
	var b strings.Builder
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, "*?[{~") {
				return "", false
			}
			b.WriteString(unescaped(p.Value))
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, in := range p.Parts {
				lit, ok := in.(*syntax.Lit)
				if !ok || strings.Contains(lit.Value, `\`) {
					return "", false
				}
				b.WriteString(lit.Value)
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}

// unescaped returns an unquoted text without its escaping backslashes.
func unescaped(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' {
			if i++; i == len(text) || text[i] == '\n' {
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// deedsOf explains one command.
func deedsOf(words []word) []Deed {
	switch words[0].text {
	case "sudo", "command", "nohup":
		if len(words) > 1 && words[1].known && !strings.HasPrefix(words[1].text, "-") {
			return deedsOf(words[1:])
		}
	case "rm", "rmdir", "unlink", "/bin/rm", "/usr/bin/rm":
		return deletes(words[1:])
	case "git", "/usr/bin/git":
		return git(words[1:])
	}
	return nil
}

// deletes explains rm.
func deletes(words []word) []Deed {
	var names []string
	ended := false
	for _, w := range words {
		switch {
		case !ended && w.known && w.text == "--":
			ended = true
		case !ended && strings.HasPrefix(w.text, "-"):
		default:
			names = append(names, w.text)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []Deed{{Verb: "delete ", Verbs: "deletes ", Rest: named(names)}}
}

// named returns a list of names: “a”, “b” and 2 more.
func named(names []string) (list []Piece) {
	for i, name := range names {
		switch {
		case i == maxNamed:
			return append(list, Piece{Text: " and " + more(len(names)-i)})
		case i > 0 && i == len(names)-1:
			list = append(list, Piece{Text: " and "})
		case i > 0:
			list = append(list, Piece{Text: ", "})
		}
		list = append(list, Piece{name, true})
	}
	return list
}
