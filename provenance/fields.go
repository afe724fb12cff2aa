package provenance

import "strings"

// The limits on reading a text as records. What is beyond them is text.
const (
	maxFieldText  = 1 << 20
	maxFieldValue = 128
	maxFieldName  = 64
	maxFieldDepth = 32
	maxFields     = 1 << 15
)

// A field is one short value of a structured text.
type field struct {
	name   string // «id» for whatever identifies a record, «name» for whatever names it
	value  string
	at     int // where the value stands
	record int // where its record begins: the outermost list's element it is in
}

// The names of fields that stand for many.
const (
	fieldID   = "id"
	fieldName = "name"
	fieldItem = "item" // an element of a list that has no name
)

// readFields returns the short values of a text that a program wrote as
// records: JSON, Python's way of printing, or the block form of YAML. Who
// writes a value must not be able to make another field of it, so that the
// first thing that is not understood makes it a text without fields.
func readFields(text string) ([]field, bool) {
	if len(text) > maxFieldText {
		return nil, false
	}
	r := fieldReader{text: text, record: -1}
	start := len(text) - len(strings.TrimLeft(text, " \t\r\n"))
	switch {
	case start == len(text):
		return nil, false
	case text[start] == '{' || text[start] == '[':
		r.at = start
		if !r.flow(0, "", -1) {
			return nil, false
		}
		r.blanks()
		return r.found, r.at == len(text) && len(r.found) > 0
	}
	ok := r.block()
	return r.found, ok && len(r.found) > 0
}

type fieldReader struct {
	text   string
	at     int
	found  []field
	record int // where the current record begins, or -1
}

// add notes a value, unless it is too long to be worth looking up.
func (r *fieldReader) add(name, value string, at int) bool {
	if value == "" || len(value) > maxFieldValue {
		return true
	}
	if len(r.found) == maxFields {
		return false
	}
	r.found = append(r.found, field{name: canonicalField(name), value: value, at: at, record: max(r.record, 0)})
	return true
}

// canonicalField is the name under which a field is looked up.
func canonicalField(name string) string {
	name = strings.Trim(strings.ToLower(name), "_")
	switch name {
	case "":
		return fieldItem
	case "id", "uuid", "guid", "key", "number", "uid", "sku":
		return fieldID
	case "name", "title", "subject", "filename", "file_name", "full_name", "display_name", "label", "summary":
		return fieldName
	}
	if strings.HasSuffix(name, "_id") || strings.HasSuffix(name, "_name") && !strings.Contains(name, "user") {
		return name[strings.LastIndexByte(name, '_')+1:]
	}
	return name
}

func (r *fieldReader) blanks() {
	for r.at < len(r.text) && strings.IndexByte(" \t\r\n", r.text[r.at]) >= 0 {
		r.at++
	}
}

// flow reads a value in brackets, a string or a word. lists is how many lists
// stand around it, or -1 once a record has begun.
func (r *fieldReader) flow(depth int, name string, list int) bool {
	r.blanks()
	if r.at == len(r.text) || depth > maxFieldDepth {
		return false
	}
	switch c := r.text[r.at]; c {
	case '{':
		return r.object(depth, list)
	case '[':
		return r.list(depth, name)
	case '"', '\'':
		at := r.at + 1
		value, plain, ok := r.quoted(c)
		return ok && (!plain || r.add(name, value, at))
	}
	at := r.at
	for r.at < len(r.text) && strings.IndexByte(",]}: \t\r\n\"'[{", r.text[r.at]) < 0 {
		r.at++
	}
	return r.at > at && r.add(name, r.text[at:r.at], at)
}

// object reads {…}. One that is an element of the outermost list is a record.
func (r *fieldReader) object(depth, list int) bool {
	begins := list >= 0 && r.record < 0
	if begins {
		r.record = r.at
		defer func() { r.record = -1 }()
	}
	r.at++
	for first := true; ; first = false {
		r.blanks()
		if r.at == len(r.text) {
			return false
		}
		if r.text[r.at] == '}' {
			r.at++
			return true
		}
		if !first && !r.skip(',') {
			return false
		}
		r.blanks()
		if r.at == len(r.text) || r.text[r.at] != '"' && r.text[r.at] != '\'' {
			return false
		}
		key, _, ok := r.quoted(r.text[r.at])
		r.blanks()
		if !ok || !r.skip(':') || !r.flow(depth+1, key, -1) {
			return false
		}
	}
}

func (r *fieldReader) list(depth int, name string) bool {
	r.at++
	for first := true; ; first = false {
		r.blanks()
		if r.at == len(r.text) {
			return false
		}
		if r.text[r.at] == ']' {
			r.at++
			return true
		}
		if !first && !r.skip(',') {
			return false
		}
		if !r.flow(depth+1, name, r.at) {
			return false
		}
	}
}

func (r *fieldReader) skip(c byte) bool {
	if r.at == len(r.text) || r.text[r.at] != c {
		return false
	}
	r.at++
	return true
}

// quoted reads a string in quotes. It is plain if nothing in it is escaped.
func (r *fieldReader) quoted(quote byte) (value string, plain, ok bool) {
	start := r.at + 1
	plain = true
	for i := start; i < len(r.text); i++ {
		switch r.text[i] {
		case '\\':
			plain = false
			i++
		case quote:
			r.at = i + 1
			return r.text[start:i], plain, true
		}
	}
	return "", false, false
}
