package machinestest

import (
	"errors"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/machines"
)

// asking: questions are shown to their own tenant while the machine is there, and
// the first answer counts.
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
		if list, err := b.Answers(ctx, tenant, "m1", now()); err == nil || len(list) > 0 {
			t.Errorf("answers of others: %q, %v", list, err)
		}
	}
	for i, want := range []bool{true, false} {
		if first, err := b.Answer(ctx, "acme", "m1", "t", now(), []byte{byte('a' + i)}); err != nil || first != want {
			t.Errorf("answer %d: %v, %v", i, first, err)
		}
	}
	list, err := b.Answers(ctx, "acme", "m1", now())
	if err != nil || len(list) != 1 || string(list[0]) != "a" {
		t.Errorf("%q, %v", list, err)
	}
	if list, err := b.Answers(ctx, "acme", "m1", now().Add(time.Second)); err != nil || len(list) > 0 {
		t.Errorf("an old one: %q, %v", list, err)
	}
	if err := b.End(ctx, "acme", "m1", machines.Revoked, "eve", now()); err != nil {
		t.Fatal(err)
	}
	if got := asked("acme", now()); got != "" {
		t.Errorf("a machine that was revoked asks: %q", got)
	}
}
