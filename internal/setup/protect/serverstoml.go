package protect

import (
	"bytes"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// serversTag marks a line of arguments that we added.
const serversTag = "# by «floodmark protect --mcp»"

// A tomlValue is a key with its value, in any table.
type tomlValue struct {
	path    []string
	start   int // its key
	last    int // the last part of its key
	value   *unstable.Node
	end     int // after its value if that is a string, else after its key
	inlined bool
}

// tomlEntries reads the servers of a TOML file.
func (l serverList) tomlEntries(data []byte) ([]entry, error) {
	if _, _, err := readTOML(data); err != nil {
		return nil, err
	}
	var list []entry
	var table []string
	p := &unstable.Parser{}
	p.Reset(data)
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind == unstable.Table || e.Kind == unstable.ArrayTable {
			table = keyOf(e.Key())
			l.tomlTable(&list, table)
			continue
		}
		if e.Kind == unstable.KeyValue {
			for _, v := range valuesIn(data, e, table, false) {
				l.tomlField(data, &list, v)
			}
		}
	}
	if err := p.Error(); err != nil {
		return nil, &wrongFile{text: "it is not TOML: " + err.Error(), hint: "mend it"}
	}
	for i := range list {
		if list[i].odd == "" && list[i].command == nil && !list[i].away {
			list[i].odd = "it names neither a command nor an address"
		}
	}
	return list, nil
}

func keyOf(it unstable.Iterator) (path []string) {
	for it.Next() {
		path = append(path, string(it.Node().Data))
	}
	return path
}

// valuesIn returns a key and, if its value is an inline table, the keys in that table.
func valuesIn(data []byte, e *unstable.Node, table []string, inlined bool) []tomlValue {
	v := tomlValue{value: e.Value(), start: -1, inlined: inlined, path: slices.Clone(table)}
	for it := e.Key(); it.Next(); {
		v.path = append(v.path, string(it.Node().Data))
		v.last = int(it.Node().Raw.Offset)
		if v.start < 0 {
			v.start = v.last
		}
		v.end = v.last + int(it.Node().Raw.Length)
	}
	if v.value.Kind == unstable.String {
		v.end = int(v.value.Raw.Offset + v.value.Raw.Length)
	}
	list := []tomlValue{v}
	if v.value.Kind == unstable.InlineTable {
		for it := v.value.Children(); it.Next(); {
			list = append(list, valuesIn(data, it.Node(), v.path, true)...)
		}
	}
	return list
}

// tomlTable adds a server that has a table of its own.
func (l serverList) tomlTable(list *[]entry, path []string) {
	for _, way := range l.at {
		if len(path) > len(way) && slices.Equal(path[:len(way)], way) {
			serverIn(list, path[:len(way)+1])
		}
	}
}

// serverIn returns the entry of a server, and adds it if it is new.
func serverIn(list *[]entry, path []string) *entry {
	id := strings.Join(path, "\x00")
	at := slices.IndexFunc(*list, func(e entry) bool { return e.id == id })
	if at < 0 {
		at = len(*list)
		*list = append(*list, entry{id: id, key: path[len(path)-1]})
	}
	return &(*list)[at]
}

// tomlField reads one key of a server.
func (l serverList) tomlField(data []byte, list *[]entry, v tomlValue) {
	for _, way := range l.at {
		n := len(way)
		if len(v.path) <= n || !slices.Equal(v.path[:n], way) {
			continue
		}
		e := serverIn(list, v.path[:n+1])
		if len(v.path) != n+2 {
			if len(v.path) == n+1 && v.value.Kind != unstable.InlineTable {
				e.odd = "it is no table"
			}
			continue
		}
		switch v.path[n+1] {
		case "url":
			e.away = true
		case "command":
			e.tomlCommand(data, v)
		case "args":
			e.tomlArgs(data, v)
		}
	}
}

func (e *entry) tomlCommand(data []byte, v tomlValue) {
	if v.value.Kind != unstable.String {
		e.odd = "its command is no text"
		return
	}
	e.command = &word{string(v.value.Data), int(v.value.Raw.Offset), v.end}
	if v.inlined {
		e.add, e.before = v.end, ", args = "
		return
	}
	nl := newline(data)
	e.add = lineEnd(data, v.end)
	e.before, e.after = string(data[v.start:v.last])+"args = ", " "+serversTag+nl
	if e.add == 0 || data[e.add-1] != '\n' { // the file ends without a line break
		e.before, e.after = nl+e.before, strings.TrimSuffix(e.after, nl)
	}
}

func (e *entry) tomlArgs(data []byte, v tomlValue) {
	if v.value.Kind != unstable.Array {
		e.odd = "its arguments are not a list of texts"
		return
	}
	// Between the key and the first bracket there is only an equals sign and spaces.
	e.open = v.end + bytes.IndexByte(data[v.end:], '[') + 1
	for it := v.value.Children(); it.Next(); {
		one := it.Node()
		if one.Kind == unstable.Comment {
			continue
		}
		if one.Kind != unstable.String {
			e.odd = "its arguments are not a list of texts"
			return
		}
		start := int(one.Raw.Offset)
		e.words = append(e.words, word{string(one.Data), start, start + int(one.Raw.Length)})
	}
	if len(e.words) == 0 || v.inlined {
		e.drop = e.inlineDrop(data, v)
		return
	}
	start, end := bytes.LastIndexByte(data[:v.start], '\n')+1, lineEnd(data, e.words[len(e.words)-1].end)
	line := strings.TrimRight(string(data[start:end]), "\r\n")
	if !strings.HasSuffix(line, serversTag) {
		return
	}
	e.lone = true
	if data[end-1] != '\n' && start > 0 { // the file ended without a line break before it
		start -= len(newline(data))
	}
	e.drop = []edit{{at: start, del: end - start}}
}

// inlineDrop returns the edit that removes the arguments from an inline table, if they are not its
// first key.
func (e *entry) inlineDrop(data []byte, v tomlValue) []edit {
	end := e.open
	if len(e.words) > 0 {
		end = e.words[len(e.words)-1].end
	}
	shut := bytes.IndexByte(data[end:], ']')
	comma := bytes.LastIndexByte(data[:v.start], ',')
	if shut < 0 || comma < 0 || len(bytes.TrimSpace(data[comma+1:v.start])) > 0 {
		return nil
	}
	return []edit{{at: comma, del: end + shut + 1 - comma}}
}
