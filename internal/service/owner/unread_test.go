package owner

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/wire"
)

// A damagedJournal has sessions whose entries were changed, and counts what is read.
type damagedJournal struct {
	journal.Journal
	change map[floodmark.SessionID]func(*journal.Entry)
	read   map[floodmark.SessionID]int
}

func (j *damagedJournal) Read(ctx context.Context, s journal.Session, after uint64) iter.Seq2[journal.Entry, error] {
	j.read[s.ID]++
	return func(yield func(journal.Entry, error) bool) {
		for e, err := range j.Journal.Read(ctx, s, after) {
			if change := j.change[s.ID]; change != nil {
				change(&e)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func damage(r *room, change map[floodmark.SessionID]func(*journal.Entry)) *damagedJournal {
	j := &damagedJournal{Journal: r.Journal, change: change, read: map[floodmark.SessionID]int{}}
	r.Journal = j
	return j
}

func moved(e *journal.Entry) { e.At++ }

// A session that cannot be read does not hide others: their questions are listed, with a line about
// the unreadable session, and can be answered by their tickets.
func TestASessionThatCannotBeReadHidesNoOther(t *testing.T) {
	a, b := nodes(t)
	a.poisoned("s1")
	a.poisoned("s2")
	a.poisoned("s3")
	damage(b, map[floodmark.SessionID]func(*journal.Entry){"s1": moved, "s3": moved})
	got, err := b.Pending(t.Context(), away(), &wire.PendingRequest{})
	if err != nil || len(got.GetQuestions()) != 1 || got.GetQuestions()[0].GetSession() != "s2" {
		t.Fatalf("%v, %v", got, err)
	}
	if u := got.GetUnread(); len(u) != 2 || !strings.HasPrefix(u[0], "session s3 is passed over") || !strings.HasPrefix(u[1], "session s1 is") || !strings.Contains(u[0], "journal verify") {
		t.Errorf("%q", u)
	}
	if g, err := b.Grants(t.Context(), away(), &wire.GrantsRequest{}); err != nil || len(g.GetUnread()) != 2 {
		t.Errorf("grants: %v, %v", g, err)
	}
	if got, err := b.Pending(t.Context(), away(), &wire.PendingRequest{Session: "s1"}); err == nil {
		t.Errorf("one that was named: %v", got)
	}
	if got, err := b.Answer(t.Context(), away(), &wire.AnswerRequest{Verb: "deny", Ticket: got.GetQuestions()[0].GetTicket()}); err != nil || !got.GetAnswered() {
		t.Errorf("%v, %v", got, err)
	}
	b.Journal = silentJournal{b.Journal}
	if got, err := b.Pending(t.Context(), away(), &wire.PendingRequest{}); err == nil {
		t.Errorf("a database that nobody reaches: %v", got)
	}
}

// While a session cannot be read, a laptop's question cannot be approved by a ticket alone, because
// that session may have a question with the same ticket. It can be denied.
func TestALaptopTakesNoAnswerOfASessionThatCannotBeRead(t *testing.T) {
	a, b := nodes(t)
	g := &greedy{}
	b.Laptops = g
	a.poisoned("s1")
	ticket := a.questions()[0].GetTicket()
	damage(b, map[floodmark.SessionID]func(*journal.Entry){"s1": moved})
	if got, err := b.Answer(t.Context(), away(), &wire.AnswerRequest{Verb: "approve", Ticket: ticket, Calls: 1}); !errors.Is(err, httpapi.ErrInvalid) || g.answered != 0 {
		t.Errorf("approved %v, %v", got, err)
	}
	if _, err := b.Answer(t.Context(), away(), &wire.AnswerRequest{Verb: "deny", Ticket: ticket}); err != nil || g.answered != 1 {
		t.Errorf("denied %d times, %v", g.answered, err)
	}
}

// The search for a ticket begins with the newest session, and ends when the ticket is found.
func TestTheSearchForATicketEnds(t *testing.T) {
	a, b := nodes(t)
	a.poisoned("s1")
	a.poisoned("s2")
	ticket := a.codes.of("s2").ID
	j := damage(b, nil)
	if got, err := b.Answer(t.Context(), away(), &wire.AnswerRequest{Verb: "deny", Ticket: string(ticket)}); err != nil || !got.GetAnswered() {
		t.Errorf("%v, %v", got, err)
	}
	if j.read["s1"] != 0 || j.read["s2"] == 0 {
		t.Errorf("read were %v", j.read)
	}
}

// The errors of a bounded number of sessions are described. An error of the store, or a cancelled
// request, ends the list.
func TestWhatCannotBeReadIsSaid(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx  context.Context
		err  error
		want string
	}{
		{t.Context(), fmt.Errorf("x: %w", journal.ErrBroken), "journal verify"},
		{t.Context(), httpapi.ErrNotFound, "journal verify"},
		{t.Context(), httpapi.ErrInvalid, "more than 1048576 facts"},
		{t.Context(), errStrange, "this version does not understand"},
		{t.Context(), journal.ErrConflict, "ask again"},
		{t.Context(), journal.ErrAway, ""},
		{t.Context(), errors.New("disk"), ""},
		{gone, journal.ErrBroken, ""},
	} {
		var u unread
		if is := u.pass(c.ctx, journal.Session{ID: "s"}, c.err); is != (c.want != "") || is && !strings.Contains(u.words()[0], c.want) {
			t.Errorf("%v: %v, %q", c.err, is, u.words())
		}
	}
	var u unread
	for i := range maxUnreadLines + 1 {
		if n := len(u.words()); n != i {
			t.Errorf("%d lines for %d", n, i)
		}
		u.pass(t.Context(), journal.Session{ID: "s"}, journal.ErrBroken)
	}
	if w := u.words(); len(w) != maxUnreadLines+1 || !strings.HasPrefix(w[maxUnreadLines], "and 1 more") {
		t.Errorf("%q", w)
	}
}

// A session that this version does not understand is skipped, too.
func TestASessionOfANewerVersionHidesNoOther(t *testing.T) {
	r := newRoom(t)
	r.poisoned("s1")
	s := journal.Session{ID: "s2"}
	entries, err := journal.Seal(s, journal.Link{}, r.later(0), []floodmark.Fact{floodmark.SessionOpened{Agent: "a"}, floodmark.SessionOpened{Agent: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Journal.Append(t.Context(), journal.Batch{Records: []journal.Record{{Session: s, Entries: entries}}}); err != nil {
		t.Fatal(err)
	}
	got, err := r.Pending(t.Context(), away(), &wire.PendingRequest{})
	if err != nil || len(got.GetQuestions()) != 1 || len(got.GetUnread()) != 1 || !strings.HasPrefix(got.GetUnread()[0], "session s2 is passed over: something is written there") {
		t.Errorf("%v, %v", got, err)
	}
}
