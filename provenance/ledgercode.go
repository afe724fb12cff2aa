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

// ledgerState is the stored form of a Ledger: a snapshot that saves replaying
// facts. The form may change freely, because a snapshot that cannot be read is
// rebuilt from the journal.
type ledgerState struct {
	Sources  []floodmark.Source   `json:"sources,omitempty"`
	Dead     []floodmark.NodeID   `json:"dead,omitempty"`
	Back     []comeback           `json:"back,omitempty"`
	Endorsed []floodmark.Endorsed `json:"endorsed,omitempty"`
}

// A comeback is an entry with its [entry.since], if that is not 0.
type comeback struct {
	Node  floodmark.NodeID `json:"node"`
	Since floodmark.NodeID `json:"since"`
}

// MarshalJSON writes a snapshot. Its receiver is not a pointer, because then a
// ledger in a struct that is passed by value would be written as {}, which is
// read as an empty ledger with a clean mark.
func (l Ledger) MarshalJSON() ([]byte, error) {
	state := l.state()
	state.Sources = l.packed.List()
	return json.Marshal(state)
}

// state returns the snapshot of a ledger without its sources.
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

// JoinLedger is the inverse of [Ledger.Split]. Like UnmarshalJSON it refuses a snapshot that no
// sequence of facts can produce.
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

// UnmarshalJSON reads a snapshot. It refuses a snapshot that no sequence of facts can produce. If
// it returns an error, the ledger is unchanged.
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

// exportKey returns a key that two sources share only if they have the same content,
// label, origin and inputs and wait for the same call. Two summaries never share a
// key, because each was made from everything older.
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
