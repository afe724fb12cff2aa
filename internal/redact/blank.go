package redact

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Blank replaces content by its length.
func Blank(value any) any {
	switch v := value.(type) {
	case nil, bool:
		return v
	case string:
		return BlankText(v)
	default:
		data, _ := json.Marshal(v) // values that were read from JSON
		return BlankText(string(data))
	}
}

// BlankText does so for a text.
func BlankText(s string) string {
	return fmt.Sprintf("[REDACTED: %d chars]", utf8.RuneCountInString(s))
}
