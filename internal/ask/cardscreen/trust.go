package cardscreen

import (
	"fmt"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/ask/askedcall"
	"github.com/floodmark/floodmark/wire"
)

// trusts returns the source that a key may trust, or nil. A local monitor sends codes only to those
// who may also trust sources; a fleet knows that by the login.
func (s *Screen) trusts(q *wire.Question) *wire.Source {
	src := askedcall.Trustable(call(q))
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
		"Trust " + askedcall.SourceName(src) + "?",
		text,
		"Exactly this content, digest " + digest[:min(len(digest), shownDigits)] + ": one more byte is not covered. It then counts as a file of your own, in every session, and the agent may do more after having read it.",
		"It holds until you take it back: «floodmark trust --withdraw " + floodmark.Visible(q.GetSession()) + " " + digest[:min(len(digest), shownDigits)] + "»",
		fmt.Sprintf("enter: trust it · esc: do not · %s left", left.Round(time.Second)),
	}
}

// quoted returns a name that others chose in quotation marks that the name cannot close.
func quoted(name string) string {
	return "“" + strings.NewReplacer("“", "⟨U+201C⟩", "”", "⟨U+201D⟩").Replace(floodmark.Visible(name)) + "”"
}

// shownDigits is how much of a digest people are shown.
const shownDigits = 12

// vouch handles the key that is pressed after [trustRows] were shown.
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

// Vouched shows the reply to a source that the owner trusted. The question itself still waits,
// because its call is judged anew only when the agent tries it again.
func (s *Screen) Vouched(a *wire.EndorseResponse) {
	if s.Notice = a.GetNotice(); !a.GetDone() {
		return
	}
	if m := a.GetMark(); m != nil {
		s.Notice += fmt.Sprintf(" The session's mark is %s, %s.", m.GetTrust(), m.GetSecrecy())
	}
	s.Notice += " Answer this question with y or n; the next call is judged again."
}
