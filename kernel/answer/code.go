package answer

import (
	"fmt"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/report"
)

// lockedFor is how long a channel is locked for codes after too many wrong
// ones.
const lockedFor = 10 * time.Minute

// noSuchCode is the reply to a code that answers no open question.
const noSuchCode = "No open question has this code: it is wrong, has expired, or was answered already."

// unanswerable replies that there is nothing to answer: the command is late, or
// its code is a guess.
func (d *desk) unanswerable(cmd approval.Command) {
	if c, ok := d.Book.Ended(d.Key, d.Name, cmd.Ticket, cmd.Code, d.At); ok {
		d.answeredBefore(c)
		return
	}
	d.out.Notice = noSuchCode
	if cmd.Code != "" {
		d.wrongCode(cmd)
	}
}

// answeredBefore says how a question was answered before.
func (d *desk) answeredBefore(c approval.Closed) {
	d.out.Late = c.ID
	by := ""
	if c.By != "" {
		by = " by " + report.Visible(c.By)
	}
	if c.Channel != "" {
		by += " (" + report.Visible(c.Channel) + ")"
	}
	switch c.Verdict {
	case floodmark.Allow:
		d.out.Notice = "That question was answered already: approved" + by + "."
	case floodmark.Restrict:
		d.out.Notice = "That question was answered already: denied" + by + "."
	case floodmark.Confirm, floodmark.Audit:
		d.out.Notice = "That question has ended without an answer: " + report.Visible(c.By) + "."
	}
}

// lockedOut refuses to look at a code from a channel on which too many wrong ones were typed. It
// writes nothing down, so that further guesses do not fill the journal.
func (d *desk) lockedOut(cmd approval.Command) bool {
	_, until := d.Book.Guessed(cmd.Channel)
	if !d.At.Before(until) {
		return false
	}
	d.out.Notice = fmt.Sprintf("Too many wrong codes were typed here: none is looked at until %s. You can still deny, or answer elsewhere.", until.UTC().Format("15:04 MST"))
	return true
}

// wrongCode counts a wrong code against every open question and voids the questions that have had
// too many. After too many on one channel, no code is looked at there for a while.
func (d *desk) wrongCode(cmd approval.Command) {
	if d.lockedOut(cmd) {
		return
	}
	most := d.Settings.MaxTries
	f := floodmark.TicketRefused{Why: "no open question has this code", Channel: cmd.Channel}
	wrong, _ := d.Book.Guessed(cmd.Channel)
	if wrong+1 >= most {
		f.Until = d.At.Add(lockedFor)
	}
	d.keep(f)
	for _, o := range d.Book.Tickets {
		if d.At.Before(o.Expires) && o.Wrong+1 >= most {
			d.void(o.ID, "too many wrong codes")
		}
	}
	if !f.Until.IsZero() {
		d.keep(floodmark.IncidentSeen{Kind: "codes-guessed", Text: fmt.Sprintf("%d wrong codes in a row came through %q; none is looked at there for %d minutes", wrong+1, cmd.Channel, int(lockedFor.Minutes()))})
		d.out.Notice = fmt.Sprintf("That was wrong code number %d: what was asked is void, and no code is looked at here for %d minutes. If you did not type them, somebody is guessing.", wrong+1, int(lockedFor.Minutes()))
	}
}
