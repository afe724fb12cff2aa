// Package machinestest is one suite of checks for every implementation of machines.Book.
package machinestest

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/fleet/machines"
	"github.com/floodmark/floodmark/journal"
)

// Run checks a book. Each call of open returns an empty one.
func Run(t *testing.T, open func(*testing.T) machines.Book) {
	t.Helper()
	for name, f := range map[string]func(*testing.T, machines.Book){
		"a life": life, "tenants": tenants, "in order": inOrder, "forks": forks, "erased": erased, "gone": gone, "at once": atOnce, "reports": reports, "asking": asking, "uses": uses, "pages": pages,
	} {
		t.Run(name, func(t *testing.T) { f(t, open(t)) })
	}
}

// now is the time of everything in the suite.
func now() time.Time { return time.Date(2026, 11, 16, 8, 0, 0, 0, time.UTC) }

// Enrolled adds a machine.
func Enrolled(t testing.TB, b machines.Book, tenant string, id machines.ID) machines.Machine {
	t.Helper()
	m := machines.Machine{Tenant: tenant, ID: id, Name: "laptop " + string(id), By: "anna", At: now(), Token: floodmark.DigestOf(string(id)), JournalKey: "k"}
	if err := b.Enrol(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	return m
}

// Entries returns sealed facts of a session, as a laptop writes them.
func Entries(t testing.TB, s floodmark.SessionID, after journal.Link, n int, word string) []journal.Entry {
	t.Helper()
	var facts []floodmark.Fact
	for i := range n {
		facts = append(facts, floodmark.IncidentSeen{Kind: "test", Text: fmt.Sprint(word, " ", i)})
	}
	entries, err := journal.Seal(journal.Session{ID: s}, after, now(), facts)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// Part returns an upload of some entries.
func Part(s floodmark.SessionID, all []journal.Entry, from, to int) machines.Upload {
	u := machines.Upload{Session: s, Entries: all[from:to]}
	if from > 0 {
		u.After = all[from-1].Link()
	}
	return u
}

func add(t *testing.T, b machines.Book, tenant string, id machines.ID, u machines.Upload, want machines.Outcome, head journal.Link) {
	t.Helper()
	got, at, err := b.Add(t.Context(), tenant, id, u, now())
	if err != nil || got != want || at != head {
		t.Fatalf("%s, ends at %d, %v; want %s at %d", got, at.Seq, err, want, head.Seq)
	}
}

func read(t *testing.T, b machines.Book, tenant string, id machines.ID, s floodmark.SessionID) []journal.Entry {
	t.Helper()
	var list []journal.Entry
	for e, err := range b.Read(t.Context(), tenant, id, s) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
	return list
}

func same(a, b journal.Entry) bool {
	return a.Link() == b.Link() && a.Prev == b.Prev && a.At == b.At && a.Kind == b.Kind && string(a.Body) == string(b.Body)
}

// A machine is enrolled, found, and ends once.
func life(t *testing.T, b machines.Book) {
	m := Enrolled(t, b, "acme", "m1")
	if err := b.Enrol(t.Context(), m); err == nil {
		t.Error("two machines have one id")
	}
	got, state, err := b.Find(t.Context(), "m1")
	if err != nil || state != machines.Joined || got != m {
		t.Errorf("%+v, %s, %v", got, state, err)
	}
	if _, _, err := b.Find(t.Context(), "m2"); !errors.Is(err, machines.ErrUnknown) {
		t.Errorf("nobody is found: %v", err)
	}
	if err := b.End(t.Context(), "acme", "m2", machines.Revoked, "bea", now()); !errors.Is(err, machines.ErrUnknown) {
		t.Errorf("nobody is ended: %v", err)
	}
	for _, as := range []machines.State{machines.Revoked, machines.Left} { // only the first has an effect
		if err := b.End(t.Context(), "acme", "m1", as, "bea", now()); err != nil {
			t.Fatal(err)
		}
	}
	if outcome, _, err := b.Add(t.Context(), "acme", "m1", Part("s", Entries(t, "s", journal.Link{}, 1, "x"), 0, 1), now()); !errors.Is(err, machines.ErrUnknown) {
		t.Errorf("a machine that has ended adds: %s, %v", outcome, err)
	}
	list, err := All(t.Context(), b, "acme")
	if _, state, _ := b.Find(t.Context(), "m1"); err != nil || len(list) != 1 || list[0].State != machines.Revoked || list[0].EndedBy != "bea" || state != machines.Revoked {
		t.Errorf("%+v, %s, %v", list, state, err)
	}
}

// No tenant reaches another tenant's machine, by any name.
func tenants(t *testing.T, b machines.Book) {
	Enrolled(t, b, "acme", "m1")
	Enrolled(t, b, "beta", "m2")
	all := Entries(t, "s", journal.Link{}, 3, "acme's")
	add(t, b, "acme", "m1", Part("s", all, 0, 3), machines.Kept, all[2].Link())
	if err := b.End(t.Context(), "beta", "m1", machines.Revoked, "mallory", now()); !errors.Is(err, machines.ErrUnknown) {
		t.Errorf("ended: %v", err)
	}
	if err := b.Report(t.Context(), "beta", "m1", now(), []byte("x")); !errors.Is(err, machines.ErrUnknown) {
		t.Errorf("reported: %v", err)
	}
	if heads, err := b.Heads(t.Context(), "beta", "m1", []floodmark.SessionID{"s"}); err == nil && heads[0] != (journal.Link{}) {
		t.Error("told where acme's session ends")
	}
	if outcome, _, err := b.Add(t.Context(), "beta", "m1", Part("s", all, 0, 3), now()); err == nil {
		t.Errorf("added: %s", outcome)
	}
	for e, err := range b.Read(t.Context(), "beta", "m1", "s") {
		if err == nil {
			t.Errorf("read entry %d", e.Seq)
		}
	}
	if list, err := b.Copies(t.Context(), "beta", "m1", 10); err == nil && len(list) > 0 {
		t.Errorf("told of copies: %+v", list)
	}
	if list, err := All(t.Context(), b, "beta"); err != nil || len(list) != 1 || list[0].ID != "m2" {
		t.Errorf("%+v, %v", list, err)
	}
	if _, state, _ := b.Find(t.Context(), "m1"); state != machines.Joined {
		t.Errorf("m1 is %s", state)
	}
}

// Entries that come in order are stored once. If they come again, nothing changes. If they come too
// early, the answer says where to begin.
func inOrder(t *testing.T, b machines.Book) {
	Enrolled(t, b, "acme", "m1")
	all := Entries(t, "s", journal.Link{}, 10, "x")
	add(t, b, "acme", "m1", Part("s", all, 4, 6), machines.Gap, journal.Link{})
	add(t, b, "acme", "m1", Part("s", all, 0, 4), machines.Kept, all[3].Link())
	add(t, b, "acme", "m1", Part("s", all, 0, 4), machines.Kept, all[3].Link())
	add(t, b, "acme", "m1", Part("s", all, 2, 6), machines.Kept, all[5].Link())
	add(t, b, "acme", "m1", Part("s", all, 7, 10), machines.Gap, all[5].Link())
	add(t, b, "acme", "m1", Part("s", all, 6, 10), machines.Kept, all[9].Link())
	add(t, b, "acme", "m1", Part("s", all, 1, 3), machines.Kept, all[9].Link())
	other := Entries(t, "other", journal.Link{}, 1, "y")
	add(t, b, "acme", "m1", Part("other", other, 0, 1), machines.Kept, other[0].Link())
	if got := read(t, b, "acme", "m1", "s"); !slices.EqualFunc(got, all, same) {
		t.Errorf("%d entries are not those that were sent", len(got))
	}
	heads, err := b.Heads(t.Context(), "acme", "m1", []floodmark.SessionID{"none", "s", "other"})
	if err != nil || len(heads) != 3 || heads[0] != (journal.Link{}) || heads[1] != all[9].Link() || heads[2] != other[0].Link() {
		t.Errorf("%v, %v", heads, err)
	}
	if list, _ := All(t.Context(), b, "acme"); list[0].Sessions != 2 || list[0].Entries != 11 || list[0].Forks != 0 {
		t.Errorf("%+v", list)
	}
	copies, err := b.Copies(t.Context(), "acme", "m1", 10)
	want := []machines.Copy{{Session: "other", Head: other[0].Link(), Entries: 1, At: other[0].Time()}, {Session: "s", Head: all[9].Link(), Entries: 10, At: all[9].Time()}}
	slices.SortStableFunc(want, func(a, b machines.Copy) int { return b.At.Compare(a.At) })
	sameCopy := func(a, b machines.Copy) bool {
		return a.Session == b.Session && a.Head == b.Head && a.Entries == b.Entries && a.At.Equal(b.At)
	}
	if err != nil || !slices.EqualFunc(copies, want, sameCopy) {
		t.Errorf("%+v, %v", copies, err)
	}
	if copies, err := b.Copies(t.Context(), "acme", "m1", 1); err != nil || len(copies) != 1 || copies[0].Session != want[0].Session {
		t.Errorf("one of them: %+v, %v", copies, err)
	}
}

// Entries that differ from the stored ones are refused and counted.
func forks(t *testing.T, b machines.Book) {
	Enrolled(t, b, "acme", "m1")
	all := Entries(t, "s", journal.Link{}, 4, "x")
	add(t, b, "acme", "m1", Part("s", all, 0, 4), machines.Kept, all[3].Link())
	again := Entries(t, "s", all[1].Link(), 4, "other")
	u := machines.Upload{Session: "s", After: all[1].Link(), Entries: again}
	add(t, b, "acme", "m1", u, machines.Fork, all[3].Link())
	add(t, b, "acme", "m1", u, machines.Fork, all[3].Link())
	add(t, b, "acme", "m1", machines.Upload{Session: "s", After: again[1].Link(), Entries: again[2:]}, machines.Fork, all[3].Link())
	add(t, b, "acme", "m1", Part("s", Entries(t, "s", journal.Link{}, 9, "new"), 0, 9), machines.Fork, all[3].Link())
	if got := read(t, b, "acme", "m1", "s"); !slices.EqualFunc(got, all, same) {
		t.Error("a fork changed what is kept")
	}
	if list, _ := All(t.Context(), b, "acme"); list[0].Forks != 2 || list[0].Entries != 4 {
		t.Errorf("%+v", list)
	}
}

// A session continues after entries that were erased on the machine.
func erased(t *testing.T, b machines.Book) {
	secret, _, err := journal.NewKey(rand.Reader, "laptop")
	if err != nil {
		t.Fatal(err)
	}
	key, err := journal.ParseKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	Enrolled(t, b, "acme", "m1")
	all := Entries(t, "s", journal.Link{}, 8, "x")
	stone, err := journal.SignTombstone(key.Signer, journal.Tombstone{Session: journal.Session{ID: "s"}, Link: all[4].Link(), At: now().UnixNano(), Why: "owner"})
	if err != nil {
		t.Fatal(err)
	}
	add(t, b, "acme", "m1", Part("s", all, 0, 2), machines.Kept, all[1].Link())
	u := Part("s", all, 5, 7)
	add(t, b, "acme", "m1", u, machines.Gap, all[1].Link())
	u.Stone = &stone
	if err := u.Check(key.Verifiers()); err != nil {
		t.Fatal(err)
	}
	add(t, b, "acme", "m1", u, machines.Kept, all[6].Link())
	add(t, b, "acme", "m1", u, machines.Kept, all[6].Link())
	add(t, b, "acme", "m1", Part("s", all, 7, 8), machines.Kept, all[7].Link())
	got := read(t, b, "acme", "m1", "s")
	if len(got) != 6 || got[2].Kind != machines.StoneKind || got[2].Link() != all[4].Link() || !same(got[3], all[5]) || !same(got[5], all[7]) {
		t.Errorf("%d entries", len(got))
	}
}

// If two connections send the same entries and more at once, each entry is stored once.
func atOnce(t *testing.T, b machines.Book) {
	Enrolled(t, b, "acme", "m1")
	all := Entries(t, "s", journal.Link{}, 40, "x")
	var work sync.WaitGroup
	for range 4 {
		work.Go(func() {
			for from := 0; from < len(all); {
				outcome, head, err := b.Add(t.Context(), "acme", "m1", Part("s", all, from, from+4), now())
				if err != nil || outcome == machines.Fork {
					t.Errorf("%s, %v", outcome, err)
					return
				}
				from = int(head.Seq) / 4 * 4
			}
		})
	}
	work.Wait()
	if got := read(t, b, "acme", "m1", "s"); !slices.EqualFunc(got, all, same) {
		t.Errorf("%d entries, want %d", len(got), len(all))
	}
	if list, _ := All(t.Context(), b, "acme"); list[0].Entries != 40 || list[0].Sessions != 1 {
		t.Errorf("%+v", list)
	}
}

// Only the last report is stored.
func reports(t *testing.T, b machines.Book) {
	Enrolled(t, b, "acme", "m1")
	for i, text := range []string{"one", strings.Repeat("x", 1000), "two"} {
		if err := b.Report(t.Context(), "acme", "m1", now().Add(time.Duration(i)*time.Minute), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	list, err := All(t.Context(), b, "acme")
	if err != nil || string(list[0].Report) != "two" || !list[0].Seen.Equal(now().Add(2*time.Minute)) {
		t.Errorf("%+v, %v", list, err)
	}
	if err := b.Report(t.Context(), "acme", "m9", now(), nil); !errors.Is(err, machines.ErrUnknown) {
		t.Errorf("nobody reported: %v", err)
	}
}
