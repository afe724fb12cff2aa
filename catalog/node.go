package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/text/spelling"
)

// The limits on one file. The largest shipped one has about 20 KiB.
const (
	MaxFileBytes = 1 << 20
	MaxDepth     = 12
	MaxProblems  = 50 // more would only repeat the first ones
)

// reader reads YAML nodes and collects all problems, so that a file can be mended in one go.
type reader struct {
	file     string
	problems floodmark.Problems
}

// field is one key of a mapping with its value.
type field struct {
	key   *yaml.Node
	value *yaml.Node
}

func (r *reader) say(severity floodmark.Severity, n *yaml.Node, code, hint, text string, args ...any) {
	if len(r.problems) >= MaxProblems {
		return
	}
	r.problems = append(r.problems, floodmark.Problem{
		File: r.file, Line: max(n.Line, 1), Column: max(n.Column, 1), Severity: severity, Code: code,
		Text: fmt.Sprintf(text, args...), Hint: hint,
	})
}

func (r *reader) fail(n *yaml.Node, code, hint, text string, args ...any) {
	r.say(floodmark.Error, n, code, hint, text, args...)
}

func (r *reader) warn(n *yaml.Node, code, hint, text string, args ...any) {
	r.say(floodmark.Warning, n, code, hint, text, args...)
}

// document reads data as exactly one YAML document and returns its top node,
// or nil.
func (r *reader) document(data []byte) *yaml.Node {
	top := &yaml.Node{}
	if len(data) > MaxFileBytes {
		r.fail(top, "too-large", "split it into several files", "the file has %d bytes, at most %d are read", len(data), MaxFileBytes)
		return nil
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	switch err := dec.Decode(top); {
	case errors.Is(err, io.EOF):
		r.fail(top, "empty", "", "the file is empty")
		return nil
	case err != nil:
		r.syntax(err)
		return nil
	}
	var more yaml.Node
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		r.fail(&more, "yaml", "put each document into a file of its own", "there is more than one document")
		return nil
	}
	if !r.sound(top, 0) {
		return nil
	}
	return top.Content[0]
}

// syntax reports an error of the YAML parser, whose text holds the line.
func (r *reader) syntax(err error) {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	at := &yaml.Node{Line: 1, Column: 1}
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		if number, what, ok := strings.Cut(rest, ": "); ok {
			if line, err := strconv.Atoi(number); err == nil {
				at.Line, text = line, what
			}
		}
	}
	r.fail(at, "yaml", "is the indentation right, and are texts with «: » or «#» in quotes?", "%s", text)
}

// sound refuses YAML that means more than it shows: aliases, custom tags, repeated keys and deep
// nesting.
func (r *reader) sound(n *yaml.Node, depth int) bool {
	switch {
	case depth > MaxDepth:
		r.fail(n, "too-deep", "", "nested more than %d deep", MaxDepth)
		return false
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		r.fail(n, "alias", "write the value out", "anchors and aliases are not allowed")
		return false
	case n.Style&yaml.TaggedStyle != 0:
		r.fail(n, "tag", "leave the tag out", "tags like %s are not allowed", n.Tag)
		return false
	}
	ok := true
	for i, child := range n.Content {
		ok = r.sound(child, depth+1) && ok
		if n.Kind == yaml.MappingNode && i%2 == 0 && repeated(n, i) {
			r.fail(child, "duplicate-key", "keep one of them", "the key %q is there twice", child.Value)
			ok = false
		}
	}
	return ok
}

func repeated(n *yaml.Node, i int) bool {
	for k := 0; k < i; k += 2 {
		if n.Content[k].Value == n.Content[i].Value {
			return true
		}
	}
	return false
}

// fields returns the values of a mapping by key and refuses unknown keys. An empty list of known
// keys accepts all.
func (r *reader) fields(n *yaml.Node, what string, known ...string) map[string]field {
	if n.Kind != yaml.MappingNode {
		r.fail(n, "wrong-kind", "", "%s must be a mapping of keys to values, not %s", what, kindOf(n))
		return nil
	}
	out := make(map[string]field, len(n.Content)/2)
	for i := 0; i < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if known != nil && !slices.Contains(known, k.Value) {
			r.fail(k, "unknown-key", near("key", k.Value, known), "%s has no key %q", what, k.Value)
		}
		out[k.Value] = field{key: k, value: v}
	}
	return out
}

// items returns the elements of a list.
func (r *reader) items(n *yaml.Node, what string) []*yaml.Node {
	if n.Kind != yaml.SequenceNode {
		r.fail(n, "wrong-kind", "begin each element with «- »", "%s must be a list, not %s", what, kindOf(n))
		return nil
	}
	return n.Content
}

// text returns a text that is not empty.
func (r *reader) text(n *yaml.Node, what string) string {
	switch {
	case n.Kind != yaml.ScalarNode:
		r.fail(n, "wrong-kind", "", "%s must be a text, not %s", what, kindOf(n))
	case n.Tag != "!!str":
		r.fail(n, "wrong-kind", fmt.Sprintf("write %q, in quotes", n.Value), "%s must be a text, not %s", what, kindOf(n))
	case strings.TrimSpace(n.Value) == "":
		r.fail(n, "wrong-kind", "", "%s must not be empty", what)
	default:
		return n.Value
	}
	return ""
}

// texts returns one text or a list of them, as nodes with positions.
func (r *reader) texts(n *yaml.Node, what string) []*yaml.Node {
	items := []*yaml.Node{n}
	if n.Kind != yaml.ScalarNode {
		items = r.items(n, what)
	}
	var out []*yaml.Node
	for _, item := range items {
		if r.text(item, what) != "" {
			out = append(out, item)
		}
	}
	if len(items) == 0 && n.Kind == yaml.SequenceNode {
		r.fail(n, "wrong-kind", "", "%s must not be empty", what)
	}
	return out
}

func valuesOf(nodes []*yaml.Node) []string {
	out := make([]string, len(nodes))
	for i, n := range nodes {
		out[i] = n.Value
	}
	return out
}

// flag returns true or false.
func (r *reader) flag(n *yaml.Node, what string) bool {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" {
		r.fail(n, "wrong-kind", "write true or false", "%s must be true or false, not %s", what, kindOf(n))
	}
	return n.Value == "true"
}

// oneOf returns one of the known words.
func (r *reader) oneOf(n *yaml.Node, what string, known []string) string {
	t := r.text(n, what)
	if t != "" && !slices.Contains(known, t) {
		r.fail(n, "unknown-word", near(what, t, known), "%s cannot be %q", what, t)
		return ""
	}
	return t
}

func kindOf(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Tag == "!!null":
		return "nothing"
	case n.Tag == "!!str":
		return "the text " + strconv.Quote(n.Value)
	default:
		return n.Value
	}
}

// near returns the hint for an unknown word: the nearest known word, or all of them.
func near(what, word string, known []string) string {
	best, distance := "", len(word)/2+1
	for _, k := range known {
		if d := spelling.Edits(strings.ToLower(word), k); d < distance {
			best, distance = k, d
		}
	}
	if best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return fmt.Sprintf("the %s can be: %s", what, strings.Join(known, ", "))
}
