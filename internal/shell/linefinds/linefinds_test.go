package linefinds_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/rules/finding"
	"github.com/floodmark/floodmark/internal/shell/commandbook"
	"github.com/floodmark/floodmark/internal/shell/linefinds"
	"github.com/floodmark/floodmark/internal/shell/shellscan"
)

// What the data finds in a command is about each operand; where some are not known, also about an
// unknown one, which no words settle.
func TestOperandsOfAFinding(t *testing.T) {
	e := &commandbook.Entry{Words: []string{"drop", "all"}, Finds: "a", Flags: "f", Options: []string{"--all"}, Values: map[string]commandbook.Role{"-d": commandbook.Text}}
	for line, want := range map[string][]string{
		"drop all": {""}, "drop all -f": {""}, "drop all x -f y": {"x", "y"}, "drop -f all x": {"x"},
		"drop all x all drop": {"x", "all", "drop"}, "/bin/drop all x": {"x"}, "drop all x --all=y": {"x", "y"}, "drop all x --all": {"x"},
		"drop all -dx": {"x"}, "drop all -fdx": {"x"}, "drop all -fd x": {"x"}, "drop all -fx y": {"", "y"}, "drop all -d=x": {"x"},
		"drop all x *": {"x", ""}, "drop all x-*": {""}, "drop all x -": {"x", ""}, "drop all -- -f": {"-f"}, "drop all x -*": {"x", ""},
		"drop all" + strings.Repeat(" x", shellscan.MaxPartWords-2): append(slices.Repeat([]string{"x"}, shellscan.MaxPartWords-2), ""),
	} {
		r := &shellscan.Report{Parts: []shellscan.Part{{Entries: []*commandbook.Entry{e}, Words: strings.Fields(line)}}}
		if got := linefinds.Of(r); !slices.Equal(got, finding.List{}.With("a", want...)) {
			t.Errorf("%s: %q", line, got)
		}
	}
}
