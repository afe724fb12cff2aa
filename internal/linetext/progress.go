package linetext

import (
	"fmt"
	"io"
	"strings"
)

// away takes the line away on which a terminal stands.
const away = "\r\x1b[K"

// Steps say what a long command does while it does it. The zero Steps say nothing.
type Steps struct {
	To io.Writer
	// InPlace shows only the step that is under way, on one line of a terminal. Otherwise each
	// step has a line that stays.
	InPlace bool
	shown   bool
}

// maxStep is how many columns a step that is shown in place may have: a line that a terminal
// wraps could not be taken away.
const maxStep = 72

// Begin says what is done from now on.
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

// Count is Begin for a step of many parts. What it returns is told how many are done: in place
// that is shown as it grows, and elsewhere once, when all are.
func (s *Steps) Count(text string) func(done, total int) {
	s.Begin(text)
	return func(done, total int) {
		if s.InPlace || done == total {
			s.Begin(fmt.Sprintf("%s: %d of %d", text, done, total))
		}
	}
}

// End takes the last step away if it does not stay. Something else may be written then.
func (s *Steps) End() {
	if s.shown {
		fmt.Fprint(s.To, away)
	}
	s.shown = false
}

// barWidth is how many characters a bar has.
const barWidth = 30

// A Bar shows how far a long command is, on a terminal's standard error. Anywhere else
// it shows nothing: logs do not need it.
type Bar struct {
	To       io.Writer
	Terminal bool
	Label    string
	shown    string
}

// Update is called with how much is done, as often as one likes.
func (b *Bar) Update(done, total int) {
	if !b.Terminal || total == 0 {
		return
	}
	full := barWidth * done / total
	now := fmt.Sprintf("\r%s [%s%s] %3d %%", b.Label, strings.Repeat("#", full), strings.Repeat(".", barWidth-full), 100*done/total)
	if now != b.shown {
		fmt.Fprint(b.To, now)
	}
	b.shown = now
}

// End takes the bar away.
func (b *Bar) End() {
	if b.shown != "" {
		fmt.Fprint(b.To, away)
	}
}
