package mcppins

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Told is called with the owner's decision on an entry before the decision is stored. An error
// cancels it.
type Told func(ctx context.Context, word string, e Entry) error

// The owner's decisions on an entry.
const (
	HasAccepted  = "accepted"
	HasRejected  = "rejected"
	HasForgotten = "forgotten"
)

// Telling sets the function that is called with each decision of the owner.
func (b *Book) Telling(tell Told) { b.told = tell }

// Accept accepts what ref names; it is shown from now on. ref may end in @ and the beginning of the
// version's hash; then no other version is accepted.
//
// For a definition, Accept accepts the held version or, if none is held, the pinned one. For a
// server, it accepts all definitions that are shown. If another command waits under the server's
// name, Accept accepts only that command, and only if ref has its version, because the command may
// have come after the owner looked.
func (b *Book) Accept(ctx context.Context, ref string) (Entry, error) {
	return b.settle(ctx, ref, HasAccepted, func(f *file, e Entry) error {
		if e.Kind == Server && e.Held && ref == e.Ref {
			return ErrVersion
		}
		return f.accept(e)
	})
}

// Reject rejects the held version that ref names; it is not shown, even if it comes again. If no
// version is held, the pinned one is rejected and held from now on.
func (b *Book) Reject(ctx context.Context, ref string) (Entry, error) {
	return b.settle(ctx, ref, HasRejected, (*file).reject)
}

// Forget deletes the record of a server, so that the server is seen for the first time again.
func (b *Book) Forget(ctx context.Context, server string) error {
	return b.change(ctx, func(f *file) error {
		for name := range f.Servers {
			if name == server || Visible(name) == server {
				delete(f.Servers, name)
				return b.tell(ctx, HasForgotten, Entry{Server: name, Kind: Server, Ref: Visible(name)})
			}
		}
		return fmt.Errorf("forget %s: %w", shown(server), ErrUnknown)
	})
}

func (b *Book) settle(ctx context.Context, ref, word string, do func(*file, Entry) error) (Entry, error) {
	var found Entry
	err := b.change(ctx, func(f *file) error {
		var err error
		if found, err = f.find(ref); err == nil {
			err = do(f, found)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", shown(ref), err)
		}
		return b.tell(ctx, word, found)
	})
	return found, err
}

func (b *Book) tell(ctx context.Context, word string, e Entry) error {
	if b.told == nil {
		return nil
	}
	return b.told(ctx, word, e)
}

// minHash is the least number of a hash's characters that names a version.
const minHash = 8

// find returns the entry that a reference names.
func (f *file) find(ref string) (Entry, error) {
	var hits []Entry
	moved := false
	for _, e := range f.entries() {
		at, versioned := strings.CutPrefix(ref, e.Ref+"@")
		switch {
		case ref == e.Ref, versioned && len(at) >= minHash && strings.HasPrefix(e.Hash, at):
			hits = append(hits, e)
		case versioned && len(at) >= minHash:
			moved = true
		}
	}
	switch {
	case len(hits) == 1:
		return hits[0], nil
	case len(hits) > 1:
		return Entry{}, ErrAmbiguous
	case moved:
		return Entry{}, ErrMoved
	}
	return Entry{}, ErrUnknown
}

func (f *file) accept(e Entry) error {
	s := f.Servers[e.Server]
	if e.Kind == Server {
		s.accept()
		return nil
	}
	d := s.Entries[keyOf(e.Kind, e.Name)]
	if d.Held == nil {
		d.Pinned.Looked = true
		return nil
	}
	if d.Held.Body == "" || slices.ContainsFunc(d.Held.Findings, func(f Finding) bool { return f.Reason == Malformed || f.Reason == Oversized }) {
		return ErrNobody
	}
	d.Pinned, d.Held = d.Held, nil
	d.Pinned.Looked, d.Pinned.Findings = true, nil
	return nil
}

// accept accepts the new start command of the server that waits to be looked at. If none waits, it
// accepts the server's pinned definitions. Definitions that wait to be looked at keep waiting.
func (s *server) accept() {
	if s.Waiting != nil {
		s.Identities = append(s.Identities, *s.Waiting)
		s.Identities = s.Identities[max(0, len(s.Identities)-MaxIdentities):]
		s.Waiting = nil
		return
	}
	for _, e := range s.Entries {
		if e.Pinned != nil {
			e.Pinned.Looked = true
		}
	}
}

func (f *file) reject(e Entry) error {
	s := f.Servers[e.Server]
	if e.Kind == Server {
		if s.Waiting == nil {
			return errors.New("it is the one you saw first; «floodmark mcp review --forget» drops it")
		}
		s.Refused = remember(s.Refused, s.Waiting.Hash, MaxIdentities)
		s.Waiting = nil
		return nil
	}
	d := s.Entries[keyOf(e.Kind, e.Name)]
	d.Rejected = remember(d.Rejected, e.Hash, maxRejected)
	if d.Held != nil {
		d.Held = nil
		return nil
	}
	d.Pinned = nil
	return nil
}
