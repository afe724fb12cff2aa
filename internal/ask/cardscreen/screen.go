// Package cardscreen shows one question at a time on a screen and takes the keys that answer it. A
// key answers only the card that was drawn, and only if that was on the screen for a [Moment] and
// all of it was shown. The package talks to no monitor and draws no colours.
package cardscreen

import (
	"slices"
	"time"

	"github.com/floodmark/floodmark/wire"
)

// Moment is how long a card must be on the screen before a key answers it.
const Moment = 700 * time.Millisecond

// maxTyped bounds what is typed.
const maxTyped = 1024

// A Screen is the state of one screen. The zero Screen with a clock shows no question.
type Screen struct {
	Now func() time.Time
	// Fleet says that the questions come from a fleet. A fleet shows no codes; the login proves who
	// answers.
	Fleet bool
	// Vouch sends that the owner trusts a source; the reply is passed to [Screen.Vouched]. If it is
	// nil, no key can trust a source.
	Vouch func(*wire.EndorseRequest)
	// Notice says how the last key was taken.
	Notice string

	open    []*wire.Question // the newest first
	chosen  string           // the ticket that is shown
	details bool
	page    int
	read    map[string]bool // whose details were shown to the end, by name
	drawn   drawn
	pages   paging
	placing bool // the place is being typed
	typed   string
	offer   int
	width   int
	about   string // the question that the notice is about

	help     bool // the keys are shown
	trusting bool // it is asked whether a source is trusted
}

// drawn records what was drawn last, and since when.
type drawn struct {
	name     string // of the question as it was; empty if no card was
	details  bool
	trusting bool
	page     int
	since    time.Time
}

// paging is how the details were divided when they were drawn.
type paging struct{ count, width, height int }

// name identifies a question in its present form. Another question, or an earlier form of this one,
// has another name.
func name(q *wire.Question) string {
	return q.GetSession() + "\x00" + q.GetTicket() + "\x00" + q.GetSeen()
}

// Put adds a question, or updates it. A new question does not replace the card that is shown.
func (s *Screen) Put(q *wire.Question) {
	if i := s.find(q.GetTicket()); i >= 0 {
		if s.chosen == q.GetTicket() && name(q) != name(s.open[i]) {
			s.leave()
			s.say("The question has changed: look at it again.", "")
		}
		shown := s.trusts(s.Question()).GetDigest()
		s.open[i] = q
		s.trusting = s.trusting && shown != "" && s.trusts(s.Question()).GetDigest() == shown
	} else {
		s.open = append(s.open, q)
	}
	slices.SortStableFunc(s.open, func(a, b *wire.Question) int {
		return b.GetExpires().AsTime().Compare(a.GetExpires().AsTime())
	})
	s.choose()
}

// Drop removes the questions for which gone reports true.
func (s *Screen) Drop(gone func(*wire.Question) bool) {
	s.open = slices.DeleteFunc(s.open, gone)
	s.choose()
}

// Expire removes the questions that have expired.
func (s *Screen) Expire() {
	s.Drop(func(q *wire.Question) bool { return !q.GetExpires().AsTime().After(s.Now()) })
}

// Told sets the notice about a sent answer; it is shown above the next card.
func (s *Screen) Told(notice string) { s.Notice = notice }

// Waiting returns how many questions an agent waits for, and how many older ones there are. The
// turn of an older one has ended; it is shown elsewhere.
func (s *Screen) Waiting() (waiting, older int) {
	for _, q := range s.open {
		if q.GetOver() {
			older++
		}
	}
	return len(s.open) - older, older
}

func (s *Screen) find(ticket string) int {
	return slices.IndexFunc(s.open, func(q *wire.Question) bool { return q.GetTicket() == ticket })
}

// choose keeps the shown card while an agent waits for it. Otherwise it takes the newest.
func (s *Screen) choose() {
	if i := s.find(s.chosen); i >= 0 && !s.open[i].GetOver() {
		return
	}
	if s.placing || s.details || s.trusting {
		s.say("The question has ended.", "")
	}
	s.leave()
	s.chosen = ""
	for _, q := range s.open {
		if !q.GetOver() {
			s.chosen = q.GetTicket()
			return
		}
	}
}

// leave closes the details of a card and drops what was typed.
func (s *Screen) leave() {
	s.details, s.page, s.placing, s.typed, s.offer, s.trusting = false, 0, false, "", 0, false
}

func (s *Screen) say(notice, about string) { s.Notice, s.about = notice, about }

// Question returns the question that is shown; nil if none waits.
func (s *Screen) Question() *wire.Question {
	if i := s.find(s.chosen); i >= 0 {
		return s.open[i]
	}
	return nil
}

// move chooses another question.
func (s *Screen) move(by int) {
	var live []string
	for _, q := range s.open {
		if !q.GetOver() {
			live = append(live, q.GetTicket())
		}
	}
	if i := slices.Index(live, s.chosen); i >= 0 {
		s.leave()
		s.chosen = live[(i+by+len(live))%len(live)]
	}
}

// call returns the call that a question asks about. It is nil for a question about several calls,
// which only an older monitor sends.
func call(q *wire.Question) *wire.AskedCall {
	if len(q.GetCalls()) != 1 {
		return nil
	}
	return q.GetCalls()[0]
}
