package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/floodmark/floodmark"
)

// The limits on one event. An agent's context can be large: a model call with
// a million tokens is about 4 MiB of text.
const (
	MaxEventBytes = 32 << 20
	MaxParts      = 4096 // parts, sources, messages, calls: each
	MaxTools      = 2048
	MaxNameBytes  = 512 // names of agents, sessions, tools, servers, calls
	MaxArgsBytes  = 8 << 20
	MaxArgsDepth  = 64
	MaxPicked     = 1024 // bytes typed in a window
	// MaxCommandBytes bounds a replacement command. A shell gets the command as one argument, and
	// Linux starts no program with a longer argument.
	MaxCommandBytes = 128<<10 - 1
)

// ErrTooLarge says that an event is over one of the limits.
var ErrTooLarge = errors.New("event is too large")

// Decode reads one event. It refuses unknown fields, because a misspelled field would silently get
// its safest value, with no error to explain it.
func Decode(data []byte) (Event, error) {
	if len(data) > MaxEventBytes {
		return Event{}, fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(data), MaxEventBytes)
	}
	var ev Event
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&ev); err != nil {
		return Event{}, fmt.Errorf("read event: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Event{}, errors.New("read event: more than one value")
	}
	if err := ev.Check(); err != nil {
		return Event{}, err
	}
	return ev, nil
}

// Check reports what is missing from ev or over a limit.
func (ev Event) Check() error {
	if !slices.Contains(Points(), ev.Point) {
		return fmt.Errorf("unknown hook point %q", ev.Point)
	}
	if ev.Session == "" || ev.Agent == "" {
		return errors.New("an event needs an agent and a session")
	}
	for _, n := range []int{len(ev.Agent), len(ev.Session), len(ev.Child), len(ev.Shared), len(ev.Claims), len(ev.Model), len(ev.SessionKey), len(ev.Channel)} {
		if n > MaxNameBytes {
			return fmt.Errorf("%w: a name of %d bytes, at most %d", ErrTooLarge, n, MaxNameBytes)
		}
	}
	for _, n := range []int{len(ev.Parts), len(ev.Sources), len(ev.Messages), len(ev.Calls)} {
		if n > MaxParts {
			return fmt.Errorf("%w: %d parts, at most %d", ErrTooLarge, n, MaxParts)
		}
	}
	if len(ev.Tools) > MaxTools {
		return fmt.Errorf("%w: %d tools, at most %d", ErrTooLarge, len(ev.Tools), MaxTools)
	}
	if ev.Iteration < 0 {
		return fmt.Errorf("iteration is %d, and cannot be below zero", ev.Iteration)
	}
	for name, n := range ev.Numbers() {
		if n < 0 {
			return fmt.Errorf("%s is %d, and cannot be below zero", name, n)
		}
	}
	for _, c := range ev.Calls {
		if err := c.check(); err != nil {
			return err
		}
	}
	if err := ev.Window.check(); err != nil {
		return err
	}
	return ev.Call.check()
}

func (w *Window) check() error {
	if w == nil {
		return nil
	}
	for _, n := range []int{len(w.Client), len(w.Ticket)} {
		if n > MaxNameBytes {
			return fmt.Errorf("%w: a name of %d bytes, at most %d", ErrTooLarge, n, MaxNameBytes)
		}
	}
	switch {
	case len(w.Picked) > MaxPicked:
		return fmt.Errorf("%w: %d bytes were typed, at most %d", ErrTooLarge, len(w.Picked), MaxPicked)
	case w.Answer != "" && w.Answer != Accept && w.Answer != Decline:
		return fmt.Errorf("unknown answer %.20q: want %s or %s", w.Answer, Accept, Decline)
	}
	return nil
}

func (c Call) check() error {
	for _, n := range []int{len(c.ID), len(c.Name), len(c.Server)} {
		if n > MaxNameBytes {
			return fmt.Errorf("%w: a name of %d bytes, at most %d", ErrTooLarge, n, MaxNameBytes)
		}
	}
	if len(c.Args) > MaxArgsBytes {
		return fmt.Errorf("%w: arguments of %d bytes, at most %d", ErrTooLarge, len(c.Args), MaxArgsBytes)
	}
	if d := depth(c.Args); d > MaxArgsDepth {
		return fmt.Errorf("%w: arguments nested %d deep, at most %d", ErrTooLarge, d, MaxArgsDepth)
	}
	return nil
}

// The errors of a reply that allows a call only in another form.
var (
	// ErrNoBox says that the call is allowed only in a box, and the reply has no command that
	// starts one.
	ErrNoBox = errors.New("it may only run in a box, and no command that starts one came with the answer")
	// ErrOtherCommand says that the call is allowed only with another command.
	ErrOtherCommand = errors.New("it may only run as another command, which this program cannot do")
)

// Check returns why a reply cannot be carried out at a point, or nil. If it returns an error, the
// reply allows nothing. Check is for callers that run the reply's command in place of the call's
// own command; all other callers use [Reply.Allows].
func (r Reply) Check(at Point) error {
	switch {
	case r.Command == "" && r.Decision.Contained(), slices.ContainsFunc(r.Calls, floodmark.Decision.Contained):
		return ErrNoBox
	case r.Command == "":
		return nil
	case at != BeforeToolCall:
		return fmt.Errorf("a command at %s: only %s can have one", at, BeforeToolCall)
	case r.Decision.Verdict != floodmark.Allow:
		return errors.New("a command for a call that is not allowed")
	case len(r.Command) > MaxCommandBytes:
		return fmt.Errorf("%w: a command of %d bytes, at most %d", ErrTooLarge, len(r.Command), MaxCommandBytes)
	case strings.TrimSpace(r.Command) == "", strings.ContainsRune(r.Command, 0), !utf8.ValidString(r.Command):
		return errors.New("a command that no shell can run")
	}
	return nil
}

// Allows reports whether a reply allows the call, for a caller that cannot replace its command. A
// reply that still names verifiers allows nothing, because they have not agreed yet.
func (r Reply) Allows() bool {
	return r.Decision.Verdict == floodmark.Allow && len(r.Decision.Verifiers) == 0 && !r.BlockTurn && r.Elsewhere() == nil
}

// Elsewhere returns why a caller that cannot replace a command cannot do what a reply allows. It is
// nil if the caller can do it, and if the reply allows nothing.
func (r Reply) Elsewhere() error {
	switch {
	case r.Decision.Verdict != floodmark.Allow:
		return nil
	case r.Command != "":
		return ErrOtherCommand
	}
	return r.Check("") // the point does not matter without a command
}

// depth returns how deep brackets are nested in data. It does not allocate, so that hostile nesting
// costs only one pass.
func depth(data []byte) int {
	var deepest, now int
	inString := false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			now++
			deepest = max(deepest, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return deepest
}
