package kernel

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/internal/rules/lull"
	"github.com/floodmark/floodmark/internal/text/meaning"
	"github.com/floodmark/floodmark/report"
)

// Answer takes in an owner's command from a channel that has proved who
// speaks. Commands typed into a conversation come through [Step].
func Answer(s *State, r Rules, in Input, cmd approval.Command) (Output, error) {
	if !s.Opened {
		return Output{}, errors.New("no such session")
	}
	st := newStep(s, r, in)
	st.out.Reply.Decision.Verdict, st.out.Reply.Decision.Reach = floodmark.Allow, floodmark.Free
	st.out.Reply.Consumed = true
	err := st.heed()
	if err == nil {
		err = st.command(cmd)
	}
	if err != nil {
		return Output{}, err
	}
	return st.out, nil
}

func (st *step) command(cmd approval.Command) error {
	switch cmd.Verb {
	case approval.Approve, approval.Deny:
		st.answer(cmd)
	case approval.Endorse:
		if cmd.Typed {
			st.vouchInChat(cmd)
			return nil
		}
		st.endorse(cmd)
	case approval.Withdraw:
		st.withdraw(cmd)
	case approval.Revoke:
		st.revoke(cmd)
	case approval.Status:
		st.out.Reply.Notice = st.status()
	default:
		return fmt.Errorf("unknown command %q", cmd.Verb)
	}
	return nil
}

// answer closes a question. The first answer wins: a later one finds no open question.
func (st *step) answer(cmd approval.Command) {
	if cmd.Verb == approval.Approve && cmd.Code != "" && st.lockedOut(cmd) {
		return
	}
	open, ok := st.ticket(cmd)
	if !ok {
		st.unanswerable(cmd)
		return
	}
	if cmd.Verb == approval.Approve && cmd.Code == "" && !sees(cmd, open) && !open.Approved {
		st.out.Reply.Notice = "That question has changed since it was shown. Look at it again."
		return
	}
	if open.Approved && (cmd.Verb == approval.Approve || !st.s.Book.Holds(open.ID)) {
		st.answeredBefore(approval.Closed{ID: open.ID, Verdict: floodmark.Allow, By: open.By, Channel: open.Channel})
		return
	}
	if cmd.Verb == approval.Deny {
		st.keep(floodmark.TicketAnswered{Ticket: open.ID, Verdict: floodmark.Restrict, By: cmd.By, Channel: cmd.Channel})
		st.out.Reply.Notice = "Denied."
		if len(open.Shown) > 0 {
			st.out.Reply.Notice = "Denied: " + names(open.Shown) + "."
		}
		return
	}
	if !open.Vouch().IsZero() {
		st.vouchAnswered(cmd, open)
		return
	}
	if !cmd.Offered(open.Shown) {
		st.out.Reply.Notice = "That question has no such offer. Look at it again."
		return
	}
	if !st.picked(cmd, open) || !st.counted(&cmd, open) {
		return
	}
	var given []floodmark.Shown
	for _, shown := range open.Shown {
		if cmd.Approves(shown) {
			given = append(given, shown)
			g := cmd.Grant(open.ID, shown, st.turn(), st.in.At)
			g.Draft = st.pause.Observe
			st.keep(g)
		}
	}
	if len(given) == 0 {
		st.out.Reply.Notice = fmt.Sprintf("That code was not asked for %q but for: %s.", cmd.Tool, names(open.Shown))
		return
	}
	if len(given) == len(open.Shown) {
		st.keep(floodmark.TicketAnswered{Ticket: open.ID, Verdict: floodmark.Allow, By: cmd.By, Channel: cmd.Channel})
	}
	st.out.Reply.Notice = cmd.Approved(given, names(given))
}

// sees reports whether an approval by ticket is for what the question shows now.
func sees(cmd approval.Command, open approval.Open) bool {
	return max(cmd.Calls, 1) == len(open.Shown) && (cmd.Seen == "" || cmd.Seen == open.Seen())
}

