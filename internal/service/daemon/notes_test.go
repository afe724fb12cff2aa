package daemon

import (
	"strings"
	"testing"
	"time"
)

// A caller that is refused all day fills neither the journal nor the status.
func TestIncidentsArePaced(t *testing.T) {
	n, now := &notes{}, time.Unix(1000, 0)
	written := 0
	for range 10 * incidentsAtOnce {
		if n.add("", "knock", "at the door", now) {
			written++
		}
	}
	if written != incidentsAtOnce {
		t.Errorf("%d written down at once, want %d", written, incidentsAtOnce)
	}
	if !n.add("", "other", "something else", now) {
		t.Error("another kind is held back, too")
	}
	if !n.add("", "knock", "at the door", now.Add(2*time.Second)) {
		t.Error("nothing is written down later")
	}
	lines, count := n.list("")
	if count != 10*incidentsAtOnce+2 || len(lines) != maxOfKind+2 || lines[maxOfKind] != "other: something else" || !strings.Contains(lines[maxOfKind+1], "more incidents") {
		t.Errorf("%d counted: %q", count, lines)
	}
	for range maxNotes {
		n.add("", "over-quota", "by a tenant", now)
	}
	n.add("", "forged", "what it hides", now)
	if lines, _ := n.list(""); len(lines) != maxNotes+2 || !strings.Contains(strings.Join(lines, "\n"), "forged: what it hides") {
		t.Errorf("the first of a kind is hidden by many of others: %q", lines)
	}
	for i := range maxKinds {
		n.add("", strings.Repeat("k", i+1), "", now)
	}
	if n.add("", "one kind too many", "", now) {
		t.Error("kinds have no limit")
	}
	if lines, count := n.list("firm"); len(lines) != 0 || count != 0 {
		t.Errorf("a tenant hears %q", lines)
	}
	before, all := n.list("")
	n.add("", "policy-saved", "by its owner", now)
	if lines, count := n.list(""); count != all || len(lines) != len(before) {
		t.Errorf("what a person did by hand counts as an incident: %d, %q", count, lines)
	}
	if !n.add("firm", "one kind too many", "of its own", now) {
		t.Error("what others did keeps a tenant's incidents from being written")
	}
	if lines, _ := n.list(""); strings.Contains(strings.Join(lines, " "), "of its own") {
		t.Error("a tenant's incident is told to others")
	}
}
