package machines

import (
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"golang.org/x/mod/sumdb/note"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
)

// An Upload is a part of one session of a machine.
type Upload struct {
	Session floodmark.SessionID
	// After is the entry that the first of Entries follows.
	After journal.Link
	// Entries are in order and without gaps.
	Entries []journal.Entry
	// Stone replaces all entries up to After, if they were erased on the machine; otherwise it is
	// nil.
	Stone *journal.Tombstone
}

// StoneKind is the kind of the entry that stores a tombstone. No fact has this kind.
const StoneKind = "tombstone"

// An Outcome says what became of an upload. The zero Outcome means that it was not added.
type Outcome string

// The outcomes.
const (
	Kept Outcome = "kept" // the copy has all of it
	Gap  Outcome = "gap"  // the copy lacks what comes before it, so nothing was added
	Fork Outcome = "fork" // the copy has different entries in its place, and keeps them
)

// KeyOf reads the key that verifies a machine's tombstones.
func KeyOf(public string) (note.Verifiers, error) {
	v, err := note.NewVerifier(public)
	if err != nil || len(public) > journal.MaxNoteBytes {
		return nil, errors.New("the machine's key is no key of a journal")
	}
	return note.VerifierList(v), nil
}

// Check returns why no machine can have written the upload, or nil: its hashes do not follow each
// other, or its tombstone is of something else. It does not compare the upload with the stored
// copy; [Upload.Fit] does.
func (u Upload) Check(keys note.Verifiers) error {
	s := journal.Session{ID: u.Session}
	switch {
	case u.Session == "" || len(u.Session) > journal.MaxSessionBytes:
		return fmt.Errorf("%w: no session has such a name", ErrBad)
	case len(u.Entries) > MaxEntries || len(u.Entries) == 0 && u.Stone == nil:
		return fmt.Errorf("%w: %d entries, want 1 to %d", ErrBad, len(u.Entries), MaxEntries)
	case u.After.Seq > math.MaxInt64-MaxEntries:
		return fmt.Errorf("%w: no session is that long", ErrBad)
	}
	if u.Stone != nil {
		if err := journal.CheckTombstone(keys, *u.Stone); err != nil || u.Stone.Session != s || u.Stone.Link != u.After {
			return fmt.Errorf("%w: the tombstone is not this session's", ErrBad)
		}
	}
	size, prev := 0, u.After
	for _, e := range u.Entries {
		if size += len(e.Body) + len(e.Kind); size > MaxBytes {
			return fmt.Errorf("%w: more than %d bytes", ErrBad, MaxBytes)
		}
		if e.Kind == "" || e.Kind == StoneKind || e.Kind == GoneKind || len(e.Kind) > maxKind || !utf8.ValidString(e.Kind) {
			return fmt.Errorf("%w: no fact is of this kind", ErrBad)
		}
		if journal.Check(s, prev, e) != nil {
			return fmt.Errorf("%w: entry %d does not follow the one before it", ErrBad, prev.Seq+1)
		}
		prev = e.Link()
	}
	return nil
}

// maxKind bounds the word for a kind of fact.
const maxKind = 100

// Last returns where the session ends after this upload.
func (u Upload) Last() journal.Link {
	if n := len(u.Entries); n > 0 {
		return u.Entries[n-1].Link()
	}
	return u.After
}

// Fit returns the entries of an upload that are to be added to a copy that ends at head. known has
// the copy's hashes from u.After to u.Last, by number. Fit adds only to the end of the copy. An
// upload that reaches beyond the end also contains or follows the copy's last entry, so that entry
// is compared.
func (u Upload) Fit(head journal.Link, known map[uint64]journal.Hash) (add []journal.Entry, outcome Outcome) {
	for _, l := range u.links() {
		if have, is := known[l.Seq]; is && have != l.Hash {
			return nil, Fork
		}
	}
	switch {
	case u.After.Seq <= head.Seq: // the copy has After, or a tombstone in its place
	case u.Stone != nil:
		add = append(add, u.stone())
	default:
		return nil, Gap
	}
	for _, e := range u.Entries {
		if e.Seq > head.Seq {
			add = append(add, e)
		}
	}
	return add, Kept
}

// links returns the links of all entries that an upload contains or follows.
func (u Upload) links() []journal.Link {
	list := make([]journal.Link, 0, len(u.Entries)+1)
	if u.After.Seq > 0 {
		list = append(list, u.After)
	}
	for _, e := range u.Entries {
		list = append(list, e.Link())
	}
	return list
}

// stone returns the entry that stores the tombstone. It has the number of the last entry that the
// tombstone replaces.
func (u Upload) stone() journal.Entry {
	return journal.Entry{Seq: u.After.Seq, At: u.Stone.At, Hash: u.After.Hash, Kind: StoneKind, Body: u.Stone.Note}
}
