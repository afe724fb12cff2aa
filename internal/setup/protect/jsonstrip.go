package protect

import (
	"bytes"
	"strings"

	"github.com/tailscale/hujson"
)

// hookName is the program that agents start at each hook.
const hookName = "floodmark-hook"

// ownName is the name of our own members and plugins.
const ownName = "floodmark"

// A spot is one element or member of a document.
type spot struct {
	start, end    int // without spaces and comments around it
	before, after hujson.Extra
	index         int
}

// without returns a document with one element or member removed.
func without(data []byte, s spot) []byte { return edited(data, cuts(data, s)) }

// cuts returns the edits that remove one element or member. Comments around it stay.
func cuts(data []byte, s spot) (edits []edit) {
	cut := func(from, to int) { edits = append(edits, edit{at: from, del: to - from}) }
	start := s.start
	if blank(s.before) {
		start -= len(s.before)
	}
	comma := s.end + len(s.after)
	followed := comma < len(data) && data[comma] == ','
	switch {
	case s.index > 0:
		before := s.start - len(s.before) - 1 // the comma
		if start == before+1 {
			cut(before, s.end)
		} else {
			cut(before, before+1)
			cut(s.start, s.end)
		}
	case followed && blank(s.after):
		cut(start, comma+1)
	case followed:
		cut(start, s.end)
		cut(comma, comma+1)
	default:
		cut(start, s.end)
	}
	return edits
}

func blank(e hujson.Extra) bool { return len(bytes.TrimSpace(e)) == 0 }

func elementSpot(a *hujson.Array, i int) spot {
	e := &a.Elements[i]
	return spot{start: e.StartOffset, end: e.EndOffset, before: e.BeforeExtra, after: e.AfterExtra, index: i}
}

func memberSpot(o *hujson.Object, i int) spot {
	m := &o.Members[i]
	return spot{start: m.Name.StartOffset, end: m.Value.EndOffset, before: m.Name.BeforeExtra, after: m.Value.AfterExtra, index: i}
}

// A strip removes from a document what a fragment added.
type strip struct {
	fragment *hujson.Object
	// original is the document before we changed it; nil if there was none or it is unknown.
	original *hujson.Object
	// emptied are the paths of values that something was removed from. A value that was empty
	// before belongs to the person, and stays.
	emptied map[string]bool
}

// all removes everything of ours, one piece at a time.
func (s strip) all(data []byte) ([]byte, error) {
	s.emptied = map[string]bool{}
	for {
		d, err := readDocument(data)
		if err != nil {
			return nil, err
		}
		next, found := s.next(d)
		if !found {
			return data, nil
		}
		data = next
	}
}

// next removes one piece.
func (s strip) next(d *document) ([]byte, bool) {
	root := d.object
	if at, found := s.object(root, s.fragment, s.original, ""); found {
		return without(d.data, at), true
	}
	if e, found := s.replaced(d, root, s.fragment, s.original); found {
		return edited(d.data, []edit{e}), true
	}
	return nil, false
}

// object finds something of ours in an object that is in the fragment, too.
func (s strip) object(have, fragment, original *hujson.Object, in string) (spot, bool) {
	for i := range fragment.Members {
		name := memberName(&fragment.Members[i])
		at := memberIndex(have, name)
		if at < 0 {
			continue
		}
		value, before := &have.Members[at].Value, valueOf(original, name)
		if name == ownName && before == nil {
			return memberSpot(have, at), true
		}
		switch v := value.Value.(type) {
		case *hujson.Object:
			inner, is := fragment.Members[i].Value.Value.(*hujson.Object)
			if !is {
				continue
			}
			if sp, found := s.object(v, inner, objectOf(before), in+"."+name); found {
				s.emptied[in+"."+name] = true
				return sp, true
			}
			if len(v.Members) == 0 && before == nil && s.emptied[in+"."+name] && blank(v.AfterExtra) {
				return memberSpot(have, at), true
			}
		case *hujson.Array:
			inner, is := fragment.Members[i].Value.Value.(*hujson.Array)
			if !is {
				continue
			}
			if sp, found := s.array(v, inner, arrayOf(before)); found {
				s.emptied[in+"."+name] = true
				return sp, true
			}
			if len(v.Elements) == 0 && before == nil && s.emptied[in+"."+name] && blank(v.AfterExtra) {
				return memberSpot(have, at), true
			}
		}
	}
	return s.others(have, fragment, original)
}

// others finds calls of our hook program in lists that the fragment does not have, because an older
// version may have added them.
func (s strip) others(have, fragment, original *hujson.Object) (spot, bool) {
	for i := range have.Members {
		name := memberName(&have.Members[i])
		v, is := have.Members[i].Value.Value.(*hujson.Array)
		if !is || member(fragment, name) != nil {
			continue
		}
		sp, found := s.array(v, nil, arrayOf(valueOf(original, name)))
		if found && len(v.Elements) == 1 && sp.start == v.Elements[0].StartOffset && valueOf(original, name) == nil {
			return memberSpot(have, i), true
		}
		if found {
			return sp, true
		}
	}
	return spot{}, false
}

