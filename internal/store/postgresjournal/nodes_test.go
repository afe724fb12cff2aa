package postgresjournal

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/store/postgres"
)

// Nodes with the least rights they need see each other and forget silent ones. A role that only
// reads facts sees no nodes.
func TestNodesHearOfEachOther(t *testing.T) {
	g := newGuarded(t, newSchema(t))
	j := open(t, g.writer, Options{Schema: g.schema, Timeout: busyTimeout})
	say := func(id, says string) (all []string) {
		t.Helper()
		list, err := j.Announce(t.Context(), id, []byte(says))
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range list {
			if n.Ago < 0 || n.ID == id && n.Ago > time.Minute {
				t.Errorf("%s was heard of %s ago", n.ID, n.Ago)
			}
			all = append(all, n.ID+" "+string(n.Says))
		}
		slices.Sort(all)
		return all
	}
	want := func(got []string, all ...string) {
		t.Helper()
		if !slices.Equal(got, all) {
			t.Errorf("%q, want %q", got, all)
		}
	}
	want(say("a", "one"), "a one")
	want(say("b", "two"), "a one", "b two")
	want(say("a", "three"), "a three", "b two")
	c := g.as(t, g.writer)
	if _, err := c.Exec(t.Context(), "UPDATE nodes SET at = at - interval '50 minutes' WHERE id = 'b'"); err != nil {
		t.Fatal(err)
	}
	list, err := j.Announce(t.Context(), "a", nil)
	if err != nil || len(list) != 2 || list[0].ID != "a" || list[1].Ago < 50*time.Minute || list[1].Ago > 59*time.Minute {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := c.Exec(t.Context(), "UPDATE nodes SET at = at - interval '1 hour' WHERE id = 'b'"); err != nil {
		t.Fatal(err)
	}
	say("c", "four")
	want(say("a", "one"), "a one", "c four")
	if err := j.Withdraw(t.Context(), "c"); err != nil {
		t.Fatal(err)
	}
	want(say("a", "one"), "a one")
	if _, err := j.Announce(t.Context(), "a", make([]byte, 4097)); err == nil {
		t.Error("more bytes than may be are taken")
	}
	want(say("a", strings.Repeat("x", 4096)), "a "+strings.Repeat("x", 4096))
	if _, err := g.as(t, g.reader).Exec(t.Context(), "SELECT FROM nodes"); !postgres.IsDenied(err) {
		t.Errorf("a reader of facts reads it: %v", err)
	}
}
