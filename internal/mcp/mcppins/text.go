package mcppins

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Summary returns the first line of a definition's description.
func Summary(body json.RawMessage) string {
	var text string
	if json.Unmarshal(body, &text) != nil {
		var d struct {
			Title       string `json:"title"`
			Description string `json:"description"`
		}
		if json.Unmarshal(body, &d) != nil {
			return ""
		}
		if text = d.Description; text == "" {
			text = d.Title
		}
	}
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return Visible(first)
}

// Lines returns a definition for people. Texts have one sentence on each line, so that differences
// are short; the rest is JSON. Unseen characters are spelled out.
func Lines(body json.RawMessage) []string {
	var text string
	if json.Unmarshal(body, &text) == nil {
		return sentences(text)
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil {
		return strings.Split(Visible(string(body)), "\n")
	}
	var out []string
	first := []string{"name", "title", "description"}
	rest := slices.DeleteFunc(slices.Sorted(maps.Keys(fields)), func(k string) bool { return slices.Contains(first, k) })
	for _, key := range append(first, rest...) {
		value, there := fields[key]
		if !there {
			continue
		}
		label := Visible(strings.Join(strings.Fields(key), " ")) + ":"
		var lines []string
		if json.Unmarshal(value, &text) == nil && text != "" {
			lines = sentences(text)
		} else {
			var b bytes.Buffer
			if json.Indent(&b, value, "", "  ") != nil {
				b.Reset()
				b.Write(value)
			}
			lines = strings.Split(Visible(b.String()), "\n")
		}
		if len(lines) == 1 {
			out = append(out, label+" "+lines[0])
			continue
		}
		out = append(out, label)
		for _, l := range lines {
			out = append(out, "  "+l)
		}
	}
	return out
}

// sentences breaks a text at line breaks and after sentences.
func sentences(text string) []string {
	text = strings.NewReplacer(". ", ".\n", "! ", "!\n", "? ", "?\n", "; ", ";\n").Replace(text)
	return strings.Split(strings.TrimRight(Visible(text), "\n"), "\n")
}
