package protection

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A form is the notation of a tool's result.
type form uint8

// The forms. A result in none of the other forms is plain text.
const (
	plain form = iota
	asYAML
	asPython
)

// A shape is a result split into fields, so that a field can be changed and the result written
// again in its notation.
type shape struct {
	form form
	text string     // if plain
	root *yaml.Node // if not plain
}

// newShape reads a result. It never fails: a result without fields is plain text.
func newShape(text string) *shape {
	s := &shape{text: text}
	head := strings.TrimLeft(text, " \n")
	switch {
	case strings.HasPrefix(head, "{"), strings.HasPrefix(head, "["):
		if root, ok := parsePython(head); ok {
			s.form, s.root = asPython, root
		}
	case looksLikeYAML(head):
		var doc yaml.Node
		if yaml.Unmarshal([]byte(text), &doc) == nil && len(doc.Content) == 1 && doc.Content[0].Kind != yaml.ScalarNode {
			s.form, s.root = asYAML, doc.Content[0]
		}
	}
	return s
}

// looksLikeYAML reports whether a text begins like a record or a list of records.
func looksLikeYAML(text string) bool {
	line, _, more := strings.Cut(text, "\n")
	line = strings.TrimPrefix(line, "- ")
	key, _, ok := strings.Cut(line, ":")
	return ok && more && key != "" && strings.Trim(key, "abcdefghijklmnopqrstuvwxyz_") == ""
}

// clone returns a copy that can be changed.
func (s *shape) clone() *shape {
	c := *s
	if s.root != nil {
		c.root = cloneNode(s.root)
	}
	return &c
}

func cloneNode(n *yaml.Node) *yaml.Node {
	c := *n
	c.Content = make([]*yaml.Node, len(n.Content))
	for i, child := range n.Content {
		c.Content[i] = cloneNode(child)
	}
	return &c
}

// String formats the result in its notation.
func (s *shape) String() string {
	switch s.form {
	case asYAML:
		var b bytes.Buffer
		enc := yaml.NewEncoder(&b)
		enc.SetIndent(2)
		if enc.Encode(s.root) != nil || enc.Close() != nil {
			return s.text
		}
		return strings.TrimSuffix(b.String(), "\n")
	case asPython:
		var b strings.Builder
		writePython(&b, s.root)
		return b.String()
	}
	return s.text
}

// A field is one string in a shape: a value in a record, an entry of a list,
// or the whole of a plain text.
type field struct {
	shape  *shape
	node   *yaml.Node // nil for a plain text
	record *yaml.Node // the innermost record it is in; nil if it is in none
	key    string     // its name in that record
	listed bool       // it is one of several values under that name
}

func (f field) value() string {
	if f.node == nil {
		return f.shape.text
	}
	return f.node.Value
}

func (f field) set(value string) {
	if f.node == nil {
		f.shape.text = value
		return
	}
	setScalar(f.node, value)
}

func setScalar(n *yaml.Node, value string) {
	n.Value = value
	n.Style = 0
	n.SetString(value)
	if n.Style == yaml.LiteralStyle {
		n.Style = yaml.DoubleQuotedStyle // as tools write it
	}
}

// fields returns every scalar, in the order of the text.
func (s *shape) fields() []field {
	if s.root == nil {
		return []field{{shape: s}}
	}
	var all []field
	var walk func(n *yaml.Node, at field)
	walk = func(n *yaml.Node, at field) {
		switch n.Kind {
		case yaml.MappingNode:
			for i := 0; i+1 < len(n.Content); i += 2 {
				walk(n.Content[i+1], field{shape: s, record: n, key: n.Content[i].Value})
			}
		case yaml.SequenceNode:
			at.listed = true
			for _, c := range n.Content {
				walk(c, at)
			}
		case yaml.ScalarNode:
			at.node = n
			all = append(all, at)
		}
	}
	walk(s.root, field{shape: s})
	return all
}

// stringy reports whether a field is a string, not a number, a time, a truth value or null.
func (f field) stringy() bool { return f.node == nil || f.node.ShortTag() == "!!str" }

func stringNode(value string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str"}
	setScalar(n, value)
	return n
}
