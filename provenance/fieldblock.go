package provenance

import "strings"

// A blockLine is what matters of one line of the block form of YAML.
type blockLine struct {
	indent int // the column of its key or value, behind all list marks
	items  int // how many list marks it begins with
	outer  int // the column of the first list mark; -1 if there is none
	at     int // where rest begins in the text
	rest   string
}

// block reads the block form of YAML, «key: value» and «- », indented as programs write it. A value
// that continues on further lines is skipped as a whole, whatever those lines look like. It returns
// false if it does not understand the text.
func (r *fieldReader) block() bool {
	var names []blockName
	listAt := -1 // the indent of the outermost list of records
	for r.at < len(r.text) {
		l, ok := r.line()
		if !ok {
			return false
		}
		if l.rest == "" {
			continue
		}
		for len(names) > 0 && names[len(names)-1].indent >= l.indent {
			names = names[:len(names)-1]
		}
		key, value, isKey := cutKey(l.rest)
		if l.items > 0 && (listAt < 0 || l.outer <= listAt) {
			listAt, r.record = l.outer, l.at
			if !isKey {
				r.record = recordUnder(names, false)
			}
		} else if l.items == 0 && l.indent <= listAt {
			listAt = -1
		}
		if listAt < 0 {
			r.record = recordUnder(names, isKey)
		}
		name := ""
		if isKey {
			name = key
		} else if len(names) > 0 && names[len(names)-1].indent < l.indent {
			name = names[len(names)-1].name
		} else if l.items == 0 {
			return false // neither a key nor an element
		}
		if isKey && value == "" {
			if len(names) == maxFieldDepth {
				return false
			}
			names = append(names, blockName{indent: l.indent, name: key, at: l.at, record: r.record})
			continue
		}
		under := l.indent
		if !isKey {
			under = l.outer
		}
		if !r.value(name, value, l.at+len(l.rest)-len(value), under) {
			return false
		}
	}
	return true
}

// A blockName is a key whose value is on the lines below it.
type blockName struct {
	indent int
	name   string
	at     int // where the key begins
	record int // the record it is in
}

// recordUnder returns the record of a line that is below these names and in no list of records. A
// key belongs to the record that begins at the last name. A value belongs to the record that the
// last name is in.
func recordUnder(names []blockName, isKey bool) int {
	switch n := len(names); {
	case n == 0:
		return -1
	case isKey:
		return names[n-1].at
	default:
		return names[n-1].record
	}
}

// line reads the line at r.at and goes to the next.
func (r *fieldReader) line() (blockLine, bool) {
	end := strings.IndexByte(r.text[r.at:], '\n')
	if end < 0 {
		end = len(r.text)
	} else {
		end += r.at
	}
	l := blockLine{outer: -1, at: r.at}
	for l.at < end {
		switch {
		case r.text[l.at] == ' ':
			l.at++
		case r.text[l.at] == '-' && (l.at+1 == end || r.text[l.at+1] == ' '):
			if l.items++; l.items == 1 {
				l.outer = l.at - r.at
			}
			l.at++
		case r.text[l.at] == '\t':
			return l, false
		default:
			l.indent = l.at - r.at
			l.rest = strings.TrimRight(r.text[l.at:end], " \r")
			r.at = min(end+1, len(r.text))
			return l, l.items <= 2
		}
	}
	r.at = min(end+1, len(r.text))
	return l, l.items == 0
}

// cutKey cuts «key: value».
func cutKey(rest string) (key, value string, ok bool) {
	if rest[0] == '"' || rest[0] == '\'' || rest[0] == '{' || rest[0] == '[' || rest[0] == '|' || rest[0] == '>' {
		return "", rest, false
	}
	key, value, ok = strings.Cut(rest, ":")
	if !ok || value != "" && value[0] != ' ' || key == "" || len(key) > maxFieldName || strings.ContainsAny(key, " \t") {
		return "", rest, false
	}
	return key, strings.TrimLeft(value, " "), true
}

// value adds a value that ends on its line. It skips a value that continues on lines that are
// indented deeper than under.
func (r *fieldReader) value(name, value string, at, under int) bool {
	if value[0] == '"' || value[0] == '\'' {
		return r.blockQuoted(name, value[0], at)
	}
	more := r.skipDeeper(under)
	if more || strings.IndexByte("|>{[&*!%@", value[0]) >= 0 {
		return true // a text of several lines, or a form that is not read
	}
	return r.add(name, value, at)
}

// skipDeeper skips lines that are indented deeper than under, and empty lines. It reports whether
// there were any.
func (r *fieldReader) skipDeeper(under int) bool {
	more := false
	for r.at < len(r.text) {
		line, _, _ := strings.Cut(r.text[r.at:], "\n")
		text := strings.TrimLeft(line, " ")
		if strings.TrimRight(text, "\r") != "" && len(line)-len(text) <= under {
			return more
		}
		more = true
		r.at = min(r.at+len(line)+1, len(r.text))
	}
	return more
}

// blockQuoted reads a quoted value to its end, over as many lines as it takes.
func (r *fieldReader) blockQuoted(name string, quote byte, at int) bool {
	i := at + 1
	plain := true
	for ; i < len(r.text); i++ {
		switch c := r.text[i]; {
		case c == '\n':
			plain = false
		case c == '\\' && quote == '"':
			plain = false
			i++
		case c == quote && quote == '\'' && i+1 < len(r.text) && r.text[i+1] == '\'':
			plain = false
			i++
		case c == quote:
			line, _, _ := strings.Cut(r.text[i+1:], "\n")
			if strings.Trim(line, " \r") != "" {
				return false // something follows the quote, which no program writes
			}
			value := r.text[at+1 : i]
			r.at = min(i+1+len(line)+1, len(r.text))
			return !plain || r.add(name, value, at+1)
		}
	}
	return false
}
