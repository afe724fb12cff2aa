package agents

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// emptied returns a result reduced to its structure, with a line in place of its text. The
// structure is kept because an agent may ignore a result that does not look like one of that tool.
func emptied(about asked, line string) (any, bool) {
	if about.event.Call.Server != "" {
		// A server's result may have any form.
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

// hollow returns the structure of a value. A list keeps at most one element, and a list of texts
// keeps none.
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

// hollowText returns the line if the text is the tool's output, the text itself if it can only name
// a form, and otherwise nothing.
func hollowText(text, key, line string) string {
	switch {
	case key == "" || slices.Contains([]string{"content", "output", "plan", "result", "stdout", "text"}, key):
		return line
	case slices.Contains([]string{"mode", "status", "type"}, key) && isFormName(text):
		return text
	}
	return ""
}

// maxFormName bounds the name of a form, such as async_launched.
const maxFormName = 20

func isFormName(s string) bool {
	return len(s) <= maxFormName && !strings.ContainsFunc(s, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') })
}
