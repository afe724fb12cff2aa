package owner

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
)

// askedCalls holds the calls of open questions, in the words in which people saw them. It is filled
// from the journal alone while a session is read, so it does not matter which node asked, nor
// whether that node still runs. The zero askedCalls, which is used for a laptop's copy, stays
// empty.
type askedCalls struct {
	words wording
	now   time.Time
	calls []askedCall
	since map[floodmark.TicketID]time.Time // when questions were opened
}

// A wording puts a call into words, as [monitor.Monitor.Words] does.
type wording func(s journal.Session, st *kernel.State, shown floodmark.Shown, code floodmark.Digest, f *floodmark.ActionDecided) (approval.Question, error)

// An askedCall is one call of a question. Its ticket and what was shown identify it, because its
// index changes when other calls are answered or added.
type askedCall struct {
	ticket   floodmark.TicketID
	shown    floodmark.Shown
	question approval.Question
}

func (d *Desk) newAsked() askedCalls {
	return askedCalls{words: d.Monitor.Words, now: d.Now(), since: map[floodmark.TicketID]time.Time{}}
}

// ask puts a call of a question into words, from the state before the question. A call for which
// that fails is listed without words.
func (t *tale) ask(id floodmark.TicketID, until time.Time, code floodmark.Digest, shown floodmark.Shown) {
	if t.asked.words == nil || !t.asked.now.Before(until) {
		return
	}
	i := t.asked.find(id, shown)
	if i >= 0 && reflect.DeepEqual(t.asked.calls[i].shown, shown) {
		return // the call was asked again, and has its words already
	}
	if i >= 0 {
		t.asked.calls = slices.Delete(t.asked.calls, i, i+1)
	}
	var led *floodmark.ActionDecided
	for n := range slices.Backward(t.decisions) {
		if led = &t.decisions[n].fact; kernel.Leads(led, shown) {
			break
		}
	}
	if q, err := t.asked.words(t.session, t.state, shown, code, led); err == nil {
		t.asked.calls = append(t.asked.calls, askedCall{ticket: id, shown: shown, question: q})
	}
}

// find returns the index of a call, or a negative number if it has no words.
func (a *askedCalls) find(id floodmark.TicketID, shown floodmark.Shown) int {
	return slices.IndexFunc(a.calls, func(c askedCall) bool {
		return c.ticket == id && approval.SameCall(c.shown, shown)
	})
}

// question returns the words of a call. It returns false if there are none.
func (a *askedCalls) question(id floodmark.TicketID, shown floodmark.Shown) (approval.Question, bool) {
	i := a.find(id, shown)
	if i < 0 {
		return approval.Question{}, false
	}
	return a.calls[i].question, true
}

// push returns what a person is shown of a push. It is not in the journal, so only the monitor that
// asked the question has it, until its restart. The push can only be approved at that monitor.
func (d *Desk) push(s journal.Session, o approval.Open, shown floodmark.Shown) (*hook.Push, hook.Remote) {
	for _, p := range d.Monitor.PendingOf(s) {
		if p.Ticket != o.ID || p.Seen != o.Seen() {
			continue
		}
		for _, q := range p.Questions {
			if q.Action.Tool == shown.Tool && q.Action.ArgsDigest == shown.ArgsDigest {
				return q.Push, q.Remote
			}
		}
	}
	return nil, hook.Remote{}
}

// asks finds the session of a question by its ticket alone, whichever node asked the question. The
// session is empty if there is none. If some sessions cannot be read, an approval must name the
// session, because one of them may have the question.
func (d *Desk) asks(ctx context.Context, who httpapi.Identity, cmd approval.Command) (journal.Session, error) {
	if cmd.Ticket == "" {
		return journal.Session{}, nil
	}
	for _, p := range d.Monitor.Pending(who.Tenant) {
		if p.Ticket == cmd.Ticket {
			return p.Session, nil
		}
	}
	s, passed, err := d.hunts.Find(ctx, who.Tenant, cmd.Ticket, func(ctx context.Context, see func(journal.Session, []floodmark.TicketID) bool) (int, error) {
		passed, err := d.recent(ctx, who.Tenant, func(t *tale) bool { return see(t.session, t.tickets(d.Now())) })
		return passed.count, err
	})
	if err == nil && s.ID == "" && passed > 0 && cmd.Verb != approval.Deny {
		err = fmt.Errorf("%w: not every session can be read, so name that of the question, too; «floodmark approve» lists them", httpapi.ErrInvalid)
	}
	return s, err
}

// tickets returns the tickets of the questions that have not expired.
func (t *tale) tickets(now time.Time) (list []floodmark.TicketID) {
	for _, o := range t.state.Book.Tickets {
		if now.Before(o.Expires) {
			list = append(list, o.ID)
		}
	}
	return list
}
