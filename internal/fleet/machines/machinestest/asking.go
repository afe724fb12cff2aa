package machinestest

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/fleet/machines"
)

// asking checks that questions are shown only to their own tenant while the machine is there, and
// that only the first answer is stored.
func asking(t *testing.T, b machines.Book) {
	Enrolled(t, b, "acme", "m1")
	Enrolled(t, b, "beta", "m2")
	ctx := t.Context()
	for _, open := range []string{"old", "new"} {
		if err := b.Ask(ctx, "acme", "m1", now(), []byte(open)); err != nil {
			t.Fatal(err)
		}
	}
	asked := func(tenant string, since time.Time) string {
		t.Helper()
		list, err := b.Asked(ctx, tenant, since)
		if err != nil {
			t.Fatal(err)
		}
		all := ""
		for _, a := range list {
			all += string(a.Machine) + " " + a.Name + " " + string(a.Open) + ";"
		}
		return all
	}
	if got := asked("acme", now()); got != "m1 laptop m1 new;" {
		t.Errorf("%q", got)
	}
	if got := asked("beta", now()) + asked("acme", now().Add(time.Second)); got != "" {
		t.Errorf("another tenant's, or too old: %q", got)
	}
	for _, tenant := range []string{"beta", ""} {
		if err := b.Ask(ctx, tenant, "m1", now(), nil); !errors.Is(err, machines.ErrUnknown) {
			t.Errorf("asked for a machine of others: %v", err)
		}
		if _, err := b.Answer(ctx, tenant, "m1", "t", now(), []byte("x")); !errors.Is(err, machines.ErrUnknown) {
			t.Errorf("answered a machine of others: %v", err)
		}
	}
	for i, want := range []bool{true, false} {
		if first, err := b.Answer(ctx, "acme", "m1", "t", now(), []byte{byte('a' + i)}); err != nil || first != want {
			t.Errorf("answer %d: %v, %v", i, first, err)
		}
	}
	answers(t, b)
	if err := b.End(ctx, "acme", "m1", machines.Revoked, "eve", now()); err != nil {
		t.Fatal(err)
	}
	if got := asked("acme", now()); got != "" {
		t.Errorf("a machine that was revoked asks: %q", got)
	}
}

// answers checks that the answers to many machines are returned at once, each for its own machine
// and none for another tenant. One answer was given to m1 before.
func answers(t *testing.T, b machines.Book) {
	t.Helper()
	Enrolled(t, b, "acme", "m3")
	Enrolled(t, b, "acme", "m4")
	for id, tenant := range map[machines.ID]string{"m2": "beta", "m3": "acme", "m4": "acme"} {
		if first, err := b.Answer(t.Context(), tenant, id, "t", now(), []byte("for "+id)); err != nil || !first {
			t.Fatalf("%v, %v", first, err)
		}
	}
	for _, c := range []struct {
		tenant string
		ids    []machines.ID
		since  time.Time
		want   map[machines.ID][][]byte
	}{
		{"acme", []machines.ID{"m1"}, now(), map[machines.ID][][]byte{"m1": {[]byte("a")}}},
		{"acme", []machines.ID{"m1", "m2", "m3", "none", "m1"}, now(), map[machines.ID][][]byte{"m1": {[]byte("a")}, "m3": {[]byte("for m3")}}},
		{"acme", []machines.ID{"m1", "m3"}, now().Add(time.Second), nil},
		{"acme", nil, now(), nil},
		{"beta", []machines.ID{"m1", "m3"}, now(), nil},
		{"", []machines.ID{"m1"}, now(), nil},
	} {
		got, err := b.Answers(t.Context(), c.tenant, c.ids, c.since)
		if err != nil || !maps.EqualFunc(got, c.want, func(a, b [][]byte) bool { return slices.EqualFunc(a, b, bytes.Equal) }) {
			t.Errorf("%q of %q: %q, %v, want %q", c.ids, c.tenant, got, err, c.want)
		}
	}
}
