package floodmark

import (
	"fmt"
	"strings"
)

// A Severity says how bad a [Problem] is.
type Severity string

// The severities. Only errors keep a file from being used.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// A Problem is something wrong in a file a person wrote, worded so that they can mend it.
type Problem struct {
	File     string   `json:"file"`
	Line     int      `json:"line"`
	Column   int      `json:"column"`
	Severity Severity `json:"severity"`
	Code     string   `json:"code"` // short and stable, for tools: «unknown-key»
	Text     string   `json:"text"` // what is wrong
	Hint     string   `json:"hint,omitempty"`
}

func (p Problem) String() string {
	s := fmt.Sprintf("%s:%d:%d: %s: %s", p.File, p.Line, p.Column, p.Severity, p.Text)
	if p.Hint != "" {
		s += "\n    " + p.Hint
	}
	return s
}

// Problems are all problems found in one or more files. As an error they print one below the other.
type Problems []Problem

func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Failed reports whether any problem is an error.
func (ps Problems) Failed() bool {
	for _, p := range ps {
		if p.Severity != Warning {
			return true
		}
	}
	return false
}
