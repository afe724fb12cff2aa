package cli

import "fmt"

// A Finding is the result of one check. Fields are only added.
type Finding struct {
	Check string `json:"check"`
	State string `json:"state"` // ok, note or problem
	Text  string `json:"text"`
	Todo  string `json:"todo,omitempty"`
}

// OK returns a finding for a check without problems.
func OK(check, format string, args ...any) Finding {
	return Finding{Check: check, State: Fine, Text: fmt.Sprintf(format, args...)}
}

// Note returns a finding that is worth mentioning, with what to do.
func Note(check, todo, format string, args ...any) Finding {
	return Finding{Check: check, State: Remark, Text: fmt.Sprintf(format, args...), Todo: todo}
}

// Wrong returns a finding for a problem, with what to do.
func Wrong(check, todo, format string, args ...any) Finding {
	return Finding{Check: check, State: Problem, Text: fmt.Sprintf(format, args...), Todo: todo}
}

// The states of a finding.
const (
	Fine    = "ok"
	Remark  = "note"
	Problem = "problem"
)
