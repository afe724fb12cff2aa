package postings

import (
	"slices"
	"strings"
	"testing"
)

// More postings than the limit are neither written nor read.
func TestPostingsCodeIsLimited(t *testing.T) {
	if _, err := make(Postings, MaxPostings).MarshalBinary(); err != nil {
		t.Error(err)
	}
	data := make([]byte, 16+minPostingBytes*(MaxPostings+1))
	for count, want := range map[int]string{MaxPostings: "not in order", MaxPostings + 1: "wrong count"} {
		copy(data, []byte{Format, byte(count)&0x7f | 0x80, byte(count>>7)&0x7f | 0x80, byte(count>>14)&0x7f | 0x80, byte(count >> 21)})
		if err := new(Postings).UnmarshalBinary(data); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%d postings: %v, want %s", count, err, want)
		}
	}
}

func TestPostingsCodeAtItsLimits(t *testing.T) {
	last := Postings{{Hash: 1, Offset: 1<<32 - 1}, {Hash: 2}}
	data, err := last.MarshalBinary()
	var back Postings
	if err != nil || back.UnmarshalBinary(data) != nil || !slices.Equal(back, last) {
		t.Errorf("%v, %v", back, err)
	}
	for cut, want := range map[int]string{4: "cut off", 5: "wrong count"} {
		if err := back.UnmarshalBinary(data[:len(data)-cut]); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%d bytes short: %v, want %s", cut, err, want)
		}
	}
	far := []byte{Format, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0x80, 0x80, 0x80, 0x80, 0x10} // 1<<32
	if err := back.UnmarshalBinary(far); err == nil || !strings.HasSuffix(err.Error(), "wrong offset") {
		t.Error(err)
	}
	if err := back.UnmarshalBinary([]byte{Format, 0}); err != nil || back != nil {
		t.Errorf("%v, %v", back, err)
	}
	if err := back.UnmarshalBinary([]byte{Format}); err == nil {
		t.Error("no count, no error")
	}
}

func TestPostingsCodeRefuses(t *testing.T) {
	good, _ := Postings{{Hash: 1, Offset: 2}, {Hash: 3, Offset: 4}}.MarshalBinary()
	for name, data := range map[string][]byte{
		"nothing":         nil,
		"another format":  append([]byte{9}, good[1:]...),
		"too many":        append(slices.Clone(good), 0),
		"too few":         good[:len(good)-1],
		"a huge count":    {Format, 0xff, 0xff, 0xff, 0xff, 0x7f},
		"an endless int":  {Format, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		"a wrong order":   append([]byte{Format, 2}, append(slices.Clone(good[11:]), good[2:11]...)...),
		"one twice":       append([]byte{Format, 2}, append(slices.Clone(good[2:11]), good[2:11]...)...),
		"a far off place": append([]byte{Format, 1}, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 1),
	} {
		p := Postings{{Hash: 7}}
		if p.UnmarshalBinary(data) == nil {
			t.Errorf("%s: no error", name)
		}
		if len(p) != 1 {
			t.Errorf("%s: the postings changed", name)
		}
	}
	if _, err := make(Postings, MaxPostings+1).MarshalBinary(); err == nil {
		t.Error("more than the limit can be written")
	}
}
