package kernel_test

import (
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/kernel"
)

// An erased session is trusted as little as before, whatever its mark was.
func TestForgottenKeepsTheMark(t *testing.T) {
	for trust := floodmark.Untrusted; trust <= floodmark.System; trust++ {
		for secrecy := floodmark.Secret; secrecy <= floodmark.Public; secrecy++ {
			mark := floodmark.Label{Trust: trust, Secrecy: secrecy}
			s := kernel.Forgotten(mark)
			if s.Mark() != mark || !s.Opened || s.Ledger.Len() != 1 {
				t.Errorf("forgotten at %v: mark %v, opened %t, %d sources", mark, s.Mark(), s.Opened, s.Ledger.Len())
			}
		}
	}
	if got := kernel.Forgotten(floodmark.Label{Trust: 77}).Mark(); got != (floodmark.Label{}) {
		t.Errorf("a mark that does not exist became %v, not the safest", got)
	}
}
