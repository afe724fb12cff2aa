//go:build !linux

package escape

import (
	"context"

	"github.com/floodmark/floodmark/internal/box"
)

// An Enclosure says how a shell command is run enclosed.
type Enclosure func(home, project, command string, call Call) (program []string, done func(), err error)

// Box encloses nothing.
func Box(string, box.Spec) (Enclosure, error) { return nil, nil }

// nothing runs nothing.
func nothing(context.Context, string, string) error {
	return &NoBoxError{Said: "boxes are made of what only Linux has"}
}

// Try makes no attempt.
func Try(context.Context, Enclosure, string, []Attempt, func(done, total int)) ([]Outcome, error) {
	return nil, &NoBoxError{Said: "boxes are made of what only Linux has"}
}
