package answer

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/internal/rules/lull"
	"github.com/floodmark/floodmark/internal/text/meaning"
	"github.com/floodmark/floodmark/report"
)

func (d *desk) command(cmd approval.Command) error {
	switch cmd.Verb {
	case approval.Approve, approval.Deny:
		d.answer(cmd)
	case approval.Endorse:
		if cmd.Typed {
			d.vouchInChat(cmd)
			return nil
		}
		d.endorse(cmd)
	case approval.Withdraw:
		d.withdraw(cmd)
	case approval.Revoke:
		d.revoke(cmd)
	case approval.Status:
		d.out.Notice = d.status()
	default:
		return fmt.Errorf("unknown command %q", cmd.Verb)
	}
	return nil
}

// answer closes a question. The first answer wins: a later one finds no open question.
func (d *desk) answer(cmd approval.Command) {
	if cmd.Verb == approval.Approve && cmd.Code != "" && d.lockedOut(cmd) {
		return
	}
	open, ok := d.ticket(cmd)
	if !ok {
		d.unanswerable(cmd)
		return
	}
	if cmd.Verb == approval.Approve && cmd.Code == "" && !sees(cmd, open) && !open.Approved {
		d.out.Notice = "That question has changed since it was shown. Look at it again."
		return
	}
	if open.Approved && (cmd.Verb == approval.Approve || !d.Book.Holds(open.ID)) {
		d.answeredBefore(approval.Closed{ID: open.ID, Verdict: floodmark.Allow, By: open.By, Channel: open.Channel})
		return
	}
	if cmd.Verb == approval.Deny {
		d.keep(floodmark.TicketAnswered{Ticket: open.ID, Verdict: floodmark.Restrict, By: cmd.By, Channel: cmd.Channel})
		d.out.Notice = "Denied."
		if len(open.Shown) > 0 {
			d.out.Notice = "Denied: " + names(open.Shown) + "."
		}
		return
	}
	if !open.Vouch().IsZero() {
		d.vouchAnswered(cmd, open)
		return
	}
	if !cmd.Offered(open.Shown) {
		d.out.Notice = "That question has no such offer. Look at it again."
		return
	}
	if !d.picked(cmd, open) || !d.counted(&cmd, open) {
		return
	}
	var given []floodmark.Shown
	for _, shown := range open.Shown {
		if cmd.Approves(shown) {
			given = append(given, shown)
			g := cmd.Grant(open.ID, shown, d.Turn, d.At)
			g.Draft = d.Pause.Observe
			d.keep(g)
		}
	}
	if len(given) == 0 {
		d.out.Notice = fmt.Sprintf("That code was not asked for %q but for: %s.", cmd.Tool, names(open.Shown))
		return
	}
	if len(given) == len(open.Shown) {
		d.keep(floodmark.TicketAnswered{Ticket: open.ID, Verdict: floodmark.Allow, By: cmd.By, Channel: cmd.Channel})
	}
	d.out.Notice = cmd.Approved(given, names(given))
}

// sees reports whether an approval by ticket is for what the question shows now.
func sees(cmd approval.Command, open approval.Open) bool {
	return max(cmd.Calls, 1) == len(open.Shown) && (cmd.Seen == "" || cmd.Seen == open.Seen())
}

func (d *desk) ticket(cmd approval.Command) (approval.Open, bool) {
	if cmd.Ticket != "" && cmd.Code == "" {
		return d.Book.ByID(cmd.Ticket, d.At)
	}
	return d.Book.ByCode(d.Key, d.Name, cmd.Code, d.At)
}

// revoke takes an approval back.
func (d *desk) revoke(cmd approval.Command) {
	if !d.Book.Holds(cmd.Ticket) {
		d.out.Notice = "No approval of that name holds any more."
		return
	}
	d.keep(floodmark.GrantEnded{Ticket: cmd.Ticket, Why: "taken back by " + cmp.Or(cmd.By, "the owner")})
	d.out.Notice = "Taken back: it allows nothing any more."
}

