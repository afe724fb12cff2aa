package owner

import (
	"context"
	"crypto/rand"
	"errors"
	"iter"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/fleet/machines"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/wire"
)

// A tampered is a book whose database was changed.
type tampered struct {
	machines.Book
	change func([]journal.Entry) []journal.Entry
}

func (b tampered) Read(ctx context.Context, tenant string, id machines.ID, s floodmark.SessionID) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		var all []journal.Entry
		for e, err := range b.Book.Read(ctx, tenant, id, s) {
			if err != nil {
				yield(e, err)
				return
			}
			all = append(all, e)
		}
		for _, e := range b.change(all) {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// A shelf is a room with a session s1, a laptop with the same session, and the fleet's copy of it.
type shelf struct {
	*room
	book *machines.Memory
	key  journal.Key
	all  []journal.Entry
}

// arrived is the time at which all copies arrive.
func arrived() time.Time { return time.Date(2026, 1, 2, 4, 0, 0, 0, time.UTC) }

func newShelf(t *testing.T) *shelf {
	t.Helper()
	secret, _, err := journal.NewKey(rand.Reader, "laptop")
	if err != nil {
		t.Fatal(err)
	}
	key, err := journal.ParseKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	s := &shelf{room: newRoom(t), book: machines.NewMemory(), key: key}
	s.poisoned("s1")
	for e, err := range s.Journal.Read(t.Context(), journal.Session{ID: "s1"}, 0) {
		if err != nil {
			t.Fatal(err)
		}
		s.all = append(s.all, e)
	}
	s.Mirror = s.book
	s.enrol("m1", "anna's")
	s.add("m1", machines.Upload{Session: "s1", Entries: s.all})
	return s
}

func (s *shelf) enrol(id machines.ID, name string) {
	s.t.Helper()
	if err := s.book.Enrol(s.t.Context(), machines.Machine{Tenant: me().Tenant, ID: id, Name: name, JournalKey: s.key.Public}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shelf) add(id machines.ID, u machines.Upload) {
	s.t.Helper()
	if outcome, _, err := s.book.Add(s.t.Context(), me().Tenant, id, u, arrived()); err != nil || outcome != machines.Kept {
		s.t.Fatal(outcome, err)
	}
}

func (s *shelf) show(session string) *wire.ShowResponse {
	s.t.Helper()
	a, err := s.Show(s.t.Context(), me(), &wire.ShowRequest{Session: session, Facts: true})
	if err != nil {
		s.t.Fatal(err)
	}
	return a
}

// A copy shows the same as the session on the laptop.
func TestACopyTellsWhatItsSessionTells(t *testing.T) {
	s := newShelf(t)
	own, other := s.show("s1"), s.show("laptop/m1/s1")
	if s.show("laptop/m1/s").GetCopy().GetSession() != "s1" {
		t.Error("the beginning of a name is not enough")
	}
	c := other.GetCopy()
	last := s.all[len(s.all)-1]
	if own.GetCopy() != nil || c.GetMachine() != "m1" || c.GetName() != "anna's" || c.GetEntries() != int64(len(s.all)) || c.GetSeq() != last.Seq || c.GetHash() != last.Hash.String() {
		t.Errorf("%v", c)
	}
	a, b := own.GetSession(), other.GetSession()
	if b.GetId() != "laptop/m1/s1" || b.GetProblem() != "" || a.GetMark().String() != b.GetMark().String() || a.GetDecisions() != b.GetDecisions() || a.GetStopped() != b.GetStopped() || a.GetAgent() != b.GetAgent() || len(own.GetFacts()) != len(other.GetFacts()) || len(own.GetSources()) != len(other.GetSources()) {
		t.Errorf("%v\n%v", a, b)
	}
	why, err := s.Why(t.Context(), me(), &wire.WhyRequest{Of: "laptop/m1/s1"})
	if err != nil || len(why.GetExplanations()) != 1 || !strings.HasPrefix(why.GetExplanations()[0].GetDecision(), "laptop/m1/s1#") {
		t.Errorf("%v, %v", why, err)
	}
	if one, err := s.Why(t.Context(), me(), &wire.WhyRequest{Of: why.GetExplanations()[0].GetDecision()}); err != nil || len(one.GetExplanations()) != 1 {
		t.Errorf("%v, %v", one, err)
	}
	if g, err := s.Graph(t.Context(), me(), &wire.GraphRequest{Session: "laptop/m1/s1", Format: "svg"}); err != nil || len(g.GetData()) == 0 {
		t.Error(err)
	}
	for _, word := range []string{"m1", "anna's"} {
		list, err := s.Sessions(t.Context(), me(), &wire.SessionsRequest{Machine: word})
		if err != nil || len(list.GetSessions()) != 1 || list.GetSessions()[0].GetId() != "laptop/m1/s1" || list.GetSessions()[0].GetStopped() != 1 {
			t.Errorf("%s: %v, %v", word, list, err)
		}
	}
	if list, err := s.Sessions(t.Context(), me(), &wire.SessionsRequest{}); err != nil || len(list.GetSessions()) != 1 || list.GetSessions()[0].GetId() != "s1" {
		t.Errorf("copies are among the fleet's own: %v, %v", list, err)
	}
}

// Another tenant cannot see a laptop or a copy, whatever name it uses.
func TestCopiesAreTheirTenantsAlone(t *testing.T) {
	s := newShelf(t)
	for _, name := range []string{"laptop/m1/s1", "laptop/m1/s", "laptop/m1/"} {
		if _, err := s.Show(t.Context(), stranger(), &wire.ShowRequest{Session: name}); !errors.Is(err, httpapi.ErrNotFound) {
			t.Errorf("show %s: %v", name, err)
		}
		if _, err := s.Why(t.Context(), stranger(), &wire.WhyRequest{Of: name}); !errors.Is(err, httpapi.ErrNotFound) {
			t.Errorf("why %s: %v", name, err)
		}
		if _, err := s.Graph(t.Context(), stranger(), &wire.GraphRequest{Session: name}); !errors.Is(err, httpapi.ErrNotFound) {
			t.Errorf("graph %s: %v", name, err)
		}
	}
	for _, word := range []string{"m1", "anna's", "nobody"} {
		_, err := s.Sessions(t.Context(), stranger(), &wire.SessionsRequest{Machine: word})
		if !errors.Is(err, httpapi.ErrNotFound) || err.Error() != `not found: there is no laptop "`+word+`"; «floodmark fleet machines --all» lists them` {
			t.Errorf("sessions of %s: %v", word, err)
		}
	}
	s.Mirror = nil
	if _, err := s.Sessions(t.Context(), me(), &wire.SessionsRequest{Machine: "m1"}); !errors.Is(err, httpapi.ErrInvalid) {
		t.Errorf("no laptops at all: %v", err)
	}
	if _, err := s.Show(t.Context(), me(), &wire.ShowRequest{Session: "laptop/m1/s1"}); !errors.Is(err, httpapi.ErrNotFound) {
		t.Errorf("no laptops at all: %v", err)
	}
}

// Every change of a copy is reported, and nothing after it is shown.
func TestACopyThatWasChanged(t *testing.T) {
	s := newShelf(t)
	for what, c := range map[string]struct {
		change func([]journal.Entry) []journal.Entry
		facts  int
	}{
		"a word":      {func(all []journal.Entry) []journal.Entry { all[2].Body = []byte(`{}`); return all }, 2},
		"a time":      {func(all []journal.Entry) []journal.Entry { all[2].At++; return all }, 2},
		"one is gone": {func(all []journal.Entry) []journal.Entry { return append(all[:2:2], all[3:]...) }, 2},
		"the first":   {func(all []journal.Entry) []journal.Entry { return all[1:] }, 0},
		"the last":    {func(all []journal.Entry) []journal.Entry { return all[:len(all)-1] }, len(s.all) - 1},
		"all":         {func([]journal.Entry) []journal.Entry { return nil }, 0},
		"the order":   {func(all []journal.Entry) []journal.Entry { all[1], all[2] = all[2], all[1]; return all }, 1},
		"a tombstone": {func(all []journal.Entry) []journal.Entry {
			all[2].Kind, all[2].Body = machines.StoneKind, []byte("nonsense")
			return all
		}, 2},
	} {
		s.Mirror = tampered{s.book, c.change}
		a := s.show("laptop/m1/s1")
		if !strings.HasPrefix(a.GetSession().GetProblem(), "it was changed") || len(a.GetFacts()) != c.facts {
			t.Errorf("%s: %d facts, %q", what, len(a.GetFacts()), a.GetSession().GetProblem())
		}
		list, err := s.Sessions(t.Context(), me(), &wire.SessionsRequest{Machine: "m1"})
		if err != nil || len(list.GetSessions()) != 1 || list.GetSessions()[0].GetProblem() == "" {
			t.Errorf("%s: %v, %v", what, list, err)
		}
	}
}

// Entries that the laptop erased are not shown, and the entries after them are. After a fact of a
// newer program nothing is shown, but the chain is still checked.
func TestACopyThatIsNotAll(t *testing.T) {
	s := newShelf(t)
	stone := func(seq int) *journal.Tombstone {
		t.Helper()
		signed, err := journal.SignTombstone(s.key.Signer, journal.Tombstone{Session: journal.Session{ID: "s1"}, Link: s.all[seq-1].Link(), At: 1, Why: "owner"})
		if err != nil {
			t.Fatal(err)
		}
		return &signed
	}
	s.enrol("m2", "anna's")
	last := s.all[len(s.all)-1].Link()
	more, err := journal.Seal(journal.Session{ID: "s1"}, last, arrived(), []floodmark.Fact{floodmark.IncidentSeen{Kind: "a", Text: "b"}, floodmark.SessionClosed{}})
	if err != nil {
		t.Fatal(err)
	}
	s.add("m2", machines.Upload{Session: "s1", Entries: s.all[:3]})
	s.add("m2", machines.Upload{Session: "s1", After: last, Entries: more, Stone: stone(len(s.all))})
	a := s.show("laptop/m2/s1")
	if a.GetSession().GetProblem() != "" || a.GetTombstone().GetSeq() != last.Seq || len(a.GetIncidents()) != 1 || len(a.GetSources()) != 1 || !a.GetSession().GetClosed() || len(a.GetFacts()) != 2 {
		t.Errorf("%v, %v, %d facts", a.GetSession(), a.GetTombstone(), len(a.GetFacts()))
	}
	s.enrol("m3", "bea's")
	s.add("m3", machines.Upload{Session: "s1", Entries: s.all[:2]})
	s.add("m3", machines.Upload{Session: "s1", After: last, Stone: stone(len(s.all))})
	a = s.show("laptop/m3/s1")
	if a.GetSession().GetProblem() != "" || len(a.GetSources()) != 1 || len(a.GetDecisions()) != 0 || !a.GetSession().GetClosed() {
		t.Errorf("%v", a)
	}
	if _, err := s.Sessions(t.Context(), me(), &wire.SessionsRequest{Machine: "anna's"}); !errors.Is(err, httpapi.ErrInvalid) {
		t.Errorf("two are called so: %v", err)
	}
	later, err := journal.Seal(journal.Session{ID: "new"}, journal.Link{}, arrived(), []floodmark.Fact{floodmark.IncidentSeen{Kind: "a", Text: "b"}, floodmark.IncidentSeen{Kind: "c", Text: "d"}})
	if err != nil {
		t.Fatal(err)
	}
	s.add("m3", machines.Upload{Session: "new", Entries: later})
	a = s.show("laptop/m3/new")
	if !strings.Contains(a.GetSession().GetProblem(), "entry 1, a fact of kind incident-seen, cannot be told here") || a.GetCopy().GetEntries() != 2 || a.GetCopy().GetSeq() != 2 || len(a.GetFacts()) != 1 {
		t.Errorf("%v", a)
	}
	s.Mirror = tampered{s.book, func(all []journal.Entry) []journal.Entry { all[1].At++; return all }}
	if a := s.show("laptop/m3/new"); a.GetCopy().GetSeq() != 1 {
		t.Errorf("what follows is not checked: %v", a.GetCopy())
	}
}

// A laptop may send any bytes for a name, and facts beyond any limit.
func TestACopyOfAnything(t *testing.T) {
	s := newShelf(t)
	odd, err := journal.Seal(journal.Session{ID: "\xff"}, journal.Link{}, arrived(), []floodmark.Fact{floodmark.SessionOpened{Agent: "x"}})
	if err != nil {
		t.Fatal(err)
	}
	s.add("m1", machines.Upload{Session: "\xff", Entries: odd})
	s.Mirror = tampered{s.book, func(all []journal.Entry) []journal.Entry {
		if len(all) > 1 {
			all[0].Body = make([]byte, maxCopied+1)
		}
		return all
	}}
	list, err := s.Sessions(t.Context(), me(), &wire.SessionsRequest{Machine: "m1"})
	if err != nil || len(list.GetSessions()) != 2 {
		t.Fatalf("%v, %v", list, err)
	}
	for _, one := range list.GetSessions() {
		if !utf8.ValidString(one.GetId()) || one.GetProblem() == "" {
			t.Errorf("%v", one)
		}
	}
	if _, err := s.Show(t.Context(), me(), &wire.ShowRequest{Session: "laptop/m1/s1"}); !errors.Is(err, httpapi.ErrInvalid) {
		t.Errorf("%v", err)
	}
}

// Old copies, and copies that an admin names, are erased. A tombstone that the fleet signed
// replaces them, and what the laptop writes later is shown.
func TestCopiesGo(t *testing.T) {
	s := newShelf(t)
	last := s.all[len(s.all)-1].Link()
	gone, err := LetCopiesGo(t.Context(), s.book, s.Key.Signer, arrived().Add(-time.Hour), arrived())
	if err != nil || gone != 0 || s.show("laptop/m1/s1").GetTombstone() != nil {
		t.Fatalf("what is new goes: %d, %v", gone, err)
	}
	if gone, err = LetCopiesGo(t.Context(), s.book, s.Key.Signer, arrived().Add(time.Hour), arrived()); err != nil || gone != 1 {
		t.Fatalf("%d, %v", gone, err)
	}
	a := s.show("laptop/m1/s1")
	if a.GetSession().GetProblem() != "" || a.GetTombstone().GetWhy() != journal.WhyRetention || len(a.GetFacts()) != 0 || a.GetCopy().GetSeq() != last.Seq || !a.GetSession().GetClosed() {
		t.Errorf("%v", a)
	}
	more, err := journal.Seal(journal.Session{ID: "s1"}, last, arrived(), []floodmark.Fact{floodmark.IncidentSeen{Kind: "a", Text: "b"}})
	if err != nil {
		t.Fatal(err)
	}
	s.add("m1", machines.Upload{Session: "s1", After: last, Entries: more})
	if a := s.show("laptop/m1/s1"); a.GetSession().GetProblem() != "" || len(a.GetIncidents()) != 1 {
		t.Errorf("%v", a)
	}
	for who, name := range map[string]string{"stranger": "laptop/m1/s1", "me": "laptop/m1/s"} {
		id := me()
		id.Channel = httpapi.ByToken
		if who == "stranger" {
			id = stranger()
		}
		if got, err := s.Forget(t.Context(), id, &wire.ForgetRequest{Session: name}); err == nil {
			t.Errorf("%s forgets %s: %v", who, name, got)
		}
	}
	admin := me()
	admin.Channel = httpapi.ByToken
	got, err := s.Forget(t.Context(), admin, &wire.ForgetRequest{Session: "laptop/m1/s1", Why: "asked for"})
	if err != nil || got.GetTombstone().GetSeq() != more[0].Seq {
		t.Fatalf("%v, %v", got, err)
	}
	if a := s.show("laptop/m1/s1"); a.GetSession().GetProblem() != "" || a.GetTombstone().GetWhy() != "asked for" || len(a.GetIncidents()) != 0 {
		t.Errorf("%v", a)
	}
	if len(s.show("s1").GetFacts()) != len(s.all) {
		t.Error("a session of the fleet's own was erased")
	}
	s.Mirror = tampered{s.book, func(all []journal.Entry) []journal.Entry {
		all[0].Body = []byte(strings.Replace(string(all[0].Body), "asked for", "asked, too", 1))
		return all
	}}
	if a := s.show("laptop/m1/s1"); !strings.Contains(a.GetSession().GetProblem(), "not signed") {
		t.Errorf("%v", a)
	}
}

// Once the copies read are too large together, no further ones are read, because a laptop may have
// sent a hundred thousand.
func TestNothingIsReadBehindWhatIsTooLarge(t *testing.T) {
	s := newShelf(t)
	for _, id := range []floodmark.SessionID{"a", "b"} {
		one, err := journal.Seal(journal.Session{ID: id}, journal.Link{}, arrived(), []floodmark.Fact{floodmark.SessionOpened{Agent: "x"}})
		if err != nil {
			t.Fatal(err)
		}
		s.add("m1", machines.Upload{Session: id, Entries: one})
	}
	reads := 0
	s.Mirror = tampered{s.book, func(all []journal.Entry) []journal.Entry {
		reads++
		all[0].Body = make([]byte, maxCopied+1)
		return all
	}}
	list, err := s.Sessions(t.Context(), me(), &wire.SessionsRequest{Machine: "m1"})
	if err != nil || len(list.GetSessions()) != 3 || reads != 1 {
		t.Fatalf("%d read, %v, %v", reads, list, err)
	}
	for _, one := range list.GetSessions() {
		if one.GetProblem() == "" {
			t.Errorf("%v", one)
		}
	}
}
