package shellscan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/shell/shellscan"
)

// The limits as numbers, because users notice a change of one.
func TestLimitsAsNumbers(t *testing.T) {
	for name, l := range map[string][2]int{
		"bytes": {shellscan.MaxBytes, 262144}, "parts": {shellscan.MaxParts, 2048}, "depth": {shellscan.MaxDepth, 48}, "nesting": {shellscan.MaxNesting, 1000},
		"words": {shellscan.MaxWords, 4096}, "effects": {shellscan.MaxEffects, 4096}, "reasons": {shellscan.MaxWhy, 8}, "folders": {shellscan.MaxDirs, 4},
		"bytes of a value": {shellscan.MaxValue, 4096},
	} {
		if l[0] != l[1] {
			t.Errorf("%s: %d, want %d", name, l[0], l[1])
		}
	}
}

// A line at a limit is understood. A line one beyond it is not.
func TestLimits(t *testing.T) {
	c := commands(t)
	for name, tc := range map[string]struct {
		limit int
		line  func(n int) string
	}{
		"bytes":    {shellscan.MaxBytes, func(n int) string { return "echo '" + strings.Repeat("x", n-7) + "'" }},
		"parts":    {shellscan.MaxParts, func(n int) string { return strings.Repeat("true;", n) }},
		"nesting":  {shellscan.MaxNesting, func(n int) string { return "echo '" + strings.Repeat("(", n) + "'" }},
		"words":    {shellscan.MaxWords, func(n int) string { return "echo" + strings.Repeat(" 'x'", n-1) }},
		"value":    {shellscan.MaxValue, func(n int) string { return "cat " + strings.Repeat("x", n-2) }},
		"effects":  {shellscan.MaxEffects, func(n int) string { return "cat" + strings.Repeat(" x", n) }},
		"folders":  {shellscan.MaxDirs, func(n int) string { return strings.Repeat("cd x;", n-1) + "ls" }},
		"scripts":  {shellscan.MaxDepth, func(n int) string { return strings.Repeat("eval ", n) + "ls" }},
		"brackets": {shellscan.MaxDepth, func(n int) string { return strings.Repeat("( ", n) + "ls" + strings.Repeat(")", n) }},
	} {
		if r := shellscan.Scan(tc.line(tc.limit), here(), c); !r.Understood {
			t.Errorf("%s at the limit: %q", name, r.Why)
		}
		if r := shellscan.Scan(tc.line(tc.limit+1), here(), c); r.Understood {
			t.Errorf("%s beyond the limit is understood", name)
		}
	}
}

// There are few reasons, and each says what was not understood.
func TestReasons(t *testing.T) {
	c := commands(t)
	r := shellscan.Scan(strings.Repeat("foo;", 100), here(), c)
	if len(r.Why) != shellscan.MaxWhy || r.Why[0] != "nobody said what this does: foo" {
		t.Errorf("%q", r.Why)
	}
	if r := shellscan.Scan("PATH=x ls", here(), c); !slices.Equal(r.Why, []string{"it sets PATH"}) {
		t.Errorf("%q", r.Why)
	}
}

// An effect says which command has it, and where that command is in the line.
func TestPlacesOfEffects(t *testing.T) {
	r := shellscan.Scan("ls; cat a > b && rm c", here(), commands(t))
	type at struct{ kind, command, text string }
	var got []at
	for _, e := range r.Effects {
		got = append(got, at{e.Kind.String(), e.Command, "ls; cat a > b && rm c"[e.Start:e.End]})
	}
	want := []at{
		{"read", "ls", "ls;"}, {"write", "", "cat a > b && rm c"}, {"read", "cat", "cat a > b && rm c"}, {"delete", "rm", "cat a > b && rm c"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// Words without a shell are not expanded.
func TestWords(t *testing.T) {
	c := commands(t)
	for _, tc := range []struct {
		words []string
		want  string
	}{
		{[]string{"rm", "$X", "*"}, "delete /p/$X, delete /p/*"},
		{[]string{"bash", "-lc", "rm x"}, "delete /p/x"},
		{[]string{"echo", "a; rm x"}, ""},
		{nil, "?"},
	} {
		if got := show(shellscan.ScanWords(tc.words, here(), c)); got != tc.want {
			t.Errorf("%q: %s, want %s", tc.words, got, tc.want)
		}
	}
}

// If the folder or the home is not known, paths stay as they are.
func TestUnknownPlaces(t *testing.T) {
	c := commands(t)
	if got := show(shellscan.Scan("rm x ~/y /z", shellscan.Place{}, c)); got != "delete /z, delete /~/y, delete x" {
		t.Error(got)
	}
	at := shellscan.Place{Dir: "/p", Vars: map[string]string{"OUT": "/o"}}
	if got := show(shellscan.Scan("rm $OUT/x", at, c)); got != "delete /o/x" {
		t.Error(got)
	}
}

// Some programs read a text only to its NUL byte and others skip that byte, so the command is
// unknown.
func TestANulIsNotUnderstood(t *testing.T) {
	c := commands(t)
	for _, line := range []string{"ls\x00", "l\x00s", "\x00ls", "bash -c 'l\x00s'"} {
		if r := shellscan.Scan(line, shellscan.Place{}, c); r.Understood || !slices.Contains(r.Why, "it has a NUL byte") {
			t.Errorf("%q: %v %v", line, r.Understood, r.Why)
		}
		if r := shellscan.ScanWords([]string{"ls", line}, shellscan.Place{}, c); r.Understood {
			t.Errorf("words %q are understood", line)
		}
	}
	if r := shellscan.ScanWords([]string{"ls", "x"}, shellscan.Place{}, c); !r.Understood {
		t.Errorf("without one: %v", r.Why)
	}
}
