package shellscan

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/shell/commandbook"
)

// operand is one word of a command and its role.
type operand struct {
	role commandbook.Role
	w    word
	opt  string // the option whose value the word is; empty if none
}

// parsed holds the words of a command, parsed as an entry describes.
type parsed struct {
	list []operand
	adds []floodmark.Effect
	opts []string // options that were given
	rest []word   // the words of another command
	ok   bool
}

func (p *parsed) has(options ...string) bool {
	return slices.ContainsFunc(options, func(o string) bool { return slices.Contains(p.opts, o) })
}

// anyOption reports whether the entry accepts all options, because none changes what the command
// does.
func anyOption(e *commandbook.Entry) bool { return e.Flags == "*" && slices.Contains(e.Options, "*") }

// fits reports whether a command begins with the words of e.
func fits(e *commandbook.Entry, args []word) bool {
	if len(args) < len(e.Words)-1 {
		return false
	}
	for i, w := range e.Words[1:] {
		if args[i].text != w || !args[i].exact() {
			return false
		}
	}
	return true
}

// mayFit reports whether each word of e may be among the words of a command.
func mayFit(e *commandbook.Entry, words []word) bool {
	return !slices.ContainsFunc(e.Words, func(name string) bool {
		return !slices.ContainsFunc(words, func(w word) bool { return w.text == name || !w.exact() })
	})
}

// sorter parses the words of a command.
type sorter struct {
	e     *commandbook.Entry
	p     parsed
	at    int // operands so far
	wild  bool
	ended bool // after «--» nothing is an option
}

// parse parses the words after those of the entry. Wild says that a file name that looks like an
// option could do harm.
func parse(e *commandbook.Entry, args []word, wild bool) parsed {
	x := &sorter{e: e, wild: wild}
	x.p.ok = true
	for i := 0; i < len(args) && x.p.ok; {
		i += x.next(args[i:])
	}
	return x.p
}

// next parses one or more words and returns how many it used.
func (x *sorter) next(args []word) int {
	w := args[0]
	switch {
	case !x.ended && w.text == "--" && w.exact():
		x.ended = true
		return 1
	case !x.ended && strings.HasPrefix(w.text, "-") && len(w.text) > 1 && !w.begins:
		return x.option(args)
	case !x.ended && !anyOption(x.e) && (w.begins && w.names == nil && !w.proc && !w.glob || x.wild && w.glob && strings.IndexByte("*?[", w.text[0]) >= 0):
		if x.role() == commandbook.Text && len(x.e.Values) == 0 && x.e.Flags == "*" {
			break
		}
		x.p.ok = false
		return 1
	}
	return x.operand(args)
}

func (x *sorter) role() commandbook.Role {
	if len(x.e.Operands) == 0 {
		return commandbook.NoRole
	}
	return x.e.Operands[min(x.at, len(x.e.Operands)-1)]
}

func (x *sorter) operand(args []word) int {
	w := args[0]
	role := x.role()
	if role == commandbook.Assigns {
		if name, _, ok := strings.Cut(w.text, "="); ok && name != "" {
			x.p.list = append(x.p.list, operand{role: commandbook.Assigns, w: w})
			return 1
		}
		x.at++
		role = x.role()
	}
	x.at++
	if (w.glob || w.split) && x.role() == commandbook.NoRole { // w may become more words than the command takes
		role = commandbook.NoRole
	}
	switch role {
	case commandbook.NoRole:
		x.p.ok = false
	case commandbook.Command:
		x.p.rest = args
		return len(args)
	case commandbook.Script:
		x.p.list = append(x.p.list, operand{role: commandbook.Script, w: w})
		for _, v := range args[1:] {
			x.p.list = append(x.p.list, operand{role: commandbook.Text, w: v})
		}
		return len(args)
	case commandbook.Shell:
		x.p.list = append(x.p.list, operand{role: commandbook.Shell, w: sentence(args)})
		return len(args)
	default:
		x.p.list = append(x.p.list, operand{role: role, w: w})
	}
	return 1
}