// status returns a few lines about the mark, the open questions and the grants of the session.
func (d *desk) status() string {
	mark := d.Ledger.Mark()
	lines := []string{fmt.Sprintf("Mark: %s. Open questions: %d. Grants: %d.", mark, d.Book.Waiting(d.At), len(d.Book.Grants))}
	if d.Pause != (floodmark.Pause{}) {
		lines = append(lines, "- "+lull.Notice(d.Pause))
	}
	if line := d.Settings.Quiet.Line(d.At); line != "" {
		lines = append(lines, "- "+line)
	}
	if mark.Trust < floodmark.Owner {
		for _, n := range d.Ledger.Blame(mark.Trust) {
			src, _ := d.Ledger.Source(n)
			lines = append(lines, "- "+report.Named(src, d.Ledger.Effective(n).Trust))
		}
	}
	for _, src := range d.Offered {
		lines = append(lines, "- not loaded: "+meaning.Source(src, src.Label.Trust)+", digest "+src.Digest.Short())
	}
	return strings.Join(lines, "\n")
}

func names(shown []floodmark.Shown) string {
	var list []string
	calls := map[string]int{}
	for _, s := range shown {
		name := report.Visible(s.Tool.String())
		if calls[name]++; calls[name] == 1 {
			list = append(list, name)
		}
	}
	for i, name := range list {
		if n := calls[name]; n > 1 {
			list[i] = fmt.Sprintf("%s (%d calls)", name, n)
		}
	}
	return strings.Join(list, ", ")
}

// picked reports whether a command has what the question asks to type or choose. A wrong text is
// counted like a wrong code; a wrong choice closes the question.
func (d *desk) picked(cmd approval.Command, open approval.Open) bool {
	for _, s := range open.Shown {
		if !cmd.Approves(s) || approval.Picks(d.Key, d.Name, s, cmd.Picked) {
			continue
		}
		if cmd.Picked == "" {
			d.out.Notice = fmt.Sprintf("Not yet: say where it goes, too, as the question asks: «%s %s <code> =…».", approval.Approve, report.Visible(s.Tool.String()))
			return false
		}
		d.keep(floodmark.TicketRefused{Ticket: open.ID, Why: "another place was picked"})
		d.out.Notice = "That is not where it goes. Nothing was approved; look at the question again."
		switch {
		case s.PickEnd.IsZero(): // a choice of three: a second try would need no reading
			d.out.Notice = "That is not where it goes. Nothing was approved, and the question is closed."
			d.void(open.ID, "another place was picked")
		case open.Wrong+1 >= d.Settings.MaxTries:
			d.void(open.ID, "too many wrong picks")
		}
		return false
	}
	return true
}

// If the policy wants it, a call that changes the agent or the monitor takes two people. A person
// is known by the name that a channel has proved, and the policy says which of these names are one
// person.

// counted reports whether enough people have approved a question with this one. The
// command is then given in the name of both.
func (d *desk) counted(cmd *approval.Command, open approval.Open) bool {
	if !open.Two() {
		return true
	}
	person, known := d.Settings.Person(cmd.Channel, cmd.By)
	switch {
	case cmd.Typed:
		d.out.Notice = "It takes two people, each at a channel of their own: a terminal, Telegram, a token. Here it cannot be approved."
		return false
	case !known:
		d.out.Notice = "It takes two people whom the policy names (approvals.people). You are not among them here, so this does not count."
		return false
	case open.First == person:
		d.out.Notice = "One of two: you have approved it already, and another person has to."
		return false
	case open.First == "":
		d.keep(floodmark.TicketCounted{Ticket: open.ID, Person: person, By: cmd.By, Channel: cmd.Channel})
		d.out.Notice = "One of two: another person has to approve it, too. Nothing is allowed yet."
		return false
	}
	cmd.By = open.First + " and " + person
	return true
}
