package hook

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/floodmark/floodmark"
)

// A LeafKind says how a leaf value was written.
type LeafKind uint8

// The kinds of leaves.
const (
	String LeafKind = iota
	Number
	Bool
	Null
)

// A Leaf is one value inside a call's arguments.
type Leaf struct {
	Path  string // «to», «items[2].url»
	Top   string // the argument the value belongs to: «items»
	Value string // strings without quotes; everything else as written
	Kind  LeafKind
}

// MaxLeaves bounds the values examined in one call. A call with more cannot be judged argument by
// argument.
const MaxLeaves = 4096

// ErrArgs says that a call's arguments cannot be read as values.
var ErrArgs = errors.New("arguments cannot be read")

// Leaves returns the values of the call's arguments, in the order in which they are written. A
// repeated key is refused, because parsers could disagree on which of its values is used. A string
// is always one leaf, even if it contains JSON.
func (c Call) Leaves() ([]Leaf, error) {
	if len(bytes.TrimSpace(c.Args)) == 0 {
		return nil, nil
	}
	if depth(c.Args) > MaxArgsDepth {
		return nil, fmt.Errorf("%w: nested more than %d deep", ErrArgs, MaxArgsDepth)
	}
	if !json.Valid(c.Args) {
		return nil, fmt.Errorf("%w: not one JSON value", ErrArgs)
	}
	w := walker{data: c.Args, leaves: make([]Leaf, 0, 4)}
	w.blank()
	if err := w.value("", ""); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrArgs, err)
	}
	return w.leaves, nil
}

// A walker reads one valid JSON value. Because the JSON is valid, the first byte of a value
// determines its kind, and every bracket is closed.
type walker struct {
	data   []byte
	i      int
	leaves []Leaf
}

// blank skips white space and separators between two values.
func (w *walker) blank() {
	for w.i < len(w.data) {
		switch w.data[w.i] {
		case ' ', '\t', '\r', '\n', ',', ':':
			w.i++
		default:
			return
		}
	}
}

func (w *walker) value(path, top string) error {
	leaf := Leaf{Path: path, Top: top}
	switch c := w.data[w.i]; c {
	case '{':
		return w.object(path, top)
	case '[':
		return w.array(path, top)
	case '"':
		var err error
		if leaf.Value, err = w.text(); err != nil {
			return err
		}
	default:
		leaf.Value = w.word()
		switch c {
		case 't', 'f':
			leaf.Kind = Bool
		case 'n':
			leaf.Kind = Null
		default:
			leaf.Kind = Number
		}
	}
	w.blank()
	return w.add(leaf)
}

// text reads a string. A string with escapes or with bytes beyond ASCII is parsed by encoding/json.
func (w *walker) text() (string, error) {
	from, plain := w.i, true
	for w.i++; w.data[w.i] != '"'; w.i++ {
		switch c := w.data[w.i]; {
		case c == '\\':
			plain = false
			w.i++
		case c >= utf8.RuneSelf:
			plain = false
		}
	}
	w.i++
	if plain {
		return string(w.data[from+1 : w.i-1]), nil
	}
	var s string
	err := json.Unmarshal(w.data[from:w.i], &s)
	return s, err
}

// word reads a number, true, false or null, as written.
func (w *walker) word() string {
	from := w.i
	for w.i < len(w.data) && bytes.IndexByte([]byte(" \t\r\n,]}"), w.data[w.i]) < 0 {
		w.i++
	}
	return string(w.data[from:w.i])
}

// add appends one value. An empty object or list is a value of its own.
func (w *walker) add(l Leaf) error {
	if l.Top == floodmark.CommandAddress {
		return errors.New("an argument has the name of an address in a command line")
	}
	if len(w.leaves) == MaxLeaves {
		return fmt.Errorf("more than %d values", MaxLeaves)
	}
	w.leaves = append(w.leaves, l)
	return nil
}

// plainKey returns a key as written in a path: quoted if it could be mistaken for something else,
// so that no two values have the same path.
func plainKey(key string) string {
	if key == "" || strings.ContainsAny(key, ".[]\"\\") {
		return strconv.Quote(key)
	}
	return key
}

func (w *walker) object(path, top string) error {
	var seen keys
	w.i++
	if w.blank(); w.data[w.i] == '}' && path != "" {
		if err := w.add(Leaf{Path: path, Top: top, Value: "{}", Kind: Null}); err != nil {
			return err
		}
	}
	for w.data[w.i] != '}' {
		key, err := w.text()
		if err != nil {
			return err
		}
		if !seen.add(key) {
			return fmt.Errorf("key %q is there twice", key)
		}
		w.blank()
		p, t := plainKey(key), key
		if path != "" {
			p, t = path+"."+p, top
		}
		if err := w.value(p, t); err != nil {
			return err
		}
	}
	w.i++
	w.blank()
	return nil
}

func (w *walker) array(path, top string) error {
	w.i++
	if w.blank(); w.data[w.i] == ']' && path != "" {
		if err := w.add(Leaf{Path: path, Top: top, Value: "[]", Kind: Null}); err != nil {
			return err
		}
	}
	for i := 0; w.data[w.i] != ']'; i++ {
		if err := w.value(path+"["+strconv.Itoa(i)+"]", top); err != nil {
			return err
		}
	}
	w.i++
	w.blank()
	return nil
}

// keys is the set of keys of one object. The first eight are compared one by one, which is faster
// than a map and does not allocate.
type keys struct {
	n    int
	few  [8]string
	many map[string]struct{}
}

// add reports whether a key is new.
func (k *keys) add(key string) bool {
	if slices.Contains(k.few[:k.n], key) {
		return false
	}
	if k.n < len(k.few) {
		k.few[k.n] = key
		k.n++
		return true
	}
	if k.many == nil {
		k.many = map[string]struct{}{}
	}
	if _, twice := k.many[key]; twice {
		return false
	}
	k.many[key] = struct{}{}
	return true
}

// DigestOf identifies the exact arguments of a call, independent of the order of keys.
func DigestOf(leaves []Leaf) floodmark.Digest {
	byPath := func(a, b Leaf) int { return strings.Compare(a.Path, b.Path) }
	sorted := leaves
	if !slices.IsSortedFunc(leaves, byPath) {
		sorted = slices.Clone(leaves)
		slices.SortStableFunc(sorted, byPath)
	}
	size := 0
	for _, l := range sorted {
		size += 8 + len(l.Path) + 8 + len(l.Value) + 1
	}
	b := make([]byte, 0, size)
	for _, l := range sorted {
		for _, part := range [...]string{l.Path, l.Value} {
			b = binary.BigEndian.AppendUint64(b, uint64(len(part)))
			b = append(b, part...)
		}
		b = append(b, byte(l.Kind))
	}
	return sha256.Sum256(b)
}

// ValueKind returns the kind of a value. It may be recorded even if the value may not.
func (l Leaf) ValueKind() floodmark.ValueKind {
	switch {
	case l.Kind == Number:
		return floodmark.NumberValue
	case l.Kind == Bool:
		return floodmark.BoolValue
	case l.Kind == Null:
		return floodmark.NullValue
	case l.Value == "":
		return floodmark.NoText
	}
	return floodmark.TextValue
}
