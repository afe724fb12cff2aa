package kernel_test

import (
	"bytes"
	"testing"

	"github.com/floodmark/floodmark/kernel"
)

// A snapshot that is cut off, or has a part too many, is refused as a whole.
func TestRestoreRefusesOtherParts(t *testing.T) {
	d := tainted(t, "")
	d.call("mail", `{"to":"eve@news.example"}`)
	data, err := d.state.Snapshot()
	if err != nil || len(d.state.Book.Tickets) == 0 || len(d.state.Refused) == 0 {
		t.Fatalf("%v, %d tickets, %d refused", err, len(d.state.Book.Tickets), len(d.state.Refused))
	}
	if _, err := kernel.Restore(data); err != nil {
		t.Fatal(err)
	}
	for n := range data {
		if s, err := kernel.Restore(data[:n]); err == nil || s != nil {
			t.Fatalf("the first %d of %d bytes are taken for a snapshot", n, len(data))
		}
	}
	for _, more := range []string{"\x00", "\x02{}", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"} {
		if s, err := kernel.Restore(append(bytes.Clone(data), more...)); err == nil || s != nil {
			t.Errorf("with %q behind it, it is taken for a snapshot", more)
		}
	}
	for at := range data {
		changed := bytes.Clone(data)
		changed[at] ^= 0x80
		_, _ = kernel.Restore(changed) // it may be readable, but nothing panics
	}
}
