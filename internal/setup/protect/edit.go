package protect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// A content is what a file holds. The zero value is no file.
type content struct {
	there bool
	data  []byte
}

func (c content) same(d content) bool { return c.there == d.there && bytes.Equal(c.data, d.data) }

// with returns the file with our settings in it, unchanged if all of them are there.
func (f file) with(old content) (content, error) {
	switch f.sort {
	case jsonPart:
		data, err := f.withJSON(old.data)
		return content{true, data}, err
	case tomlPart:
		data, err := f.withTOML(old.data)
		return content{true, data}, err
	case lockPart:
		data, err := f.locked(old.data)
		return content{true, data}, err
	case serversPart:
		return old, nil // hooks are in another file
	case whole:
	}
	if old.there && !f.recognised(old.data) {
		return old, &wrongFile{text: "it is there and not ours", hint: "move it away, or rename it"}
	}
	return content{true, f.text}, nil
}

// wrapped returns the file with its tool servers behind the gateway.
func (f file) wrapped(old content) (content, error) {
	if f.servers == nil {
		return old, nil
	}
	return f.servers.wrap(old)
}

// unwrapped returns the file with its tool servers as they were. before is the file before we
// changed it; nil if unknown.
func (f file) unwrapped(old content, before *content) (content, error) {
	if f.servers == nil {
		return old, nil
	}
	return f.servers.unwrap(old, before)
}

// without returns the file with nothing of ours in it, neither hooks nor gateway.
func (f file) without(old content, before *content) (content, error) {
	direct, err := f.unwrapped(old, before)
	if err != nil {
		return old, err
	}
	return f.unhooked(direct, before)
}

// unhooked returns the file without our hooks. before is the file before we changed it; nil if
// unknown.
func (f file) unhooked(old content, before *content) (content, error) {
	if !old.there {
		return old, nil
	}
	switch f.sort {
	case jsonPart:
		return f.withoutJSON(old, before)
	case tomlPart:
		mark, data := cutMark(old.data)
		data, err := stripTOML(data)
		if err != nil {
			return old, err
		}
		if len(bytes.TrimSpace(data)) == 0 && len(bytes.TrimSpace(old.data)) > 0 && (before == nil || !before.there) {
			return content{}, nil
		}
		return content{true, append(mark, data...)}, nil
	case lockPart:
		return f.unlocked(old, before)
	case serversPart:
		return old, nil
	case whole:
	}
	if f.recognised(old.data) {
		return content{}, nil
	}
	return old, nil
}

// recognised reports whether a file at a path of ours has our name in it, so that it is ours to
// replace.
func (f file) recognised(data []byte) bool {
	return bytes.Contains(bytes.ToLower(data), []byte(ownName))
}

// cutMark splits the byte order mark off.
func cutMark(data []byte) (mark, rest []byte) {
	if rest, is := bytes.CutPrefix(data, []byte(byteOrderMark)); is {
		return []byte(byteOrderMark), rest
	}
	return nil, data
}

func (f file) fragment() (*hujson.Object, error) {
	d, err := readDocument(f.text)
	if err != nil {
		return nil, fmt.Errorf("shipped %s: %w", f.shipped, err)
	}
	return d.object, nil
}

func (f file) withJSON(old []byte) ([]byte, error) {
	fragment, err := f.fragment()
	if err != nil {
		return nil, err
	}
	mark, data := cutMark(old)
	if len(bytes.TrimSpace(data)) == 0 {
		fresh := &document{nl: "\n", unit: "  "}
		return []byte(fresh.print(&hujson.Value{Value: fragment}, "") + "\n"), nil
	}
	if fragment, err = f.allowing(data, fragment); err != nil {
		return nil, err
	}
	_, missing, err := f.merged(data, fragment)
	if err == nil {
		err = f.readable(old)
	}
	if err == nil {
		err = f.on(data)
	}
	if err != nil {
		return nil, err
	}
	calls, err := countCalls(data)
	if err != nil {
		return nil, err
	}
	want, err := countCalls(f.text)
	if err != nil {
		return nil, err
	}
	if !missing && calls == want {
		return old, nil
	}
	// A hook is missing, or one that an older version wrote is left.
	if data, err = (strip{fragment: fragment}).calls(data); err != nil {
		return nil, err
	}
	data, _, err = f.merged(data, fragment)
	return append(mark, data...), err
}

// allowing adds our name to the fragment's list of allowed plugins if the document has such a list.
// Without one it adds none, because a new list would shut out all other plugins.
func (f file) allowing(data []byte, fragment *hujson.Object) (*hujson.Object, error) {
	if f.allow == nil {
		return fragment, nil
	}
	d, err := readDocument(data)
	if err != nil {
		return nil, err
	}
	at := d.object
	for _, name := range f.allow[:len(f.allow)-1] {
		at = objectOf(valueOf(at, name))
	}
	if on := valueOf(at, "enabled"); on != nil {
		if l, is := on.Value.(hujson.Literal); is && l.Kind() == 'f' {
			return nil, &wrongFile{lineAt(data, on.StartOffset), "plugins are switched off there, ours with them", "switch them on"}
		}
	}
	if list := arrayOf(valueOf(at, f.allow[len(f.allow)-1])); list != nil && len(list.Elements) > 0 {
		return f.allowed(fragment), nil
	}
	return fragment, nil
}

