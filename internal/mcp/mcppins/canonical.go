package mcppins

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// errMalformed marks a body that could be read in more than one way.
var errMalformed = errors.New("malformed")

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errMalformed, fmt.Sprintf(format, args...))
}

// A text is a string within a body, with its place.
type text struct {
	where string
	value string
}

// A reading is a body in its canonical form, with all its strings.
type reading struct {
	canonical []byte
	texts     []text
}

// readBody reads a body and returns it with sorted keys, numbers as written, and no white space.
// Two readers must not be able to see different things in a body. So double keys, invalid text and
// trailing bytes are malformed.
func readBody(body []byte) (reading, error) {
	if !utf8.Valid(body) {
		return reading{}, malformed("it is not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	r := reader{dec: dec}
	var out bytes.Buffer
	if err := r.value(&out, "", 0); err != nil {
		return reading{}, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return reading{}, malformed("something follows the definition")
	}
	return reading{out.Bytes(), r.texts}, nil
}

type reader struct {
	dec   *json.Decoder
	texts []text
}

func (r *reader) value(out *bytes.Buffer, where string, depth int) error {
	t, err := r.dec.Token()
	if err != nil {
		return malformed("it is no JSON")
	}
	switch v := t.(type) {
	case json.Delim:
		if depth >= MaxBodyDepth {
			return malformed("it is nested deeper than %d", MaxBodyDepth)
		}
		if v == '{' {
			return r.object(out, where, depth)
		}
		return r.array(out, where, depth)
	case string:
		return r.string(out, where, v)
	case json.Number:
		out.WriteString(v.String())
	case bool:
		fmt.Fprint(out, v)
	default:
		out.WriteString("null")
	}
	return nil
}

func (r *reader) string(out *bytes.Buffer, where, v string) error {
	if strings.ContainsRune(v, utf8.RuneError) {
		return malformed("a text in it cannot be read as it is")
	}
	r.texts = append(r.texts, text{where, v})
	return writeString(out, v)
}

func writeString(out *bytes.Buffer, v string) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	out.Truncate(out.Len() - 1) // the line break that Encode adds
	return nil
}

func (r *reader) array(out *bytes.Buffer, where string, depth int) error {
	out.WriteByte('[')
	for i := 0; r.dec.More(); i++ {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := r.value(out, where, depth+1); err != nil {
			return err
		}
	}
	out.WriteByte(']')
	return r.end()
}

func (r *reader) object(out *bytes.Buffer, where string, depth int) error {
	members := map[string][]byte{}
	var keys []string
	for r.dec.More() {
		t, err := r.dec.Token()
		key, is := t.(string)
		if err != nil || !is {
			return malformed("it is no JSON")
		}
		// Some readers ignore the case of the outermost keys.
		same := func(k string) bool { return k == key || depth == 0 && strings.EqualFold(k, key) }
		if _, twice := members[key]; twice || depth == 0 && slices.ContainsFunc(keys, same) {
			return malformed("the key %q stands there twice", bounded(key, maxShown))
		}
		var name, value bytes.Buffer
		if err := r.string(&name, within(where, "a key"), key); err != nil {
			return err
		}
		if err := r.value(&value, within(where, key), depth+1); err != nil {
			return err
		}
		keys = append(keys, key)
		members[key] = slices.Concat(name.Bytes(), []byte{':'}, value.Bytes())
	}
	slices.Sort(keys)
	out.WriteByte('{')
	for i, key := range keys {
		if i > 0 {
			out.WriteByte(',')
		}
		out.Write(members[key])
	}
	out.WriteByte('}')
	return r.end()
}

// within returns the name of a place in a body, short enough for a line.
func within(where, key string) string {
	if where == "" {
		return key
	}
	if len(where) > 3*maxShown {
		return where
	}
	return where + "." + key
}

// end reads the closing bracket.
func (r *reader) end() error {
	if _, err := r.dec.Token(); err != nil {
		return malformed("it is no JSON")
	}
	return nil
}
