package linetext

import (
	"fmt"
	"io"
)

// away clears the line of a terminal that the cursor is in.
const away = "\r\x1b[K"

// Steps report what a long command is doing. The zero Steps report nothing.
type Steps struct {
	To io.Writer
	// InPlace shows only the step that is under way, on one line of a terminal. Otherwise each
	// step has a line that stays.
	InPlace bool
	shown   bool
}

// maxStep bounds the columns of a step that is shown in place, because a line that the terminal
// wraps could not be cleared.
const maxStep = 72

// Begin reports that a step begins.
func (s *Steps) Begin(text string) {
	switch {
	case s.To == nil:
	case s.InPlace:
		s.shown = true
		fmt.Fprint(s.To, away+Marked(Plain(text), maxStep)[0])
	default:
		fmt.Fprintln(s.To, Plain(text))
	}
}

// Count begins a step of many parts. Call the returned function with how many parts are done. In
// place it shows every count; otherwise it shows only the last one.
func (s *Steps) Count(text string) func(done, total int) {
	s.Begin(text)
	return func(done, total int) {
		if s.InPlace || done == total {
			s.Begin(fmt.Sprintf("%s: %d of %d", text, done, total))
		}
	}
}

// End clears the last step if it is shown in place, so that something else can be written.
func (s *Steps) End() {
	if s.shown {
		fmt.Fprint(s.To, away)
	}
	s.shown = false
}
