package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
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

// MaxLeaves bounds the values looked at in one call. A call with more cannot
// be judged argument by argument.
const MaxLeaves = 4096

// ErrArgs says that a call's arguments cannot be read as values.
var ErrArgs = errors.New("arguments cannot be read")

// Leaves flattens the call's arguments, in the order they were written. A
// repeated key is refused: two readers could disagree on which one counts.
// A long string that is itself not JSON stays one leaf.
func (c Call) Leaves() ([]Leaf, error) {
	if len(bytes.TrimSpace(c.Args)) == 0 {
		return nil, nil
	}
	if depth(c.Args) > MaxArgsDepth {
		return nil, fmt.Errorf("%w: nested more than %d deep", ErrArgs, MaxArgsDepth)
	}
	w := walker{dec: json.NewDecoder(bytes.NewReader(c.Args)), leaves: make([]Leaf, 0, 8)}
	w.dec.UseNumber()
	if err := w.value("", ""); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrArgs, err)
	}
	if _, err := w.dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: more than one value", ErrArgs)
	}
	return w.leaves, nil
}

// walker goes through one JSON value.
type walker struct {
	dec    *json.Decoder
	leaves []Leaf
}

func (w *walker) value(path, top string) error {
	tok, err := w.dec.Token()
	if err != nil {
		return err
	}
	leaf := Leaf{Path: path, Top: top}
	switch v := tok.(type) {
	case json.Delim:
		if v == '{' {
			return w.object(path, top)
		}
		return w.array(path, top)
	case string:
		leaf.Value = v
	case json.Number:
		leaf.Value, leaf.Kind = v.String(), Number
	case bool:
		leaf.Value, leaf.Kind = strconv.FormatBool(v), Bool
	default:
		leaf.Value, leaf.Kind = "null", Null
	}
	if len(w.leaves) == MaxLeaves {
		return fmt.Errorf("more than %d values", MaxLeaves)
	}
	w.leaves = append(w.leaves, leaf)
	return nil
}

func (w *walker) object(path, top string) error {
	seen := map[string]bool{}
	for w.dec.More() {
		tok, err := w.dec.Token()
		if err != nil {
			return err
		}
		key, _ := tok.(string)
		if seen[key] {
			return fmt.Errorf("key %q is there twice", key)
		}
		seen[key] = true
		p, t := key, key
		if path != "" {
			p, t = path+"."+key, top
		}
		if err := w.value(p, t); err != nil {
			return err
		}
	}
	_, err := w.dec.Token()
	return err
}

func (w *walker) array(path, top string) error {
	for i := 0; w.dec.More(); i++ {
		if err := w.value(path+"["+strconv.Itoa(i)+"]", top); err != nil {
			return err
		}
	}
	_, err := w.dec.Token()
	return err
}
