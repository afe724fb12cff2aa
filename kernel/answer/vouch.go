package answer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/internal/text/meaning"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/provenance"
)

// endorse lets the owner vouch for one content. It raises trust to Local at
// most and never makes a value owner-stated.
func (d *desk) endorse(cmd approval.Command) {
	src, notice := contentOf(d.Contents, cmd.Digest)
	if notice != "" {
		d.out.Notice = notice
		return
	}
	d.keep(floodmark.Endorsed{Digest: src.Digest, Trust: floodmark.Local, By: cmd.By})
	d.say(src.Digest, floodmark.Local, cmd.By)
	d.out.Notice = "Endorsed: " + meaning.Source(src, floodmark.Local) + "."
}

// contentOf finds the one content whose digest begins with digits, or says why there is none.
func contentOf(contents []floodmark.Source, digits string) (src floodmark.Source, notice string) {
	var found []floodmark.Source
	for _, src := range contents {
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

func (d *desk) withdraw(cmd approval.Command) {
	digest, notice := vouchedFor(d.Ledger, cmd.Digest)
	if notice != "" {
		d.out.Notice = notice
		return
	}
	d.keep(floodmark.Withdrawn{Digest: digest, By: cmd.By})
	d.say(digest, floodmark.Untrusted, cmd.By)
	d.out.Notice = "Withdrawn: " + digest.Short() + "."
}

// vouchedFor finds the content that was endorsed and whose digest begins with digits, or says why
// there is none.
func vouchedFor(l *provenance.Ledger, digits string) (d floodmark.Digest, notice string) {
	for _, e := range l.Endorsements() {
		if strings.HasPrefix(e.Digest.String(), digits) {
			return e.Digest, ""
		}
	}
	return floodmark.Digest{}, "Nothing with that digest was endorsed."
}

// Foresee does to a state what a command would do that endorses or withdraws content, and says why
// it would do nothing. Nothing is written, so the state must be one that nobody else reads.
func Foresee(l *provenance.Ledger, offered []floodmark.Source, cmd approval.Command) (done bool, notice string) {
	switch cmd.Verb {
	case approval.Endorse:
		src, notice := contentOf(append(slices.Collect(l.Sources()), offered...), cmd.Digest)
		if notice != "" {
			return false, notice
		}
		l.Endorse(floodmark.Endorsed{Digest: src.Digest, Trust: floodmark.Local, By: cmd.By})
		return true, ""
	case approval.Withdraw:
		digest, notice := vouchedFor(l, cmd.Digest)
		if notice != "" {
			return false, notice
		}
		l.Withdraw(digest)
		return true, ""
	default:
		return false, "Only what is endorsed or withdrawn can be foreseen."
	}
}

// Anyone who can write into a conversation could write «.endorse» there. So the command only asks
// there: a question with a code goes to the owner's own channels, and the code, or an answer on
// such a channel, vouches.

// vouchTool is the tool that a question names if it is about no call.
const vouchTool = string(approval.Endorse)

// vouchInChat asks whether the owner vouches for a content, or takes the code that
// was sent for it.
func (d *desk) vouchInChat(cmd approval.Command) {
	if cmd.Code != "" {
		d.vouchByCode(cmd)
		return
	}
	src, notice := contentOf(d.Contents, cmd.Digest)
	if d.out.Notice = notice; notice != "" {
		return
	}
	how := fmt.Sprintf("Answer there, or type «%s %s <code>» here.", approval.Endorse, src.Digest.Short())
	shown := d.vouchShown(src)
	if _, asked := d.Book.Asked(shown.Tool, shown.ArgsDigest, d.At); asked {
		d.out.Notice = "You were asked already, at your own channels: " + meaning.Source(src, d.trustOf(src)) + ". " + how
		return
	}
	most := d.Settings.PerHour
	if most == 0 {
		most = policy.UsualPerHour
	}
	if d.Book.AskedSince(d.At.Add(d.Settings.TicketTTL-time.Hour)) >= most {
		d.out.Notice = "This session has asked too many questions within an hour. Vouch for it at your terminal: «floodmark trust»."
		return
	}
	t := approval.Ticket{
		ID: d.Ticket, Session: d.Name, Code: d.Code, Calls: 1, Expires: d.At.Add(d.Settings.TicketTTL), Call: d.vouchQuestion(src, shown),
		Seen: approval.Open{Shown: []floodmark.Shown{shown}}.Seen(),
	}
	d.keep(floodmark.TicketOpened{Ticket: t.ID, CodeMAC: approval.CodeMAC(d.Key, d.Name, t.ID, d.Code), Shown: []floodmark.Shown{shown}, Expires: t.Expires})
	d.out.Ask = &t
	d.out.Notice = "You are asked at your own channels whether you vouch for " + meaning.Source(src, d.trustOf(src)) + ". " + how
}

// vouchByCode takes the code of a question whether to vouch, and of no other question.
func (d *desk) vouchByCode(cmd approval.Command) {
	if d.lockedOut(cmd) {
		return
	}
	open, ok := d.ticket(cmd)
	if !ok {
		d.unanswerable(cmd)
		return
	}
	if v := open.Vouch(); v.IsZero() || !strings.HasPrefix(v.String(), cmd.Digest) {
		d.out.Notice = "That code was not asked for this content. Nothing was endorsed."
		return
	}
	cmd.Verb, cmd.Tool = approval.Approve, approval.All
	d.answer(cmd)
}

// vouchAnswered takes an approval of a question whether to vouch.
func (d *desk) vouchAnswered(cmd approval.Command, open approval.Open) {
	if !cmd.Approves(open.Shown[0]) {
		d.out.Notice = fmt.Sprintf("That code was not asked for %q but for: %s.", cmd.Tool, names(open.Shown))
		return
	}
	cmd.Digest = open.Vouch().String()
	d.endorse(cmd)
	d.keep(floodmark.TicketAnswered{Ticket: open.ID, Verdict: floodmark.Allow, By: cmd.By, Channel: cmd.Channel})
}

func (d *desk) vouchShown(src floodmark.Source) floodmark.Shown {
	return floodmark.Shown{
		Tool: floodmark.ToolRef{Agent: d.Agent, Name: vouchTool}, ArgsDigest: src.Digest, Vouch: src.Digest, Mark: d.Mark, Node: d.Node,
		Offers: []floodmark.Offer{{Words: "vouch for it", Scope: floodmark.GrantOnce}},
	}
}

// vouchQuestion returns the question as a person sees it.
func (d *desk) vouchQuestion(src floodmark.Source, shown floodmark.Shown) approval.Question {
	q := approval.Question{
		Action: floodmark.Action{Kind: floodmark.CallTool, Tool: shown.Tool, ArgsDigest: shown.ArgsDigest},
		Line:   fmt.Sprintf("You want to vouch for %s, digest %s: it would count as your own file.", meaning.Source(src, d.trustOf(src)), src.Digest.Short()),
		Offers: shown.Offers, Sources: []floodmark.Source{src}, Vouch: approval.OriginOf(src, d.trustOf(src)),
	}
	q.Source, q.Consequence = q.Vouch.Name+" "+q.Vouch.Place, approval.VouchConsequence
	return q
}

// vouchAgain returns the question again after the monitor was restarted.
func (d *desk) vouchAgain(shown floodmark.Shown) (approval.Question, error) {
	src, notice := contentOf(d.Contents, shown.Vouch.String())
	if notice != "" {
		return approval.Question{}, errors.New("the content it is about is not there any more")
	}
	return d.vouchQuestion(src, shown), nil
}

// trustOf returns how much a source is trusted now.
func (d *desk) trustOf(src floodmark.Source) floodmark.Trust {
	if n, ok := d.Ledger.Find(src.Digest); ok {
		return d.Ledger.Effective(n).Trust
	}
	return src.Label.Trust
}
