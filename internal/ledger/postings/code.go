package postings

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Format is the first byte of encoded postings. It must change when the encoding changes, and when
// tokens are found or normalised in another way.
const Format = 2

// minPostingBytes is the smallest size of an encoded posting.
const minPostingBytes = 9

// MarshalBinary encodes the postings: the format, their number, then each hash and its offset. A
// posting takes about eleven bytes.
func (ps Postings) MarshalBinary() ([]byte, error) {
	if len(ps) > MaxPostings {
		return nil, fmt.Errorf("%d postings, at most %d", len(ps), MaxPostings)
	}
	out := make([]byte, 0, 4+len(ps)*11)
	out = append(out, Format)
	out = binary.AppendUvarint(out, uint64(len(ps)))
	for _, p := range ps {
		out = binary.BigEndian.AppendUint64(out, uint64(p.Hash))
		out = binary.AppendUvarint(out, uint64(p.Offset))
	}
	return out, nil
}

// UnmarshalBinary reads what MarshalBinary wrote and refuses everything else.
// On error it leaves the postings unchanged.
func (ps *Postings) UnmarshalBinary(data []byte) error {
	if len(data) == 0 || data[0] != Format {
		return errors.New("read postings: unknown format")
	}
	count, n := binary.Uvarint(data[1:])
	rest := data[1+max(n, 0):]
	if n <= 0 || count > MaxPostings || count > uint64(len(rest)/minPostingBytes) {
		return errors.New("read postings: wrong count")
	}
	var out Postings
	if count > 0 {
		out = make(Postings, count)
	}
	last := Posting{}
	for i := range out {
		if len(rest) < minPostingBytes {
			return errors.New("read postings: cut off")
		}
		hash := Hash(binary.BigEndian.Uint64(rest))
		offset, n := binary.Uvarint(rest[8:])
		if n <= 0 || offset > 1<<32-1 {
			return errors.New("read postings: wrong offset")
		}
		next := Posting{Hash: hash, Offset: uint32(offset)}
		if i > 0 && (last.Hash > hash || last.Hash == hash && last.Offset >= next.Offset) {
			return errors.New("read postings: not in order")
		}
		out[i], last = next, next
		rest = rest[8+n:]
	}
	if len(rest) != 0 {
		return fmt.Errorf("read postings: %d bytes too many", len(rest))
	}
	*ps = out
	return nil
}
