// Package tape records the events that a monitor got, its replies, and what it saw on the disk, so
// that a later version of the monitor can be run on the same input. Only a program that was built
// with the tag "record" records anything, as for the measured week in docs/week.md. Released
// programs never do, because a tape contains everything that agents read.
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

// Variable is the environment variable with the path of the tape.
const Variable = "FLOODMARK_TAPE"

// The limits of Read, in bytes.
const (
	MaxLine  = 16 << 20
	MaxBytes = 512 << 20
)

// Hooks handle what agents report.
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

// Told is an event as the monitor got it, with the fields that only the daemon sets and that are
// not in its JSON.
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

// Tell returns an event and its number in the form of a tape.
func Tell(number int, ev hook.Event) *Told {
	return &Told{Number: number, Event: ev, Boxes: ev.Boxes, Holes: ev.Holes, Granted: ev.Granted, Locks: ev.Locks, Box: ev.Box, Push: ev.Push, Remote: ev.Remote}
}

// Whole returns the event with all its fields.
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

// Saw is an answer of the disk to a question, see [Question]. An answer that equals the previous
// one to the same question is usually not repeated.
type Saw struct {
	Asked  string          `json:"asked"`
	Answer json.RawMessage `json:"answer"`
}

// Says is a call that a scripted model makes next. The program that plays the model writes it.
type Says struct {
	Agent   string `json:"agent"`
	Session string `json:"session"`
	// Tool and Arg are the call as the script has it.
	Tool string `json:"tool"`
	Arg  string `json:"arg"`
	// Of names the attack that the call belongs to; it is empty for an honest call. Again is set if
	// the call is made only because the one before it was refused.
	Of    string `json:"of,omitempty"`
	Again bool   `json:"again,omitempty"`
	// Answers is how the owner answers a question about it: once, always or no.
	Answers string `json:"answers"`
}

// Question returns the text of a question to a disk: its verb and its quoted arguments.
func Question(verb string, words ...string) string {
	var b strings.Builder
	b.WriteString(verb)
	for _, w := range words {
		b.WriteString(" " + strconv.Quote(w))
	}
	return b.String()
}

// A Hoard lists the files with secrets that a search found. It has their text instead of
// fingerprints, because fingerprints depend on the key of a monitor.
type Hoard struct {
	Files  []Keeper `json:"files,omitempty"`
	Beside []Keeper `json:"beside,omitempty"`
	Whole  bool     `json:"whole,omitempty"`
}

// A Keeper is a file that contains secrets. If it has no Text, all of the file is secret.
type Keeper struct {
	Path string `json:"path"`
	Text string `json:"text,omitempty"`
}

// Steers is the digest of git's settings, and the file they are in.
type Steers struct {
	File string           `json:"file,omitempty"`
	Says floodmark.Digest `json:"says,omitzero"`
}

// Altered lists the paths that were changed on a disk. Whole is set if the list is complete.
type Altered struct {
	Paths []string `json:"paths,omitempty"`
	Whole bool     `json:"whole,omitempty"`
}

// Nested lists the repositories below a folder. All is set if the list is complete.
type Nested struct {
	Folders []string `json:"folders,omitempty"`
	All     bool     `json:"all,omitempty"`
}

// Read reads a tape. It drops a last line that is incomplete, as after a crash of the program that
// wrote it.
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
