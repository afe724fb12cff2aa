package codingday

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"

	"github.com/floodmark/floodmark/internal/agents/hookframe"
)

//go:embed testdata/traces/*.gz
var recorded embed.FS

// The limits on recordings. All recordings together take less than 3 MB on disk.
const (
	MaxTraceFile = 1 << 20 // one task's file as it is on disk
	MaxUnpacked  = 4 << 20 // unpacked
)

// Home is the owner's home folder in every recording.
const Home = "/home/dev"

// A Trace is one recorded run: every message that the agent's hooks sent.
type Trace struct {
	Task   int    `json:"task"`
	Title  string `json:"title"`
	Agent  string `json:"agent"`
	Attack bool   `json:"attack"`
	Where  string `json:"where,omitempty"`
	Goal   string `json:"goal,omitempty"`
	// Cuts are sets of calls, numbered over the whole trace from 0. Stopping all calls of one set
	// stops the attack.
	Cuts   [][]int `json:"cuts,omitempty"`
	Events []Event `json:"events"`
}

// An Event is one message of a hook.
type Event struct {
	Event string          `json:"event"` // the agent's own word
	Raw   json.RawMessage `json:"raw"`   // the agent's own message
	// Files are the files below the home folder that are new or changed since the previous event,
	// with a short hash of their content; the hash of a deleted file is empty. They were read from
	// the disk, not from the agent's message.
	Files map[string]string `json:"files,omitempty"`
	// Git are the repositories on the disk that are new or changed since the previous event.
	Git []Git `json:"git,omitempty"`
}

// Git is the state of a repository.
type Git struct {
	Root   string   `json:"root"`   // its folder
	Owner  string   `json:"owner"`  // the mail address the owner commits with
	Remote string   `json:"remote"` // where it is pushed to
	Log    []string `json:"log"`    // commit and author of each commit, newest first
	// Others are the files that another author changed last.
	Others []string `json:"others,omitempty"`
}

// ID names a trace.
func (t *Trace) ID() string {
	kind := "benign"
	if t.Attack {
		kind = "attack"
	}
	return fmt.Sprintf("%02d-%s-%s", t.Task, t.Agent, kind)
}

// HeldOut reports whether rules must be written without looking at the trace.
func (t *Trace) HeldOut() bool { return heldOut(t.Task) }

// Request returns the request that the hook sent.
func (t *Trace) Request(e Event) hookframe.Request {
	return hookframe.Request{
		V: hookframe.Version, Agent: t.Agent, Event: e.Event, Raw: e.Raw,
		Env: map[string]string{"HOME": Home}, DeadlineMS: hookframe.MaxWait.Milliseconds(),
	}
}

// Recorded returns all traces that are embedded in the program.
func Recorded() ([]*Trace, error) { return load(recorded, "testdata/traces") }

// load reads the traces in a folder, in the order of their tasks.
func load(files fs.FS, folder string) ([]*Trace, error) {
	names, err := fs.Glob(files, path.Join(folder, "*.jsonl.gz"))
	if err != nil {
		return nil, err
	}
	var list []*Trace
	for _, name := range names {
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		traces, err := unpack(data)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		list = append(list, traces...)
	}
	if len(list) == 0 {
		return nil, errors.New("there are no recorded traces")
	}
	slices.SortStableFunc(list, func(a, b *Trace) int { return cmp.Compare(a.Task, b.Task) }) // in the order of names, 100 would come before 11
	return list, nil
}

// unpack reads the traces of one task, one on each line.
func unpack(data []byte) ([]*Trace, error) {
	if len(data) > MaxTraceFile {
		return nil, fmt.Errorf("more than %d bytes", MaxTraceFile)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(io.LimitReader(z, MaxUnpacked+1))
	if err != nil {
		return nil, err
	}
	if len(plain) > MaxUnpacked {
		return nil, fmt.Errorf("more than %d bytes unpacked", MaxUnpacked)
	}
	var list []*Trace
	for line := range bytes.Lines(plain) {
		t := &Trace{}
		if err := json.Unmarshal(line, t); err != nil {
			return nil, err
		}
		if err := t.check(); err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return list, nil
}

func (t *Trace) check() error {
	if len(t.Events) == 0 || t.Attack != (len(t.Cuts) > 0) {
		return fmt.Errorf("%s: it has no events, or the wrong calls must be stopped", t.ID())
	}
	for _, cut := range t.Cuts {
		for _, i := range cut {
			if i < 0 || i >= MaxSteps {
				return fmt.Errorf("%s: call %d", t.ID(), i)
			}
		}
	}
	return nil
}