// allowed returns the fragment with our name in that list.
func (f file) allowed(fragment *hujson.Object) *hujson.Object {
	if f.allow == nil {
		return fragment
	}
	value := hujson.Value{Value: fragment}
	value = value.Clone()
	at := objectOf(&value)
	for _, name := range f.allow[:len(f.allow)-1] {
		at = objectOf(valueOf(at, name))
	}
	at.Members = append(at.Members, hujson.ObjectMember{
		Name:  hujson.Value{Value: hujson.String(f.allow[len(f.allow)-1])},
		Value: hujson.Value{Value: &hujson.Array{Elements: []hujson.Value{{Value: hujson.String(ownName)}}}},
	})
	return objectOf(&value)
}

func (f file) merged(data []byte, fragment *hujson.Object) (out []byte, missing bool, err error) {
	d, err := readDocument(data)
	if err != nil {
		return nil, false, err
	}
	m := &merge{document: d, last: f.last}
	if err := m.into(d.root, d.object, fragment, ""); err != nil {
		return nil, false, err
	}
	return edited(data, m.edits), len(m.edits) > 0, nil
}

// readable refuses a document that the agent itself could not read: the agent would run no hook and
// print no error.
func (f file) readable(data []byte) error {
	var v any
	if !f.strict {
		return nil
	}
	if err := json.Unmarshal(data, &v); err != nil {
		w := &wrongFile{text: "the agent reads plain JSON there, and this is not: " + err.Error(), hint: "take comments and commas behind last elements out"}
		if at, is := errors.AsType[*json.SyntaxError](err); is {
			w.line = lineAt(data, int(at.Offset))
		}
		return w
	}
	return nil
}

func (f file) withoutJSON(old content, before *content) (content, error) {
	mark, data := cutMark(old.data)
	if len(bytes.TrimSpace(data)) == 0 {
		return old, nil
	}
	fragment, err := f.fragment()
	if err != nil {
		return old, err
	}
	s := strip{fragment: f.allowed(fragment)}
	if before != nil && before.there {
		_, was := cutMark(before.data)
		if d, err := readDocument(was); err == nil {
			s.original = d.object
		}
	}
	stripped, err := s.all(data)
	if err != nil {
		return old, err
	}
	if !bytes.Equal(stripped, data) && (before == nil || !before.there) && s.onlyFragment(stripped) {
		return content{}, nil
	}
	return content{true, append(mark, stripped...)}, nil
}

// calls removes only the calls of our hook program.
func (s strip) calls(data []byte) ([]byte, error) {
	return strip{fragment: &hujson.Object{Members: []hujson.ObjectMember{{
		Name: hujson.Value{Value: hujson.String("hooks")}, Value: hujson.Value{Value: &hujson.Object{}},
	}}}}.all(data)
}

// countCalls counts the calls of our hook program.
func countCalls(data []byte) (int, error) {
	words, err := calls(data)
	return len(words), err
}

// calls returns the words that call our hook program.
func calls(data []byte) ([]string, error) {
	_, data = cutMark(data)
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil
	}
	d, err := readDocument(data)
	if err != nil {
		return nil, err
	}
	var list []string
	for v := range d.root.All() {
		if l, is := v.Value.(hujson.Literal); is && l.Kind() == '"' {
			list = append(list, hookWords(l.String())...)
		}
	}
	return list, nil
}

func (f file) withTOML(old []byte) ([]byte, error) {
	mark, data := cutMark(old)
	list, err := wants(f.text)
	if err != nil {
		return nil, fmt.Errorf("shipped %s: %w", f.shipped, err)
	}
	if err := f.onTOML(data); err != nil {
		return nil, err
	}
	data, err = renewTOML(data, func(data []byte) ([]byte, error) {
		data, err := mergeTOML(data, list)
		if err != nil {
			return nil, err
		}
		return mergeTrust(data, f.trust)
	})
	return append(mark, data...), err
}

// renewTOML removes our lines and puts them in again. If that would not change the meaning, it
// returns the data as it is.
func renewTOML(data []byte, put func([]byte) ([]byte, error)) ([]byte, error) {
	bare, err := stripTOML(data)
	if err != nil {
		return nil, err
	}
	fresh, err := put(bare)
	if err != nil {
		return nil, err
	}
	_, before, err := readTOML(data)
	if err != nil {
		return nil, err
	}
	_, after, err := readTOML(fresh)
	if err != nil {
		return nil, err
	}
	if reflect.DeepEqual(before, after) {
		return data, nil
	}
	return fresh, nil
}

// placed fills the path of the hook program and the monitor's socket into a shipped text.
func (m Machine) placed(name string, text []byte) ([]byte, error) {
	d, err := readDocument(text)
	if err != nil {
		return nil, fmt.Errorf("shipped %s: %w", name, err)
	}
	call := shellWord(m.Hook)
	if m.Socket != "" {
		call += " -socket " + shellWord(m.Socket)
	}
	for v := range d.root.All() {
		if l, is := v.Value.(hujson.Literal); is && l.Kind() == '"' {
			s := l.String()
			if strings.Contains(s, hookName+" ") {
				v.Value = hujson.Literal(quote(strings.ReplaceAll(s, hookName+" ", call+" ")))
			}
		}
	}
	return d.root.Pack(), nil
}

// listening fills the monitor's socket into a shim.
func (m Machine) listening(shim []byte) []byte {
	return bytes.Replace(shim, []byte("\nconst SOCKET = \"\";"), []byte("\nconst SOCKET = "+quote(m.Socket)+";"), 1)
}

// shellWord quotes a word for a shell if needed.
func shellWord(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+=:@%", r)
	}
	if word != "" && !slices.ContainsFunc([]rune(word), func(r rune) bool { return !plain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
