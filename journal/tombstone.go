package journal

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/mod/sumdb/note"

	"github.com/floodmark/floodmark"
)

// A Tombstone replaces erased entries of a session. The chain continues: the next entry follows
// Link.
type Tombstone struct {
	Session Session
	// Link is the last entry that was erased.
	Link Link
	// Mark is the session's mark at that entry. It outlives the erasure, so that an untrusted
	// session remains untrusted.
	Mark floodmark.Label
	// At is when the session was erased. Why is «retention» or «owner».
	At  int64 // nanoseconds since 1970, UTC
	Why string
	// Note is all of this as a signed note (C2SP signed-note).
	Note []byte
}

const (
	// MaxWhyBytes bounds the reason on a tombstone, which is one word.
	MaxWhyBytes = 200
	// MaxNoteBytes bounds a signed note. Ours have a few hundred bytes besides names.
	MaxNoteBytes = 16 << 10
)

// ErrForged says that a signed note does not verify or does not match.
var ErrForged = errors.New("journal: not signed by this key")

// The first line of a tombstone's note. It has a space, so no key has this name, and no tombstone
// can pass for a checkpoint.
const tombstoneTitle = "floodmark tombstone"

// SignTombstone returns t with its note. Erasing without the key leaves a journal that does not
// verify.
func SignTombstone(signer note.Signer, t Tombstone) (Tombstone, error) {
	if err := t.check(); err != nil {
		return Tombstone{}, err
	}
	signed, err := note.Sign(&note.Note{Text: t.text()}, signer)
	if err != nil {
		return Tombstone{}, fmt.Errorf("sign the tombstone of session %s: %w", plain(t.Session), err)
	}
	t.Note = signed
	return t, nil
}

// CheckTombstone returns [ErrForged] unless t's note is signed by one of keys and matches t
// exactly.
func CheckTombstone(keys note.Verifiers, t Tombstone) error {
	signed, err := OpenTombstone(keys, t.Note)
	if err != nil {
		return err
	}
	if signed.text() != t.text() {
		return fmt.Errorf("%w: the tombstone of session %s says something else than its note", ErrForged, plain(t.Session))
	}
	return nil
}

// OpenTombstone reads a tombstone from its signed note.
func OpenTombstone(keys note.Verifiers, signed []byte) (Tombstone, error) {
	text, _, err := openNote(keys, signed)
	if err != nil {
		return Tombstone{}, fmt.Errorf("read a tombstone: %w", err)
	}
	t, err := parseTombstone(text)
	if err != nil {
		return Tombstone{}, fmt.Errorf("read a tombstone: %w", err)
	}
	t.Note = signed
	return t, nil
}

func (t Tombstone) check() error {
	switch {
	case t.Session.ID == "" || len(t.Session.ID) > MaxSessionBytes || len(t.Session.Tenant) > MaxTenantBytes:
		return errors.New("tombstone: no such session can be")
	case t.Link.Seq == 0:
		return fmt.Errorf("tombstone of session %s: nothing was erased", plain(t.Session))
	case !t.Mark.Valid():
		return fmt.Errorf("tombstone of session %s: no such mark", plain(t.Session))
	case t.Why == "" || len(t.Why) > MaxWhyBytes || !oneLine(t.Why):
		return fmt.Errorf("tombstone of session %s: the reason is one line of 1 to %d bytes", plain(t.Session), MaxWhyBytes)
	}
	return nil
}

// text is the signed text. Texts and tombstones correspond one to one.
//
// Rules for changing it: none of this changes, ever. A new form has a new title.
func (t Tombstone) text() string {
	return strings.Join([]string{
		tombstoneTitle,
		Leaf{Session: t.Session, Link: t.Link}.String(),
		t.Mark.Trust.String() + " " + t.Mark.Secrecy.String(),
		instant(t.At),
		t.Why,
		"",
	}, "\n")
}

func parseTombstone(text string) (Tombstone, error) {
	lines := strings.Split(text, "\n")
	if len(lines) != 6 || lines[0] != tombstoneTitle {
		return Tombstone{}, errors.New("not a tombstone")
	}
	leaf, err := ParseLeaf(lines[1])
	if err != nil {
		return Tombstone{}, err
	}
	t := Tombstone{Session: leaf.Session, Link: leaf.Link, Why: lines[4]}
	trust, secrecy, _ := strings.Cut(lines[2], " ")
	if t.Mark.Trust, err = floodmark.ParseTrust(trust); err != nil {
		return Tombstone{}, err
	}
	if t.Mark.Secrecy, err = floodmark.ParseSecrecy(secrecy); err != nil {
		return Tombstone{}, err
	}
	if t.At, err = parseInstant(lines[3]); err != nil {
		return Tombstone{}, err
	}
	if err := t.check(); err != nil {
		return Tombstone{}, err
	}
	if t.text() != text {
		return Tombstone{}, errors.New("not in the form we write")
	}
	return t, nil
}

// openNote returns the text of a note signed by one of keys, and that key's name.
func openNote(keys note.Verifiers, signed []byte) (text, name string, err error) {
	if len(signed) > MaxNoteBytes {
		return "", "", fmt.Errorf("%w: a note of %d bytes, at most %d", ErrForged, len(signed), MaxNoteBytes)
	}
	n, err := note.Open(signed, keys)
	if err != nil {
		return "", "", fmt.Errorf("%w: %w", ErrForged, err)
	}
	// We write one signature in one form. Anything else was added later.
	if want := n.Text + "\n— " + n.Sigs[0].Name + " " + canonical(n.Sigs[0].Base64) + "\n"; want != string(signed) {
		return "", "", fmt.Errorf("%w: the note has more than one signature of ours", ErrForged)
	}
	return n.Text, n.Sigs[0].Name, nil
}

// canonical decodes and re-encodes base64, because a decoder accepts several forms of the same
// bytes.
func canonical(s string) string {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return ""
	}
	return base64.StdEncoding.EncodeToString(b)
}

// instant formats nanoseconds since 1970 for people.
func instant(at int64) string { return time.Unix(0, at).UTC().Format(time.RFC3339Nano) }

// parseInstant reads exactly what instant writes.
func parseInstant(s string) (int64, error) {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil || instant(t.UnixNano()) != s {
		return 0, fmt.Errorf("not a time: %q", s)
	}
	return t.UnixNano(), nil
}

// oneLine reports whether s can be a readable line of a note.
func oneLine(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}

// plain is a session's name, safe to show on a terminal.
func plain(s Session) string {
	name := s.String()
	if !oneLine(name) || strings.ContainsAny(name, " \"") {
		return strconv.Quote(name)
	}
	return name
}
