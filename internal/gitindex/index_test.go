package gitindex

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
)

// list writes one of version 2, with a clock for all files.
func list(clock byte, names ...string) []byte {
	b := binary.BigEndian.AppendUint32([]byte("DIRC"), 2)
	b = binary.BigEndian.AppendUint32(b, uint32(len(names)))
	for _, name := range names {
		at := len(b)
		b = append(b, bytes.Repeat([]byte{clock}, 24)...)                         // times, device, inode
		b = append(b, 0, 0, 0x81, 0xa4)                                           // mode
		b = append(b, bytes.Repeat([]byte{clock}, 12)...)                         // user, group, size
		b = append(append(b, bytes.Repeat([]byte{7}, 20)...), 0, byte(len(name))) // object, flags
		b = append(append(b, name...), 0)
		for (len(b)-at)%8 != 0 {
			b = append(b, 0)
		}
	}
	return append(b, make([]byte, 20)...)
}

func sum(t *testing.T, data []byte) string {
	t.Helper()
	s, err := Sum(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSum(t *testing.T) {
	was := sum(t, list(1, "a", "dir/b"))
	if sum(t, list(2, "a", "dir/b")) != was {
		t.Error("a refreshed list is another one")
	}
	staged, other := list(1, "a", "dir/b"), list(1, "a", "dir/b")
	staged[12+40]++      // the object of the first
	other[12+60] |= 0x10 // its stage in a merge
	for what, data := range map[string][]byte{
		"a name": list(1, "a", "dir/c"), "one less": list(1, "a"), "another object": staged, "a stage": other,
	} {
		if sum(t, data) == was {
			t.Errorf("%s makes no difference", what)
		}
	}
	for what, data := range map[string]string{
		"nothing": "", "no list": "DIRX", "a new version": "DIRC\x00\x00\x00\x09\x00\x00\x00\x01", "cut off": string(list(1, "abc")[:60]),
		"in two files": strings.TrimSuffix(string(list(1, "a")), strings.Repeat("\x00", 20)) + "link\x00\x00\x00\x01x" + strings.Repeat("\x00", 20),
	} {
		if _, err := Sum(strings.NewReader(data)); err == nil {
			t.Errorf("%s was read", what)
		}
	}
}

func FuzzEntries(f *testing.F) {
	f.Add(list(1, "a", "dir/b"))
	f.Add([]byte("DIRC\x00\x00\x00\x04\x00\x00\x00\x02"))
	f.Fuzz(func(t *testing.T, data []byte) {
		names := 0
		for e, err := range Entries(data) {
			if names++; err == nil && len(e.Name) > len(data)*len(data) {
				t.Error("a name that is longer than the list")
			}
		}
		if names > len(data)/fixed+1 {
			t.Errorf("%d names in %d bytes", names, len(data))
		}
	})
}
