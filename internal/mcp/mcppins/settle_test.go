package mcppins

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"testing"
)

// A decision of the owner is stored only if it was reported first.
func TestTelling(t *testing.T) {
	b, ctx := openBook(t), t.Context()
	see(t, b, tool("calc", "sum", "Adds."))
	var heard []string
	deaf := errors.New("nobody listens")
	b.Telling(func(_ context.Context, word string, e Entry) error {
		heard = append(heard, word+" "+e.Ref)
		return deaf
	})
	before, err := os.ReadFile(b.path)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, accept := b.Accept(ctx, "calc")
		_, reject := b.Reject(ctx, "calc/sum")
		forget := b.Forget(ctx, "calc")
		if deaf == nil {
			break
		}
		for _, err := range []error{accept, reject, forget} {
			if !errors.Is(err, deaf) {
				t.Error(err)
			}
		}
		if now, err := os.ReadFile(b.path); err != nil || !bytes.Equal(now, before) {
			t.Error("the book was changed", err)
		}
		deaf = nil
	}
	want := []string{"accepted calc", "rejected calc/sum", "forgotten calc"}
	if !slices.Equal(heard, append(want, want...)) {
		t.Error(heard)
	}
	if list, err := b.Entries(); err != nil || len(list) != 0 {
		t.Error(list, err)
	}
}
