package factjson

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"

	"github.com/floodmark/floodmark"
)

// A plain writes and reads the JSON of facts without reflection. It writes the same bytes as
// encoding/json, and reads only exactly this form. One description of a type, in described.go,
// serves both directions.
//
// Everything else, such as an unknown level, a null or another order of fields, sets odd and is
// left to encoding/json. The result is therefore always that of encoding/json; TestPlainIsJSON
// compares the two.
type plain struct {
	out     []byte // the JSON written so far
	in      []byte // the JSON to read
	at      int    // the position in it
	reading bool
	odd     bool // encoding/json has to do it
}

// open and shut write or read the brackets of an object or a list.
func (c *plain) open(mark byte) { c.mark(mark) }
func (c *plain) shut(mark byte) { c.mark(mark) }

func (c *plain) mark(mark byte) {
	switch {
	case !c.reading:
		c.out = append(c.out, mark)
	case !c.odd && c.at < len(c.in) && c.in[c.at] == mark:
		c.at++
	default:
		c.odd = true
	}
}

// field reports whether the caller should now write or read a field's value. When writing, this is
// every field that is not omitted; when reading, it is a field whose name comes next.
func (c *plain) field(name string, omit bool) bool {
	if c.reading {
		return c.names(name)
	}
	if omit {
		return false
	}
	if c.out[len(c.out)-1] != '{' {
		c.out = append(c.out, ',')
	}
	c.out = append(c.out, '"')
	c.out = append(c.out, name...)
	c.out = append(c.out, '"', ':')
	return true
}

// names reads a field's name, if it comes next.
func (c *plain) names(name string) bool {
	at := c.at
	if c.odd || at == 0 {
		return false
	}
	if c.in[at-1] != '{' {
		if at >= len(c.in) || c.in[at] != ',' {
			return false
		}
		at++
	}
	end := at + len(name) + 3
	if end > len(c.in) || c.in[at] != '"' || string(c.in[at+1:end-2]) != name || c.in[end-2] != '"' || c.in[end-1] != ':' {
		return false
	}
	c.at = end
	return true
}

// literal reads a string and returns it with its quotes, or nothing.
func (c *plain) literal() []byte {
	if c.odd || c.at >= len(c.in) || c.in[c.at] != '"' {
		c.odd = true
		return nil
	}
	for i := c.at + 1; i < len(c.in); i++ {
		switch c.in[i] {
		case '"':
			found := c.in[c.at : i+1]
			c.at = i + 1
			return found
		case '\\':
			i++ // an escaped quotation mark does not end the string
		}
	}
	c.odd = true
	return nil
}

// simple reports whether a text needs no escapes in JSON, as encoding/json writes it.
func simple[T string | []byte](text T) bool {
	for i := range len(text) {
		if b := text[i]; b < ' ' || b >= 0x7f || b == '"' || b == '\\' || b == '<' || b == '>' || b == '&' {
			return false
		}
	}
	return true
}

// textValue writes or reads a string, text a field with a string, and someText a field that is
// omitted if the string is empty. The functions for numbers below have the same three forms.
func textValue[S ~string](c *plain, v *S) {
	if c.reading {
		*v = S(c.readText())
		return
	}
	s := string(*v)
	if simple(s) {
		c.out = append(c.out, '"')
		c.out = append(c.out, s...)
		c.out = append(c.out, '"')
		return
	}
	quoted, err := json.Marshal(s)
	c.odd = c.odd || err != nil
	c.out = append(c.out, quoted...)
}

func text[S ~string](c *plain, name string, v *S) {
	if c.field(name, false) {
		textValue(c, v)
	}
}

func someText[S ~string](c *plain, name string, v *S) {
	if c.field(name, *v == "") {
		textValue(c, v)
	}
}

func (c *plain) readText() string {
	quoted := c.literal()
	if quoted == nil {
		return ""
	}
	if inner := quoted[1 : len(quoted)-1]; simple(inner) {
		return string(inner)
	}
	return c.unquote(quoted)
}

