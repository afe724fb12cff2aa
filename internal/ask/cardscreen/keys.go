package cardscreen

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/floodmark/floodmark/wire"
)

// A Choice is one key of a card: the key, its label, and its effect in words. A choice without a
// Label appears only in the details, with its Effect.
type Choice struct {
	Key, Label, Effect string
	// Offer is the number, from 1, of the offer that the key takes; zero if the question has no
	// offers. Verb is the answer that is sent; empty if the key only shows something.
	Offer int
	Verb  string
}

// details is the index of the details key in the list of choices.
const details = 2

// Choices returns the keys of a question.
func Choices(q *wire.Question) []Choice {
	c := call(q)
	list := []Choice{
		{Key: "y", Label: "yes", Effect: "exactly this call", Verb: "approve"},
		{Key: "n", Label: "no", Effect: "it is refused", Verb: "deny"},
		{Key: "d", Label: "details", Effect: "all of the call, and what a yes does"},
	}
	for i, o := range c.GetOffers() {
		if i == 0 {
			list[0].Effect, list[0].Offer = o.GetWords(), 1 // an approval without an offer would be valid for the turn
			continue
		}
		n := i + 1
		wider := Choice{Key: strconv.Itoa(n), Effect: o.GetWords(), Offer: n, Verb: "approve"}
		if n == int(wire.Always(q)) {
			wider.Key = "a"
		}
		list = append(list, wider)
		list[details].Label = "details and longer answers" // the details say in words what the longer answers cover
	}
	return list
}

// Key handles a key. It returns the answer that the key gives, if any, and whether the card uses
// this key.
func (s *Screen) Key(key string) (answer *wire.AnswerRequest, taken bool) {
	q := s.Question()
	switch {
	case s.help:
		s.help = false
		return nil, true
	case q != nil && s.placing:
		return s.place(q, key), true
	case q != nil && s.trusting:
		s.vouch(q, key)
		return nil, true
	case key == "?":
		s.help = true
		return nil, true
	case q == nil:
		return nil, false
	case key == "up", key == "k":
		s.move(-1)
		return nil, true
	case key == "down", key == "j":
		s.move(1)
		return nil, true
	case s.details && key == "esc":
		s.details, s.page = false, 0
		return nil, true
	case s.details && (key == "space" || key == "pgdown"), key == "d":
		s.turn()
		return nil, true
	case key == "t" && s.trusts(q) != nil:
		s.trusting = s.seen(q)
		return nil, true
	}
	for _, c := range Choices(q) {
		if c.Key == key && c.Verb != "" {
			return s.answer(q, c), true
		}
	}
	return nil, false
}

// turn shows the next page of the details. A page that was not drawn yet is not skipped.
func (s *Screen) turn() {
	switch {
	case !s.details:
		s.details, s.page = true, 0
	case s.drawn.details && s.drawn.page == s.page && s.page+1 < s.pages.count:
		s.page++
	case s.drawn.details && s.page+1 >= s.pages.count:
		s.details, s.page = false, 0
	}
}

// seen reports whether the question was on the screen in its present form for at least a [Moment].
// If not, it sets a notice.
func (s *Screen) seen(q *wire.Question) bool {
	s.say("", "")
	if s.drawn.name == "" || s.drawn.name != name(q) || s.drawn.trusting != s.trusting || s.Now().Sub(s.drawn.since) < Moment {
		s.say("This has only just come: read it first.", q.GetTicket())
		return false
	}
	return true
}

// answer returns the answer that a key gives; nil if it cannot be given.
func (s *Screen) answer(q *wire.Question, c Choice) *wire.AnswerRequest {
	if !s.seen(q) {
		return nil
	}
	if c.Verb == "deny" {
		s.about = q.GetTicket()
		return &wire.AnswerRequest{Verb: "deny", Session: q.GetSession(), Ticket: q.GetTicket()}
	}
	if why := s.unfit(q, c); why != "" {
		s.say(why, q.GetTicket())
		return nil
	}
	s.offer = c.Offer
	if call(q).GetPick() != nil {
		s.placing, s.typed = true, ""
		return nil
	}
	return s.approve(q, "")
}

// unfit returns why a question cannot be approved here in its present form; empty if it can.
func (s *Screen) unfit(q *wire.Question, c Choice) string {
	one := call(q)
	switch {
	case one == nil:
		return "It asks about several calls at once; let the agent ask again."
	case len(one.GetCard()) == 0:
		return "It is not said what this question is about: deny it, or let the agent ask again."
	case one.GetLost() > 0:
		return fmt.Sprintf("%d characters of it are shown nowhere, so it cannot be approved here.", one.GetLost())
	case !s.Fleet && q.GetCode() == "":
		return "This monitor cannot take a yes here; let the agent ask again."
	case (one.GetMore() || !s.fits(one) || c.Offer > 1) && !s.read[name(q)]:
		return "Press d first, and read it to its end: not all of it stands here."
	}
	return ""
}

// approve returns the approval of a question.
func (s *Screen) approve(q *wire.Question, picked string) *wire.AnswerRequest {
	r := &wire.AnswerRequest{Verb: "approve", Session: q.GetSession(), Code: q.GetCode(), Offer: int32(s.offer), Picked: picked}
	if s.Fleet {
		r.Code, r.Ticket, r.Calls, r.Seen = "", q.GetTicket(), int32(len(q.GetCalls())), q.GetSeen()
	}
	s.leave()
	s.about = q.GetTicket()
	return r
}

// place handles a key while the place that a call goes to is typed.
func (s *Screen) place(q *wire.Question, key string) *wire.AnswerRequest {
	switch {
	case key == "esc":
		s.leave()
		s.say("Nothing was approved.", q.GetTicket())
	case key == "backspace":
		if r := []rune(s.typed); len(r) > 0 {
			s.typed = string(r[:len(r)-1])
		}
	case key == "enter" && s.typed != "":
		return s.approve(q, s.typed)
	case key == "space":
		s.typed += " "
	case utf8.RuneCountInString(key) == 1 && len(s.typed) < maxTyped:
		s.typed += key
	}
	return nil
}

// keys are the rows that say what each key does.
func (s *Screen) keys(q *wire.Question) []string {
	list := []string{"The keys. Any key goes back."}
	if q == nil {
		list = append(list, "No question waits now. When one does, y says yes to exactly that call and n says no.")
	} else {
		for _, c := range s.choices(q) {
			list = append(list, c.Key+": "+map[string]string{"approve": "yes to ", "deny": "no: "}[c.Verb]+c.Effect)
		}
	}
	return append(list, "up, down: another question", "q: end. That answers no question")
}
