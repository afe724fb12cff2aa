// Package policyfile reads a policy as YAML and compares it with the shapes of the language, so that
// every problem is reported with its place.
package policyfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/floodmark/floodmark"
)

// A Reader reads one file and notes every problem with its place.
type Reader struct {
	Name     string
	Data     []byte
	Problems floodmark.Problems
	Named    []NamedTool
}

// Fault notes an error at a node.
func (r *Reader) Fault(n *yaml.Node, code, text, hint string) {
	r.Note(floodmark.Error, n.Line, n.Column, code, text, hint)
}

// Warn notes a warning at a node.
func (r *Reader) Warn(n *yaml.Node, code, text, hint string) {
	r.Note(floodmark.Warning, n.Line, n.Column, code, text, hint)
}

// Note adds a problem, up to [maxErrors]: a person does not mend more in one go.
func (r *Reader) Note(s floodmark.Severity, line, column int, code, text, hint string) {
	if len(r.Problems) < MaxErrors {
		r.Problems = append(r.Problems, floodmark.Problem{
			File: r.Name, Line: max(line, 1), Column: max(column, 1), Severity: s, Code: code, Text: text, Hint: hint,
		})
	}
}

// Parse returns the one document of the file, or nil after noting why not.
func (r *Reader) Parse() *yaml.Node {
	if len(r.Data) > MaxBytes {
		r.Note(floodmark.Error, 1, 1, "too-large", fmt.Sprintf("the file has %d bytes", len(r.Data)), fmt.Sprintf("a policy may have %d bytes", MaxBytes))
		return nil
	}
	if !r.readable() {
		return nil
	}
	dec := yaml.NewDecoder(bytes.NewReader(r.Data))
	var doc yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		r.Note(floodmark.Error, 1, 1, "empty", "the file is empty", "write at least: version: 1")
		return nil
	} else if err != nil {
		r.syntax(err)
		return nil
	}
	var more yaml.Node
	if err := dec.Decode(&more); err == nil {
		r.Fault(&more, "several-documents", "a second document begins here", "keep one document; remove the line ---")
		return nil
	} else if !errors.Is(err, io.EOF) {
		r.syntax(err)
		return nil
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		r.Note(floodmark.Error, 1, 1, "empty", "the file says nothing", "write at least: version: 1")
		return nil
	}
	count := 0
	if !r.plain(doc.Content[0], 1, &count) {
		return nil
	}
	return doc.Content[0]
}

// readable refuses bytes that are not text.
func (r *Reader) readable() bool {
	line, column := 1, 1
	for i := 0; i < len(r.Data); {
		c, size := utf8.DecodeRune(r.Data[i:])
		if c == utf8.RuneError && size <= 1 || c < ' ' && c != '\n' && c != '\t' && c != '\r' || c == 0x7f {
			r.Note(floodmark.Error, line, column, "not-text", "a byte here is not readable text", "save the file as UTF-8")
			return false
		}
		if column++; c == '\n' {
			line, column = line+1, 1
		}
		i += size
	}
	return true
}

// syntax turns the parser's message into a problem. The parser knows the line
// only; a tab that indents is found exactly, because it is the usual cause.
func (r *Reader) syntax(err error) {
	message, line := strings.TrimPrefix(err.Error(), "yaml: "), 0
	if m := regexp.MustCompile(`^line (\d+): (.*)$`).FindStringSubmatch(message); m != nil {
		line, _ = strconv.Atoi(m[1])
		message = m[2]
	}
	lines := strings.Split(string(r.Data), "\n")
	for i, l := range lines {
		if at := strings.IndexByte(l, '\t'); at >= 0 && strings.TrimLeft(l[:at], " ") == "" && strings.TrimSpace(l) != "" {
			r.Note(floodmark.Error, i+1, at+1, "tab", "a tab is used to indent", "indent with spaces")
			return
		}
	}
	if countsFromZero(message) {
		line++
	}
	line = min(max(line, 1), len(lines))
	l := lines[line-1]
	column := 1 + utf8.RuneCountInString(l[:culprit(l, message)])
	if at := bareStar(l); at >= 0 && strings.Contains(message, "alphabetic or numeric") {
		r.Note(floodmark.Error, line, 1+utf8.RuneCountInString(l[:at]), "syntax", "a * without quotes means something else in YAML", `write "*"`)
		return
	}
	r.Note(floodmark.Error, line, column, "syntax", "this is not YAML: "+message, syntaxHint(message))
}

// bareStar returns where a star is a key or a value of its own without quotes, or -1.
func bareStar(l string) int {
	m := regexp.MustCompile(`(?:^|[\s{\[,-])(\*)\s*(?:[:,\]}]|$)`).FindStringSubmatchIndex(l)
	if m == nil {
		return -1
	}
	return m[2]
}

// countsFromZero reports whether the parser counts the line in this message from 0.
func countsFromZero(message string) bool {
	for _, what := range []string{"',' or ']'", "',' or '}'", "key", "'-' indicator", "node content", "<document start>"} {
		if message == "did not find expected "+what {
			return true
		}
	}
	return false
}

