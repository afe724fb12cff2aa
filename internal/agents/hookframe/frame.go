// Package hookframe is the protocol between the daemon and floodmark-hook, the small program that
// an agent starts: one question and one answer on a unix socket, each a length and a JSON object.
// It neither translates nor decides, and it imports nothing heavy, because floodmark-hook starts
// once per tool call.
package hookframe

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// Version is the newest form of the frames this package speaks.
//
// Rules for changing it: a daemon answers every older version in that version. Fields may be added
// within a version if leaving them out is the safe choice. Anything else is a new version. An
// answer in a version that was not asked for is a refusal.
const Version = 1

// Oldest is the oldest form that is still answered.
const Oldest = 1

// The limits on frames. The first byte of a request's length must be zero, because that
// distinguishes a frame from HTTP on the same socket.
const (
	MaxRequest  = 1<<24 - 1
	MaxResponse = 1 << 20
	MaxName     = 64 // bytes of an agent's or event's name
	MaxEnv      = 16 // variables
	MaxEnvValue = 4096
	MaxWait     = 10 * time.Minute
)

const lengthBytes = 4

// Refused is the exit status that every agent takes as a denial, if there is text on standard
// error.
const Refused = 2

var (
	// ErrTooLarge says that a frame is over a limit.
	ErrTooLarge = errors.New("frame is too large")
	// ErrVersion says that the other side speaks another version.
	ErrVersion = errors.New("frame of another version")
)

// A Request is what an agent sent to its hook.
type Request struct {
	V     int    `json:"v"`
	Agent string `json:"agent"` // codex, pi …
	Event string `json:"event"` // the agent's own word
	// Raw is the agent's own message, unchanged.
	Raw json.RawMessage `json:"raw"`
	// Env are the few variables that describe where the agent runs.
	Env map[string]string `json:"env,omitempty"`
	// DeadlineMS is how long the asker waits, in milliseconds.
	DeadlineMS int64 `json:"deadline_ms"`
	// PersonMS is how much longer the asker waits, in milliseconds, if a person has to answer. It
	// is zero unless the asker understands frames that extend its deadline.
	PersonMS int64 `json:"person_ms,omitempty"`
	// Shows says that the asker shows a question to its user while it waits, and reports a denial.
	Shows bool `json:"shows,omitempty"`
}

// A Response is what the hook must do, byte for byte.
type Response struct {
	V      int    `json:"v"`
	Stdout string `json:"stdout"`
	Stderr string `json:"stderr"`
	Exit   int    `json:"exit"`
}

// Refuse is a denial that every agent's hook understands.
func Refuse(why string) Response {
	return Response{V: Version, Stderr: "floodmark: " + why + "\n", Exit: Refused}
}

// Wait returns how long the asker waits, within the limits.
func (r Request) Wait() time.Duration {
	if r.DeadlineMS <= 0 || r.DeadlineMS > MaxWait.Milliseconds() {
		return MaxWait
	}
	return time.Duration(r.DeadlineMS) * time.Millisecond
}

// Person returns how much longer the asker waits if a person has to answer.
func (r Request) Person() time.Duration { return time.Duration(r.PersonMS) * time.Millisecond }

// Check reports what is missing from r or over a limit.
func (r Request) Check() error {
	if !spoken(r.V, Oldest, Version) {
		return otherVersion(r.V)
	}
	if r.Agent == "" || r.Event == "" || len(r.Raw) == 0 {
		return errors.New("a request needs an agent, an event and its message")
	}
	if r.DeadlineMS < 0 || r.DeadlineMS > MaxWait.Milliseconds() {
		return fmt.Errorf("a deadline of %d ms, at most %d", r.DeadlineMS, MaxWait.Milliseconds())
	}
	if r.PersonMS < 0 || r.PersonMS > MaxPerson.Milliseconds() {
		return fmt.Errorf("%d ms for a person, at most %d", r.PersonMS, MaxPerson.Milliseconds())
	}
	if len(r.Agent) > MaxName || len(r.Event) > MaxName {
		return fmt.Errorf("%w: a name of more than %d bytes", ErrTooLarge, MaxName)
	}
	if len(r.Env) > MaxEnv {
		return fmt.Errorf("%w: %d variables, at most %d", ErrTooLarge, len(r.Env), MaxEnv)
	}
	for name, value := range r.Env {
		if len(name) > MaxName || len(value) > MaxEnvValue {
			return fmt.Errorf("%w: the variable %.*s", ErrTooLarge, MaxName, name)
		}
	}
	return nil
}

