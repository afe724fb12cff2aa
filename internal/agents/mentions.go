package agents

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

// mentions returns the files that a prompt names with an @. An agent reads them without a call, so
// no other hook reports them. A name that is no file does no harm here.
func mentions(prompt string) ([]hook.Content, error) {
	var list []hook.Content
	for _, name := range mentioned(prompt) {
		if len(list) == hook.MaxParts {
			return nil, fmt.Errorf("%w: more than %d files in a prompt", hook.ErrTooLarge, hook.MaxParts)
		}
		list = append(list, fileNamed(name))
	}
	return list, nil
}

// fileNamed returns a file that an agent reads by itself. A resource of a tool server has no known
// origin.
func fileNamed(name string) hook.Content {
	name = strings.TrimPrefix(name, "file://")
	o := floodmark.Origin{Kind: floodmark.FromFile, Name: floodmark.OneLine(name, hook.MaxNameBytes), Place: name}
	if isResource(name) || len(name) > hook.MaxNameBytes {
		o = floodmark.Origin{Kind: floodmark.FromUnknown, Name: "what a prompt refers to"}
	}
	return hook.Content{Kind: floodmark.NodeInput, Origin: o}
}

// isResource reports whether a name is that of a tool server's resource: the server's name, a
// colon, and the resource. After the name of a file, only a line number may follow a colon.
func isResource(name string) bool {
	file, line, colon := strings.Cut(name, ":")
	return colon && (!strings.ContainsAny(file, "./") || strings.Trim(line, "0123456789:-") != "")
}

// isSpace reports whether JavaScript takes a character for a space.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' }

// mentioned returns the names that follow an @ at the beginning of a word, in quotes or up to the
// next space. Agents also split at unusual spaces.
func mentioned(prompt string) []string {
	var names []string
	before := ' '
	for i, r := range prompt {
		if r == '@' && (isSpace(before) || strings.ContainsRune("([{\"'`", before)) {
			if name := mention(prompt[i+1:]); name != "" {
				names = append(names, name)
			}
		}
		before = r
	}
	return names
}

func mention(rest string) string {
	if quoted, ok := strings.CutPrefix(rest, `"`); ok {
		name, _, closed := strings.Cut(quoted, `"`)
		if closed {
			return name
		}
	}
	if end := strings.IndexFunc(rest, isSpace); end >= 0 {
		rest = rest[:end]
	}
	return strings.TrimRight(rest, ".,;:!?)]}\"'`")
}
