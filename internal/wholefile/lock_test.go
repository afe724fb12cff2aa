package wholefile_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/wholefile"
)

// One has it, the next waits, and who waits too long is told.
func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.lock")
	free, err := wholefile.Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := wholefile.Lock(short, path); !errors.Is(err, wholefile.ErrLocked) {
		t.Errorf("two have it: %v", err)
	}
	if err := free(); err != nil {
		t.Fatal(err)
	}
	free, err = wholefile.Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := free(); err != nil {
		t.Error(err)
	}
}