// array finds an element of ours: an element of the fragment, or any call of our hook program, even
// if an older version wrote it or a person moved it.
func (s strip) array(have, fragment, original *hujson.Array) (spot, bool) {
	for i := range have.Elements {
		e := &have.Elements[i]
		if original != nil && contains(original, e) {
			continue
		}
		if fragment != nil && contains(fragment, e) || callsHook(e) {
			return elementSpot(have, i), true
		}
		if group, is := e.Value.(*hujson.Object); is {
			for j := range group.Members {
				inner, is := group.Members[j].Value.Value.(*hujson.Array)
				if !is {
					continue
				}
				sp, found := s.array(inner, nil, nil)
				if found && len(inner.Elements) == 1 {
					return elementSpot(have, i), true // a group with only our hook
				}
				if found {
					return sp, true
				}
			}
		}
	}
	return spot{}, false
}

// replaced finds a value with which we replaced the person's, and returns the edit that restores
// it.
func (s strip) replaced(d *document, have, fragment, original *hujson.Object) (edit, bool) {
	for i := range fragment.Members {
		name, ours := memberName(&fragment.Members[i]), &fragment.Members[i].Value
		value, before := valueOf(have, name), valueOf(original, name)
		if value == nil || before == nil {
			continue
		}
		if a, b, c := objectOf(value), objectOf(ours), objectOf(before); a != nil && b != nil && c != nil {
			if e, found := s.replaced(d, a, b, c); found {
				return e, true
			}
			continue
		}
		literal, is := before.Value.(hujson.Literal)
		if is && same(value, ours) && !same(value, before) {
			return edit{value.StartOffset, value.EndOffset - value.StartOffset, string(literal)}, true
		}
	}
	return edit{}, false
}

// onlyFragment reports whether nothing is left except plain values of the fragment, such as a
// version.
func (s strip) onlyFragment(data []byte) bool {
	d, err := readDocument(data)
	if err != nil {
		return false
	}
	root := d.object
	for i := range root.Members {
		m := &root.Members[i]
		ours := valueOf(s.fragment, memberName(m))
		if _, literal := m.Value.Value.(hujson.Literal); !literal || ours == nil || !same(ours, &m.Value) {
			return false
		}
	}
	return d.root.IsStandard() && blank(root.AfterExtra)
}

// callsHook reports whether a handler starts our hook program.
func callsHook(v *hujson.Value) bool {
	switch v := v.Value.(type) {
	case hujson.Literal:
		return v.Kind() == '"' && len(hookWords(v.String())) > 0
	case *hujson.Object:
		for i := range v.Members {
			if _, is := v.Members[i].Value.Value.(*hujson.Array); !is && callsHook(&v.Members[i].Value) {
				return true
			}
		}
	}
	return false
}

// hookWords returns the words of a command that name our hook program.
func hookWords(command string) []string {
	var list []string
	rest := command
	for {
		at := strings.Index(rest, hookName)
		if at < 0 {
			return list
		}
		end := at + len(hookName)
		start := at
		quoted := end < len(rest) && (rest[end] == '\'' || rest[end] == '"')
		for start > 0 && (quoted && rest[start-1] != rest[end] || !quoted && !strings.ContainsRune(" \t\n;&|(){}\"'", rune(rest[start-1]))) {
			start--
		}
		after := byte(' ')
		if end < len(rest) {
			after = rest[end]
		}
		word := rest[start:end]
		if strings.ContainsRune(" \t\n'\";)", rune(after)) && (word == hookName || strings.HasSuffix(word, "/"+hookName)) {
			list = append(list, word)
		}
		rest = rest[end:]
	}
}

func memberIndex(o *hujson.Object, name string) int {
	for i := len(o.Members) - 1; i >= 0; i-- {
		if memberName(&o.Members[i]) == name {
			return i
		}
	}
	return -1
}

func valueOf(o *hujson.Object, name string) *hujson.Value {
	if o == nil {
		return nil
	}
	return member(o, name)
}

func objectOf(v *hujson.Value) *hujson.Object {
	if v == nil {
		return nil
	}
	o, _ := v.Value.(*hujson.Object)
	return o
}

func arrayOf(v *hujson.Value) *hujson.Array {
	if v == nil {
		return nil
	}
	a, _ := v.Value.(*hujson.Array)
	return a
}

func contains(a *hujson.Array, v *hujson.Value) bool {
	for i := range a.Elements {
		if same(&a.Elements[i], v) {
			return true
		}
	}
	return false
}
