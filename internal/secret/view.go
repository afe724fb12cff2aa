package secret

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/secret/redact"
	"github.com/floodmark/floodmark/internal/text/filenames"
	"github.com/floodmark/floodmark/verify"
)

// A Call is one call that is shown to a person or a gate.
type Call struct {
	Tool   string // its name
	Use    catalog.Use
	Args   json.RawMessage // as the agent sent them
	Leaves []hook.Leaf     // the values in Args
	// Inner are values inside of Leaves, such as addresses in a command line. They are
	// shown only as parts of Leaves.
	Inner []hook.Leaf
}

// A View shows one call without contents and secrets.
type View struct {
	r       Rules
	call    Call
	p       redact.Printer
	secrets []floodmark.SecretSpan // what was read in this session
	all     bool                   // a secret is spread over several values
	line    bool                   // one of the values is a command line
}

// View returns a view of a call.
func (s *Session) View(c Call) *View {
	v := &View{r: s.Rules, call: c, p: s.Printer()}
	v.line = slices.ContainsFunc(c.Leaves, func(l hook.Leaf) bool { return c.Use.Arg(l.Top).Is == catalog.IsCommand })
	_, v.secrets = s.seen()
	if len(v.secrets) > 0 {
		leaves := slices.Concat(c.Leaves, c.Inner)
		joined := ""
		for _, leaf := range leaves {
			joined += redact.Squeezed(leaf.Value)
		}
		alone := slices.ContainsFunc(leaves, func(l hook.Leaf) bool { return v.holds(l.Value) })
		v.all = !alone && len(v.p.Holds(joined, v.secrets)) > 0
	}
	return v
}

// Params returns the arguments for a gate outside, as one JSON object without contents
// and secrets. It returns false if this is more than a gate is shown.
func (v *View) Params() ([]byte, bool) {
	var all any
	dec := json.NewDecoder(bytes.NewReader(v.call.Args))
	dec.UseNumber()
	if dec.Decode(&all) != nil {
		return []byte("{}"), len(bytes.TrimSpace(v.call.Args)) == 0
	}
	fields, ok := all.(map[string]any)
	if !ok {
		fields = map[string]any{"value": all}
	}
	if v.size() > verify.MaxParamsBytes {
		return []byte("{}"), false
	}
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		value, key := fields[name], v.key(out, name)
		if v.content(name) || v.secret(name) {
			out[key] = redact.Blank(value)
			if text, ok := value.(string); ok {
				files := v.patched(name, text)
				if len(files) > maxFiles {
					return []byte("{}"), false // what is not shown in full is not asked about
				}
				out[key] = redact.BlankText(text) + files
			}
			continue
		}
		out[key] = v.value(value)
	}
	data, err := json.Marshal(out)
	if err != nil || len(data) > verify.MaxParamsBytes {
		return []byte("{}"), false
	}
	return data, true
}

// maxFiles bounds the names of the files that a patch changes.
const maxFiles = 2000

// content reports whether an argument is content: the catalog says so, or it has the usual
// name of content in a tool for writing files.
func (v *View) content(name string) bool {
	about := v.call.Use.Arg(name)
	return about.Role == floodmark.Content || about.Is == catalog.IsPatch || v.written(name)
}

// written reports whether the tool writes files and this is a usual name for their content.
func (v *View) written(name string) bool {
	switch verify.Normal(v.call.Tool) {
	case "write", "edit", "multiedit", "multi_edit", "apply_patch", "patch", "create", "replace", "str_replace", "insert", "notebookedit", "notebook_edit",
		"write_file", "edit_file", "create_file", "append_file", "save_file", "str_replace_editor", "str_replace_based_edit_tool":
		return slices.Contains(writtenArguments(), name)
	}
	return false
}

// patched returns the names of all files that a patch may change, however a program that applies it reads them.
func (v *View) patched(name, text string) string {
	if v.call.Use.Arg(name).Is != catalog.IsPatch {
		return ""
	}
	paths := filenames.OfPatch(text)
	if len(paths) == 0 {
		return ""
	}
	slices.Sort(paths)
	return " changes " + v.text(approval.OneLine(strings.Join(slices.Compact(paths), ", ")))
}

