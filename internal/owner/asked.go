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
	"github.com/floodmark/floodmark/internal/httpapi"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
)

// askedCalls are the calls of open questions as people saw them when they were asked. They are made
// while the session is read, from the journal alone, so it does not matter which node asked, nor
// whether it still runs. The zero askedCalls, used for a laptop's copy, makes none.
type askedCalls struct {
	words wording
	now   time.Time
	calls []askedCall
}

// wording is [monitor.Monitor.Words].
type wording func(s journal.Session, st *kernel.State, shown floodmark.Shown, code floodmark.Digest, f *floodmark.ActionDecided) (approval.Question, error)

// An askedCall is one call of a question. A ticket and what was shown identify it: its place in the
// list changes when others are answered or added.
type askedCall struct {
	ticket   floodmark.TicketID
	shown    floodmark.Shown
	question approval.Question
}

func (d *Desk) newAsked() askedCalls { return askedCalls{words: d.Monitor.Words, now: d.Now()} }

// ask records that a question shows a call; the state is the one just before. A call that cannot be
// worded is listed without words.
func (t *tale) ask(id floodmark.TicketID, until time.Time, code floodmark.Digest, shown floodmark.Shown) {
	if t.asked.words == nil || !t.asked.now.Before(until) {
		return
	}
	i := t.asked.find(id, shown)
	if i >= 0 && reflect.DeepEqual(t.asked.calls[i].shown, shown) {
		return // asked again: the words stay
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

// find returns the place of a call; below zero if it has no words.
func (a *askedCalls) find(id floodmark.TicketID, shown floodmark.Shown) int {
	return slices.IndexFunc(a.calls, func(c askedCall) bool {
		return c.ticket == id && approval.SameCall(c.shown, shown)
	})
}

// question returns a call of an open question in words.
func (a *askedCalls) question(id floodmark.TicketID, shown floodmark.Shown) (approval.Question, bool) {
	i := a.find(id, shown)
	if i < 0 {
		return approval.Question{}, false
	}
	return a.calls[i].question, true
}

// push returns what a person is shown of a push. It is not in the journal, so only the monitor that
// asked has it; an approval of it counts at no other, nor after a restart.
func (d *Desk) push(s journal.Session, o approval.Open, shown floodmark.Shown) (*hook.Push, hook.Remote) {
	for _, p := range d.Monitor.Pending(s.Tenant) {
		if p.Session != s || p.Ticket != o.ID || p.Seen != o.Seen() {
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

// asks returns the session whose question is answered by its ticket alone, whichever node asked it;
// it is empty if there is none. If a session cannot be read, it may have the question: then an
// approval has to name the session.
func (d *Desk) asks(ctx context.Context, who httpapi.Identity, cmd approval.Command) (journal.Session, error) {
	if cmd.Ticket == "" {
		return journal.Session{}, nil
	}
	for _, p := range d.Monitor.Pending(who.Tenant) {
		if p.Ticket == cmd.Ticket {
			return p.Session, nil
		}
	}
	s, passed, err := d.hunts.find(ctx, who.Tenant, cmd.Ticket, func(ctx context.Context, see func(journal.Session, []floodmark.TicketID) bool) (int, error) {
		passed, err := d.recent(ctx, who.Tenant, func(t *tale) bool { return see(t.session, t.tickets(d.Now())) })
		return passed.count, err
	})
	if err == nil && s.ID == "" && passed > 0 && cmd.Verb != approval.Deny {
		err = fmt.Errorf("%w: not every session can be read, so name that of the question, too; «floodmark approve» lists them", httpapi.ErrInvalid)
	}
	return s, err
}

// tickets returns the names of the questions that have not ended.
func (t *tale) tickets(now time.Time) (list []floodmark.TicketID) {
	for _, o := range t.state.Book.Tickets {
		if now.Before(o.Expires) {
			list = append(list, o.ID)
		}
	}
	return list
}
