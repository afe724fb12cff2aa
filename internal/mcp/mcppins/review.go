package mcppins

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
)

// Server is the kind of an [Entry] that is about a server itself: its command or address.
const Server = "server"

// An Entry is a definition or server that was seen, for the owner to review.
type Entry struct {
	Server, Kind, Name string
	// Ref is how the owner refers to the entry: SERVER, SERVER/TOOL, SERVER/prompt:NAME. Unseen
	// characters in it are spelled out.
	Ref string
	// Seen is when this version was seen first.
	Seen time.Time
	// Held says that it is not shown to models. Then Findings are the reasons, and Line says them
	// for people.
	Held     bool
	Findings []Finding
	Line     string
	// Looked says that the owner accepted this version.
	Looked bool
	// Hash identifies this version.
	Hash string
	// Old is the pinned version, New the held version; either may be missing. Both are canonical
	// JSON.
	Old, New json.RawMessage
}

// The errors of a review.
var (
	ErrUnknown   = errors.New("nothing of this name was seen")
	ErrAmbiguous = errors.New("several things have this name")
	ErrNobody    = errors.New("it cannot be read, so it cannot be accepted")
	ErrMoved     = errors.New("it is another version now")
	ErrVersion   = errors.New("another command waits under this name, so its version must be said")
)

// Entries returns everything that was seen: held entries first, then sorted by name.
func (b *Book) Entries() ([]Entry, error) {
	f, err := b.read()
	if err != nil {
		return nil, err
	}
	list := f.entries()
	slices.SortStableFunc(list, func(x, y Entry) int {
		if x.Held != y.Held {
			if x.Held {
				return -1
			}
			return 1
		}
		return strings.Compare(x.Ref, y.Ref)
	})
	return list, nil
}

func (f *file) entries() (list []Entry) {
	for _, name := range slices.Sorted(maps.Keys(f.Servers)) {
		s := f.Servers[name]
		list = append(list, s.own(name)...)
		for _, key := range slices.Sorted(maps.Keys(s.Entries)) {
			list = append(list, s.Entries[key].shown(name, key)...)
		}
	}
	return list
}

// own returns the entries of the server itself.
func (s *server) own(name string) (list []Entry) {
	last := s.Identities[len(s.Identities)-1]
	as := func(i identity) Entry {
		return Entry{Server: name, Kind: Server, Ref: Visible(name), Seen: i.Seen, Hash: i.Hash}
	}
	if s.Waiting != nil {
		e := as(*s.Waiting)
		e.Held, e.Old, e.New = true, quoted(last.Text), quoted(s.Waiting.Text)
		e.Findings = []Finding{{NewCommand, "another command or address came under its name"}}
		e.Line = lineFor(Server, name, "", e.Findings)
		return []Entry{e}
	}
	e := as(last)
	e.Old, e.Looked, e.Hash = quoted(last.Text), s.looked(), s.version(last)
	return []Entry{e}
}

// version returns a hash of everything that is accepted together with the server, so that
// definitions which came after the owner looked are not accepted.
func (s *server) version(i identity) string {
	parts := []string{i.Hash}
	for _, key := range slices.Sorted(maps.Keys(s.Entries)) {
		if p := s.Entries[key].Pinned; p != nil {
			parts = append(parts, string(quoted(key)), p.Hash)
		}
	}
	return hashOf(strings.Join(parts, "\n"))
}

// looked reports whether something is shown, and the owner accepted all of it.
func (s *server) looked() bool {
	shown := false
	for _, e := range s.Entries {
		if e.Pinned != nil && !e.Pinned.Looked {
			return false
		}
		shown = shown || e.Pinned != nil
	}
	return shown
}

func quoted(s string) json.RawMessage {
	data, err := json.Marshal(s)
	if err != nil {
		return nil // never happens for a text
	}
	return data
}

// shown returns the entry of one definition, or none if all its versions were rejected. A pinned
// and a held version share one entry.
func (e *entry) shown(server, key string) []Entry {
	kind, name := splitKey(key)
	out := Entry{Server: server, Kind: kind, Name: name, Ref: refOf(server, kind, name)}
	if e.Pinned != nil {
		out.Old, out.Hash, out.Seen, out.Looked = json.RawMessage(e.Pinned.Body), e.Pinned.Hash, e.Pinned.Seen, e.Pinned.Looked
	}
	if e.Held != nil {
		out.Held, out.Findings, out.Hash, out.Seen, out.Looked = true, e.Held.Findings, e.Held.Hash, e.Held.Seen, false
		out.Line = lineFor(kind, server, name, e.Held.Findings)
		if e.Held.Body != "" {
			out.New = json.RawMessage(e.Held.Body)
		}
	}
	if e.Pinned == nil && e.Held == nil {
		return nil // rejected, and no other version came since
	}
	return []Entry{out}
}

func refOf(server, kind, name string) string {
	switch kind {
	case Tool:
		return Visible(server) + "/" + Visible(name)
	case Instructions:
		return Visible(server) + "/" + kind + ":"
	}
	return Visible(server) + "/" + kind + ":" + Visible(name)
}
