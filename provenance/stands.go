package provenance

import (
	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/alike"
)

// Stands says of each source how it stands, as package alike reads it.
func (l *Ledger) Stands() []byte { return l.stands }

// Origin returns where the source of a known node came from.
func (l *Ledger) Origin(n int) floodmark.Origin { return l.packed.At(floodmark.NodeID(n)).Origin }

// standing is what of a source may change that a rule may look at.
func (e *entry) standing() byte {
	if e.dead {
		return alike.Dead | byte(e.effective.Trust)
	}
	return byte(e.effective.Trust)
}
