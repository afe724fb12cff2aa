package provenance

import (
	"bytes"

	"github.com/floodmark/floodmark"
)

// Counts remember of which sources of one session something holds, so that only those that
// came or changed are looked at again. They change no answer. They belong to whoever judges
// the session; the zero Counts remember nothing.
type Counts struct {
	all   map[any]*count
	bytes int
}

// maxCountBytes bounds what is remembered, in countBytes for each source and key. What is
// beyond it is looked at anew each time.
const (
	maxCountBytes = 16 << 20
	countBytes    = 2
)

// A count is of how many live sources something holds, with how they stood then, as in
// [Ledger.stands]. What holds of a dead one is not known.
type count struct {
	n     int
	at    []byte
	holds []bool
}

// countBlock is how many sources are compared at once with how they stood.
const countBlock = 512

// Count returns of how many live sources something holds. The key names what, for c, which may
// be nil; holds may look at nothing but the origin of a source and its effective trust.
func (l *Ledger) Count(c *Counts, key any, holds func(*floodmark.Source, floodmark.Trust) bool) (n int) {
	known := c.of(key, len(l.stands))
	for from := 0; from < len(l.stands); from += countBlock {
		to := min(from+countBlock, len(l.stands))
		if known != nil && to <= len(known.at) && bytes.Equal(known.at[from:to], l.stands[from:to]) {
			continue
		}
		for i := from; i < to; i++ {
			stands := l.stands[i]
			held := func() bool {
				s := l.packed.At(floodmark.NodeID(i))
				return holds(&s, floodmark.Trust(stands))
			}
			if live := stands&deadBit == 0; known != nil {
				known.look(i, stands, func() bool { return live && held() })
			} else if live && held() {
				n++
			}
		}
	}
	if known != nil {
		return known.n
	}
	return n
}

// of returns what is known of a key in a session of so many sources; nil if nothing may be.
func (c *Counts) of(key any, sources int) *count {
	if c == nil {
		return nil
	}
	known := c.all[key]
	if known == nil {
		known = &count{}
	}
	if more := countBytes * (sources - len(known.at)); c.bytes+more > maxCountBytes {
		return nil
	} else if c.bytes += more; more < 0 { // it was another session's
		*known = count{}
	}
	if c.all == nil {
		c.all = map[any]*count{}
	}
	c.all[key] = known
	return known
}

// look brings a count up to date with a source.
func (k *count) look(i int, stands byte, holds func() bool) {
	switch {
	case i == len(k.at):
		k.at, k.holds = append(k.at, stands), append(k.holds, false)
	case k.at[i] == stands:
		return
	case k.holds[i]:
		k.n--
	}
	if k.at[i], k.holds[i] = stands, holds(); k.holds[i] {
		k.n++
	}
}

// Size is about what they take in memory.
func (c *Counts) Size() int64 { return int64(c.bytes) }

// deadBit is set in the [entry.standing] of a dead source.
const deadBit = 1 << 7

// standing is what of a source may change that a rule may look at.
func (e *entry) standing() byte {
	if e.dead {
		return deadBit | byte(e.effective.Trust)
	}
	return byte(e.effective.Trust)
}
