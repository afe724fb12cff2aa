package protect

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// The limits of a settings file. Most have a few hundred lines. The file in which Claude Code lists
// its tool servers also contains its history.
const (
	maxSettings = 8 << 20
	maxNesting  = 200
)

// byteOrderMark may come before a text; Windows editors write it.
const byteOrderMark = "\ufeff"

// A wrongFile is a settings file that is not changed because of its content.
type wrongFile struct {
	line int // 0 if no single line is at fault
	text string
	hint string
}

func (w *wrongFile) Error() string { return w.text }

// A document is JSON as a person wrote it. Comments, commas after the last element and spaces are
// kept, because edits refer to offsets in the original text.
type document struct {
	data   []byte // without a byte order mark
	root   *hujson.Value
	object *hujson.Object // the value of root
	nl     string         // its line ending
	unit   string         // one level of indentation; empty if it is all on one line
}

func readDocument(data []byte) (*document, error) {
	if err := checkNesting(data); err != nil {
		return nil, err
	}
	// The parser needs a line break at the end of the text.
	root, err := hujson.Parse(append(slices.Clip(data), '\n'))
	if err != nil {
		line, text := jsonError(err)
		line = min(line, lineAt(data, len(bytes.TrimRight(data, " \t\r\n")))) // at most the last line with text
		return nil, &wrongFile{line, "it is not JSON: " + text, "mend that line; names and texts stand in double quotes"}
	}
	object := objectOf(&root)
	if object == nil {
		return nil, &wrongFile{lineAt(data, root.StartOffset), "it does not hold an object", "begin it with { and end it with }"}
	}
	d := &document{data: data, root: &root, object: object, nl: newline(data)}
	if bytes.ContainsRune(data, '\n') {
		d.unit = indentation(data)
	}
	return d, nil
}

// jsonError splits hujson's message into line and text.
func jsonError(err error) (line int, text string) {
	text = strings.TrimPrefix(err.Error(), "hujson: ")
	var column int
	if n, _ := fmt.Sscanf(text, "line %d, column %d:", &line, &column); n == 2 {
		_, text, _ = strings.Cut(text, ": ")
	}
	return line, text
}

// checkNesting refuses text whose nesting would make the parser's stack grow without limit. It also
// counts brackets in comments, which never contain that many.
func checkNesting(data []byte) error {
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"' || quoted && c == '\n':
			quoted = !quoted && c == '"'
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
		if depth > maxNesting {
			return &wrongFile{lineAt(data, i), fmt.Sprintf("it is nested more than %d deep", maxNesting), "check that line"}
		}
	}
	return nil
}

func lineAt(data []byte, offset int) int {
	return 1 + bytes.Count(data[:min(offset, len(data))], []byte("\n"))
}

// newline returns the line ending of a text.
func newline(data []byte) string {
	if i := bytes.IndexByte(data, '\n'); i > 0 && data[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// indentation returns the indentation of the first line that has any.
func indentation(data []byte) string {
	const most = 8
	for line := range bytes.Lines(data) {
		rest := bytes.TrimLeft(line, " \t")
		if n := len(line) - len(rest); n > 0 && n <= most && len(bytes.TrimSpace(rest)) > 0 && !bytes.HasPrefix(rest, []byte("*")) {
			return string(line[:n])
		}
	}
	return "  "
}

// An edit replaces del bytes by text.
type edit struct {
	at, del int
	text    string
}

// edited applies edits that do not overlap.
func edited(data []byte, edits []edit) []byte {
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.at, b.at) })
	var out []byte
	from := 0
	for _, e := range edits {
		out = append(append(out, data[from:e.at]...), e.text...)
		from = e.at + e.del
	}
	return append(out, data[from:]...)
}

// A merge adds to a document what it lacks of a fragment.
type merge struct {
	*document
	last  bool // add after the existing elements
	edits []edit
}

// into adds to an object what it lacks of a fragment.
func (m *merge) into(target *hujson.Value, object, fragment *hujson.Object, at string) error {
	indent := m.indentOf(target.StartOffset) + m.unit
	var missing []string
	for i := range fragment.Members {
		name, want := memberName(&fragment.Members[i]), &fragment.Members[i].Value
		have := member(object, name)
		if have == nil {
			missing = append(missing, m.quoted(name)+m.print(want, indent))
			continue
		}
		if err := m.value(have, want, at+name+"."); err != nil {
			return err
		}
	}
	if len(missing) > 0 {
		m.first(target.StartOffset, len(object.Members), object.AfterExtra, missing)
	}
	return nil
}

