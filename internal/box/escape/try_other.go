//go:build !linux

package escape

import (
	"context"

	"github.com/floodmark/floodmark/internal/box"
)

// An Enclosure says how a shell command is run enclosed. Boxes exist only on Linux.
type Enclosure func(home, project, command string, call Call) (program []string, done func(), err error)

// Box returns no enclosure.
func Box(string, box.Spec) (Enclosure, error) { return nil, nil }

// nothing returns that there are no boxes.
func nothing(context.Context, string, string) error {
	return &NoBoxError{Said: "boxes are made of what only Linux has"}
}

// Try returns that there are no boxes.
func Try(context.Context, Enclosure, string, []Attempt, func(done, total int)) ([]Outcome, error) {
	return nil, &NoBoxError{Said: "boxes are made of what only Linux has"}
}
