package cardscreen

import (
	"fmt"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/wire"
)

// maxNamed is of how many sources a question names all: a longer list may have been cut.
const maxNamed = 2

// named is the source because of which a question is asked, if it is the only one, the reason
// names it, and it came in as [floodmark.Shared]: what strangers or people outside wrote is
// vouched for with its digest, not with a key beside a question that it led to.
func named(q *wire.Question) *wire.Source {
	one, shared := call(q), floodmark.Shared.String()
	list := one.GetSources()
	if len(list) == 0 || len(list) > maxNamed || one.GetMark().GetTrust() != shared {
		return nil
	}
	src := list[0]
	for _, other := range list {
		if other.GetDigest() != src.GetDigest() || other.GetLabel().GetTrust() != shared {
			return nil
		}
	}
	name := sourceName(src)
	if src.GetDigest() == "" || name == "" || !strings.Contains(one.GetWhy(), name) {
		return nil
	}
	return src
}

// sourceName is a source as a card names it; empty if none can.
func sourceName(src *wire.Source) string {
	return approval.OriginOf(floodmark.Source{Origin: wire.ToOrigin(src.GetOrigin())}, floodmark.Shared).String()
}

// trusts is the source that a key may vouch for. The monitor shows a code only to whom it
// also lets vouch; a fleet knows that by the login.
func (s *Screen) trusts(q *wire.Question) *wire.Source {
	src := named(q)
	if s.Vouch == nil || src == nil || !s.Fleet && q.GetCode() == "" {
		return nil
	}
	return src
}

// choices are the keys of a question on this screen.
func (s *Screen) choices(q *wire.Question) []Choice {
	list := Choices(q)
	if s.trusts(q) == nil {
		return list
	}
	t := Choice{Key: "t", Label: "trust this source", Effect: "you trust what was read, for good; you are shown what, and asked again"}
	return append(list[:details:details], append([]Choice{t}, list[details:]...)...)
}

// trustRows say what one more key would vouch for, and for how long.
func trustRows(q *wire.Question, src *wire.Source, left time.Duration) []string {
	o, digest := src.GetOrigin(), src.GetDigest()
	text := "That is, from: " + o.GetKind()
	for _, part := range [][2]string{{"server", o.GetServer()}, {"name", o.GetName()}, {"sender", o.GetSender()}, {"group", o.GetGroup()}, {"place", o.GetPlace()}} {
		if part[1] != "" {
			text += ", " + part[0] + " " + quoted(part[1])
		}
	}
	return []string{
		"Trust " + sourceName(src) + "?",
		text,
		"Exactly this content, digest " + digest[:min(len(digest), shownDigits)] + ": one more byte is not covered. It then counts as a file of your own, in every session, and the agent may do more after having read it.",
		"It holds until you take it back: «floodmark trust --withdraw " + floodmark.Visible(q.GetSession()) + " " + digest[:min(len(digest), shownDigits)] + "»",
		fmt.Sprintf("enter: trust it · esc: do not · %s left", left.Round(time.Second)),
	}
}

// quoted is a name that others chose, between quotation marks which it cannot close.
func quoted(name string) string {
	return "“" + strings.NewReplacer("“", "⟨U+201C⟩", "”", "⟨U+201D⟩").Replace(floodmark.Visible(name)) + "”"
}

// shownDigits is how much of a digest people are shown.
const shownDigits = 12

// vouch takes the key that follows [trustRows].
func (s *Screen) vouch(q *wire.Question, key string) {
	switch src := s.trusts(q); {
	case key != "enter" || src == nil:
		s.leave()
		s.say("Nothing is trusted.", q.GetTicket())
	case s.seen(q):
		s.leave()
		s.Vouch(&wire.EndorseRequest{Session: q.GetSession(), Digest: src.GetDigest()})
	}
}

// Vouched says how an order to trust a source was taken. Its question still waits: what it
// asks is judged anew when the agent tries the call again.
func (s *Screen) Vouched(a *wire.EndorseResponse) {
	if s.Notice = a.GetNotice(); !a.GetDone() {
		return
	}
	if m := a.GetMark(); m != nil {
		s.Notice += fmt.Sprintf(" The session's mark is %s, %s.", m.GetTrust(), m.GetSecrecy())
	}
	s.Notice += " Answer this question with y or n; the next call is judged again."
}
