package journal

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"unicode/utf8"

	"golang.org/x/mod/sumdb/note"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/factjson"
)

// MaxExportLine bounds one line of an export: the largest fact in base64, with
// names around it.
const MaxExportLine = factjson.MaxBytes*3/2 + 64<<10

// An exportLine is one line: an entry, or the tombstone before the first one.
//
// Rules for changing it: fields are never renamed or given a new meaning.
type exportLine struct {
	Tenant  string `json:"tenant"`
	Session string `json:"session"`
	Seq     uint64 `json:"seq,omitempty"`
	At      string `json:"at,omitempty"`
	Prev    string `json:"prev,omitempty"`
	Hash    string `json:"hash,omitempty"`
	Kind    string `json:"kind,omitempty"`
	// Fact is the body, byte for byte. A body that JSON would change is in Body, in base64: we
	// never write such a body, but it is exported as found.
	Fact json.RawMessage `json:"fact,omitempty"`
	Body []byte          `json:"body,omitempty"`
	// Tombstone is a signed note. The first entry follows the one it names.
	Tombstone string `json:"tombstone,omitempty"`
}

// Export writes a session as one JSON object per line, with all that is needed to verify its chain
// independently. It verifies nothing itself.
func Export(ctx context.Context, j Journal, s Session, w io.Writer) error {
	if !utf8.ValidString(s.Tenant) || !utf8.ValidString(string(s.ID)) {
		return fmt.Errorf("export session %s: its name is not text", plain(s))
	}
	start, err := j.Begin(ctx, s)
	if err != nil {
		return fmt.Errorf("export session %s: %w", plain(s), err)
	}
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	lines := 0
	put := func(l exportLine) error {
		lines++
		l.Tenant, l.Session = s.Tenant, string(s.ID)
		return enc.Encode(l)
	}
	if t := start.Tombstone; t != nil {
		if err := put(exportLine{Tombstone: string(t.Note)}); err != nil {
			return fmt.Errorf("export session %s: %w", plain(s), err)
		}
	}
	for e, err := range j.Read(ctx, s, 0) {
		if err == nil {
			err = put(lineOf(e))
		}
		if err != nil {
			return fmt.Errorf("export session %s: %w", plain(s), err)
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if lines == 0 {
		return fmt.Errorf("export session %s: %w", plain(s), ErrUnknownSession)
	}
	return out.Flush()
}

func lineOf(e Entry) exportLine {
	l := exportLine{Seq: e.Seq, At: instant(e.At), Prev: e.Prev.String(), Hash: e.Hash.String(), Kind: e.Kind}
	if asItIs(e.Body) {
		l.Fact = e.Body
	} else {
		l.Body = e.Body
	}
	return l
}

// asItIs reports whether JSON within JSON keeps a body unchanged.
func asItIs(body []byte) bool {
	var b bytes.Buffer
	return utf8.Valid(body) && json.Compact(&b, body) == nil && bytes.Equal(b.Bytes(), body) && string(body) != "null"
}

// An Exported is one verified entry of an export.
type Exported struct {
	Session Session
	// Tombstone is not nil where a session begins with erased entries; then there is no entry.
	Tombstone *Tombstone
	Entry     Entry
}

// ReadExport yields what [Export] wrote, and stops with an error at the first line that was
// altered. Sessions follow one another whole. Keys verify tombstones. Missing entries at the end of
// a session show only against a checkpoint.
func ReadExport(r io.Reader, keys note.Verifiers) iter.Seq2[Exported, error] {
	return func(yield func(Exported, error) bool) {
		c := exportCheck{keys: keys, done: map[Session]bool{}}
		in := bufio.NewScanner(r)
		in.Buffer(make([]byte, 0, 64<<10), MaxExportLine)
		line := 0
		for in.Scan() {
			line++
			x, err := c.next(in.Bytes())
			if err != nil {
				yield(Exported{}, fmt.Errorf("line %d: %w", line, err))
				return
			}
			if !yield(x, nil) {
				return
			}
		}
		if err := in.Err(); err != nil {
			yield(Exported{}, fmt.Errorf("line %d: %w", line+1, err))
		}
	}
}

// An exportCheck verifies an export line by line.
type exportCheck struct {
	keys    note.Verifiers
	session Session // zero before the first line
	prev    Link
	done    map[Session]bool
}

func (c *exportCheck) next(text []byte) (Exported, error) {
	var l exportLine
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&l); err != nil {
		return Exported{}, fmt.Errorf("not a line of an export: %w", err)
	}
	if dec.InputOffset() != int64(len(text)) {
		return Exported{}, errors.New("more than one value")
	}
	s := Session{Tenant: l.Tenant, ID: floodmark.SessionID(l.Session)}
	first := s != c.session
	if first {
		if s.ID == "" || c.done[s] {
			return Exported{}, fmt.Errorf("session %s has no name or comes twice", plain(s))
		}
		c.done[s] = true
		c.session, c.prev = s, Link{}
	}
	if l.Tombstone != "" {
		return c.stone(s, l, first)
	}
	e, err := l.entry()
	if err != nil {
		return Exported{}, err
	}
	if err := Check(s, c.prev, e); err != nil {
		return Exported{}, err
	}
	c.prev = e.Link()
	return Exported{Session: s, Entry: e}, nil
}

func (c *exportCheck) stone(s Session, l exportLine, first bool) (Exported, error) {
	t, err := OpenTombstone(c.keys, []byte(l.Tombstone))
	if err != nil {
		return Exported{}, err
	}
	if !first || t.Session != s || l.Seq != 0 || l.At+l.Prev+l.Hash+l.Kind != "" || l.Fact != nil || l.Body != nil {
		return Exported{}, fmt.Errorf("%w: a tombstone that does not belong here", ErrBroken)
	}
	c.prev = t.Link
	return Exported{Session: s, Tombstone: &t}, nil
}

func (l exportLine) entry() (Entry, error) {
	e := Entry{Seq: l.Seq, Kind: l.Kind, Body: l.Fact}
	if l.Fact == nil {
		e.Body = l.Body
	} else if l.Body != nil {
		return Entry{}, errors.New("an entry has a fact or a body, not both")
	}
	var err error
	if e.At, err = parseInstant(l.At); err != nil {
		return Entry{}, err
	}
	if e.Prev, err = parseHash(l.Prev); err != nil {
		return Entry{}, err
	}
	if e.Hash, err = parseHash(l.Hash); err != nil {
		return Entry{}, err
	}
	return e, nil
}

// An ExportReport summarises a verified export.
type ExportReport struct {
	Sessions, Entries, Erased int
	Last                      Leaf // of the last session: to compare with a checkpoint
}

// CheckExport checks a whole export, see [ReadExport].
func CheckExport(r io.Reader, keys note.Verifiers) (ExportReport, error) {
	var sum ExportReport
	for x, err := range ReadExport(r, keys) {
		if err != nil {
			return sum, err
		}
		if x.Session != sum.Last.Session {
			sum.Sessions++
		}
		sum.Last = Leaf{Session: x.Session, Link: x.Entry.Link()}
		if x.Tombstone != nil {
			sum.Erased++
			sum.Last.Link = x.Tombstone.Link
		} else {
			sum.Entries++
		}
	}
	if sum.Sessions == 0 {
		return sum, errors.New("an empty export")
	}
	return sum, nil
}
