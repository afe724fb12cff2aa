package journal

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/floodmark/floodmark"
)

// A Leaf is a session's last entry at the time of a checkpoint. A checkpoint signs the root of the
// tree over all leaves so far.
type Leaf struct {
	Session Session
	Link    Link
}

// String is the only form of a leaf: tenant, session, number and hash. Names are in hex, because
// they may contain any bytes; an empty tenant is a dash.
//
// Rules for changing it: none of this changes, ever.
func (l Leaf) String() string {
	tenant := "-"
	if l.Session.Tenant != "" {
		tenant = hex.EncodeToString([]byte(l.Session.Tenant))
	}
	return tenant + " " + hex.EncodeToString([]byte(l.Session.ID)) + " " + strconv.FormatUint(l.Link.Seq, 10) + " " + l.Link.Hash.String()
}

// ParseLeaf reads exactly what [Leaf.String] writes.
func ParseLeaf(line string) (Leaf, error) {
	parts := strings.Split(line, " ")
	if len(parts) != 4 {
		return Leaf{}, errors.New("a head is four words: tenant, session, number, hash")
	}
	var l Leaf
	if parts[0] != "-" {
		tenant, err := hex.DecodeString(parts[0])
		if err != nil {
			return Leaf{}, fmt.Errorf("tenant of a head: %w", err)
		}
		l.Session.Tenant = string(tenant)
	}
	id, err := hex.DecodeString(parts[1])
	if err != nil {
		return Leaf{}, fmt.Errorf("session of a head: %w", err)
	}
	l.Session.ID = floodmark.SessionID(id)
	if l.Link.Seq, err = strconv.ParseUint(parts[2], 10, 64); err != nil {
		return Leaf{}, fmt.Errorf("number of a head: %w", err)
	}
	if l.Link.Hash, err = parseHash(parts[3]); err != nil {
		return Leaf{}, err
	}
	if len(id) == 0 || len(id) > MaxSessionBytes || len(l.Session.Tenant) > MaxTenantBytes || l.Link.Seq == 0 || l.String() != line {
		return Leaf{}, errors.New("a head that we did not write")
	}
	return l, nil
}

func parseHash(s string) (Hash, error) {
	var h Hash
	if len(s) != hex.EncodedLen(len(h)) {
		return Hash{}, errors.New("a hash of the wrong length")
	}
	if _, err := hex.Decode(h[:], []byte(s)); err != nil {
		return Hash{}, fmt.Errorf("a hash: %w", err)
	}
	if h.String() != s {
		return Hash{}, errors.New("a hash is written in lower case")
	}
	return h, nil
}

// A Checkpoint is a signed statement about the log of heads (C2SP
// tlog-checkpoint): this many leaves, with this root.
type Checkpoint struct {
	Origin string // the name of the key that signed it
	Size   int64  // how many leaves
	Root   tlog.Hash
	// The rest are extension lines.
	At    time.Time
	Store string // which journal it is about; may be empty
	Mark  Mark   // the mark of the last head it covers
}

// MaxStoreBytes bounds the name of a store in a checkpoint.
const MaxStoreBytes = 200

// Sign returns c as a signed note. The origin is the key's name.
func (c Checkpoint) Sign(signer note.Signer) ([]byte, error) {
	c.Origin = signer.Name()
	if len(c.Store) > MaxStoreBytes || !oneLine(c.Store) {
		return nil, fmt.Errorf("checkpoint: the store's name is one line of at most %d bytes", MaxStoreBytes)
	}
	signed, err := note.Sign(&note.Note{Text: c.text()}, signer)
	if err != nil {
		return nil, fmt.Errorf("sign a checkpoint: %w", err)
	}
	return signed, nil
}

// text is the signed text.
//
// Rules for changing it: the first three lines never change. An extension line is a word and a
// value; readers refuse unknown words.
func (c Checkpoint) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%d\n%s\n", c.Origin, c.Size, c.Root)
	fmt.Fprintf(&b, "time %s\n", instant(c.At.UnixNano()))
	if c.Store != "" {
		fmt.Fprintf(&b, "store %s\n", c.Store)
	}
	fmt.Fprintf(&b, "mark %d\n", c.Mark)
	return b.String()
}

// OpenCheckpoint reads a checkpoint and verifies it with one of keys.
func OpenCheckpoint(keys note.Verifiers, signed []byte) (Checkpoint, error) {
	text, name, err := openNote(keys, signed)
	if err != nil {
		return Checkpoint{}, fmt.Errorf("read a checkpoint: %w", err)
	}
	c, err := parseCheckpoint(text)
	if err != nil {
		return Checkpoint{}, fmt.Errorf("read a checkpoint: %w", err)
	}
	if c.Origin != name {
		return Checkpoint{}, fmt.Errorf("read a checkpoint: %w: its origin is %q, its key %q", ErrForged, c.Origin, name)
	}
	return c, nil
}

func parseCheckpoint(text string) (Checkpoint, error) {
	lines := strings.Split(text, "\n")
	if len(lines) < 5 {
		return Checkpoint{}, errors.New("too few lines")
	}
	c := Checkpoint{Origin: lines[0]}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil || size < 0 || size > math.MaxInt64/4 {
		return Checkpoint{}, fmt.Errorf("no such size: %q", lines[1])
	}
	c.Size = size
	if c.Root, err = tlog.ParseHash(lines[2]); err != nil {
		return Checkpoint{}, err
	}
	for _, line := range lines[3 : len(lines)-1] {
		if err := c.extend(line); err != nil {
			return Checkpoint{}, err
		}
	}
	if c.text() != text {
		return Checkpoint{}, errors.New("not in the form we write")
	}
	return c, nil
}

func (c *Checkpoint) extend(line string) error {
	word, value, _ := strings.Cut(line, " ")
	switch word {
	case "time":
		at, err := parseInstant(value)
		c.At = time.Unix(0, at).UTC()
		return err
	case "store":
		if len(value) > MaxStoreBytes || !oneLine(value) {
			return errors.New("no such store")
		}
		c.Store = value
		return nil
	case "mark":
		mark, err := strconv.ParseInt(value, 10, 64)
		c.Mark = Mark(mark)
		return err
	}
	return fmt.Errorf("unknown line %q: written by a newer version?", line)
}
