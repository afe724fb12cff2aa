// Package answer is what an owner's command does to the questions of a session: it closes them,
// counts wrong codes, vouches for contents and says in words what came of it. It gets what it needs
// of the session as values, and returns facts. The zero Outcome changes nothing.
package answer

import (
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/provenance"
)

// A Session is what an answer needs of the session whose questions it is about.
type Session struct {
	Name     floodmark.SessionID
	Agent    string
	Book     *approval.Book
	Ledger   *provenance.Ledger
	Settings policy.Settings
	Turn     int
	// Pause is the pause in effect, zero if there is none.
	Pause floodmark.Pause
	// At is the time of the command, and Key the session's key. Code and Ticket name a question, if
	// one has to be asked.
	At     time.Time
	Key    []byte
	Code   string
	Ticket floodmark.TicketID
	// Mark is the session's mark, and Node the next source.
	Mark floodmark.Label
	Node floodmark.NodeID
	// Contents are the sources that the owner may vouch for. Offered are those of what could not be
	// loaded.
	Contents, Offered []floodmark.Source
}

// An Outcome is what came of a command.
type Outcome struct {
	Facts []floodmark.Fact
	// Notice is what the owner is told.
	Notice string
	// Late names a question that was answered before; empty if none was.
	Late floodmark.TicketID
	// Ask is a question that the command opened.
	Ask *approval.Ticket
	// Vouched is what the owner said of contents, for all sessions.
	Vouched []Vouched
}

// A Vouched is what the owner said of one content.
type Vouched struct {
	Digest floodmark.Digest
	Trust  floodmark.Trust
	By     string
}

// Void returns the fact that closes a question without an answer: the call still needs one.
func Void(t floodmark.TicketID, why string) floodmark.TicketAnswered {
	return floodmark.TicketAnswered{Ticket: t, Verdict: floodmark.Confirm, By: why}
}

// Take takes in a command from a channel that has proved who speaks, or one typed by the owner.
func Take(s Session, cmd approval.Command) (Outcome, error) {
	d := &desk{Session: s}
	if err := d.command(cmd); err != nil {
		return Outcome{}, err
	}
	return d.out, nil
}

// Vouch returns a question whether to vouch for a content as it was shown before.
func Vouch(s Session, shown floodmark.Shown) (approval.Question, error) {
	return (&desk{Session: s}).vouchAgain(shown)
}

// desk is one command being worked on.
type desk struct {
	Session
	out Outcome
}

// keep notes a fact.
func (d *desk) keep(f floodmark.Fact) { d.out.Facts = append(d.out.Facts, f) }

func (d *desk) say(digest floodmark.Digest, trust floodmark.Trust, by string) {
	d.out.Vouched = append(d.out.Vouched, Vouched{digest, trust, by})
}

func (d *desk) void(t floodmark.TicketID, why string) { d.keep(Void(t, why)) }
