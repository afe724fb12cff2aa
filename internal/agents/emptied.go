package agents

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// emptied is a result with nothing of it left but its form, and a line in its
// place: an agent may ignore a result that does not look like one of that tool.
func emptied(about asked, line string) (any, bool) {
	if about.event.Call.Server != "" {
		// What a server gives may look like anything.
		return []any{map[string]any{"type": "text", "text": line}}, true
	}
	if len(about.result) == 0 {
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader(about.result))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil || v == nil {
		return nil, false
	}
	return hollow(v, "", line), true
}

// hollow keeps what says which form a value has. Of a list at most one is kept,
// of a list of texts none.
func hollow(v any, key, line string) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, inner := range v {
			out[name] = hollow(inner, name, line)
		}
		return out
	case []any:
		if len(v) == 0 {
			return v
		}
		if _, text := v[0].(string); text {
			return []any{}
		}
		return []any{hollow(v[0], key, line)}
	case string:
		return hollowText(v, key, line)
	}
	return v
}

// hollowText is the line where a tool's words were, the text itself where it
// can only be the name of a form, else nothing.
func hollowText(text, key, line string) string {
	switch {
	case key == "" || slices.Contains([]string{"content", "output", "plan", "result", "stdout", "text"}, key):
		return line
	case slices.Contains([]string{"mode", "status", "type"}, key) && isFormName(text):
		return text
	}
	return ""
}

// maxFormName bounds what may be the name of a form, such as async_launched.
const maxFormName = 20

func isFormName(s string) bool {
	return len(s) <= maxFormName && !strings.ContainsFunc(s, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') })
}
