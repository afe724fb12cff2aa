package gitindex

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"
)

// list returns an index of version 2, in which all files have the same times.
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

// wider returns an index of one file whose object id is as long as a SHA-256.
func wider(b []byte) []byte { return slices.Insert(b, 12+40, make([]byte, 12)...) }

// grows returns an index of version 4 in which each name is the previous name with one more letter.
func grows(files int) string {
	b := binary.BigEndian.AppendUint32([]byte("DIRC"), 4)
	b = binary.BigEndian.AppendUint32(b, uint32(files))
	for i := range files {
		e := append(make([]byte, 60), byte(min(i+1, 0xfff)>>8), byte(min(i+1, 0xfff)))
		b = append(append(b, e...), 0, 'x', 0)
	}
	return string(b) + strings.Repeat("\x00", 20)
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
	staged[12+40]++      // the object of the first file
	other[12+60] |= 0x10 // the merge stage of the first file
	tree := func(id byte) []byte {
		b := list(1, "a", "dir/b")
		return slices.Concat(b[:len(b)-20], []byte("TREE\x00\x00\x00\x04"), []byte{id, 1, 2, 3}, make([]byte, 20))
	}
	if sum(t, tree(1)) == sum(t, tree(2)) || sum(t, tree(1)) == was {
		t.Error("the trees that would be committed make no difference")
	}
	for what, data := range map[string][]byte{
		"a name": list(1, "a", "dir/c"), "one less": list(1, "a"), "another object": staged, "a stage": other,
	} {
		if sum(t, data) == was {
			t.Errorf("%s makes no difference", what)
		}
	}
	for what, data := range map[string]string{
		"nothing": "", "no list": "DIRX", "a new version": "DIRC\x00\x00\x00\x09\x00\x00\x00\x01", "cut off": string(list(1, "abc")[:60]),
		"a false length": strings.Replace(string(list(1, "abc")), "\x00\x03abc", "\x00\x04abc", 1), "objects of 32 bytes": string(wider(list(1, "abc"))),
		"names that grow": grows(40000), "a part that is cut off": string(list(1, "a")) + "TREE\x00\xff\xff\xff" + strings.Repeat("\x00", 20),
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
		if names > len(data)/fixed+2 {
			t.Errorf("%d names in %d bytes", names, len(data))
		}
	})
}
