package cli

import "fmt"

// A Finding is the result of one check. Fields are only added.
type Finding struct {
	Check string `json:"check"`
	State string `json:"state"` // ok, note or problem
	Text  string `json:"text"`
	Todo  string `json:"todo,omitempty"`
}

// Ok is what a check found in order.
func Ok(check, format string, args ...any) Finding {
	return Finding{Check: check, State: Fine, Text: fmt.Sprintf(format, args...)}
}

// Note is what a check found worth a word, with what to do.
func Note(check, todo, format string, args ...any) Finding {
	return Finding{Check: check, State: Remark, Text: fmt.Sprintf(format, args...), Todo: todo}
}

// Wrong is a problem that a check found, with what to do.
func Wrong(check, todo, format string, args ...any) Finding {
	return Finding{Check: check, State: Problem, Text: fmt.Sprintf(format, args...), Todo: todo}
}

// How a check ended.
const (
	Fine    = "ok"
	Remark  = "note"
	Problem = "problem"
)
