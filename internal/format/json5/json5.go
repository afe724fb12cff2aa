// Package json5 reads the configuration of agents, which is JSON with comments or JSON5, with the
// place of every value, so that a mistake can be shown where it stands.
package json5

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/floodmark/floodmark"
)

// The limits of a file.
const (
	MaxBytes = 1 << 20
	maxDepth = 16
	maxNodes = 50_000
)

// A Value is a value of a JSON5 file with its place. JSON with comments is a
// part of JSON5, so one reader does for all seeds.
type Value struct {
	Kind         Kind
	Text         string // of a string, a number, or a word
	List         []*Value
	Members      []Member
	Line, Column int
}

// A Member is one name of an object with its value, and where it stands.
type Member struct {
	Name  string
	Value *Value
	Line  int
	Col   int
}

// A Kind says how a value is written.
type Kind uint8

// The kinds of values.
const (
	Word Kind = iota // true, false, null
	Number
	String
	List
	Object
)

// Get returns a member, or nil. It may be asked of nil, so that paths can be
// walked without looking at every step.
func (v *Value) Get(names ...string) *Value {
	for _, name := range names {
		if v == nil || v.Kind != Object {
			return nil
		}
		i := slices.IndexFunc(v.Members, func(m Member) bool { return m.Name == name })
		if i < 0 {
			return nil
		}
		v = v.Members[i].Value
	}
	return v
}

// Is reports whether the value is this word: true, false or null.
func (v *Value) Is(word string) bool { return v != nil && v.Kind == Word && v.Text == word }

// A reader reads JSON5.
type reader struct {
	data         string
	at           int
	line, column int
	count        int
}

// failure is where and why reading stopped.
type failure struct {
	line, column int
	text         string
}

// Parse reads one value. The name stands in the problems it reports.
func Parse(name string, data []byte) (*Value, error) {
	problem := func(line, column int, text string) error {
		return floodmark.Problems{{File: name, Line: line, Column: column, Severity: floodmark.Error, Code: "syntax", Text: text, Hint: "give the agent's configuration as JSON or JSON5"}}
	}
	if len(data) > MaxBytes {
		return nil, problem(1, 1, fmt.Sprintf("the file has %d bytes, at most %d are read", len(data), MaxBytes))
	}
	if !utf8.Valid(data) {
		return nil, problem(1, 1, "the file is not UTF-8")
	}
	r := &reader{data: strings.TrimPrefix(string(data), "\ufeff"), line: 1, column: 1}
	v, fault := r.value(1)
	if fault == nil {
		if fault = r.space(); fault == nil && r.at < len(r.data) {
			fault = r.fault("something follows the end")
		}
	}
	if fault != nil {
		return nil, problem(fault.line, fault.column, fault.text)
	}
	return v, nil
}

func (r *reader) fault(text string) *failure { return &failure{r.line, r.column, text} }

func (r *reader) now() rune {
	if r.at >= len(r.data) {
		return -1
	}
	c, _ := utf8.DecodeRuneInString(r.data[r.at:])
	return c
}

func (r *reader) next() rune {
	if r.at >= len(r.data) {
		return -1
	}
	c, size := utf8.DecodeRuneInString(r.data[r.at:])
	r.at += size
	if r.column++; c == '\n' {
		r.line, r.column = r.line+1, 1
	}
	return c
}

// space skips white space and comments.
func (r *reader) space() *failure {
	for {
		rest := r.data[r.at:]
		switch {
		case rest != "" && (unicode.IsSpace(r.now()) || r.now() == '\ufeff'):
			r.next()
		case strings.HasPrefix(rest, "//"):
			for c := r.now(); c != '\n' && c >= 0; c = r.now() {
				r.next()
			}
		case strings.HasPrefix(rest, "/*"):
			begin := r.fault("the comment does not end")
			r.next()
			r.next() // «/*/» has no end yet
			for !strings.HasPrefix(r.data[r.at:], "*/") {
				if r.next() < 0 {
					return begin
				}
			}
			r.next()
			r.next()
		default:
			return nil
		}
	}
}