// size returns how much of the call is not content.
func (v *View) size() int {
	n := 0
	for _, leaf := range v.call.Leaves {
		if !v.content(leaf.Top) {
			n += len(leaf.Path) + len(leaf.Value)
		}
	}
	return n
}

// secret reports whether an argument is a secret by its name or by the catalog.
func (v *View) secret(name string) bool {
	return IsName(name) || v.call.Use.Arg(name).Is == catalog.IsSecret
}

// writtenArguments returns the names that agents give to the content of a file they write.
func writtenArguments() []string {
	return []string{
		"content", "contents", "text", "file_text", "data", "patch", "diff", "input", "edits",
		"old_string", "new_string", "old_str", "new_str", "oldText", "newText", "oldString", "newString", "new_source", "insert_text",
	}
}

// value returns a value without the secrets in it.
func (v *View) value(value any) any {
	switch x := value.(type) {
	case string:
		return v.text(x)
	case json.Number:
		if clean := v.text(x.String()); clean != x.String() {
			return clean
		}
	case []any:
		for i := range x {
			x[i] = v.value(x[i])
		}
	case map[string]any:
		out := make(map[string]any, len(x))
		for _, name := range slices.Sorted(maps.Keys(x)) {
			inner, key := x[name], v.key(out, name)
			if IsName(name) || v.written(name) {
				out[key] = redact.Blank(inner)
				continue
			}
			out[key] = v.value(inner)
		}
		return out
	}
	return value
}

// key returns an argument's name without the secrets in it. If this name is taken it adds a
// number, because two names may differ only in a secret.
func (v *View) key(taken map[string]any, name string) string {
	key := v.r.Veil(name)
	if v.holds(name) {
		key = redact.BlankText(name)
	}
	for _, is := taken[key]; is; _, is = taken[key] {
		key = fmt.Sprintf("%s (%d)", key, len(taken))
	}
	return key
}

// text returns a text without the secrets in it: what has the shape of a secret is hidden. A
// text with a secret that was read in this session is left out as a whole.
func (v *View) text(s string) string {
	if v.all && s != "" || v.holds(s) {
		return redact.BlankText(s)
	}
	if v.line {
		return v.r.VeilLine(s)
	}
	return v.r.Veil(s)
}

func (v *View) holds(s string) bool {
	if len(v.secrets) == 0 {
		return false
	}
	return slices.ContainsFunc(redact.Readings(s), func(bare string) bool { return len(v.p.Holds(bare, v.secrets)) > 0 })
}

// maxLines bounds what a person is shown of a call's arguments.
const maxLines = 6

// Lines returns the arguments for people. Arguments that the catalog knows, such as commands
// and places, come first, so that invented arguments cannot push them out of sight. Contents
// and secrets come last, and only their length is shown.
func (v *View) Lines() []string {
	var lines, hidden []string
	left := 0
	known := func(l hook.Leaf) int { return -min(1, len(v.call.Use.Arg(l.Top).Is)) }
	for _, leaf := range slices.SortedStableFunc(slices.Values(v.call.Leaves), func(a, b hook.Leaf) int { return known(a) - known(b) }) {
		changes := v.patched(leaf.Top, leaf.Value)
		secret := v.content(leaf.Top) || v.written(leaf.Path[strings.LastIndexByte(leaf.Path, '.')+1:]) || v.secret(leaf.Top) || IsName(leaf.Path)
		switch name := approval.Ends(v.key(nil, leaf.Path)) + ": "; {
		case changes != "":
			lines = append(lines, name+redact.BlankText(leaf.Value)+changes)
		case len(lines) >= maxLines || secret && len(hidden) >= maxLines:
			left++
		case secret:
			hidden = append(hidden, name+redact.BlankText(leaf.Value))
		default:
			lines = append(lines, name+approval.Ends(v.text(leaf.Value[:min(len(leaf.Value), verify.MaxParamsBytes)])))
		}
	}
	room := min(len(hidden), max(0, maxLines-len(lines)))
	if left += len(hidden) - room; left > 0 {
		hidden = append(hidden[:room], fmt.Sprintf("and %d more arguments", left))
	}
	return append(lines, hidden...)
}
