package mcpstdio

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/time/rate"
)

// The limits on a server's standard error: bytes of a line, bytes at once, and bytes a second after
// that. A program's trace fits; a server that keeps writing must not fill a disk.
const (
	maxSaidLine = 4 << 10
	saidAtOnce  = 1 << 20
	saidPace    = 32 << 10 // bytes a second
)

// plainLines passes on a server's standard error, line by line, without terminal control
// characters. It is safe for concurrent use.
type plainLines struct {
	out io.Writer
	now func() time.Time

	mu   sync.Mutex // guards what is below
	line []byte
	cut  bool // the line is longer than what is kept of it
	pace *rate.Limiter
	left int // lines that were left out
}

func newPlainLines(out io.Writer, now func() time.Time) *plainLines {
	return &plainLines{out: out, now: now, pace: rate.NewLimiter(saidPace, saidAtOnce)}
}

// Write takes in the bytes. It never fails, so that a server does not end because of its output.
func (p *plainLines) Write(said []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for rest := said; len(rest) > 0; {
		part, after, ends := bytes.Cut(rest, []byte("\n"))
		room := min(len(part), maxSaidLine-len(p.line))
		p.line = append(p.line, part[:room]...)
		p.cut = p.cut || room < len(part)
		if rest = after; ends {
			p.pass()
		}
	}
	return len(said), nil
}

// end passes on what is left without an end of line.
func (p *plainLines) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.line) > 0 {
		p.pass()
	}
}

// pass writes the line, if the limits allow it. Its caller holds the lock.
func (p *plainLines) pass() {
	line := plainLine(p.line)
	if p.cut {
		line += "…"
	}
	p.line, p.cut = p.line[:0], false
	if !p.pace.AllowN(p.now(), len(line)+1) {
		p.left++
		return
	}
	if p.left > 0 {
		line = fmt.Sprintf("(%d lines left out: it says too much)\n", p.left) + line
		p.left = 0
	}
	_, _ = io.WriteString(p.out, line+"\n") // said above
}

// plainLine returns a line without terminal control characters. Its indent stays.
func plainLine(line []byte) string {
	text := strings.TrimRight(string(line), "\r")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case r == utf8.RuneError || !unicode.IsPrint(r):
			return '\uFFFD'
		}
		return r
	}, text)
}