// unquote decodes strings that are not simple.
func (c *plain) unquote(quoted []byte) (s string) {
	c.odd = c.odd || json.Unmarshal(quoted, &s) != nil
	return s
}

func numberValue[N ~int | ~int64](c *plain, v *N) {
	if !c.reading {
		c.out = strconv.AppendInt(c.out, int64(*v), 10)
		return
	}
	start := c.at
	for c.at < len(c.in) && (c.in[c.at] >= '0' && c.in[c.at] <= '9' || c.in[c.at] == '-' && c.at == start) {
		c.at++
	}
	digits := string(c.in[start:c.at])
	n, err := strconv.ParseInt(digits, 10, 64)
	if c.odd || err != nil || int64(N(n)) != n || strconv.FormatInt(n, 10) != digits {
		c.odd = true
		return
	}
	*v = N(n)
}

func number[N ~int | ~int64](c *plain, name string, v *N) {
	if c.field(name, false) {
		numberValue(c, v)
	}
}

func someNumber[N ~int | ~int64](c *plain, name string, v *N) {
	if c.field(name, *v == 0) {
		numberValue(c, v)
	}
}

// flag writes or reads a field that is omitted unless it is true.
func (c *plain) flag(name string, v *bool) {
	if !c.field(name, !*v) {
		return
	}
	if !c.reading {
		c.out = strconv.AppendBool(c.out, *v)
		return
	}
	for _, b := range []bool{true, false} {
		if word := strconv.FormatBool(b); !c.odd && bytes.HasPrefix(c.in[c.at:], []byte(word)) {
			*v = b
			c.at += len(word)
			return
		}
	}
	c.odd = true
}

// levelValue writes or reads a value of one of the ordered types, as its word.
func levelValue[E ~uint8](c *plain, ws words, v *E) {
	if !c.reading {
		if int(*v) >= len(ws) || ws[*v] == "" {
			c.odd = true
			return
		}
		c.out = append(c.out, '"')
		c.out = append(c.out, ws[*v]...)
		c.out = append(c.out, '"')
		return
	}
	quoted := c.literal()
	for i, w := range ws {
		if quoted != nil && w != "" && string(quoted[1:len(quoted)-1]) == w {
			*v = E(i)
			return
		}
	}
	c.odd = true
}

// words lists how the values of a type are written. The index is the value's number.
type words []string

func (c *plain) digest(name string, v *floodmark.Digest, omit bool) {
	if c.field(name, omit) {
		c.digestValue(v)
	}
}

func (c *plain) digestValue(v *floodmark.Digest) {
	if !c.reading {
		c.out = append(c.out, '"')
		c.out = hex.AppendEncode(c.out, v[:])
		c.out = append(c.out, '"')
		return
	}
	quoted := c.literal()
	c.odd = c.odd || v.UnmarshalText(quoted[min(1, len(quoted)):max(0, len(quoted)-1)]) != nil
}

func (c *plain) time(name string, v *time.Time, omitZero bool) {
	if !c.field(name, omitZero && v.IsZero()) {
		return
	}
	if !c.reading {
		quoted, err := v.MarshalJSON()
		c.odd = c.odd || err != nil
		c.out = append(c.out, quoted...)
		return
	}
	quoted := c.literal()
	c.odd = c.odd || v.UnmarshalJSON(quoted) != nil
}

// list writes or reads a field with a list of elements, omitted if empty.
func list[T any](c *plain, name string, v *[]T, element func(*plain, *T)) {
	if !c.field(name, len(*v) == 0) {
		return
	}
	c.open('[')
	if c.reading {
		*v = readList(c, element)
	} else {
		for i := range *v {
			if i > 0 {
				c.out = append(c.out, ',')
			}
			element(c, &(*v)[i])
		}
	}
	c.shut(']')
}

func readList[T any](c *plain, element func(*plain, *T)) []T {
	var all []T
	for !c.odd {
		var zero T
		all = append(all, zero)
		element(c, &all[len(all)-1])
		if c.odd || c.at >= len(c.in) || c.in[c.at] != ',' {
			break
		}
		c.at++
	}
	return all
}
