package protection

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// maxNesting bounds the nesting of a value in Python's notation. Recorded values have four levels.
const maxNesting = 32

// parsePython reads dictionaries, lists and strings as Python prints them; several of the recorded
// tools answer in this notation. It also reads JSON. For everything else it returns false, and the
// result is used without its fields.
func parsePython(text string) (*yaml.Node, bool) {
	p := &pythonParser{rest: text}
	n, ok := p.value(0)
	p.space()
	return n, ok && p.rest == ""
}

type pythonParser struct{ rest string }

func (p *pythonParser) space() { p.rest = strings.TrimLeft(p.rest, " \n\t") }

func (p *pythonParser) take(b byte) bool {
	p.space()
	if p.rest == "" || p.rest[0] != b {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

func (p *pythonParser) value(depth int) (*yaml.Node, bool) {
	p.space()
	if p.rest == "" || depth > maxNesting {
		return nil, false
	}
	switch p.rest[0] {
	case '{':
		return p.dict(depth)
	case '[':
		return p.list(depth)
	case '\'', '"':
		s, ok := p.str()
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}, ok
	}
	end := strings.IndexAny(p.rest, ",:}] \n")
	if end <= 0 {
		return nil, false
	}
	word := p.rest[:end]
	if _, err := strconv.ParseFloat(word, 64); err != nil && !strings.Contains(" None True False null true false ", " "+word+" ") {
		return nil, false
	}
	p.rest = p.rest[end:]
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!float", Value: word}, true
}

func (p *pythonParser) dict(depth int) (*yaml.Node, bool) {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	p.take('{')
	for !p.take('}') {
		if len(n.Content) > 0 && !p.take(',') {
			return nil, false
		}
		key, ok := p.value(depth + 1)
		if !ok || !p.take(':') {
			return nil, false
		}
		value, ok := p.value(depth + 1)
		if !ok {
			return nil, false
		}
		n.Content = append(n.Content, key, value)
	}
	return n, true
}

func (p *pythonParser) list(depth int) (*yaml.Node, bool) {
	n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	p.take('[')
	for !p.take(']') {
		if len(n.Content) > 0 && !p.take(',') {
			return nil, false
		}
		value, ok := p.value(depth + 1)
		if !ok {
			return nil, false
		}
		n.Content = append(n.Content, value)
	}
	return n, true
}

// str reads a quoted string. Unknown escapes stay as they are, as in Python.
func (p *pythonParser) str() (string, bool) {
	quote := p.rest[0]
	var b strings.Builder
	for i := 1; i < len(p.rest); i++ {
		switch c := p.rest[i]; {
		case c == quote:
			p.rest = p.rest[i+1:]
			return b.String(), true
		case c != '\\' || i+1 == len(p.rest):
			b.WriteByte(c)
		default:
			i++
			i += unescape(&b, p.rest[i:])
		}
	}
	return "", false
}

// unescape writes the character that an escape stands for, and returns how many bytes after the
// first it consumed.
func unescape(b *strings.Builder, s string) int {
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[0]]
	switch {
	case s[0] == 'n':
		b.WriteByte('\n')
	case s[0] == 't':
		b.WriteByte('\t')
	case s[0] == '\\' || s[0] == '\'' || s[0] == '"':
		b.WriteByte(s[0])
	case digits > 0 && len(s) > digits:
		if r, err := strconv.ParseUint(s[1:1+digits], 16, 32); err == nil && utf8.ValidRune(rune(r)) {
			b.WriteRune(rune(r))
			return digits
		}
		b.WriteString(`\` + s[:1])
	default:
		b.WriteString(`\` + s[:1])
	}
	return 0
}

// writePython prints a value as Python does.
func writePython(b *strings.Builder, n *yaml.Node) {
	switch n.Kind {
	case yaml.MappingNode:
		b.WriteByte('{')
		for i := 0; i+1 < len(n.Content); i += 2 {
			if i > 0 {
				b.WriteString(", ")
			}
			writePython(b, n.Content[i])
			b.WriteString(": ")
			writePython(b, n.Content[i+1])
		}
		b.WriteByte('}')
	case yaml.SequenceNode:
		b.WriteByte('[')
		for i, c := range n.Content {
			if i > 0 {
				b.WriteString(", ")
			}
			writePython(b, c)
		}
		b.WriteByte(']')
	default:
		if n.Tag != "!!str" {
			b.WriteString(n.Value)
			return
		}
		quote := "'"
		if strings.Contains(n.Value, "'") && !strings.Contains(n.Value, `"`) {
			quote = `"`
		}
		b.WriteString(quote)
		b.WriteString(strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\t", `\t`, quote, `\`+quote).Replace(n.Value))
		b.WriteString(quote)
	}
}
