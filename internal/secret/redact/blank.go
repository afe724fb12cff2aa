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
		data, _ := json.Marshal(v) // cannot fail for values that were read from JSON
		return BlankText(string(data))
	}
}

// BlankText replaces a text by its length.
func BlankText(s string) string {
	return fmt.Sprintf("[REDACTED: %d chars]", utf8.RuneCountInString(s))
}
