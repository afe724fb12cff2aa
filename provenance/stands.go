package provenance

import (
	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/ledger/alike"
)

// Stands returns a byte for each source: its trust, and [alike.Dead] if it is dead.
func (l *Ledger) Stands() []byte { return l.stands }

// Origin returns where the source of a known node came from.
func (l *Ledger) Origin(n int) floodmark.Origin { return l.packed.At(floodmark.NodeID(n)).Origin }

// standing returns the byte of a source for [Ledger.Stands]: what may change of a source that a rule
// may look at.
func (e *entry) standing() byte {
	if e.dead {
		return alike.Dead | byte(e.effective.Trust)
	}
	return byte(e.effective.Trust)
}