// culprit returns where in a line the sign is that a message is about, or where the text begins.
func culprit(l, message string) int {
	at := -1
	switch {
	case strings.Contains(message, "mapping values are not allowed"):
		at = strings.LastIndex(l, ": ")
	case strings.Contains(message, "unexpected end of stream"):
		at = strings.IndexAny(l, `"'`)
	case strings.Contains(message, "',' or"):
		at = strings.IndexAny(l, "[{")
	}
	if at < 0 {
		return len(l) - len(strings.TrimLeft(l, " "))
	}
	return at
}

func syntaxHint(message string) string {
	switch {
	case strings.Contains(message, "mapping values are not allowed"):
		return "put text that contains «: » in quotes"
	case strings.Contains(message, "did not find expected key"), strings.Contains(message, "could not find expected ':'"):
		return "check the indentation and the colons here and on the line before"
	case strings.Contains(message, "cannot start any token"):
		return "put text that begins with a special sign in quotes"
	case strings.Contains(message, "exceeded max depth"):
		return fmt.Sprintf("a policy is at most %d levels deep", maxDepth)
	case strings.Contains(message, "unknown anchor"):
		return "anchors and aliases are not used in policies; write the value out"
	default:
		return "check quotes, brackets and indentation near this line"
	}
}

// plain refuses the parts of YAML with which a file can mean something else
// than it shows.
func (r *Reader) plain(n *yaml.Node, depth int, count *int) bool {
	*count++
	switch {
	case depth > maxDepth:
		r.Fault(n, "too-deep", "this is nested too deep", fmt.Sprintf("a policy is at most %d levels deep", maxDepth))
		return false
	case *count > maxNodes:
		r.Fault(n, "too-large", "the file has too many values", fmt.Sprintf("a policy may have %d values", maxNodes))
		return false
	case n.Kind == yaml.AliasNode:
		r.Fault(n, "alias", "aliases are not used in policies", "write the value out")
		return false
	case n.Anchor != "":
		r.Fault(n, "alias", "anchors are not used in policies", "remove &"+n.Anchor+" and write the value out where it is needed")
		return false
	case n.Style&yaml.TaggedStyle != 0:
		r.Fault(n, "tag", "tags are not used in policies", "remove the word that begins with !")
		return false
	}
	for _, c := range n.Content {
		if !r.plain(c, depth+1, count) {
			return false
		}
	}
	return n.Kind != yaml.MappingNode || r.keys(n)
}

// keys refuses keys that are not words and keys that are there twice.
func (r *Reader) keys(n *yaml.Node) bool {
	seen, ok := map[string]*yaml.Node{}, true
	for i := 0; i < len(n.Content); i += 2 {
		k := n.Content[i]
		switch first := seen[k.Value]; {
		case k.Kind != yaml.ScalarNode || k.Tag == "!!null":
			r.Fault(k, "bad-key", "a key must be a word", "write: name: value")
			ok = false
		case k.Value == "<<" && k.Style == 0:
			r.Fault(k, "alias", "merging of mappings is not used in policies", "write the values out")
			ok = false
		case first != nil:
			r.Fault(k, "duplicate-key", fmt.Sprintf("%q is here twice", k.Value), fmt.Sprintf("the first one is on line %d; keep one of them", first.Line))
			ok = false
		default:
			seen[k.Value] = k
		}
	}
	return ok
}

// Pairs returns the keys and values of a mapping.
func Pairs(n *yaml.Node) (keys, values []*yaml.Node) {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		keys, values = append(keys, n.Content[i]), append(values, n.Content[i+1])
	}
	return keys, values
}

// Value returns the value of a key, or nil.
func Value(n *yaml.Node, name string) *yaml.Node {
	keys, values := Pairs(n)
	if i := slices.IndexFunc(keys, func(k *yaml.Node) bool { return k.Value == name }); i >= 0 {
		return values[i]
	}
	return nil
}

// Items returns the items of a list.
func Items(n *yaml.Node) []*yaml.Node {
	if n == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	return n.Content
}

// Strings returns a list of texts.
func Strings(n *yaml.Node) []string {
	var out []string
	for _, c := range Items(n) {
		out = append(out, c.Value)
	}
	return out
}

// A NamedTool is a tool that a policy speaks about, and where it does. Whether
// such a tool exists is not known here.
type NamedTool struct {
	Tool         string // «tool», «server/tool», «server/*», or «*»
	File         string
	Line, Column int
	// Narrow says that a name without a server only means a built-in tool.
	Narrow bool
}

// Number returns a whole number that was checked before.
func Number(n *yaml.Node) int {
	if n == nil {
		return 0
	}
	v, _ := strconv.Atoi(n.Value)
	return v
}

// Mention notes that nodes name tools.
func (r *Reader) Mention(narrow bool, nodes ...*yaml.Node) {
	for _, n := range nodes {
		r.MentionAt(n.Value, n.Line, n.Column, narrow)
	}
}

// MentionAt notes that a tool is named at a place.
func (r *Reader) MentionAt(tool string, line, column int, narrow bool) {
	r.Named = append(r.Named, NamedTool{Tool: tool, File: r.Name, Line: line, Column: column, Narrow: narrow})
}
