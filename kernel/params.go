package kernel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/verify"
)

// params are the arguments of a call as a gate outside may see them, one JSON
// object: contents are left out and so are secrets. It reports false for more
// than a gate is shown.
func (st *step) params(j *judged) ([]byte, bool) {
	var all any
	dec := json.NewDecoder(bytes.NewReader(st.ev.Call.Args))
	dec.UseNumber()
	if dec.Decode(&all) != nil {
		return []byte("{}"), len(bytes.TrimSpace(st.ev.Call.Args)) == 0
	}
	fields, ok := all.(map[string]any)
	if !ok {
		fields = map[string]any{"value": all}
	}
	v := st.newVeil(j)
	out := map[string]any{}
	for name, value := range fields {
		if v.content(name) || v.secret(name) {
			out[v.text(name)] = redacted(value)
			continue
		}
		out[v.text(name)] = v.value(value)
	}
	data, err := json.Marshal(out)
	if err != nil || len(data) > verify.MaxParamsBytes || len(out) != len(fields) {
		return []byte("{}"), false
	}
	return data, true
}

// redacted is what stands for content: how long it is, nothing of it.
func redacted(value any) any {
	switch v := value.(type) {
	case nil, bool:
		return v
	case string:
		return redactedText(v)
	default:
		data, err := json.Marshal(v)
		if err != nil {
			return redactedText("")
		}
		return redactedText(string(data))
	}
}

func redactedText(s string) string {
	return fmt.Sprintf("[REDACTED: %d chars]", utf8.RuneCountInString(s))
}

// A veiling takes out of one call's arguments what must not leave.
type veiling struct {
	st      *step
	j       *judged
	p       printer
	secrets []floodmark.SecretSpan // what was read in this session
	all     bool                   // a secret is spread over several values
}

func (st *step) newVeil(j *judged) *veiling {
	v := &veiling{st: st, j: j, p: printer{key: st.in.Key}}
	_, v.secrets = st.secretsSeen()
	if len(v.secrets) > 0 {
		joined := ""
		for _, leaf := range j.leaves {
			joined += squeezed(leaf.Value)
		}
		alone := slices.ContainsFunc(j.leaves, func(l hook.Leaf) bool { return v.holds(l.Value) })
		v.all = !alone && len(v.p.holds(joined, v.secrets)) > 0
	}
	return v
}

// content reports whether an argument carries content: the catalog says so, or
// it is one of those that every agent's tools for writing have.
func (v *veiling) content(name string) bool {
	if argument(v.j.use, hook.Leaf{Path: name, Top: name}).Role == floodmark.Content {
		return true
	}
	switch verify.Normal(v.j.action.Tool.Name) {
	case "write", "edit", "multiedit", "multi_edit", "apply_patch", "write_file", "edit_file", "str_replace", "replace", "notebookedit":
	default:
		return false
	}
	return slices.Contains(writtenArguments(), name)
}

// secret reports whether an argument is one by its name or by the catalog.
func (v *veiling) secret(name string) bool {
	return secretName(name) || argument(v.j.use, hook.Leaf{Path: name, Top: name}).Is == catalog.IsSecret
}

// writtenArguments are what agents call the content of a file they write.
func writtenArguments() []string {
	return []string{
		"content", "contents", "text", "file_text", "data", "patch", "diff", "input", "edits",
		"old_string", "new_string", "old_str", "new_str", "oldText", "newText", "oldString", "newString", "new_source", "insert_text",
	}
}

// value is a value without the secrets in it.
func (v *veiling) value(value any) any {
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
		for name, inner := range x {
			key := v.text(name)
			if secretName(name) {
				inner = redacted(inner)
			}
			for _, taken := out[key]; taken; _, taken = out[key] {
				key += "'" // two names that differ in a secret alone
			}
			out[key] = v.value(inner)
		}
		return out
	}
	return value
}

// text is a text without the secrets in it: what has the shape of one is hidden,
// and a text with one that was read in this session is left out as a whole.
func (v *veiling) text(s string) string {
	if v.all && s != "" || v.holds(s) {
		return redactedText(s)
	}
	return v.st.veiled(s)
}

func (v *veiling) holds(s string) bool {
	if len(v.secrets) == 0 {
		return false
	}
	return slices.ContainsFunc(readings(s), func(bare string) bool { return len(v.p.holds(bare, v.secrets)) > 0 })
}

// maxRequestLines bounds what a person is shown of a call's arguments.
const maxRequestLines = 6

// requestLines are a call for people: the tool, its arguments besides content,
// whose it is.
func (st *step) requestLines(j *judged) []string {
	lines := []string{"Tool: " + visible(j.action.Tool.String())}
	v := st.newVeil(j)
	left := 0
	for _, leaf := range j.leaves {
		switch {
		case v.content(leaf.Top) || v.secret(leaf.Top) || secretName(leaf.Path) || leaf.Top == urlOfCommand:
		case len(lines) > maxRequestLines:
			left++
		default:
			lines = append(lines, visible(leaf.Path)+": "+visible(v.text(leaf.Value)))
		}
	}
	if left > 0 {
		lines = append(lines, fmt.Sprintf("and %d more arguments", left))
	}
	return append(lines, "Agent: "+visible(j.action.Tool.Agent), "Session: "+visible(string(st.ev.Session)))
}
