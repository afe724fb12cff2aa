package soak

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"connectrpc.com/connect"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/wire"
)

// A ledger holds what was acknowledged, and what of that was found in the journal.
type ledger struct {
	mu       sync.Mutex // guards what is below
	sessions map[string]*account
	acked    int // events
	refused  int // answered with a no because they could not be judged

	power time.Time // when the power was cut; zero if it was not
	late  int       // answers that came after that
}

// An account is what a ledger knows of one session.
type account struct {
	acked   []string          // the keys that must be in the journal, in order
	proved  int               // how many of the keys in acked were found
	found   map[string]uint64 // the number of the entry with each key
	last    journal.Link      // the last entry that was read
	mark    floodmark.Label   // the mark when it was last read
	ended   bool
	asked   bool // its erasure was asked for …
	granted bool // … and confirmed
	erased  bool
}

func newLedger() *ledger { return &ledger{sessions: map[string]*account{}} }

func (l *ledger) account(session string) *account {
	a, ok := l.sessions[session]
	if !ok {
		a = &account{found: map[string]uint64{}, mark: floodmark.Clean()}
		l.sessions[session] = a
	}
	return a
}

// note adds one line of the load to the ledger.
func (l *ledger) note(t told) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.Refused {
		l.refused++
		return
	}
	if !l.power.IsZero() && t.At.After(l.power) {
		l.late++ // without power there is no answer
		return
	}
	l.acked++
	a := l.account(t.Session)
	a.acked = append(a.acked, t.Keys...)
	a.ended = a.ended || t.Ended
	for _, k := range t.Keys {
		if child, ok := strings.CutPrefix(k, "spawned "); ok {
			c := l.account(child)
			c.acked = append([]string{"forked"}, c.acked...)
		}
	}
}

// powerGone makes the ledger ignore answers from now on. A machine without power gives no answers,
// but here only the file system was stopped, and ext4 may report success for an fsync that was
// under way.
func (l *ledger) powerGone() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.power = time.Now()
}

// powerBack makes the ledger take answers again.
func (l *ledger) powerBack() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.power = time.Time{}
}

// keysOf returns the keys of a fact. An answer to the load promises that keys are in the journal.
func keysOf(f floodmark.Fact) []string {
	switch f := f.(type) {
	case floodmark.SessionOpened:
		return []string{"opened"}
	case floodmark.SessionForked:
		return []string{"forked"}
	case floodmark.SessionClosed:
		return []string{"closed"}
	case floodmark.ContentSeen:
		return []string{"seen " + f.Digest.String()}
	case floodmark.ContentArrived:
		return []string{"seen " + f.Digest.String()}
	case floodmark.ModelAnswered:
		var keys []string
		for _, c := range f.Calls {
			keys = append(keys, "answered "+string(c.Call))
		}
		return keys
	case floodmark.ActionDecided:
		name := string(f.Action.Call)
		if f.Action.Kind == floodmark.CallModel {
			name = fmt.Sprint(f.Action.Iteration)
		}
		return []string{fmt.Sprintf("decided %s %s %s", f.Action.Kind, name, f.Decision.Verdict)}
	case floodmark.ChildSpawned:
		return []string{"spawned " + string(f.Child)}
	case floodmark.ChildEnded:
		return []string{"ended " + string(f.Child)}
	}
	return nil
}

// errLost says that something acknowledged is not in the journal any more.
var errLost = errors.New("LOST")

// check compares every session that has new acknowledgements with the journal. If whole is true, it
// compares all sessions from their first entries. An error that is not errLost means that the
// monitor did not answer.
func (l *ledger) check(ctx context.Context, o wire.OwnerServiceClient, whole bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(l.sessions)) {
		a := l.sessions[name]
		if a.erased || (!whole && !a.asked && a.proved == len(a.acked)) {
			continue // nothing was acknowledged since the last check
		}
		if whole {
			a.proved, a.found = 0, map[string]uint64{}
		}
		if err := a.read(ctx, o, name, whole); err != nil {
			return fmt.Errorf("session %s: %w", name, err)
		}
		if err := a.prove(); err != nil {
			return fmt.Errorf("session %s: %w", name, err)
		}
		if err := a.compareMark(ctx, o, name); err != nil {
			return fmt.Errorf("session %s: %w", name, err)
		}
	}
	return nil
}

