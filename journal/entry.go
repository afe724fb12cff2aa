package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/factjson"
)

// A Hash commits to an entry and, through its predecessor's hash, to all before it.
type Hash [sha256.Size]byte

func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// A Link names an entry by its number and its hash.
type Link struct {
	Seq  uint64 // from 1, without gaps; 0 is before the first
	Hash Hash
}

// An Entry is one fact in the log.
//
// Rules for changing it: none of this changes, ever. A new form of entry is a new journal.
type Entry struct {
	Seq  uint64
	At   int64 // nanoseconds since 1970, UTC
	Prev Hash
	Hash Hash
	Kind string // of the fact
	Body []byte // its one encoding
}

// Link returns the link of e.
func (e Entry) Link() Link { return Link{Seq: e.Seq, Hash: e.Hash} }

// Time is when the fact was written.
func (e Entry) Time() time.Time { return time.Unix(0, e.At).UTC() }

// Fact decodes the fact.
func (e Entry) Fact() (floodmark.Fact, error) {
	f, err := factjson.Decode(e.Kind, e.Body)
	if err != nil {
		return nil, fmt.Errorf("entry %d: %w", e.Seq, err)
	}
	return f, nil
}

// Genesis is the predecessor of a session's first entry. It binds the chain to the session, so that
// its entries cannot pass for another session's.
func Genesis(s Session) Hash {
	b := make([]byte, 0, 128)
	for _, part := range []string{"floodmark journal", s.Tenant, string(s.ID)} {
		b = binary.BigEndian.AppendUint32(b, uint32(len(part)))
		b = append(b, part...)
	}
	return sha256.Sum256(b)
}

// Seal makes the entries that follow after in session s.
func Seal(s Session, after Link, at time.Time, facts []floodmark.Fact) ([]Entry, error) {
	entries := make([]Entry, len(facts))
	prev, seq := after.Hash, after.Seq
	if seq == 0 {
		prev = Genesis(s)
	}
	room := make([]byte, 0, len(facts)*usualBytes)
	for i, f := range facts {
		seq++
		e := Entry{Seq: seq, At: at.UnixNano(), Prev: prev, Kind: floodmark.KindOf(f)}
		var err error
		if room, err = e.seal(room, f); err != nil {
			return nil, err
		}
		entries[i], prev = e, e.Hash
	}
	return entries, nil
}

// usualBytes is the average size of a sealed entry of a decision.
const usualBytes = 640

// seal sets the body and the hash of e. It appends the hashed bytes to room and returns it; e.Body
// is a part of room, so the body is not copied.
func (e *Entry) seal(room []byte, f floodmark.Fact) ([]byte, error) {
	begin := len(room)
	room = e.head(room)
	body := len(room)
	room, err := factjson.Append(room, f)
	if err != nil {
		return nil, err
	}
	e.Body = room[body:len(room):len(room)]
	binary.BigEndian.PutUint64(room[body-8:], uint64(len(e.Body)))
	e.Hash = sha256.Sum256(room[begin:])
	return room, nil
}

// Check verifies that e was sealed after prev in session s; prev is zero for the first entry.
func Check(s Session, prev Link, e Entry) error {
	want := prev.Hash
	if prev.Seq == 0 {
		want = Genesis(s)
	}
	sum, _ := e.sum(make([]byte, 0, usualBytes))
	if e.Seq != prev.Seq+1 || e.Prev != want || e.Hash != sum {
		return fmt.Errorf("%w: session %s, entry %d", ErrBroken, s, prev.Seq+1)
	}
	return nil
}

// sum hashes every field but Hash. Fields of variable length include their length, so that
// different entries never have the same bytes.
func (e Entry) sum(b []byte) (Hash, []byte) {
	b = append(e.head(b), e.Body...)
	return sha256.Sum256(b), b
}

// head appends the hashed fields before the body.
func (e *Entry) head(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(b, e.Seq)
	b = binary.BigEndian.AppendUint64(b, uint64(e.At))
	b = append(b, e.Prev[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(len(e.Kind)))
	b = append(b, e.Kind...)
	return binary.BigEndian.AppendUint64(b, uint64(len(e.Body)))
}
