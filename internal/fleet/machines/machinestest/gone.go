package machinestest

import (
	"errors"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/fleet/machines"
	"github.com/floodmark/floodmark/journal"
)

// gone checks that a copy is erased as a whole, only by its own tenant and only at its end. The
// machine can continue after the erased part, and cannot change it.
func gone(t *testing.T, b machines.Book) {
	Enrolled(t, b, "acme", "m1")
	Enrolled(t, b, "beta", "m2")
	all := Entries(t, "s", journal.Link{}, 8, "x")
	add(t, b, "acme", "m1", Part("s", all, 0, 5), machines.Kept, all[4].Link())
	other := Entries(t, "s", journal.Link{}, 2, "y")
	add(t, b, "beta", "m2", Part("s", other, 0, 2), machines.Kept, other[1].Link())
	ahead := time.Now().Add(time.Hour)
	if got := old(t, b, ahead, all) + old(t, b, time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), all); got != "m1" {
		t.Errorf("old are %q", got)
	}
	if list, err := b.Old(t.Context(), ahead, 1); err != nil || len(list) != 1 {
		t.Errorf("one of them: %v, %v", list, err)
	}
	stone := journal.Tombstone{Link: all[4].Link(), At: 7, Note: []byte("signed")}
	for _, tenant := range []string{"beta", ""} {
		if done, err := b.Bury(t.Context(), tenant, "m1", "s", stone); done || !errors.Is(err, machines.ErrUnknown) {
			t.Errorf("%q erases another's: %v, %v", tenant, done, err)
		}
	}
	for _, wrong := range []journal.Link{all[3].Link(), {Seq: 5}, {Seq: 6, Hash: all[5].Hash}} {
		if done, err := b.Bury(t.Context(), "acme", "m1", "s", journal.Tombstone{Link: wrong, At: 7, Note: []byte("signed")}); done || err != nil {
			t.Errorf("erased at %d: %v, %v", wrong.Seq, done, err)
		}
	}
	if done, err := b.Bury(t.Context(), "acme", "m1", "none", stone); done || err != nil {
		t.Errorf("erased nothing: %v, %v", done, err)
	}
	for range 2 {
		if done, err := b.Bury(t.Context(), "acme", "m1", "s", stone); !done || err != nil {
			t.Fatalf("%v, %v", done, err)
		}
	}
	if got := read(t, b, "acme", "m1", "s"); len(got) != 1 || got[0].Kind != machines.GoneKind || got[0].Link() != stone.Link || string(got[0].Body) != "signed" || got[0].At != 7 {
		t.Errorf("%d entries are left", len(got))
	}
	if got := read(t, b, "beta", "m2", "s"); len(got) != 2 {
		t.Errorf("of another's session %d entries are left", len(got))
	}
	if got := old(t, b, ahead, all); got != "" {
		t.Errorf("it is old again: %q", got)
	}
	if list, err := b.Copies(t.Context(), "acme", "m1", 10); err != nil || len(list) != 1 || list[0].Head != stone.Link {
		t.Errorf("%+v, %v", list, err)
	}
	goesOn(t, b, all)
}

// goesOn checks that an upload after the erased part continues what the machine sent before, or is
// refused.
func goesOn(t *testing.T, b machines.Book, all []journal.Entry) {
	t.Helper()
	again := Entries(t, "s", journal.Link{}, 8, "else")
	add(t, b, "acme", "m1", Part("s", again, 5, 8), machines.Fork, all[4].Link())
	add(t, b, "acme", "m1", Part("s", all, 3, 7), machines.Kept, all[6].Link())
	add(t, b, "acme", "m1", Part("s", all, 0, 3), machines.Kept, all[6].Link())
	got := read(t, b, "acme", "m1", "s")
	if len(got) != 3 || got[0].Kind != machines.GoneKind || !same(got[1], all[5]) || !same(got[2], all[6]) {
		t.Errorf("%d entries", len(got))
	}
	if done, err := b.Bury(t.Context(), "acme", "m1", "s", journal.Tombstone{Link: all[6].Link(), At: 8, Note: []byte("again")}); !done || err != nil {
		t.Fatalf("%v, %v", done, err)
	}
	if got := read(t, b, "acme", "m1", "s"); len(got) != 1 || string(got[0].Body) != "again" {
		t.Errorf("%d entries are left", len(got))
	}
}

// old returns the copies that have not grown since the given time.
func old(t *testing.T, b machines.Book, since time.Time, all []journal.Entry) (names string) {
	t.Helper()
	list, err := b.Old(t.Context(), since, 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range list {
		if o.Machine != "m1" {
			continue
		}
		if o.Tenant != "acme" || o.Session != "s" || o.Head != all[o.Head.Seq-1].Link() {
			t.Errorf("%+v", o)
		}
		names += string(o.Machine)
	}
	return names
}