func (st *step) ticket(cmd approval.Command) (approval.Open, bool) {
	if cmd.Ticket != "" && cmd.Code == "" {
		return st.s.Book.ByID(cmd.Ticket, st.in.At)
	}
	return st.s.Book.ByCode(st.in.Key[:], st.ev.Session, cmd.Code, st.in.At)
}

// void closes a question without an answer: the call still needs one.
func (st *step) void(t floodmark.TicketID, why string) {
	st.keep(floodmark.TicketAnswered{Ticket: t, Verdict: floodmark.Confirm, By: why})
}

// burn voids every question whose code is found in text that did not come from the owner's channel,
// because the model may have read the code.
func (st *step) burn(text string) bool {
	if len(st.s.Book.Tickets) == 0 {
		return false
	}
	burnt := false
	for _, code := range approval.Codes(text) {
		if o, ok := st.s.Book.ByCode(st.in.Key[:], st.ev.Session, code, st.in.At); ok {
			st.void(o.ID, "its code was seen outside the owner's channel")
			burnt = true
		}
	}
	return burnt
}

// endorse lets the owner vouch for one content. It raises trust to Local at
// most and never makes a value owner-stated.
func (st *step) endorse(cmd approval.Command) {
	src, notice := st.contentOf(cmd.Digest)
	if notice != "" {
		st.out.Reply.Notice = notice
		return
	}
	st.keep(floodmark.Endorsed{Digest: src.Digest, Trust: floodmark.Local, By: cmd.By})
	st.say(src.Digest, floodmark.Local, cmd.By)
	st.out.Reply.Notice = "Endorsed: " + meaning.Source(src, floodmark.Local) + "."
}

// contentOf finds the one content whose digest begins with digits, or says why there is none.
func (st *step) contentOf(digits string) (src floodmark.Source, notice string) {
	var found []floodmark.Source
	for _, src := range st.endorsable() {
		same := func(f floodmark.Source) bool { return f.Digest == src.Digest }
		if !src.Digest.IsZero() && strings.HasPrefix(src.Digest.String(), digits) && !slices.ContainsFunc(found, same) {
			found = append(found, src)
		}
	}
	switch len(found) {
	case 0:
		return floodmark.Source{}, "No content of this session has that digest."
	case 1:
		return found[0], ""
	}
	return floodmark.Source{}, "Several contents begin with that digest: give more of its digits."
}

func (st *step) withdraw(cmd approval.Command) {
	for _, e := range st.s.Ledger.Endorsements() {
		if strings.HasPrefix(e.Digest.String(), cmd.Digest) {
			st.keep(floodmark.Withdrawn{Digest: e.Digest, By: cmd.By})
			st.say(e.Digest, floodmark.Untrusted, cmd.By)
			st.out.Reply.Notice = "Withdrawn: " + e.Digest.Short() + "."
			return
		}
	}
	st.out.Reply.Notice = "Nothing with that digest was endorsed."
}

// revoke takes an approval back.
func (st *step) revoke(cmd approval.Command) {
	if !st.s.Book.Holds(cmd.Ticket) {
		st.out.Reply.Notice = "No approval of that name holds any more."
		return
	}
	st.keep(floodmark.GrantEnded{Ticket: cmd.Ticket, Why: "taken back by " + cmp.Or(cmd.By, "the owner")})
	st.out.Reply.Notice = "Taken back: it allows nothing any more."
}

// status returns a few lines about the mark, the open questions and the grants of the session.
func (st *step) status() string {
	mark := st.s.Mark()
	lines := []string{fmt.Sprintf("Mark: %s. Open questions: %d. Grants: %d.", mark, st.s.Book.Waiting(st.in.At), len(st.s.Book.Grants))}
	if st.pause != (floodmark.Pause{}) {
		lines = append(lines, "- "+lull.Notice(st.pause))
	}
	if line := st.settings().Quiet.Line(st.in.At); line != "" {
		lines = append(lines, "- "+line)
	}
	if mark.Trust < floodmark.Owner {
		for _, n := range st.s.Ledger.Blame(mark.Trust) {
			src, _ := st.s.Ledger.Source(n)
			lines = append(lines, "- "+report.Named(src, st.s.Ledger.Effective(n).Trust))
		}
	}
	for _, src := range st.s.Offered {
		lines = append(lines, "- not loaded: "+meaning.Source(src, src.Label.Trust)+", digest "+src.Digest.Short())
	}
	return strings.Join(lines, "\n")
}

