package protect

import (
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonEntries reads the servers of a JSON file.
func (l serverList) jsonEntries(data []byte) ([]entry, error) {
	d, err := readDocument(data)
	if err != nil {
		return nil, err
	}
	var list []entry
	for _, way := range l.at {
		for _, t := range tables(d.root, way, nil) {
			list = append(list, l.tableEntries(d, t)...)
		}
	}
	if e, is := l.standing(d); is {
		list = append(list, e)
	}
	return list, nil
}

// A tableAt is a table of servers, with its path.
type tableAt struct {
	object *hujson.Object
	way    []string
}

// tables returns the tables at the end of a path. If several members have the same name all of them
// are used, because clients differ in which one they take.
func tables(v *hujson.Value, way, gone []string) []tableAt {
	object := objectOf(v)
	if object == nil {
		return nil
	}
	if len(way) == 0 {
		return []tableAt{{object, gone}}
	}
	var list []tableAt
	for i := range object.Members {
		name := memberName(&object.Members[i])
		if way[0] == "*" || way[0] == name {
			list = append(list, tables(&object.Members[i].Value, way[1:], append(slices.Clone(gone), name))...)
		}
	}
	return list
}

func (l serverList) tableEntries(d *document, t tableAt) []entry {
	var list []entry
	for i := range t.object.Members {
		m := &t.object.Members[i]
		key := memberName(m)
		inner := objectOf(&m.Value)
		if key == l.inner && l.inner != "" && inner != nil && !startsSomething(inner) {
			list = append(list, l.tableEntries(d, tableAt{inner, append(slices.Clone(t.way), key)})...)
			continue
		}
		list = append(list, l.jsonEntry(d, inner, key, t.way))
	}
	return list
}

// startsSomething reports whether an object is a server and not a table of servers.
func startsSomething(o *hujson.Object) bool {
	return slices.ContainsFunc([]string{"type", "command", "url", "enabled"}, func(name string) bool {
		v := valueOf(o, name)
		return v != nil && objectOf(v) == nil
	})
}

func (l serverList) jsonEntry(d *document, o *hujson.Object, key string, way []string) entry {
	e := entry{id: strings.Join(append(slices.Clone(way), key), "\x00"), key: key}
	if o == nil {
		e.odd = "it is no object"
		return e
	}
	e.away = hasAddress(o)
	command := valueOf(o, "command")
	switch {
	case command == nil && !e.away:
		e.odd = "it names neither a command nor an address"
	case command == nil:
	case l.argv:
		e.list(command, "its command is not a list of texts")
		if e.odd == "" && len(e.words) == 0 {
			e.odd = "its command is empty"
		}
	default:
		e.single(d, o, command)
	}
	return e
}

// single reads a command whose arguments are in a list of their own.
func (e *entry) single(d *document, o *hujson.Object, command *hujson.Value) {
	text, is := textOf(command)
	if !is {
		e.odd = "its command is no text"
		return
	}
	e.command = &word{text, command.StartOffset, command.EndOffset}
	at := memberIndex(o, "args")
	if at >= 0 {
		e.list(&o.Members[at].Value, "its arguments are not a list of texts")
		e.drop = cuts(d.data, memberSpot(o, at))
		return
	}
	gap := o.Members[memberIndex(o, "command")].Name.BeforeExtra
	space := string(gap)
	if !blank(gap) || space == "" && d.unit != "" {
		space = " "
	}
	e.add, e.before = command.EndOffset, ","+space+d.quoted("args")
}

// list reads the words of an entry.
func (e *entry) list(v *hujson.Value, odd string) {
	array := arrayOf(v)
	if array == nil {
		e.odd = odd
		return
	}
	e.open = v.StartOffset + 1
	for i := range array.Elements {
		one := &array.Elements[i]
		text, is := textOf(one)
		if !is {
			e.odd = odd
			return
		}
		e.words = append(e.words, word{text, one.StartOffset, one.EndOffset})
	}
}

// hasAddress reports whether a server may be reached over a network.
func hasAddress(o *hujson.Object) bool {
	for _, name := range []string{"url", "httpUrl", "serverUrl", "tcp", "uri", "endpoint"} {
		if valueOf(o, name) != nil {
			return true
		}
	}
	kind, _ := textOf(valueOf(o, "type"))
	return kind != "" && kind != "stdio" && kind != "local"
}

func textOf(v *hujson.Value) (string, bool) {
	if v == nil {
		return "", false
	}
	l, is := v.Value.(hujson.Literal)
	if !is || l.Kind() != '"' {
		return "", false
	}
	return l.String(), true
}

// standing returns a command outside any table of servers. It is reported, but not changed.
func (l serverList) standing(d *document) (entry, bool) {
	if l.alone == nil {
		return entry{}, false
	}
	at := d.object
	for _, name := range l.alone[:len(l.alone)-1] {
		at = objectOf(valueOf(at, name))
	}
	if valueOf(at, l.alone[len(l.alone)-1]) == nil {
		return entry{}, false
	}
	name := strings.Join(l.alone, ".")
	return entry{id: name, key: name, odd: "it is a command line, which we do not edit: write it as an entry of its own"}, true
}
