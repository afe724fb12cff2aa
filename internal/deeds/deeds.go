// Package deeds says what a command line deletes or pushes, in a few words for a card
// that shows the line as well. It explains only commands that it reads completely: of
// everything else it says nothing, and a card says that a command runs. It decides
// nothing.
package deeds

import (
	"bytes"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A Piece is a part of what is said. Foreign ones are from the line itself.
type Piece struct {
	Text    string
	Foreign bool
}

// A Deed is one thing that a line does: «delete “build”», as a person who wants to do it
// says it, and «deletes “build”», as it is said of a line that does more.
type Deed struct {
	Verb, Verbs string
	Rest        []Piece
	// Push says that it changes branches elsewhere, and To where they are, as the line has it:
	// a remote or an address; empty if the line does not say.
	Push bool
	To   string
	// Settled says that nothing in the line can change what a remote's name means, and that
	// it is meant in the folder where the line runs.
	Settled bool
}

// maxLine bounds the lines that are read.
const maxLine = 16 << 10

// maxDeeds bounds what is said of one line; maxNamed what is named in one deed.
const (
	maxDeeds = 3
	maxNamed = 3
)

// Of returns what a line deletes and pushes, in its order, and whether that is all that
// it does. A line that gives names another meaning is not explained.
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
			calls++ // it does more
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

// keepsRemotes reports a command after which a remote's name means what it meant. In a
// loop or beside others it may be that of any other, so all of a line have to.
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

// bends reports a command that can give others another meaning.
func bends(name string) bool {
	switch name {
	case "alias", "unalias", "eval", "source", ".", "exec", "enable", "hash", "shopt", "trap", "set":
		return true
	}
	return false
}

// A word of a command. Known says that its text is what the command gets.
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
			_ = syntax.NewPrinter(syntax.SingleLine(true)).Print(&b, a) // of what was parsed
			text = b.String()
		}
		words[i] = word{text, known}
	}
	return words
}

// literal is the value of a word in which nothing is expanded.
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

// unescaped is an unquoted text without the marks that quote its characters.
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

// named lists names: “a”, “b” and 2 more.
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
