package commandbook_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/shell/commandbook"
)

// Each word of a catalog is parsed as the constant at its place. An unknown word is the zero value.
func TestWordsOfCatalogs(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]commandbook.Role{"none": commandbook.NoRole, "path": commandbook.Path, "folder": commandbook.Folder, "command": commandbook.Command, "patch": commandbook.Patch} {
		if got, ok := commandbook.ParseRole(word); got != want || !ok {
			t.Errorf("%s: %d %v", word, got, ok)
		}
	}
	if got, ok := commandbook.ParseRole("nothing"); got != commandbook.NoRole || ok {
		t.Errorf("an unknown role: %d %v", got, ok)
	}
	if n := len(commandbook.Roles()); n != int(commandbook.Patch)+1 {
		t.Errorf("%d words of roles", n)
	}
	if got, ok := commandbook.ParseSight("names"); got != commandbook.Names || !ok {
		t.Errorf("names: %d %v", got, ok)
	}
	if got, ok := commandbook.ParseStops("matches"); got != commandbook.StopsMatches || !ok {
		t.Errorf("matches: %d %v", got, ok)
	}
}

// Entries with more words come first, then the order in which they were given counts.
func TestLongerEntriesFirst(t *testing.T) {
	t.Parallel()
	entry := func(protected bool, words ...string) *commandbook.Entry {
		return &commandbook.Entry{Words: words, Protected: protected}
	}
	plain, run, stop := entry(false, "a"), entry(false, "a", "run"), entry(true, "a", "stop")
	c := commandbook.NewCommands([]*commandbook.Entry{plain, run, stop}, map[string]map[string]commandbook.Role{"a": {"-C": commandbook.Folder}})
	if got := c.Of("a"); !slices.Equal(got, []*commandbook.Entry{run, stop, plain}) {
		t.Errorf("%v", got)
	}
	if c.Globals("a")["-C"] != commandbook.Folder || c.Of("b") != nil || c.Globals("b") != nil {
		t.Error("another program has entries or options")
	}
	for line, want := range map[string]bool{"a": false, "a run": false, "a stop": true, "a stop now": true, "b stop": false} {
		if c.Protects(strings.Fields(line)) != want {
			t.Errorf("%s: not %v", line, want)
		}
	}
}