// value changes one value to what the fragment wants, and keeps what else is in it.
func (m *merge) value(have, want *hujson.Value, at string) error {
	switch w := want.Value.(type) {
	case *hujson.Object:
		if object := objectOf(have); object != nil {
			return m.into(have, object, w, at)
		}
	case *hujson.Array:
		if array, is := have.Value.(*hujson.Array); is {
			m.elements(have, array, w)
			return nil
		}
	default:
		if same(have, want) {
			return nil
		}
		if _, is := have.Value.(hujson.Literal); is {
			m.replace(have, want)
			return nil
		}
	}
	if l, is := have.Value.(hujson.Literal); is && l.Kind() == 'n' {
		m.replace(have, want)
		return nil
	}
	return &wrongFile{lineAt(m.data, have.StartOffset), fmt.Sprintf("«%s» holds something else than we know", strings.TrimSuffix(at, ".")), "mend that line, or take it out"}
}

func (m *merge) replace(have, want *hujson.Value) {
	m.edits = append(m.edits, edit{have.StartOffset, have.EndOffset - have.StartOffset, m.print(want, m.indentOf(have.StartOffset))})
}

// elements adds the elements of a fragment that are missing in an array.
func (m *merge) elements(have *hujson.Value, array, want *hujson.Array) {
	indent := m.indentOf(have.StartOffset) + m.unit
	var missing []string
	for i := range want.Elements {
		if !slices.ContainsFunc(array.Elements, func(v hujson.Value) bool { return same(&v, &want.Elements[i]) }) {
			missing = append(missing, m.print(&want.Elements[i], indent))
		}
	}
	switch n := len(array.Elements); {
	case len(missing) == 0:
	case n > 0 && m.last:
		text := ""
		for _, one := range missing {
			text += "," + m.line(indent) + one
		}
		m.edits = append(m.edits, edit{at: array.Elements[n-1].EndOffset, text: text})
	default:
		m.first(have.StartOffset, n, array.AfterExtra, missing)
	}
}

// first writes lines after an opening bracket.
func (m *merge) first(bracket, already int, after hujson.Extra, missing []string) {
	outer := m.indentOf(bracket)
	text := ""
	for i, one := range missing {
		if i > 0 {
			text += ","
		}
		text += m.line(outer+m.unit) + one
	}
	switch {
	case already > 0:
		text += ","
	case !bytes.ContainsRune(after, '\n'):
		text += m.line(outer)
	}
	m.edits = append(m.edits, edit{at: bracket + 1, text: text})
}

// line begins a new line, unless the document is all on one line.
func (d *document) line(indent string) string {
	if d.unit == "" {
		return ""
	}
	return d.nl + indent
}

// indentOf returns the indentation of the line at an offset.
func (d *document) indentOf(offset int) string {
	line := d.data[bytes.LastIndexByte(d.data[:offset], '\n')+1:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

func (d *document) quoted(name string) string {
	if d.unit == "" {
		return quote(name) + ":"
	}
	return quote(name) + ": "
}

// print formats a value in the style of the document.
func (d *document) print(v *hujson.Value, indent string) string {
	var list []string
	open, shut := "{", "}"
	switch v := v.Value.(type) {
	case *hujson.Object:
		for i := range v.Members {
			list = append(list, d.quoted(memberName(&v.Members[i]))+d.print(&v.Members[i].Value, indent+d.unit))
		}
	case *hujson.Array:
		open, shut = "[", "]"
		for i := range v.Elements {
			list = append(list, d.print(&v.Elements[i], indent+d.unit))
		}
	case hujson.Literal:
		return string(v)
	}
	if len(list) == 0 {
		return open + shut
	}
	return open + d.line(indent+d.unit) + strings.Join(list, ","+d.line(indent+d.unit)) + d.line(indent) + shut
}

// quote returns a JSON string, with < > & unescaped.
func quote(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err) // strings can always be written
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func memberName(m *hujson.ObjectMember) string {
	l, _ := m.Name.Value.(hujson.Literal)
	return l.String()
}

// member returns the value of a name. If there are several, the last one is returned, as the agents
// do.
func member(o *hujson.Object, name string) *hujson.Value {
	for i := range slices.Backward(o.Members) {
		if memberName(&o.Members[i]) == name {
			return &o.Members[i].Value
		}
	}
	return nil
}

// same reports whether two values mean the same.
func same(a, b *hujson.Value) bool {
	x, errA := meaning(a)
	y, errB := meaning(b)
	return errors.Join(errA, errB) == nil && reflect.DeepEqual(x, y)
}

func meaning(v *hujson.Value) (any, error) {
	c := v.Clone()
	c.Standardize()
	var out any
	err := json.Unmarshal(c.Pack(), &out)
	return out, err
}
