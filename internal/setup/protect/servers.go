package protect

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The words by which a client's entry calls our gateway. After the dashes follows the command that
// the entry started before.
const (
	gatewayName   = "floodmark"
	gatewayServer = "--server"
	gatewayDashes = "--"
)

// maxCalled bounds the name of a server, in bytes.
const maxCalled = 128

// gatewayWords returns the command of our program that is the gateway.
func gatewayWords() []string { return []string{"mcp", "wrap"} }

// gatewayPlace returns the flags that say where the monitor and its files are.
func gatewayPlace() []string { return []string{"--socket", "--pins", "--dir"} }

// A serverList is how one file lists its tool servers (MCP), and how the gateway is called there.
type serverList struct {
	serverTable
	program string
	place   []string // the flags by which the gateway finds the monitor
}

// A serverTable is how a client lists its tool servers.
type serverTable struct {
	// at are the paths of the tables whose members are servers; * matches any name.
	at [][]string
	// inner is a member of such a table that may itself be a table of servers.
	inner string
	// alone is the path of a server that is a command outside any table; nil if there is none.
	alone []string
	// toml says that the file is TOML. argv says that a command is a list of words.
	toml, argv bool
	// name returns the name by which this client's hooks call a server.
	name func(key string) string
}

// An entry is one tool server in a file. Offsets are into that file.
type entry struct {
	id   string // its path
	key  string
	odd  string // what is unusual about its form; empty if nothing is
	away bool   // it has an address
	// command is the program it starts; nil if that is the first of the words.
	command *word
	words   []word
	// open is the offset after the bracket before the words; 0 if there is no list yet. Then a list
	// is inserted at add, with before and after around it.
	open          int
	add           int
	before, after string
	// drop removes the list of words. lone says that we added the list.
	drop []edit
	lone bool
}

// A word is a string in a file, with its place.
type word struct {
	text       string
	start, end int
}

// all returns the words of the command that an entry starts.
func (e entry) all() []string {
	var list []string
	if e.command != nil {
		list = append(list, e.command.text)
	}
	for _, w := range e.words {
		list = append(list, w.text)
	}
	return list
}

// A call is how an entry calls the gateway.
type call struct {
	program, server string
	place, others   []string
	dashes          int // the index of the dashes; -1 if there are none
}

// gateway parses the words of an entry that calls the gateway; nil if it does not.
func (l serverList) gateway(words []string) *call {
	ours := gatewayWords()
	if len(words) < 1+len(ours) || !l.isGateway(words[0]) || !slices.Equal(words[1:1+len(ours)], ours) {
		return nil
	}
	c := &call{program: words[0], dashes: -1}
	for i := 1 + len(ours); i < len(words); i++ {
		if words[i] == gatewayDashes {
			c.dashes = i
			return c
		}
		name, value, joined := strings.Cut(words[i], "=")
		place := slices.Contains(gatewayPlace(), name)
		if (place || name == gatewayServer) && !joined && i+1 < len(words) {
			i++ // whatever the next word is: a server may be called «--»
			value = words[i]
		}
		switch {
		case name == gatewayServer:
			c.server = value
		case place:
			c.place = append(c.place, name, value)
		default:
			c.others = append(c.others, words[i])
		}
	}
	return &call{program: words[0], dashes: -1}
}

// isGateway reports whether a word is our program, at any path.
func (l serverList) isGateway(word string) bool {
	return filepath.Base(word) == gatewayName || l.sameProgram(word)
}

func (l serverList) sameProgram(word string) bool {
	if word == l.program {
		return true
	}
	if !filepath.IsAbs(word) {
		return false // a PATH can be set so that it names another program
	}
	ours, err := os.Stat(l.program)
	if err != nil {
		return false
	}
	theirs, err := os.Stat(word)
	return err == nil && os.SameFile(ours, theirs)
}

// prefix returns what we write before the words of an entry, without the program.
func (l serverList) prefix(e entry, others []string) []string {
	list := append(gatewayWords(), gatewayServer, l.called(e.key))
	return append(slices.Concat(list, l.place, others), gatewayDashes)
}

// called returns the monitor's name for a server: the name that the client's hooks use, printable
// and cut to maxCalled.
func (l serverList) called(key string) string {
	name := strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return '_'
		}
		return r
	}, l.name(key))
	for len(name) > maxCalled {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	if name == "" {
		return "_"
	}
	return name
}

// wrapping returns the edits after which an entry calls the gateway; none if it already does or
// cannot.
func (l serverList) wrapping(data []byte, e entry) []edit {
	if e.odd != "" || len(e.all()) == 0 {
		return nil
	}
	c := l.gateway(e.all())
	switch {
	case c == nil:
		return l.wrapped(data, e)
	case c.dashes < 0 || c.dashes == len(e.all())-1:
		return nil // it names no command after the dashes
	case l.sameProgram(c.program) && c.server == l.called(e.key) && slices.Equal(c.place, l.place):
		return nil
	}
	prefix := l.prefix(e, c.others)
	if e.command == nil {
		return []edit{{e.words[0].start, e.words[c.dashes].end - e.words[0].start, quotes(append([]string{l.program}, prefix...))}}
	}
	return []edit{
		{e.command.start, e.command.end - e.command.start, quote(l.program)},
		{e.words[0].start, e.words[c.dashes-1].end - e.words[0].start, quotes(prefix)},
	}
}