// read reads the entries of a session that came since the last read, or all if whole is true. It
// checks their chain, and that the last entry which it read before is still there.
func (a *account) read(ctx context.Context, o wire.OwnerServiceClient, name string, whole bool) error {
	known, at := a.last, journal.Link{}
	after := uint64(0)
	if !whole && known.Seq > 0 {
		after = known.Seq - 1
	}
	stream, err := o.Export(ctx, &wire.ExportRequest{Session: name, After: after})
	if err != nil {
		return err
	}
	defer stream.Close()
	for stream.Receive() {
		if stone := stream.Msg().GetTombstone(); stone != nil {
			// The monitor itself may have written entries since.
			same := stone.GetSeq() != known.Seq || stone.GetHash() == known.Hash.String()
			if !a.asked || stone.GetSeq() < known.Seq || !same {
				return fmt.Errorf("%w: a tombstone nobody asked for, at %d of %d", errLost, stone.GetSeq(), known.Seq)
			}
			a.erased = true
			continue
		}
		e, err := entryOf(stream.Msg().GetEntry())
		if err != nil {
			return err
		}
		if at.Seq == 0 && after > 0 {
			if e.Link() != known {
				return fmt.Errorf("%w: entry %d is not the one that was there", errLost, known.Seq)
			}
		} else if err := journal.Check(journal.Session{ID: floodmark.SessionID(name)}, at, e); err != nil {
			return fmt.Errorf("%w: %w", errLost, err)
		}
		at = e.Link()
		if e.Seq == known.Seq && at != known {
			return fmt.Errorf("%w: entry %d is another one", errLost, known.Seq)
		}
		fact, err := e.Fact()
		if err != nil {
			return fmt.Errorf("%w: %w", errLost, err)
		}
		for _, k := range keysOf(fact) {
			a.found[k] = e.Seq
		}
	}
	if err := stream.Err(); connect.CodeOf(err) == connect.CodeNotFound {
		return fmt.Errorf("%w: it is gone", errLost)
	} else if err != nil {
		return err
	}
	switch {
	case a.erased:
	case a.granted:
		return fmt.Errorf("%w: it was erased, and is there again", errLost)
	case at.Seq < known.Seq:
		return fmt.Errorf("%w: it ends at %d and had %d entries", errLost, at.Seq, known.Seq)
	default:
		a.last = at
	}
	return nil
}

func entryOf(w *wire.Entry) (journal.Entry, error) {
	e := journal.Entry{Seq: w.GetSeq(), At: w.GetAt(), Kind: w.GetKind(), Body: []byte(w.GetBody())}
	for _, h := range []struct {
		to   *journal.Hash
		text string
	}{{&e.Prev, w.GetPrev()}, {&e.Hash, w.GetHash()}} {
		data, err := hex.DecodeString(h.text)
		if err != nil || len(data) != len(h.to) {
			return e, fmt.Errorf("the hash %q is none", h.text)
		}
		copy(h.to[:], data)
	}
	return e, nil
}

// prove returns an error unless everything acknowledged was found, in the same order.
func (a *account) prove() error {
	if a.erased {
		a.proved = len(a.acked)
		return nil
	}
	for ; a.proved < len(a.acked); a.proved++ {
		key := a.acked[a.proved]
		at, ok := a.found[key]
		if !ok {
			return fmt.Errorf("%w: %q was acknowledged, and the journal ends at %d without it", errLost, key, a.last.Seq)
		}
		if a.proved > 0 && a.found[a.acked[a.proved-1]] > at {
			return fmt.Errorf("%w: %q stands before %q", errLost, key, a.acked[a.proved-1])
		}
	}
	return nil
}

// compareMark checks that the mark did not rise.
func (a *account) compareMark(ctx context.Context, o wire.OwnerServiceClient, name string) error {
	if a.last.Seq == 0 {
		return nil // no entry of the session was ever read
	}
	got, err := o.Show(ctx, &wire.ShowRequest{Session: name})
	if err != nil {
		return err
	}
	trust, err1 := floodmark.ParseTrust(got.GetSession().GetMark().GetTrust())
	secrecy, err2 := floodmark.ParseSecrecy(got.GetSession().GetMark().GetSecrecy())
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	mark := floodmark.Label{Trust: trust, Secrecy: secrecy}
	if !mark.AtLeastAsSafe(a.mark) {
		return fmt.Errorf("%w: the mark rose from %s to %s", errLost, a.mark, mark)
	}
	a.mark = mark
	return nil
}

// finished returns a session that has ended, was proved and is not to be erased yet. If there is
// none, it returns the empty string.
func (l *ledger) finished() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(l.sessions)) {
		if a := l.sessions[name]; a.ended && !a.asked && a.last.Seq > 0 && a.proved == len(a.acked) {
			return name
		}
	}
	return ""
}

// forget notes that the erasure of a session was asked for, and whether it was confirmed.
func (l *ledger) forget(session string, granted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sessions[session].asked, l.sessions[session].granted = true, granted
}

// A count is how many events were answered so far.
type count struct{ acked, refused int }

func (l *ledger) counted() count {
	l.mu.Lock()
	defer l.mu.Unlock()
	return count{l.acked, l.refused}
}
