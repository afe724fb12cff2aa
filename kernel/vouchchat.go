package kernel

import (
	"errors"
	"fmt"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/internal/text/meaning"
	"github.com/floodmark/floodmark/policy"
)

// Anyone who can write into a conversation could write «.endorse» there. So the command only asks
// there: a question with a code goes to the owner's own channels, and the code, or an answer on
// such a channel, vouches.

// vouchTool is the tool that a question names if it is about no call.
const vouchTool = string(approval.Endorse)

// vouchInChat asks whether the owner vouches for a content, or takes the code that
// was sent for it.
func (st *step) vouchInChat(cmd approval.Command) {
	if cmd.Code != "" {
		st.vouchByCode(cmd)
		return
	}
	src, notice := st.contentOf(cmd.Digest)
	if st.out.Reply.Notice = notice; notice != "" {
		return
	}
	how := fmt.Sprintf("Answer there, or type «%s %s <code>» here.", approval.Endorse, src.Digest.Short())
	shown := st.vouchShown(src)
	if _, asked := st.s.Book.Asked(shown.Tool, shown.ArgsDigest, st.in.At); asked {
		st.out.Reply.Notice = "You were asked already, at your own channels: " + meaning.Source(src, st.trustOf(src)) + ". " + how
		return
	}
	most := st.settings().PerHour
	if most == 0 {
		most = policy.UsualPerHour
	}
	if st.askedInAnHour() >= most {
		st.out.Reply.Notice = "This session has asked too many questions within an hour. Vouch for it at your terminal: «floodmark trust»."
		return
	}
	t := approval.Ticket{
		ID: st.in.Ticket, Session: st.ev.Session, Code: st.in.Code, Calls: 1, Expires: st.in.At.Add(st.settings().TicketTTL), Call: st.vouchQuestion(src, shown),
		Seen: approval.Open{Shown: []floodmark.Shown{shown}}.Seen(),
	}
	st.keep(floodmark.TicketOpened{Ticket: t.ID, CodeMAC: st.codeMAC(t.ID), Shown: []floodmark.Shown{shown}, Expires: t.Expires})
	st.out.Ask = &t
	st.out.Reply.Notice = "You are asked at your own channels whether you vouch for " + meaning.Source(src, st.trustOf(src)) + ". " + how
}

// vouchByCode takes the code of a question whether to vouch, and of no other question.
func (st *step) vouchByCode(cmd approval.Command) {
	if st.lockedOut(cmd) {
		return
	}
	open, ok := st.ticket(cmd)
	if !ok {
		st.unanswerable(cmd)
		return
	}
	if v := open.Vouch(); v.IsZero() || !strings.HasPrefix(v.String(), cmd.Digest) {
		st.out.Reply.Notice = "That code was not asked for this content. Nothing was endorsed."
		return
	}
	cmd.Verb, cmd.Tool = approval.Approve, approval.All
	st.answer(cmd)
}

// vouchAnswered takes an approval of a question whether to vouch.
func (st *step) vouchAnswered(cmd approval.Command, open approval.Open) {
	if !cmd.Approves(open.Shown[0]) {
		st.out.Reply.Notice = fmt.Sprintf("That code was not asked for %q but for: %s.", cmd.Tool, names(open.Shown))
		return
	}
	cmd.Digest = open.Vouch().String()
	st.endorse(cmd)
	st.keep(floodmark.TicketAnswered{Ticket: open.ID, Verdict: floodmark.Allow, By: cmd.By, Channel: cmd.Channel})
}

func (st *step) vouchShown(src floodmark.Source) floodmark.Shown {
	return floodmark.Shown{
		Tool: st.ref("", vouchTool), ArgsDigest: src.Digest, Vouch: src.Digest, Mark: st.mark, Node: st.node,
		Offers: []floodmark.Offer{{Words: "vouch for it", Scope: floodmark.GrantOnce}},
	}
}

// vouchQuestion returns the question as a person sees it.
func (st *step) vouchQuestion(src floodmark.Source, shown floodmark.Shown) approval.Question {
	q := approval.Question{
		Action: floodmark.Action{Kind: floodmark.CallTool, Tool: shown.Tool, ArgsDigest: shown.ArgsDigest},
		Line:   fmt.Sprintf("You want to vouch for %s, digest %s: it would count as your own file.", meaning.Source(src, st.trustOf(src)), src.Digest.Short()),
		Offers: shown.Offers, Sources: []floodmark.Source{src}, Vouch: approval.OriginOf(src, st.trustOf(src)),
	}
	q.Source, q.Consequence = q.Vouch.Name+" "+q.Vouch.Place, approval.VouchConsequence
	return q
}

// vouchAgain returns the question again after the monitor was restarted.
func (st *step) vouchAgain(shown floodmark.Shown) (approval.Question, error) {
	src, notice := st.contentOf(shown.Vouch.String())
	if notice != "" {
		return approval.Question{}, errors.New("the content it is about is not there any more")
	}
	return st.vouchQuestion(src, shown), nil
}

// trustOf returns how much a source is trusted now.
func (st *step) trustOf(src floodmark.Source) floodmark.Trust {
	if n, ok := st.s.Ledger.Find(src.Digest); ok {
		return st.s.Ledger.Effective(n).Trust
	}
	return src.Label.Trust
}
