package workspace

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/floodmark/floodmark/internal/project/checkout"
)

func FuzzCommit(f *testing.F) {
	f.Add([]byte("commit 9\x00tree x\nparent 0123456789012345678901234567890123456789\nauthor x <a@firm.example> 1 +0000\ncommitter x <a@firm.example> 1 +0000\n\nhi"))
	f.Add([]byte("author <"))
	f.Fuzz(func(t *testing.T, data []byte) {
		body, _ := loose(data, commitObject)
		for _, text := range [][]byte{data, body} {
			c, ok := parseCommit(text)
			if ok && (c.author == "" || c.committer == "") {
				t.Error("a commit by nobody")
			}
			for _, p := range c.parents {
				if !checkout.IsID(p) {
					t.Errorf("parent %q", p)
				}
			}
		}
	})
}

func FuzzIndex(f *testing.F) {
	small := append([]byte{0xff, 't', 'O', 'c', 0, 0, 0, 2}, bytes.Repeat([]byte{0, 0, 0, 1}, 256)...)
	small = append(append(small, make([]byte, 24)...), 0x80, 0, 0, 0)
	f.Add(small, make([]byte, 20))
	f.Add(append(small, 0, 0, 0, 0, 0, 0, 0, 9), make([]byte, 20))
	f.Fuzz(func(t *testing.T, index, id []byte) {
		if at, ok := find(index, id); ok && at < 0 {
			t.Errorf("an object at %d", at)
		}
	})
}

func FuzzDelta(f *testing.F) {
	f.Add([]byte("hello"), []byte{5, 6, 0x90, 5, 1, '!'})
	f.Fuzz(func(t *testing.T, base, delta []byte) {
		objectHead(delta)
		backOffset(delta)
		out, err := applyDelta(base, delta)
		if err != nil {
			return
		}
		_, n := binary.Uvarint(delta)
		if size, _ := binary.Uvarint(delta[n:]); size != uint64(len(out)) || len(out) > maxCommit {
			t.Errorf("%d bytes, announced %d", len(out), size)
		}
	})
}

func FuzzSettings(f *testing.F) {
	f.Add("[user]\n\temail = a@firm.example\n[remote \"origin\"]\nurl = https://x:y@git.example/lib", "0 0123456789012345678901234567890123456789 x <y> 1 +0\tclone: from z")
	f.Fuzz(func(t *testing.T, text, log string) {
		if mail := setting(text, "user", "email"); len(mail) > len(text) {
			t.Error("more than there was")
		}
		if at := clonedAt(log); at != "" && !checkout.IsID(at) {
			t.Errorf("cloned at %q", at)
		}
	})
}
