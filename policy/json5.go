package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/floodmark/floodmark"
)

// A jvalue is a value of a JSON5 file with its place. JSON with comments is a
// part of JSON5, so one reader does for all seeds.
type jvalue struct {
	kind         jkind
	text         string // of a string, a number, or a word
	list         []*jvalue
	members      []jmember
	line, column int
}

type jmember struct {
	name  string
	value *jvalue
	line  int
	col   int
}

type jkind uint8

const (
	jword jkind = iota // true, false, null
	jnumber
	jstring
	jlist
	jobject
)

// get returns a member, or nil. It may be asked of nil, so that paths can be
// walked without looking at every step.
func (v *jvalue) get(names ...string) *jvalue {
	for _, name := range names {
		if v == nil || v.kind != jobject {
			return nil
		}
		i := slices.IndexFunc(v.members, func(m jmember) bool { return m.name == name })
		if i < 0 {
			return nil
		}
		v = v.members[i].value
	}
	return v
}

func (v *jvalue) is(word string) bool { return v != nil && v.kind == jword && v.text == word }

// A jreader reads JSON5.
type jreader struct {
	data         string
	at           int
	line, column int
	count        int
}

// jfault is where and why reading stopped.
type jfault struct {
	line, column int
	text         string
}

// parseJSON5 reads one value. The limits are those of a policy.
func parseJSON5(name string, data []byte) (*jvalue, error) {
	problem := func(line, column int, text string) error {
		return floodmark.Problems{{File: name, Line: line, Column: column, Severity: floodmark.Error, Code: "syntax", Text: text, Hint: "give the agent's configuration as JSON or JSON5"}}
	}
	if len(data) > MaxBytes {
		return nil, problem(1, 1, fmt.Sprintf("the file has %d bytes, at most %d are read", len(data), MaxBytes))
	}
	if !utf8.Valid(data) {
		return nil, problem(1, 1, "the file is not UTF-8")
	}
	r := &jreader{data: strings.TrimPrefix(string(data), "\ufeff"), line: 1, column: 1}
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

func (r *jreader) fault(text string) *jfault { return &jfault{r.line, r.column, text} }

func (r *jreader) now() rune {
	if r.at >= len(r.data) {
		return -1
	}
	c, _ := utf8.DecodeRuneInString(r.data[r.at:])
	return c
}

func (r *jreader) next() rune {
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
func (r *jreader) space() *jfault {
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

func (r *jreader) value(depth int) (*jvalue, *jfault) {
	if fault := r.space(); fault != nil {
		return nil, fault
	}
	if r.count++; depth > maxDepth || r.count > maxNodes {
		return nil, r.fault("there is too much in this file, or it is nested too deep")
	}
	v := &jvalue{line: r.line, column: r.column}
	var fault *jfault
	switch c := r.now(); {
	case c == '{':
		fault = r.object(v, depth)
	case c == '[':
		fault = r.array(v, depth)
	case c == '"' || c == '\'':
		v.kind = jstring
		v.text, fault = r.quoted()
	case c < 0:
		fault = r.fault("the file ends in the middle")
	default:
		fault = r.bare(v)
	}
	return v, fault
}

func (r *jreader) object(v *jvalue, depth int) *jfault {
	v.kind = jobject
	r.next()
	for {
		if fault := r.space(); fault != nil {
			return fault
		}
		if r.now() == '}' {
			r.next()
			return nil
		}
		m := jmember{line: r.line, col: r.column}
		var fault *jfault
		if m.name, fault = r.key(); fault != nil {
			return fault
		}
		if v.get(m.name) != nil {
			return &jfault{m.line, m.col, fmt.Sprintf("%q is here twice", m.name)}
		}
		if fault = r.space(); fault != nil {
			return fault
		}
		if r.now() != ':' {
			return r.fault("a colon is missing")
		}
		r.next()
		if m.value, fault = r.value(depth + 1); fault != nil {
			return fault
		}
		v.members = append(v.members, m)
		if fault = r.comma('}'); fault != nil {
			return fault
		}
	}
}

func (r *jreader) array(v *jvalue, depth int) *jfault {
	v.kind = jlist
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
		v.list = append(v.list, item)
		if fault = r.comma(']'); fault != nil {
			return fault
		}
	}
}

// comma steps over a comma, or stays before the end.
func (r *jreader) comma(end rune) *jfault {
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

func (r *jreader) key() (string, *jfault) {
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
func (r *jreader) bare(v *jvalue) *jfault {
	begin := r.at
	for c := r.now(); unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune("+-._", c); c = r.now() {
		r.next()
	}
	v.text = r.data[begin:r.at]
	switch v.text {
	case "true", "false", "null":
		v.kind = jword
		return nil
	}
	v.kind = jnumber
	if _, err := strconv.ParseFloat(v.text, 64); err == nil {
		return nil
	}
	if _, err := strconv.ParseInt(v.text, 0, 64); err == nil {
		return nil
	}
	return &jfault{v.line, v.column, "this is not a value; texts are in quotes"}
}

// quoted reads a text in either kind of quotes.
func (r *jreader) quoted() (string, *jfault) {
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

func (r *jreader) escape(b *strings.Builder) *jfault {
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
