package linetext_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/text/linetext"
)

// If lines cannot change in place, each step has its own line. On a terminal nothing is left at the
// end.
func TestSteps(t *testing.T) {
	var b bytes.Buffer
	for _, s := range []*linetext.Steps{{}, {To: &b}, {To: &b, InPlace: true}} {
		s.End()
		s.Begin("one\x1b[2J")
		s.Begin("two " + strings.Repeat("long ", 40))
		s.End()
		s.End()
	}
	want := "one\ntwo " + strings.Repeat("long ", 40)
	lines, place, _ := strings.Cut(strings.ReplaceAll(b.String(), "[2J", ""), "\n\r")
	if strings.TrimSpace(lines) != strings.TrimSpace(want) {
		t.Errorf("lines: %q", lines)
	}
	parts := strings.Split("\r"+place, "\r\x1b[K")
	if len(parts) != 4 || parts[1] != "one" || !strings.HasPrefix(parts[2], "two long") || len(parts[2]) > 72 || parts[3] != "" {
		t.Errorf("in place: %q", parts)
	}
}

// A step of many parts is counted in place. Otherwise only its beginning and its end are lines.
func TestStepsCount(t *testing.T) {
	for inPlace, want := range map[bool]string{
		false: "x\nx: 2 of 2\n",
		true:  "\r\x1b[Kx\r\x1b[Kx: 1 of 2\r\x1b[Kx: 2 of 2\r\x1b[K",
	} {
		var b bytes.Buffer
		s := &linetext.Steps{To: &b, InPlace: inPlace}
		made := s.Count("x")
		made(1, 2)
		made(2, 2)
		s.End()
		if b.String() != want {
			t.Errorf("in place %v: %q", inPlace, b.String())
		}
	}
	new(linetext.Steps).Count("x")(1, 1)
}
