package provenance

import "strings"

// The limits on reading a text as records.
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
	at     int // the offset of the value
	record int // where its record begins
}

// The names under which several fields are looked up, see [canonicalField].
const (
	fieldID   = "id"
	fieldName = "name"
	fieldItem = "item" // an element of a list that has no name
)

// readFields returns the short values of a text that a program wrote as
// records: JSON, Python's way of printing, or the block form of YAML. The author
// of a value must not be able to make a second field of it, so readFields returns
// false if it does not understand the whole text.
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
		if !r.flow(0, "", false) {
			return nil, false
		}
		r.blanks()
		return apart(r.found), r.at == len(text) && len(r.found) > 0
	}
	ok := r.block()
	return apart(r.found), ok && len(r.found) > 0
}

// apart gives the fields that come after an inner record, and belong to the record around it, a
// record of their own. Otherwise they would belong to the inner record, because a record reaches to
// where the next one begins.
func apart(found []field) []field {
	was, now := -1, -1
	for i := range found {
		f := &found[i]
		if f.record != was {
			was, now = f.record, f.record
			if i > 0 && now <= found[i-1].at {
				now = f.at
			}
		}
		f.record = now
	}
	return found
}

type fieldReader struct {
	text   string
	at     int
	found  []field
	record int // where the current record begins, or -1
	// keyed means that the record is no element of a list, so that an object in
	// it is a record itself.
	keyed bool
}

// add adds a field, unless its value is empty or too long to be looked up. It returns false if there
// are too many fields.
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

// canonicalField returns the name under which a field is looked up.
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

// flow reads an object, a list, a string or a word. list says whether this value is an element of a
// list.
func (r *fieldReader) flow(depth int, name string, list bool) bool {
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
		return ok && (!plain || r.add(name, value, at) && r.addListed(name, value, at))
	}
	at := r.at
	for r.at < len(r.text) && strings.IndexByte(",]}: \t\r\n\"'[{", r.text[r.at]) < 0 {
		r.at++
	}
	return r.at > at && r.add(name, r.text[at:r.at], at)
}

// object reads {…}. An object in the outermost list is one record together with all objects in it.
// Outside of lists each object is a record of its own.
func (r *fieldReader) object(depth int, list bool) bool {
	if outer, keyed := r.record, r.keyed; depth > 0 && (outer < 0 || keyed) {
		r.record, r.keyed = r.at, !list
		defer func() { r.record, r.keyed = outer, keyed }()
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
		if !ok || !r.skip(':') || !r.flow(depth+1, key, false) {
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
		if !r.flow(depth+1, name, true) {
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