// wrapped returns the edits that put the gateway before the command of an entry. What a person
// wrote is moved unchanged.
func (l serverList) wrapped(data []byte, e entry) []edit {
	text := quotes(l.prefix(e, nil))
	if e.command == nil {
		return []edit{{at: e.words[0].start, text: quote(l.program) + ", " + text + "," + e.gap(data)}}
	}
	text += ", " + string(data[e.command.start:e.command.end])
	program := edit{e.command.start, e.command.end - e.command.start, quote(l.program)}
	switch {
	case len(e.words) > 0:
		return []edit{program, {at: e.words[0].start, text: text + "," + e.gap(data)}}
	case e.open > 0:
		return []edit{program, {at: e.open, text: text}}
	}
	return []edit{program, {at: e.add, text: e.before + "[" + text + "]" + e.after}}
}

// gap returns the space before the first word.
func (e entry) gap(data []byte) string {
	gap := data[e.open:e.words[0].start]
	if len(gap) == 0 || len(bytes.TrimSpace(gap)) > 0 {
		return " "
	}
	return string(gap)
}

// unwrapping returns the edits that remove the gateway from an entry. before is the entry before we
// changed it; nil if unknown.
func (l serverList) unwrapping(data []byte, e entry, before *entry) []edit {
	c := l.gateway(e.all())
	if e.odd != "" || c == nil || c.dashes < 0 || c.dashes == len(e.all())-1 {
		return nil
	}
	if e.command == nil {
		return []edit{{at: e.words[0].start, del: e.words[c.dashes+1].start - e.words[0].start}}
	}
	inner := e.words[c.dashes] // the program is not among the words
	program := edit{e.command.start, e.command.end - e.command.start, string(data[inner.start:inner.end])}
	if c.dashes+1 < len(e.words) {
		return []edit{program, {at: e.words[0].start, del: e.words[c.dashes+1].start - e.words[0].start}}
	}
	if len(e.drop) > 0 && (e.lone || before != nil && before.open == 0) {
		return append([]edit{program}, e.drop...)
	}
	return []edit{program, {at: e.words[0].start, del: inner.end - e.words[0].start}}
}

// entries returns the tool servers in a file, in their order.
func (l serverList) entries(data []byte) ([]entry, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil
	}
	read := l.jsonEntries
	if l.toml {
		read = l.tomlEntries
	}
	list, err := read(data)
	// JSON may contain the same name twice.
	seen := map[string]int{}
	for i := range list {
		id := list[i].id
		list[i].id = fmt.Sprint(seen[id], "\x00", id)
		seen[id]++
	}
	return list, err
}

// wrap returns a file whose entries call the gateway.
func (l serverList) wrap(old content) (content, error) {
	return l.changed(old, l.wrapping)
}

// unwrap returns the file with the gateway removed from every entry. This includes calls that a
// person wrote, because they are useless without Floodmark. before is the file before we changed
// it; nil if unknown.
func (l serverList) unwrap(old content, before *content) (content, error) {
	was := map[string]entry{}
	if before != nil && before.there {
		_, data := cutMark(before.data)
		list, err := l.entries(data)
		if err == nil { // otherwise the earlier file is unknown
			for _, e := range list {
				was[e.id] = e
			}
		}
	}
	return l.changed(old, func(data []byte, e entry) []edit {
		if known, is := was[e.id]; is {
			return l.unwrapping(data, e, &known)
		}
		return l.unwrapping(data, e, nil)
	})
}

func (l serverList) changed(old content, change func([]byte, entry) []edit) (content, error) {
	if !old.there {
		return old, nil
	}
	mark, data := cutMark(old.data)
	list, err := l.entries(data)
	if err != nil {
		return old, err
	}
	var edits []edit
	for _, e := range list {
		edits = append(edits, change(data, e)...)
	}
	if len(edits) == 0 {
		return old, nil
	}
	fresh := edited(data, edits)
	if _, err := l.entries(fresh); err != nil {
		return old, &wrongFile{text: "our words do not go with what is there: " + err.Error(), hint: fmt.Sprintf("put «%s %s -- » before the commands by hand", gatewayName, strings.Join(gatewayWords(), " "))}
	}
	return content{true, append(slices.Clone(mark), fresh...)}, nil
}

// quotes returns quoted strings of JSON or TOML, separated by commas.
func quotes(list []string) string {
	var b strings.Builder
	for i, s := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quote(s))
	}
	return b.String()
}