func names(shown []floodmark.Shown) string {
	var list []string
	calls := map[string]int{}
	for _, s := range shown {
		name := report.Visible(s.Tool.String())
		list, calls[name] = addNew(list, name), calls[name]+1
	}
	for i, name := range list {
		if n := calls[name]; n > 1 {
			list[i] = fmt.Sprintf("%s (%d calls)", name, n)
		}
	}
	return strings.Join(list, ", ")
}

// lockedFor is how long a channel is locked for codes after too many wrong
// ones.
const lockedFor = 10 * time.Minute

// noSuchCode is the reply to a code that answers no open question.
const noSuchCode = "No open question has this code: it is wrong, has expired, or was answered already."

// unanswerable replies that there is nothing to answer: the command is late, or
// its code is a guess.
func (st *step) unanswerable(cmd approval.Command) {
	if c, ok := st.s.Book.Ended(st.in.Key[:], st.ev.Session, cmd.Ticket, cmd.Code, st.in.At); ok {
		st.answeredBefore(c)
		return
	}
	st.out.Reply.Notice = noSuchCode
	if cmd.Code != "" {
		st.wrongCode(cmd)
	}
}

// answeredBefore says how a question was answered before.
func (st *step) answeredBefore(c approval.Closed) {
	st.out.Late = c.ID
	by := ""
	if c.By != "" {
		by = " by " + report.Visible(c.By)
	}
	if c.Channel != "" {
		by += " (" + report.Visible(c.Channel) + ")"
	}
	switch c.Verdict {
	case floodmark.Allow:
		st.out.Reply.Notice = "That question was answered already: approved" + by + "."
	case floodmark.Restrict:
		st.out.Reply.Notice = "That question was answered already: denied" + by + "."
	case floodmark.Confirm, floodmark.Audit:
		st.out.Reply.Notice = "That question has ended without an answer: " + report.Visible(c.By) + "."
	}
}

// lockedOut refuses to look at a code from a channel on which too many wrong ones were typed. It
// writes nothing down, so that further guesses do not fill the journal.
func (st *step) lockedOut(cmd approval.Command) bool {
	_, until := st.s.Book.Guessed(cmd.Channel)
	if !st.in.At.Before(until) {
		return false
	}
	st.out.Reply.Notice = fmt.Sprintf("Too many wrong codes were typed here: none is looked at until %s. You can still deny, or answer elsewhere.", until.UTC().Format("15:04 MST"))
	return true
}

// wrongCode counts a wrong code against every open question and voids the questions that have had
// too many. After too many on one channel, no code is looked at there for a while.
func (st *step) wrongCode(cmd approval.Command) {
	if st.lockedOut(cmd) {
		return
	}
	most := st.settings().MaxTries
	f := floodmark.TicketRefused{Why: "no open question has this code", Channel: cmd.Channel}
	wrong, _ := st.s.Book.Guessed(cmd.Channel)
	if wrong+1 >= most {
		f.Until = st.in.At.Add(lockedFor)
	}
	st.keep(f)
	for _, o := range st.s.Book.Tickets {
		if st.in.At.Before(o.Expires) && o.Wrong+1 >= most {
			st.void(o.ID, "too many wrong codes")
		}
	}
	if !f.Until.IsZero() {
		st.keep(floodmark.IncidentSeen{Kind: "codes-guessed", Text: fmt.Sprintf("%d wrong codes in a row came through %q; none is looked at there for %d minutes", wrong+1, cmd.Channel, int(lockedFor.Minutes()))})
		st.out.Reply.Notice = fmt.Sprintf("That was wrong code number %d: what was asked is void, and no code is looked at here for %d minutes. If you did not type them, somebody is guessing.", wrong+1, int(lockedFor.Minutes()))
	}
}