// spoken reports whether v is within oldest and newest.
func spoken(v, oldest, newest int) bool { return oldest <= v && v <= newest }

// otherVersion names both versions, for the person who has to update one.
func otherVersion(v int) error {
	return fmt.Errorf("%w: the other side speaks version %d, this one version %d; update and restart the older of the two", ErrVersion, v, Version)
}

// WriteRequest writes r as one frame.
func WriteRequest(w io.Writer, r Request) error {
	if err := r.Check(); err != nil {
		return err
	}
	return write(w, r, MaxRequest)
}

// ReadRequest reads one frame. If it returns [ErrVersion], the agent and event of the request are
// empty, because another version may name them differently.
func ReadRequest(r io.Reader) (Request, error) {
	data, err := read(r, MaxRequest)
	if err != nil {
		return Request{}, err
	}
	var version struct {
		V int `json:"v"`
	}
	if err := json.Unmarshal(data, &version); err != nil {
		return Request{}, fmt.Errorf("read request: %w", err)
	}
	if !spoken(version.V, Oldest, Version) {
		return Request{V: version.V}, otherVersion(version.V)
	}
	var req Request
	if err := json.Unmarshal(data, &req); err != nil {
		return Request{}, fmt.Errorf("read request: %w", err)
	}
	if err := req.Check(); err != nil {
		return Request{}, err
	}
	return req, nil
}

// WriteResponse writes r as one frame.
func WriteResponse(w io.Writer, r Response) error { return write(w, r, MaxResponse) }

// ReadResponse reads one frame. It refuses unknown fields, because one could change the meaning of
// the answer.
func ReadResponse(r io.Reader) (Response, error) {
	data, err := read(r, MaxResponse)
	if err != nil {
		return Response{}, err
	}
	return response(data)
}

// response decodes one frame.
func response(data []byte) (Response, error) {
	var version struct {
		V *int `json:"v"`
	}
	switch err := json.Unmarshal(data, &version); {
	case err != nil:
		return Response{}, fmt.Errorf("read response: %w", err)
	case version.V == nil:
		return Response{}, errors.New("read response: it names no version")
	case *version.V != Version:
		return Response{}, fmt.Errorf("read response: %w", otherVersion(*version.V))
	}
	// Pointers, because a missing exit status is not zero.
	var got struct {
		V      int     `json:"v"`
		Stdout *string `json:"stdout"`
		Stderr *string `json:"stderr"`
		Exit   *int    `json:"exit"`
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&got); err != nil {
		return Response{}, fmt.Errorf("read response: %w", err)
	}
	if got.Stdout == nil || got.Stderr == nil || got.Exit == nil {
		return Response{}, errors.New("read response: something is missing")
	}
	if *got.Exit < 0 || *got.Exit > 255 {
		return Response{}, fmt.Errorf("read response: exit status %d", *got.Exit)
	}
	return Response{V: got.V, Stdout: *got.Stdout, Stderr: *got.Stderr, Exit: *got.Exit}, nil
}

func write(w io.Writer, v any, limit int) error {
	var b bytes.Buffer
	b.Write(make([]byte, lengthBytes))
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write frame: %w", err)
	}
	frame := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	n := len(frame) - lengthBytes
	if n > limit {
		return fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, n, limit)
	}
	binary.BigEndian.PutUint32(frame, uint32(n))
	_, err := w.Write(frame)
	return err
}

func read(r io.Reader, limit uint32) ([]byte, error) {
	var head [lengthBytes]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, fmt.Errorf("read frame: %w", err)
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > limit {
		return nil, fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, n, limit)
	}
	// The buffer grows with the data: an announced length reserves nothing.
	data, err := io.ReadAll(io.LimitReader(r, int64(n)))
	if c, ok := r.(*counted); ok && errors.Is(err, ErrFull) {
		// A peer that is still sending does not read the answer.
		_, _ = io.CopyN(io.Discard, c.from, int64(n)-int64(len(data)))
	}
	if err != nil {
		return nil, fmt.Errorf("read frame: %w", err)
	}
	if uint32(len(data)) < n {
		return nil, fmt.Errorf("read frame: %w", io.ErrUnexpectedEOF)
	}
	return data, nil
}
