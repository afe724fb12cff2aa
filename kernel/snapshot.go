package kernel

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/internal/factjson"
	"github.com/floodmark/floodmark/provenance"
)

// A snapshot consists of several parts, each preceded by its length: the state without its large
// parts, the ledger without its sources, and then the large parts. Each large part is stored in a
// fact with a field for it, because facts are written and read fast. The parts may change freely,
// with [github.com/floodmark/floodmark/monitor]'s format of snapshots: a snapshot that cannot be
// read is made again from the journal.
const (
	restPart = iota
	ledgerPart
	sourcesPart
	refusedPart
	ticketParts // one for each ticket
)

// Snapshot writes the state as a compact copy, so that a cold session needs
// one small read instead of a long replay.
func (s *State) Snapshot() ([]byte, error) {
	rest := *s
	rest.Ledger, rest.Refused = provenance.Ledger{}, nil
	rest.Book.Tickets = slices.Clone(s.Book.Tickets)
	for i := range rest.Book.Tickets {
		rest.Book.Tickets[i].Shown = nil
	}
	body, err := json.Marshal(&rest)
	if err != nil {
		return nil, err
	}
	sources, ledger, err := s.Ledger.Split()
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(body)+len(ledger)+len(sources)*sourceBytes+len(s.Refused)*refusedBytes)
	out = appendPart(appendPart(out, body), ledger)
	facts := make([]floodmark.Fact, 0, 2+len(s.Book.Tickets))
	facts = append(facts, floodmark.ChildEnded{Sources: sources}, floodmark.ModelAnswered{Calls: proposals(s.Refused)})
	for _, t := range s.Book.Tickets {
		facts = append(facts, floodmark.TicketOpened{Shown: t.Shown})
	}
	var room []byte
	for _, f := range facts {
		if room, err = factjson.Append(room[:0], f); err != nil {
			return nil, err
		}
		out = appendPart(out, room)
	}
	return out, nil
}

// How many bytes a source and a refused call take in most snapshots.
const (
	sourceBytes  = 256
	refusedBytes = 192
)

func appendPart(out, part []byte) []byte {
	return append(binary.AppendUvarint(out, uint64(len(part))), part...)
}

// Restore is the inverse of [State.Snapshot].
func Restore(data []byte) (*State, error) {
	s, err := restore(data)
	if err != nil {
		return nil, fmt.Errorf("restore session: %w", err)
	}
	for _, text := range s.Owner {
		s.stated.Add(text)
	}
	return s, nil
}

func restore(data []byte) (*State, error) {
	parts, err := readParts(data)
	if err != nil {
		return nil, err
	}
	s := NewState()
	if err := json.Unmarshal(parts[restPart], s); err != nil {
		return nil, err
	}
	if len(parts) != ticketParts+len(s.Book.Tickets) {
		return nil, fmt.Errorf("%d parts for %d tickets", len(parts), len(s.Book.Tickets))
	}
	sources, err := readPart[floodmark.ChildEnded]("child-ended", parts[sourcesPart])
	if err != nil {
		return nil, err
	}
	ledger, err := provenance.JoinLedger(sources.Sources, parts[ledgerPart])
	if err != nil {
		return nil, err
	}
	s.Ledger = *ledger
	refused, err := readPart[floodmark.ModelAnswered]("model-answered", parts[refusedPart])
	if err != nil {
		return nil, err
	}
	for _, p := range refused.Calls {
		s.Refused = append(s.Refused, Refused{Call: p.Call, Tool: p.Tool, Args: p.ArgsDigest})
	}
	return s, readShown(s.Book.Tickets, parts[ticketParts:])
}

// readShown gives the tickets back what they show.
func readShown(tickets []approval.Open, parts [][]byte) error {
	for i, part := range parts {
		shown, err := readPart[floodmark.TicketOpened]("ticket-opened", part)
		if err != nil {
			return err
		}
		tickets[i].Shown = shown.Shown
	}
	return nil
}

func readParts(data []byte) (parts [][]byte, err error) {
	for len(data) > 0 {
		size, n := binary.Uvarint(data)
		if n <= 0 || size > uint64(len(data)-n) {
			return nil, errors.New("it is cut off")
		}
		parts = append(parts, data[n:n+int(size)])
		data = data[n+int(size):]
	}
	if len(parts) < ticketParts {
		return nil, errors.New("it lacks parts")
	}
	return parts, nil
}

func readPart[F floodmark.Fact](kind string, part []byte) (f F, err error) {
	read, err := factjson.Decode(kind, part)
	if err != nil {
		return f, err
	}
	f, ok := read.(F)
	if !ok {
		return f, fmt.Errorf("a part is %T", read)
	}
	return f, nil
}

func proposals(list []Refused) []floodmark.Proposed {
	all := make([]floodmark.Proposed, len(list))
	for i, r := range list {
		all[i] = floodmark.Proposed{Call: r.Call, Tool: r.Tool, ArgsDigest: r.Args}
	}
	return all
}
