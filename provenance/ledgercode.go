package provenance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/floodmark/floodmark"
)

// ledgerState is a Ledger as it is written down. It is a snapshot that saves
// replaying facts, not a record: it may change freely, and what cannot be read
// is rebuilt from the journal.
type ledgerState struct {
	Sources  []floodmark.Source   `json:"sources,omitempty"`
	Dead     []floodmark.NodeID   `json:"dead,omitempty"`
	Back     []comeback           `json:"back,omitempty"`
	Endorsed []floodmark.Endorsed `json:"endorsed,omitempty"`
}

// A comeback is a source that was revived, and the node that was next then.
type comeback struct {
	Node  floodmark.NodeID `json:"node"`
	Since floodmark.NodeID `json:"since"`
}

// MarshalJSON writes a snapshot. It works on a copy, too: a ledger inside a
// value would otherwise be written as nothing, which reads as clean.
func (l Ledger) MarshalJSON() ([]byte, error) {
	state := l.state()
	state.Sources = l.packed.List()
	return json.Marshal(state)
}

// state is what a ledger holds besides its sources.
func (l *Ledger) state() ledgerState {
	state := ledgerState{Endorsed: l.endorsed}
	for i, e := range l.entries {
		if e.dead {
			state.Dead = append(state.Dead, floodmark.NodeID(i))
		}
		if e.since != 0 {
			state.Back = append(state.Back, comeback{Node: floodmark.NodeID(i), Since: floodmark.NodeID(e.since)})
		}
	}
	return state
}

// Split takes a snapshot in two parts: the sources, for a caller with a better
// way to write them, and the rest. [JoinLedger] puts them together again.
func (l *Ledger) Split() (sources []floodmark.Source, rest []byte, err error) {
	rest, err = json.Marshal(l.state())
	return l.packed.List(), rest, err
}

// JoinLedger is the inverse of [Ledger.Split]. Like UnmarshalJSON it refuses
// what no history could have led to.
func JoinLedger(sources []floodmark.Source, rest []byte) (*Ledger, error) {
	state, err := readLedgerState(rest)
	if err != nil {
		return nil, err
	}
	if len(state.Sources) > 0 {
		return nil, errors.New("read ledger: sources in two places")
	}
	state.Sources = sources
	l, err := state.ledger()
	if err != nil {
		return nil, fmt.Errorf("read ledger: %w", err)
	}
	return l, nil
}

// UnmarshalJSON reads a snapshot. It refuses what no history could have led
// to; with an error the ledger is as it was.
func (l *Ledger) UnmarshalJSON(data []byte) error {
	state, err := readLedgerState(data)
	if err != nil {
		return err
	}
	fresh, err := state.ledger()
	if err != nil {
		return fmt.Errorf("read ledger: %w", err)
	}
	*l = *fresh
	return nil
}

func readLedgerState(data []byte) (state ledgerState, err error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&state); err != nil {
		return state, fmt.Errorf("read ledger: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return state, errors.New("read ledger: more than one value")
	}
	return state, nil
}

func (state ledgerState) ledger() (*Ledger, error) {
	l := &Ledger{}
	for _, s := range state.Sources {
		if err := l.Add(s); err != nil {
			return nil, err
		}
	}
	for _, n := range state.Dead {
		if !l.Live(n) {
			return nil, fmt.Errorf("source %d cannot be dead", n)
		}
		l.entries[n].dead = true
	}
	for _, b := range state.Back {
		if !l.Live(b.Node) || b.Since <= b.Node || int(b.Since) > l.Len() {
			return nil, fmt.Errorf("source %d cannot have come back at %d", b.Node, b.Since)
		}
		l.entries[b.Node].since = int32(b.Since)
	}
	for _, f := range state.Endorsed {
		before := len(l.endorsed)
		if f.Digest.IsZero() {
			return nil, errors.New("endorsement of nothing")
		}
		l.forget(f.Digest)
		l.endorsed = append(l.endorsed, f)
		if len(l.endorsed) != before+1 {
			return nil, fmt.Errorf("two endorsements of %s", f.Digest.Short())
		}
	}
	l.settle(0)
	return l, nil
}

// exportKey tells sources apart that differ in anything that counts: content,
// label, origin, what they were made from, and the call they wait for. Two
// summaries are never the same: each was made from all that is older.
func exportKey(s floodmark.Source) string {
	var b strings.Builder
	b.Write(s.Digest[:])
	b.WriteByte(byte(s.Label.Trust))
	b.WriteByte(byte(s.Label.Secrecy))
	for _, part := range []string{
		string(s.Origin.Kind), s.Origin.Name, s.Origin.Server, s.Origin.Place, s.Origin.Sender, s.Origin.Group,
		strconv.FormatBool(s.Origin.IsOwner), string(s.Call),
	} {
		b.WriteString(strconv.Quote(part))
	}
	if s.Whole {
		b.WriteString(strconv.Itoa(int(s.Node)))
	}
	for _, in := range s.Inputs {
		b.WriteByte(',')
		b.WriteString(strconv.Itoa(int(in)))
	}
	return b.String()
}
