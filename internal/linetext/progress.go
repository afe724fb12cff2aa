package linetext

import (
	"fmt"
	"io"
	"strings"
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

// Update shows how much is done. It writes nothing if the bar looks the same as before.
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

// End clears the bar.
func (b *Bar) End() {
	if b.shown != "" {
		fmt.Fprint(b.To, away)
	}
}