// option parses an option with its value.
func (x *sorter) option(args []word) int {
	w := args[0]
	name, value, joined := strings.Cut(w.text, "=")
	role, takes := x.e.Values[name]
	switch {
	case w.vague && !joined && !takes && !strings.HasPrefix(w.text, "-"):
		x.p.ok = false
		return 1
	case takes && role == commandbook.Until:
		return x.until(args)
	case takes && role == commandbook.Command && !joined:
		x.gave(name)
		x.p.rest = args[1:]
		return len(args)
	case takes && joined:
		x.gave(name)
		v := w
		v.text = value
		v.begins = false
		x.value(name, role, v)
		return 1
	case takes:
		x.gave(name)
		if role == commandbook.Flag || role == commandbook.Attached {
			return 1
		}
		return x.separate(name, role, args)
	case slices.Contains(x.e.Options, name) || strings.HasPrefix(name, "--") && slices.Contains(x.e.Options, "*"):
		x.gave(name)
		if joined {
			x.unsaid(w.but(value))
		}
		return 1
	case strings.HasPrefix(w.text, "--"):
		x.p.ok = false
		return 1
	}
	return x.letters(args)
}

// letters parses combined short options: -la, -ofile, -n 5.
func (x *sorter) letters(args []word) int {
	w := args[0]
	for i := 1; i < len(w.text); i++ {
		letter := "-" + w.text[i:i+1]
		role, takes := x.e.Values[letter]
		if takes && role != commandbook.Flag {
			x.gave(letter)
			rest := w.text[i+1:]
			if rest != "" {
				x.value(letter, role, w.but(rest))
			}
			if rest != "" || role == commandbook.Attached {
				return 1
			}
			return x.separate(letter, role, args)
		}
		if _, flag := x.e.Values[letter]; !flag && !x.allows(w.text[i]) || w.vague && w.text[i] == '*' {
			x.p.ok = x.p.ok && w.text[i] == '=' && i > 1
			if x.p.ok {
				x.unsaid(w.but(w.text[i+1:]))
			}
			return 1
		}
		x.gave(letter)
	}
	return 1
}

func (x *sorter) allows(c byte) bool {
	if c >= '0' && c <= '9' {
		return true
	}
	letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	return letter && (x.e.Flags == "*" || strings.IndexByte(x.e.Flags, c) >= 0) || x.e.Flags == "*" && anyOption(x.e)
}

// separate takes an option's value from the next word.
func (x *sorter) separate(name string, role commandbook.Role, args []word) int {
	if len(args) < 2 {
		return 1 // the command will complain
	}
	if args[1].split && args[1].vague {
		x.p.ok = false // it may be several words, or none
	}
	x.value(name, role, args[1])
	return 2
}

// value adds the value of an option. If the value is a command, as in «fd --exec=sh», parsing
// fails, because such a command is not followed.
func (x *sorter) value(name string, role commandbook.Role, w word) {
	x.p.ok = x.p.ok && role != commandbook.Command && role != commandbook.Until
	x.p.list = append(x.p.list, operand{role: role, w: w, opt: name})
}

// unsaid adds an option's undescribed value as an operand, if operands are files or text.
func (x *sorter) unsaid(w word) {
	if role := x.role(); role == commandbook.Path || role == commandbook.Reads || role == commandbook.Writes || role == commandbook.Deletes || role == commandbook.Text {
		x.p.list = append(x.p.list, operand{role: role, w: w})
	}
}

// until takes the words of another command up to «;» or «+».
func (x *sorter) until(args []word) int {
	x.gave(args[0].text)
	for i, w := range args[1:] {
		if w.text == ";" || w.text == "+" {
			x.p.rest = append(x.p.rest, args[1:i+1]...)
			x.p.rest = append(x.p.rest, word{text: "\x00"}) // the end of one command
			return i + 2
		}
	}
	x.p.ok = false
	return len(args)
}

func (x *sorter) gave(option string) {
	x.p.opts = append(x.p.opts, option)
	x.p.adds = append(x.p.adds, x.e.Adds[option]...)
}
