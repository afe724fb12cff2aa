package main

import "fmt"

// A finding is the result of one check. Fields are only added.
type finding struct {
	Check string `json:"check"`
	State string `json:"state"` // ok, note or problem
	Text  string `json:"text"`
	Todo  string `json:"todo,omitempty"`
}

func ok(check, format string, args ...any) finding {
	return finding{Check: check, State: fine, Text: fmt.Sprintf(format, args...)}
}

func note(check, todo, format string, args ...any) finding {
	return finding{Check: check, State: remark, Text: fmt.Sprintf(format, args...), Todo: todo}
}

func wrong(check, todo, format string, args ...any) finding {
	return finding{Check: check, State: problem, Text: fmt.Sprintf(format, args...), Todo: todo}
}

// How a check ended.
const (
	fine    = "ok"
	remark  = "note"
	problem = "problem"
)
