package approval

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/floodmark/floodmark"
)

// maxName is the longest name that is split into words, in bytes.
const maxName = 256

// inWords splits a program's name into words: «start_time» and «startTime» are «start time».
func inWords(name string) string {
	if len(name) > maxName {
		return name
	}
	var b strings.Builder
	small := false // the last rune was a small letter or a digit
	for _, r := range name {
		switch {
		case r == '_' || r == '-':
			b.WriteByte(' ')
			small = false
			continue
		case unicode.IsUpper(r) && small:
			b.WriteByte(' ')
		}
		small = unicode.IsLower(r) || unicode.IsDigit(r)
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// commonName returns a clearer name for an argument with a common but unclear name.
func commonName(words string) (string, bool) {
	for _, c := range [...]struct{ name, usual string }{
		{"to", "recipient"},
		{"cc", "copy to"},
		{"bcc", "hidden copy to"},
		{floodmark.CommandAddress, "address in it"},
		{"url", "web address"},
		{"uri", "web address"},
		{"id", "number"},
		{"cmd", "command"},
		{"path", "file"},
		{"file path", "file"},
		{"filename", "file"},
		{"file name", "file"},
		{"cwd", "folder"},
		{"msg", "message"},
	} {
		if c.name == words {
			return c.usual, true
		}
	}
	return "", false
}

// A named is an argument's name in words.
type named struct {
	one, many string // the name of a single value, and of several
	list      string // the same for all values of a list
	foreign   bool   // the name is not described by the catalog
}

// nameOf returns the name of an argument from its path. The index in a list of plain values is left
// out. Objects in a list are numbered from 1.
func nameOf(path string, declared bool) named {
	if len(path) > maxName {
		return named{one: path, many: path, list: path, foreign: true}
	}
	top, rest, inside := strings.Cut(path, "[")
	number, below, _ := strings.Cut(rest, "]")
	n := named{list: path, foreign: !declared}
	words := person(top)
	switch {
	case inside && below == "":
		n.list = top + "[]"
		n.one, n.many = singular(words), words
	case inside:
		n.foreign = true // only the name of the list is described
		n.list = top + "[]" + below
		n.one, n.many = singular(words), singular(words)
		if i, err := strconv.Atoi(number); err == nil {
			n.one += " " + strconv.Itoa(i+1)
		}
		for _, w := range strings.FieldsFunc(below, func(r rune) bool { return strings.ContainsRune(".[]", r) }) {
			n.one, n.many = n.one+" "+person(w), n.many+" "+person(w)
		}
		n.many += "s"
	default:
		var list []string
		for i, w := range strings.Split(top, ".") {
			n.foreign = n.foreign || i > 0
			list = append(list, person(w))
		}
		n.one = strings.Join(list, " ")
	}
	if n.many == "" {
		n.many = n.one
	}
	return n
}

// person returns one name as a person would write it.
func person(name string) string {
	words := inWords(name)
	if usual, ok := commonName(words); ok {
		return usual
	}
	for _, end := range []string{" id", " ids"} {
		if record, ok := strings.CutSuffix(words, end); ok {
			return record + strings.TrimPrefix(end, " id")
		}
	}
	return words
}

// singular returns the singular of a word, as far as its ending shows.
func singular(many string) string {
	switch {
	case strings.HasSuffix(many, "ss") || len(many) < 4:
	case strings.HasSuffix(many, "ies"):
		return strings.TrimSuffix(many, "ies") + "y"
	case strings.HasSuffix(many, "sses") || strings.HasSuffix(many, "xes") || strings.HasSuffix(many, "ches"):
		return strings.TrimSuffix(many, "es")
	case strings.HasSuffix(many, "s"):
		return strings.TrimSuffix(many, "s")
	}
	return many
}

// capital returns words with a capital first letter.
func capital(words string) string {
	r := []rune(words)
	if len(r) == 0 {
		return words
	}
	return string(unicode.ToUpper(r[0])) + string(r[1:])
}
