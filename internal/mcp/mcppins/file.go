package mcppins

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/store/wholefile"
)

// format is the version of the file. A reader refuses other versions. A new field takes a new
// number, and a reader of the new version also reads the old one.
const format = 1

// file is the content of the file on disk.
type file struct {
	Format  int                `json:"format"`
	Servers map[string]*server `json:"servers"`
}

// server is the record of one server.
type server struct {
	// Identities are the identities that the owner saw: the first one, and the accepted ones.
	Identities []identity `json:"identities"`
	// Waiting is another identity that came under the same name and is not accepted yet.
	Waiting *identity `json:"waiting,omitempty"`
	// Refused are the hashes of identities that the owner rejected.
	Refused []string `json:"refused,omitempty"`
	// Entries are the definitions, by kind and name.
	Entries map[string]*entry `json:"definitions"`
}

// identity is how a server is reached. The text is for people and has no secrets.
type identity struct {
	Hash string    `json:"hash"`
	Text string    `json:"text"`
	Seen time.Time `json:"seen"`
}

// entry is one definition: the version that is shown (pinned), and a version that is held.
type entry struct {
	Pinned *pin `json:"pinned,omitempty"`
	Held   *pin `json:"held,omitempty"`
	// Rejected are the hashes of versions that the owner rejected.
	Rejected []string `json:"rejected,omitempty"`
}

// pin is one version of a definition.
type pin struct {
	Hash string `json:"hash"`
	// Body is canonical; empty if it could not be read.
	Body string    `json:"body,omitempty"`
	Seen time.Time `json:"seen"`
	// Looked says that the owner accepted this version.
	Looked   bool      `json:"looked,omitempty"`
	Findings []Finding `json:"findings,omitempty"`
}

// A Finding is a reason to hold a definition, with what was found.
type Finding struct {
	Reason string `json:"reason"`
	Detail string `json:"detail"`
}

// maxRejected bounds the rejected versions of one definition that are remembered. A rejected
// version beyond that is still held, because no version is pinned then.
const maxRejected = 16

// keyOf returns the key of a definition within its server. Kinds have no slash.
func keyOf(kind, name string) string { return kind + "/" + name }

func splitKey(key string) (kind, name string) {
	kind, name, _ = strings.Cut(key, "/")
	return kind, name
}

// costOf returns roughly how many bytes an entry takes in the file, without escapes.
func costOf(key string, e *entry) int {
	const overhead = 512 // times, hashes and findings
	n := len(key) + overhead
	for _, p := range []*pin{e.Pinned, e.Held} {
		if p != nil {
			n += len(p.Body)
		}
	}
	return n
}

func (s *server) cost() int {
	n := 0
	for key, e := range s.Entries {
		n += costOf(key, e)
	}
	return n
}

// read reads the file. A missing file is an empty one.
func (b *Book) read() (*file, error) {
	data, err := b.bytes()
	if err != nil {
		return nil, err
	}
	return parsed(data)
}

// bytes returns the file's content, nil if there is no file.
func (b *Book) bytes() ([]byte, error) {
	data, err := wholefile.Read(b.path, MaxFileBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the pins of MCP servers: %w", err)
	}
	if data == nil {
		data = []byte{} // not nil: an empty file is damaged
	}
	return data, nil
}

func parsed(data []byte) (*file, error) {
	if data == nil {
		return &file{Format: format, Servers: map[string]*server{}}, nil
	}
	f, err := parseFile(data)
	if err != nil {
		return nil, fmt.Errorf("read the pins of MCP servers: the file is damaged: %w", err)
	}
	return f, nil
}

func parseFile(data []byte) (*file, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	f := &file{}
	if err := dec.Decode(f); err != nil {
		return nil, errors.New("it is not what we wrote")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows its end")
	}
	if f.Format != format {
		return nil, fmt.Errorf("it has format %d, and this program reads %d", f.Format, format)
	}
	if f.Servers == nil || len(f.Servers) > MaxServers {
		return nil, errors.New("it has no list of servers, or too many")
	}
	for name, s := range f.Servers {
		if s == nil || s.Entries == nil || len(s.Identities) == 0 {
			return nil, fmt.Errorf("the server %q is incomplete", shown(name))
		}
		for key, e := range s.Entries {
			if e == nil || !sound(e.Pinned, true) || !sound(e.Held, false) {
				return nil, fmt.Errorf("a definition of the server %q (%q) is not what was hashed", shown(name), shown(key))
			}
		}
	}
	return f, nil
}

// sound reports whether a version's body has the recorded hash. A pinned version must have a body.
func sound(p *pin, pinned bool) bool {
	if p == nil {
		return true
	}
	if p.Body == "" {
		return !pinned
	}
	return p.Hash == hashOf(p.Body)
}

func hashOf(canonical string) string { return floodmark.DigestOf(canonical).String() }

// change changes the file under its lock. A process that is killed meanwhile leaves the old file or
// the new one.
func (b *Book) change(ctx context.Context, with func(*file) error) error {
	err := wholefile.Change(ctx, b.path, "the pins of MCP servers", maxWait, func() ([]byte, error) {
		f, err := b.read()
		if err != nil {
			return nil, err
		}
		if err := with(f); err != nil {
			return nil, err
		}
		var out bytes.Buffer
		enc := json.NewEncoder(&out)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", " ")
		if err := enc.Encode(f); err != nil {
			return nil, fmt.Errorf("write the pins of MCP servers: %w", err)
		}
		if out.Len() > MaxFileBytes {
			return nil, fmt.Errorf("write the pins of MCP servers: they would be larger than %d bytes", MaxFileBytes)
		}
		return out.Bytes(), nil
	})
	if errors.Is(err, wholefile.ErrLocked) {
		return errors.New("wait for the pins of MCP servers: others are writing them")
	}
	return err
}

// remember adds a hash to a list and drops the oldest if there are more than limit.
func remember(list []string, hash string, limit int) []string {
	if slices.Contains(list, hash) {
		return list
	}
	list = append(list, hash)
	return list[max(0, len(list)-limit):]
}
