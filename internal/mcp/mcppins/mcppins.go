// Package mcppins keeps MCP servers' descriptions of themselves as the owner first saw them: tools,
// prompts, templates and instructions. A definition that changed, that imitates another, that hides
// characters, or that cannot be read is held until the owner looks.
//
// The package judges texts and never calls a server. If its file cannot be read or written, it
// holds everything, because it is then unknown what the owner saw.
package mcppins

import (
	"context"
	"encoding/json"
	"time"

	"github.com/floodmark/floodmark/internal/secret/redact"
)

// The kinds of definitions.
const (
	Tool             = "tool"
	Prompt           = "prompt"
	Instructions     = "instructions"
	ResourceTemplate = "resource-template"
)

// A Definition is one tool, prompt or instruction text as a server gave it.
type Definition struct {
	// Server is the server's name, which the owner gave it.
	Server string
	// Kind is one of the kinds above.
	Kind string
	// Name is the name within the server; instructions have none.
	Name string
	// Body is the definition as it came.
	Body json.RawMessage
}

// The reasons to hold a definition. Programs may test for these words, so none is ever changed or
// removed.
const (
	Changed    = "changed"
	Shadow     = "shadow"
	Invisible  = "invisible"
	NewCommand = "new-server-command"
	Oversized  = "oversized"
	Malformed  = "malformed"
	Rejected   = "rejected"
	Unreadable = "unreadable-pins"
)

// A Verdict says whether a definition may be shown to a model. It may be shown only if Held is
// false and the error that came with the verdict is nil.
type Verdict struct {
	Held bool
	// Reason is one of the words above; empty if it is not held.
	Reason string
	// Line is the reason for people, with what to do.
	Line string
	// Accepted says that the owner looked at exactly this version and accepted it. A version that
	// was pinned when it was first seen is shown, but not accepted.
	Accepted bool
}

// The limits on one server's definitions. The largest real ones we know have some 30 kB; a body of
// MaxBodyBytes is no description.
const (
	MaxNameBytes     = 256
	MaxBodyBytes     = 256 << 10
	MaxBodyDepth     = 64
	MaxDefinitions   = 4096    // of one server
	MaxServerBytes   = 4 << 20 // of the record of one server
	MaxIdentityBytes = 64 << 10
	MaxIdentities    = 16 // accepted for one server, and refused
)

// The limits on the file. A server at its own limit leaves room for others.
const (
	MaxServers   = 256
	MaxKeptBytes = 24 << 20 // of all servers
	MaxFileBytes = 72 << 20 // larger than what is kept, because bodies are escaped in it
)

// maxWait bounds the wait for other processes that write the file. Each holds the lock for one
// write.
const maxWait = 10 * time.Second

// A Book holds the pins of one owner. It is safe for use by many goroutines, and
// by many processes at the same file.
type Book struct {
	path     string
	now      func() time.Time
	secrets  *redact.Detector         // for command lines that people are shown
	builtins func() (builtins, error) // read when a tool is first seen, because it takes a while
	recall   recall
	told     Told
}

// Open returns the book at path. The file may not exist yet. If it exists and cannot be read, Open
// returns an error and also a Book, which holds everything until the owner has mended the file.
func Open(path string) (*Book, error) {
	b := &Book{path: path, now: time.Now, secrets: redact.New(), builtins: knownBuiltins()}
	_, err := b.read()
	return b, err
}

// See compares definitions of one server with the pinned ones. An unknown definition is pinned at
// once, unless a finding holds it. identity is the command line or URL of the server. If it changes
// under the same name, all definitions of the server are held.
//
// See returns one verdict for each definition, also with an error; then all are held.
func (b *Book) See(ctx context.Context, server, identity string, defs []Definition) ([]Verdict, error) {
	// Usually nothing is new, so the file is first read without a lock.
	data, err := b.bytes()
	if err != nil {
		return allHeld(defs, Unreadable, b.damaged(err)), err
	}
	question := questionOf(data, server, identity, defs)
	if verdicts, ok := b.recall.get(question); ok {
		return verdicts, nil
	}
	book, err := parsed(data)
	if err != nil {
		return allHeld(defs, Unreadable, b.damaged(err)), err
	}
	look := func(f *file) ([]Verdict, bool) {
		j := judge{file: f, server: server, builtins: b.builtins, secrets: b.secrets, now: b.now().UTC().Truncate(time.Second)}
		return j.see(identity, defs), j.changed
	}
	if verdicts, changed := look(book); !changed {
		b.recall.put(question, verdicts)
		return verdicts, nil
	}
	var verdicts []Verdict
	err = b.change(ctx, func(f *file) error {
		verdicts, _ = look(f)
		return nil
	})
	if err != nil {
		return allHeld(defs, Unreadable, b.damaged(err)), err
	}
	return verdicts, nil
}

func allHeld(defs []Definition, reason, line string) []Verdict {
	out := make([]Verdict, len(defs))
	for i := range out {
		out[i] = Verdict{Held: true, Reason: reason, Line: line}
	}
	return out
}

// damaged returns a line for people: the file cannot be used, and what to do.
func (b *Book) damaged(err error) string {
	return "nothing of this server is shown: " + err.Error() + " (look at the file " + b.path +
		"; if it is lost, move it away, and all definitions are seen for the first time again)"
}
