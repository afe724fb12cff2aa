package protect

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// The tags that mark our lines in a TOML file. Each line has its own tag, because agents write into
// these files, too, and may put something between our lines.
const (
	tomlTag = "# by «floodmark protect»"
	tomlWas = "# floodmark-was: "
)

// A tomlLine is one expression of a TOML file: a key with its value, or the header of a table.
type tomlLine struct {
	path       []string // from the root
	table      bool
	list       bool   // the header of an array of tables
	start, end int    // its first line, with the line ending
	value      string // its part in that line
	inline     bool   // its value is a table
	ours       bool
}

// readTOML parses a file. If it is not valid TOML, the error has the line.
func readTOML(data []byte) ([]tomlLine, map[string]any, error) {
	if err := checkNesting(data); err != nil {
		return nil, nil, err
	}
	all := map[string]any{}
	if err := toml.Unmarshal(data, &all); err != nil {
		w := &wrongFile{text: "it is not TOML: " + strings.TrimPrefix(err.Error(), "toml: "), hint: "mend that line"}
		if at, is := errors.AsType[*toml.DecodeError](err); is {
			w.line, _ = at.Position()
		}
		return nil, nil, w
	}
	var list []tomlLine
	p := &unstable.Parser{}
	p.Reset(data)
	var table []string
	for p.NextExpression() {
		e := p.Expression()
		l := tomlLine{table: e.Kind == unstable.Table || e.Kind == unstable.ArrayTable, list: e.Kind == unstable.ArrayTable}
		var first, last unstable.Range
		for key := e.Key(); key.Next(); {
			if l.path == nil {
				first = key.Node().Raw
			}
			last = key.Node().Raw
			l.path = append(l.path, string(key.Node().Data))
		}
		at := int(last.Offset + last.Length)
		if l.table {
			table = l.path
		} else {
			l.path = append(slices.Clone(table), l.path...)
			l.inline = e.Value().Kind == unstable.InlineTable
		}
		l.start = bytes.LastIndexByte(data[:first.Offset], '\n') + 1
		l.end = lineEnd(data, at)
		text := strings.TrimRight(string(data[l.start:l.end]), "\r\n")
		l.ours = strings.HasSuffix(text, tomlTag)
		_, l.value, _ = strings.Cut(text, "=")
		list = append(list, l)
	}
	if err := p.Error(); err != nil {
		return nil, nil, &wrongFile{text: "it is not TOML: " + err.Error(), hint: "mend it"}
	}
	return list, all, nil
}

func lineEnd(data []byte, from int) int {
	if i := bytes.IndexByte(data[from:], '\n'); i >= 0 {
		return from + i + 1
	}
	return len(data)
}

// A tomlWant is a key that we set.
type tomlWant struct {
	path  []string
	value string // as TOML
}

func (w tomlWant) line(key string) string { return key + " = " + w.value + " " + tomlTag }

// wants reads the keys of a shipped file.
func wants(shipped []byte) ([]tomlWant, error) {
	list, _, err := readTOML(shipped)
	if err != nil {
		return nil, err
	}
	var out []tomlWant
	for _, l := range list {
		out = append(out, tomlWant{path: l.path, value: strings.TrimSpace(l.value)})
	}
	return out, nil
}

