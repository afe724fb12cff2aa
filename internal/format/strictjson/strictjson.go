// Package strictjson splits JSON objects into their members, refuses objects that two readers could
// read differently, and joins members again with each value as it was written.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/floodmark/floodmark"
)

// Readers of JSON differ. Of two equal keys most take the last, some the first; readers written in
// Go take «NAME» for «name». The server must read what we judged, so an object that can be read in
// two ways is not forwarded.

// A Member is one key of an object with its value as it was written.
type Member struct {
	Key   string
	Value json.RawMessage
}

// maxKey bounds a key that is told to people, in bytes.
const maxKey = 100

var errNotObject = errors.New("it is no JSON object")

// Members splits an object into its members, in order. The data must be valid JSON.
func Members(data []byte) ([]Member, error) {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || data[0] != '{' {
		return nil, errNotObject
	}
	var list []Member
	i := 1
	for {
		for i < len(data) && (space(data[i]) || data[i] == ',') {
			i++
		}
		if i >= len(data) || data[i] == '}' {
			return list, nil
		}
		end := skipString(data, i)
		var m Member
		if err := json.Unmarshal(data[i:end], &m.Key); err != nil {
			return nil, err
		}
		for i = end; i < len(data) && (space(data[i]) || data[i] == ':'); i++ {
		}
		end = skipValue(data, i)
		m.Value = json.RawMessage(data[i:end])
		list = append(list, m)
		i = end
	}
}

func space(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// skipString returns where the string that begins at i ends.
func skipString(data []byte, i int) int {
	for i++; i < len(data) && data[i] != '"'; i++ {
		if data[i] == '\\' {
			i++
		}
	}
	return min(i+1, len(data))
}

// skipValue returns where the value that begins at i ends.
func skipValue(data []byte, i int) int {
	depth := 0
	for i < len(data) {
		switch c := data[i]; {
		case c == '"':
			i = skipString(data, i)
		case c == '{' || c == '[':
			depth++
			i++
		case c == '}' || c == ']':
			if depth == 0 {
				return i
			}
			depth--
			i++
		case depth == 0 && (c == ',' || space(c)):
			return i
		default:
			i++
			continue
		}
		if depth == 0 {
			return i
		}
	}
	return i
}

// Distinct refuses an object with a key twice, or with a key that differs from a known one by case.
func Distinct(data []byte, known ...string) error {
	list, err := Members(data)
	if err != nil {
		return err
	}
	return CheckDistinct(list, known)
}

// CheckDistinct is [Distinct] for members.
func CheckDistinct(list []Member, known []string) error {
	seen := make(map[string]string, len(list))
	for _, k := range known {
		seen[Fold(k)] = k
	}
	met := make(map[string]bool, len(list))
	for _, m := range list {
		f := Fold(m.Key)
		switch as, ok := seen[f]; {
		case met[f]:
			return fmt.Errorf("the key %q is there twice", floodmark.OneLine(m.Key, maxKey))
		case ok && as != m.Key:
			return fmt.Errorf("the key %q could be taken for %q", floodmark.OneLine(m.Key, maxKey), as)
		}
		met[f] = true
	}
	return nil
}

// Fold returns a key as a lenient reader sees it, by Go's own rule: a rune stands for all that
// differ from it only by case.
func Fold(key string) string {
	return strings.Map(func(r rune) rune {
		for {
			next := unicode.SimpleFold(r)
			if next <= r {
				return next
			}
			r = next
		}
	}, key)
}

// Value returns the value of a key, nil if it is not there.
func Value(list []Member, key string) json.RawMessage {
	if i := slices.IndexFunc(list, func(m Member) bool { return m.Key == key }); i >= 0 {
		return list[i].Value
	}
	return nil
}

// With returns the members of an object with one value replaced, or added at the end.
func With(list []Member, key string, v json.RawMessage) []Member {
	out := slices.Clone(list)
	if i := slices.IndexFunc(out, func(m Member) bool { return m.Key == key }); i >= 0 {
		out[i].Value = v
		return out
	}
	return append(out, Member{key, v})
}

// Without returns the members of an object without a key.
func Without(list []Member, key string) []Member {
	return slices.DeleteFunc(slices.Clone(list), func(m Member) bool { return m.Key == key })
}

// Object encodes members.
func Object(list []Member) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(Quote(m.Key))
		b.WriteByte(':')
		b.Write(m.Value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// Quote returns a string as JSON, without escapes for HTML.
func Quote(s string) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string can always be written
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Text reads a string; anything else is an error.
func Text(v json.RawMessage) (string, error) {
	if len(v) == 0 || v[0] != '"' {
		return "", errors.New("it is no string")
	}
	var s string
	err := json.Unmarshal(v, &s)
	return s, err
}

// Array returns the elements of a list, and false if the value is no list.
func Array(v json.RawMessage) ([]json.RawMessage, bool) {
	if len(v) == 0 || v[0] != '[' {
		return nil, false
	}
	var list []json.RawMessage
	if json.Unmarshal(v, &list) != nil {
		return nil, false
	}
	return list, true
}

// IsNull reports whether a value is null or missing.
func IsNull(v json.RawMessage) bool { return len(v) == 0 || string(v) == "null" }