func (r *reader) value(depth int) (*Value, *failure) {
	if fault := r.space(); fault != nil {
		return nil, fault
	}
	if r.count++; depth > maxDepth || r.count > maxNodes {
		return nil, r.fault("there is too much in this file, or it is nested too deep")
	}
	v := &Value{Line: r.line, Column: r.column}
	var fault *failure
	switch c := r.now(); {
	case c == '{':
		fault = r.object(v, depth)
	case c == '[':
		fault = r.array(v, depth)
	case c == '"' || c == '\'':
		v.Kind = String
		v.Text, fault = r.quoted()
	case c < 0:
		fault = r.fault("the file ends in the middle")
	default:
		fault = r.bare(v)
	}
	return v, fault
}

func (r *reader) object(v *Value, depth int) *failure {
	v.Kind = Object
	r.next()
	for {
		if fault := r.space(); fault != nil {
			return fault
		}
		if r.now() == '}' {
			r.next()
			return nil
		}
		m := Member{Line: r.line, Col: r.column}
		var fault *failure
		if m.Name, fault = r.key(); fault != nil {
			return fault
		}
		if v.Get(m.Name) != nil {
			return &failure{m.Line, m.Col, fmt.Sprintf("%q is here twice", m.Name)}
		}
		if fault = r.space(); fault != nil {
			return fault
		}
		if r.now() != ':' {
			return r.fault("a colon is missing")
		}
		r.next()
		if m.Value, fault = r.value(depth + 1); fault != nil {
			return fault
		}
		v.Members = append(v.Members, m)
		if fault = r.comma('}'); fault != nil {
			return fault
		}
	}
}

func (r *reader) array(v *Value, depth int) *failure {
	v.Kind = List
	r.next()
	for {
		if fault := r.space(); fault != nil {
			return fault
		}
		if r.now() == ']' {
			r.next()
			return nil
		}
		item, fault := r.value(depth + 1)
		if fault != nil {
			return fault
		}
		v.List = append(v.List, item)
		if fault = r.comma(']'); fault != nil {
			return fault
		}
	}
}

// comma steps over a comma, or stays before the end.
func (r *reader) comma(end rune) *failure {
	if fault := r.space(); fault != nil {
		return fault
	}
	switch r.now() {
	case ',':
		r.next()
		return nil
	case end:
		return nil
	default:
		return r.fault("a comma or " + string(end) + " is missing")
	}
}

func (r *reader) key() (string, *failure) {
	if c := r.now(); c == '"' || c == '\'' {
		return r.quoted()
	}
	begin := r.at
	for c := r.now(); unicode.IsLetter(c) || unicode.IsDigit(c) || c == '_' || c == '$'; c = r.now() {
		r.next()
	}
	if r.at == begin {
		return "", r.fault("a name is missing")
	}
	return r.data[begin:r.at], nil
}

// bare reads a word or a number.
func (r *reader) bare(v *Value) *failure {
	begin := r.at
	for c := r.now(); unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune("+-._", c); c = r.now() {
		r.next()
	}
	v.Text = r.data[begin:r.at]
	switch v.Text {
	case "true", "false", "null":
		v.Kind = Word
		return nil
	}
	v.Kind = Number
	if _, err := strconv.ParseFloat(v.Text, 64); err == nil {
		return nil
	}
	if _, err := strconv.ParseInt(v.Text, 0, 64); err == nil {
		return nil
	}
	return &failure{v.Line, v.Column, "this is not a value; texts are in quotes"}
}

// quoted reads a text in either kind of quotes.
func (r *reader) quoted() (string, *failure) {
	begin := r.fault("the text does not end")
	quote := r.next()
	var b strings.Builder
	for {
		c := r.next()
		switch {
		case c == quote:
			return b.String(), nil
		case c < 0 || c == '\n':
			return "", begin
		case c == '\\':
			if fault := r.escape(&b); fault != nil {
				return "", fault
			}
		default:
			b.WriteRune(c)
		}
	}
}

func (r *reader) escape(b *strings.Builder) *failure {
	at := r.fault("this escape is not known")
	c := r.next()
	switch c {
	case 'n', 't', 'r', 'b', 'f', 'v', '0':
		b.WriteByte(map[rune]byte{'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f', 'v': '\v', '0': 0}[c])
	case '\n': // the line goes on
	case 'x', 'u':
		digits := map[rune]int{'x': 2, 'u': 4}[c]
		if r.at+digits > len(r.data) {
			return at
		}
		n, err := strconv.ParseUint(r.data[r.at:r.at+digits], 16, 32)
		if err != nil {
			return at
		}
		for range digits {
			r.next()
		}
		b.WriteRune(rune(n))
	case -1:
		return at
	default:
		b.WriteRune(c)
	}
	return nil
}