// mergeTOML puts our keys into a file. A different value is kept in a comment, so that it can be
// restored.
func mergeTOML(data []byte, list []tomlWant) ([]byte, error) {
	var top []tomlWant
	for _, w := range list {
		lines, all, err := readTOML(data)
		if err != nil {
			return nil, err
		}
		switch have, is := lookup(all, w.path); {
		case is && sameTOML(have, w.value):
			continue
		case is:
			data, err = exchange(data, lines, w)
		default:
			var done bool
			data, done, err = intoTable(data, lines, w)
			if !done {
				top = append(top, w)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return onTop(data, top)
}

// exchange replaces a key that has another value.
func exchange(data []byte, lines []tomlLine, w tomlWant) ([]byte, error) {
	for _, l := range lines {
		if l.table || !slices.Equal(l.path, w.path) {
			continue
		}
		old := strings.TrimRight(string(data[l.start:l.end]), "\r\n")
		if _, _, err := readTOML([]byte(old)); err != nil {
			return nil, &wrongFile{lineAt(data, l.start), fmt.Sprintf("«%s» goes over several lines", strings.Join(w.path, ".")), "write it in one line"}
		}
		key, _, _ := strings.Cut(old, "=")
		text := tomlWas + old + newline(data) + w.line(strings.TrimSpace(key))
		if l.ours { // an older version of ours
			text = w.line(strings.TrimSpace(key))
		}
		return edited(data, []edit{{l.start, len(old), text}}), nil
	}
	return nil, inlineTable(data, lines, w)
}

// inlineTable returns the error for a key that would have to go into an inline table.
func inlineTable(data []byte, lines []tomlLine, w tomlWant) error {
	for _, l := range lines {
		if !l.table && len(l.path) < len(w.path) && slices.Equal(l.path, w.path[:len(l.path)]) {
			return &wrongFile{
				lineAt(data, l.start), fmt.Sprintf("«%s» is a table in one line, which we do not edit", strings.Join(l.path, ".")),
				fmt.Sprintf("write it as [%s] with a line for each key, or put «%s = %s» into it", strings.Join(l.path, "."), w.path[len(w.path)-1], w.value),
			}
		}
	}
	return &wrongFile{text: fmt.Sprintf("«%s» is set in a way we do not know", strings.Join(w.path, ".")), hint: "take it out"}
}

// intoTable puts a key into its table, if the file has that table.
func intoTable(data []byte, lines []tomlLine, w tomlWant) (out []byte, done bool, err error) {
	for _, l := range lines {
		n := len(w.path) - 1
		switch {
		case l.table && !l.list && n > 0 && slices.Equal(l.path, w.path[:n]):
			nl := newline(data)
			text := w.line(w.path[n]) + nl
			if data[l.end-1] != '\n' {
				text = nl + text
			}
			return edited(data, []edit{{at: l.end, text: text}}), true, nil
		case !l.table && l.inline && len(l.path) <= n && slices.Equal(l.path, w.path[:len(l.path)]):
			return nil, false, inlineTable(data, lines, w)
		}
	}
	return data, false, nil
}

// onTop puts keys at the top of the file, below a line that names a schema.
func onTop(data []byte, list []tomlWant) ([]byte, error) {
	nl, text, at := newline(data), "", 0
	for _, w := range list {
		text += w.line(strings.Join(w.path, ".")) + nl
	}
	if bytes.HasPrefix(data, []byte("#:schema")) {
		at = lineEnd(data, 0)
		if text != "" && data[at-1] != '\n' {
			text = nl + text
		}
	}
	data = edited(data, []edit{{at: at, text: text}})
	if _, _, err := readTOML(data); err != nil {
		return nil, &wrongFile{text: "our lines do not go with what is there: " + err.Error(), hint: "put the lines of integrations/codex/config.toml into it by hand"}
	}
	return data, nil
}

// stripTOML removes our lines, and restores those that they replaced.
func stripTOML(data []byte) ([]byte, error) {
	lines, _, err := readTOML(data)
	if err != nil {
		return nil, err
	}
	var edits []edit
	for i, l := range lines {
		if !l.ours || l.table && !aloneInTable(data, l, lines[i+1:]) {
			continue
		}
		edits = append(edits, edit{at: l.start, del: l.end - l.start})
	}
	data = edited(data, edits)
	var out []byte
	for line := range bytes.Lines(data) {
		out = append(out, bytes.TrimPrefix(line, []byte(tomlWas))...)
	}
	if _, _, err := readTOML(out); err != nil {
		return nil, &wrongFile{text: "without our lines it would not be TOML: " + err.Error(), hint: "take out the lines with «" + tomlTag + "» by hand"}
	}
	return out, nil
}

// aloneInTable reports whether a table contains only lines of ours that replaced nothing.
func aloneInTable(data []byte, head tomlLine, rest []tomlLine) bool {
	end := len(data)
	for _, l := range rest {
		if l.table {
			end = l.start
			break
		}
		if !l.ours {
			return false
		}
	}
	return !bytes.Contains(data[head.end:end], []byte(tomlWas))
}

func lookup(all map[string]any, path []string) (any, bool) {
	var v any = all
	for _, name := range path {
		table, is := v.(map[string]any)
		if !is {
			return nil, false
		}
		if v, is = table[name]; !is {
			return nil, false
		}
	}
	return v, true
}

func sameTOML(have any, value string) bool {
	var want map[string]any
	return toml.Unmarshal([]byte("v = "+value), &want) == nil && reflect.DeepEqual(have, want["v"])
}
