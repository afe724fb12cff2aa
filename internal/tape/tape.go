// Package tape keeps what a monitor was told and what it saw on the disk, so that the same
// can be told to a monitor of another day. Only a program that was built with the tag «record»
// keeps anything: a week that is lived for the measure is (docs/week.md). What is released keeps
// nothing, because a tape holds all that agents read.
package tape

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

// Variable names the file that is written, if a program was built to write one.
const Variable = "FLOODMARK_TAPE"

// The limits of a tape that is read.
const (
	MaxLine  = 16 << 20
	MaxBytes = 512 << 20
)

// Hooks take what agents report.
type Hooks interface {
	Handle(ctx context.Context, tenant string, ev hook.Event) (hook.Reply, error)
}

// A Line is one thing that happened; exactly one of its pointers is set.
type Line struct {
	At   int64 `json:"at"` // milliseconds since 1970
	Told *Told `json:"told,omitempty"`
	Did  *Did  `json:"did,omitempty"`
	Saw  *Saw  `json:"saw,omitempty"`
	Says *Says `json:"says,omitempty"`
}

// Told is an event as the monitor got it, with what only the daemon says.
type Told struct {
	Number  int            `json:"n"`
	Event   hook.Event     `json:"event"`
	Boxes   bool           `json:"boxes,omitempty"`
	Holes   bool           `json:"holes,omitempty"`
	Granted []hook.Lasting `json:"granted,omitempty"`
	Locks   []string       `json:"locks,omitempty"`
	Box     *hook.BoxEnd   `json:"box,omitempty"`
	Push    *hook.Push     `json:"push,omitempty"`
	Remote  hook.Remote    `json:"remote,omitzero"`
}

// Tell is ev with its number.
func Tell(number int, ev hook.Event) *Told {
	return &Told{Number: number, Event: ev, Boxes: ev.Boxes, Holes: ev.Holes, Granted: ev.Granted, Locks: ev.Locks, Box: ev.Box, Push: ev.Push, Remote: ev.Remote}
}

// Whole is the event that was told.
func (t *Told) Whole() hook.Event {
	ev := t.Event
	ev.Boxes, ev.Holes, ev.Granted, ev.Locks, ev.Box, ev.Push, ev.Remote = t.Boxes, t.Holes, t.Granted, t.Locks, t.Box, t.Push, t.Remote
	return ev
}

// Did is what the monitor answered.
type Did struct {
	Number  int               `json:"n"`
	Verdict floodmark.Verdict `json:"verdict"`
	Reach   floodmark.Reach   `json:"reach"`
	Failed  bool              `json:"failed,omitempty"`
}

// Saw is what the disk answered. The same answer to the same question is kept once.
type Saw struct {
	Asked  string          `json:"asked"`
	Answer json.RawMessage `json:"answer"`
}

// Says is a call that a scripted model makes next, written by whoever plays the model.
type Says struct {
	Agent   string `json:"agent"`
	Session string `json:"session"`
	// Tool and Arg are the call as the script has it.
	Tool string `json:"tool"`
	Arg  string `json:"arg"`
	// Of names the attack that the call is of; empty for honest ones. Again says that it is
	// tried only because the call before it was refused.
	Of    string `json:"of,omitempty"`
	Again bool   `json:"again,omitempty"`
	// Answers is how the owner answers a question about it: once, always or no.
	Answers string `json:"answers"`
}

// Question names what is asked of a disk.
func Question(verb string, words ...string) string {
	var b strings.Builder
	b.WriteString(verb)
	for _, w := range words {
		b.WriteString(" " + strconv.Quote(w))
	}
	return b.String()
}

// A Hoard is where secrets are kept, with the text they are found in: prints of them depend
// on the key of a monitor.
type Hoard struct {
	Files  []Keeper `json:"files,omitempty"`
	Beside []Keeper `json:"beside,omitempty"`
	Whole  bool     `json:"whole,omitempty"`
}

// A Keeper is a file that holds secrets. Without a text all of it is one.
type Keeper struct {
	Path string `json:"path"`
	Text string `json:"text,omitempty"`
}

// Steers is what git's settings say, and where.
type Steers struct {
	File string           `json:"file,omitempty"`
	Says floodmark.Digest `json:"says,omitzero"`
}

// Altered is what was changed on a disk.
type Altered struct {
	Paths []string `json:"paths,omitempty"`
	Whole bool     `json:"whole,omitempty"`
}

// Nested are the repositories below a folder.
type Nested struct {
	Folders []string `json:"folders,omitempty"`
	All     bool     `json:"all,omitempty"`
}

// Read reads a tape. The last line may be torn: whoever wrote it was ended.
func Read(r io.Reader) (lines []Line, err error) {
	whole := &io.LimitedReader{R: r, N: MaxBytes + 1}
	s := bufio.NewScanner(whole)
	s.Buffer(nil, MaxLine)
	var torn error
	for s.Scan() {
		if torn != nil {
			return nil, torn
		}
		var l Line
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			torn = fmt.Errorf("line %d: %w", len(lines)+1, err)
			continue
		}
		lines = append(lines, l)
	}
	if whole.N == 0 {
		return nil, fmt.Errorf("more than %d bytes", MaxBytes)
	}
	if errors.Is(s.Err(), bufio.ErrTooLong) {
		return nil, fmt.Errorf("line %d: more than %d bytes", len(lines)+1, MaxLine)
	}
	return lines, s.Err()
}
