package monitor

import (
	"context"
	"errors"
	"fmt"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/provenance"
)

// read rebuilds a session from the journal without taking its seat, and checks every entry against
// the chain. If the chain is broken it reads again, because the session may have been erased during
// the first read.
func (m *Monitor) read(ctx context.Context, s journal.Session, ring provenance.Ring) (memory, error) {
	mem, err := m.readOnce(ctx, s, ring)
	if errors.Is(err, journal.ErrBroken) {
		mem, err = m.readOnce(ctx, s, ring)
	}
	if err != nil {
		return memory{}, fmt.Errorf("read session %s: %w", s, err)
	}
	return mem, nil
}

func (m *Monitor) readOnce(ctx context.Context, s journal.Session, ring provenance.Ring) (memory, error) {
	start, err := m.cfg.Journal.Begin(ctx, s)
	if err != nil {
		return memory{}, err
	}
	if t := start.Tombstone; t != nil && m.cfg.Erased != nil {
		if err := m.cfg.Erased(*t); err != nil {
			return memory{}, broken(s, "its tombstone: "+err.Error())
		}
	}
	mem, refused := restore(start, s, ring)
	through := start.Link // the entries must reach this link
	if mem.state == nil {
		mem = beginning(start)
	}
	for e, err := range m.cfg.Journal.Read(ctx, s, mem.link.Seq) {
		if err != nil {
			return memory{}, err
		}
		if err := mem.follow(s, e); err != nil {
			return memory{}, err
		}
		if e.Seq == through.Seq && e.Hash != through.Hash {
			return memory{}, broken(s, "its snapshot belongs to another entry")
		}
	}
	if mem.link.Seq < through.Seq {
		return memory{}, broken(s, "it is shorter than its snapshot says")
	}
	if refused != nil {
		mem.since = forceSnapshot
		mem.seen = append(mem.seen, floodmark.IncidentSeen{
			Kind: "snapshot-refused",
			Text: "a snapshot of this session was not what was written; every entry from the first one on is, and the state was made from them",
		})
	}
	return mem, nil
}

// forceSnapshot is a number of facts after which every session gets a snapshot.
const forceSnapshot = 1 << 30

// restore opens the newest snapshot. The memory has no state if there is no snapshot or if it is in
// another format. An error means that the snapshot does not verify.
func restore(start journal.Start, s journal.Session, ring provenance.Ring) (memory, error) {
	if len(start.Snapshot) == 0 {
		return memory{}, nil
	}
	sealed, data, err := openSnapshot(ring, s, start.Link, start.Snapshot)
	if err != nil || data == nil {
		return memory{}, err
	}
	state, err := kernel.Restore(data)
	if err != nil {
		return memory{}, nil //nolint:nilerr // an older format of ours: the entries have it all
	}
	if state.Key != sealed {
		return memory{}, broken(s, "its snapshot was sealed with another key than its own")
	}
	return memory{state: state, link: start.Link, stone: start.Tombstone, kept: state.Ledger.Len()}, nil
}

// beginning returns the state of a session before its first entry, or after its tombstone.
func beginning(start journal.Start) memory {
	if t := start.Tombstone; t != nil {
		return memory{state: kernel.Forgotten(t.Mark), link: t.Link, stone: t}
	}
	return memory{state: kernel.NewState()}
}

// follow applies one more entry.
func (mem *memory) follow(s journal.Session, e journal.Entry) error {
	if err := journal.Check(s, mem.link, e); err != nil {
		return err
	}
	f, err := e.Fact()
	if err != nil {
		return err
	}
	if err := mem.state.Apply(f); err != nil {
		return fmt.Errorf("entry %d: %w", e.Seq, err)
	}
	mem.link = e.Link()
	mem.since++
	return nil
}
