package filenames_test

import (
	"slices"
	"testing"

	"github.com/floodmark/floodmark/internal/text/filenames"
)

func TestPathsOfAPatch(t *testing.T) {
	const patch = "--- a/old.go\t2026\n+++ b/new.go\n*** Add File: x.md\nrename to \"\\303\\244.txt\"\n+++ /dev/null\nplain\n"
	if got, want := filenames.OfPatch(patch), []string{"old.go", "new.go", "x.md", "ä.txt"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := filenames.OfPatch("nothing"); got != nil {
		t.Errorf("%q", got)
	}
}
