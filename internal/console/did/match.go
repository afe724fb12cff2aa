package did

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/console/past"
	"github.com/floodmark/floodmark/internal/reports/tally"
	"github.com/floodmark/floodmark/internal/text/meaning"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/wire"
)

// What a person answered, as the wire has it.
const (
	answerYes     = "yes"
	answerNo      = "no"
	answerExpired = "expired"
	answerWaiting = "waiting"
	answerEnded   = "ended"
	answerEarlier = "earlier"
	answeredAny   = "any"
	answeredNone  = "none"
)

const shownBehind = 3

// A judgement is one decision of a session, and the question that was asked about it.
type judgement struct {
	place
	fact    floodmark.ActionDecided
	ticket  floodmark.TicketID // empty if no person was asked
	earlier bool               // the ticket is that of an approval that was given before
}

// An answering is what is known of the answer to a question.
type answering struct {
	verdict     string // yes, no, ended; empty while there is none
	by, channel string
	at, expires time.Time
}

// A trace is what a search reads from the facts of a session.
type trace struct {
	agent, project string
	sources        map[floodmark.NodeID]floodmark.Source
	decisions      []judgement
	answers        map[floodmark.TicketID]*answering
	open           map[shownCall]floodmark.TicketID // the newest question about a call
}

type shownCall struct {
	tool floodmark.ToolRef
	args floodmark.Digest
}

// matches returns the decisions of a session that are wanted, the newest first.
func matches(w *wanted, s past.Session, now time.Time) iter.Seq[found] {
	t := read(s)
	return func(yield func(found) bool) {
		if w.agent != "" && !floodmark.IsOf(t.agent, w.agent) || !w.of.includes(t.agent) {
			return
		}
		for i := range slices.Backward(t.decisions) {
			j := &t.decisions[i]
			if !w.spans(j.place) || !w.verdictFits(&j.fact) {
				continue
			}
			answer, by := t.answer(j, now)
			if !w.answerFits(answer, by) || !w.wordsFit(t.text(s.Name, &j.fact)) {
				continue
			}
			if !yield(found{j.place, t.row(s.Name, j, answer, by)}) {
				return
			}
		}
	}
}

// spans reports whether a place is in the span, and after the last one of the page before.
func (w *wanted) spans(p place) bool {
	return !p.at.Before(w.since) && (w.until.IsZero() || p.at.Before(w.until)) && (w.after.at.IsZero() || w.after.compare(p) < 0)
}

// verdictFits reports whether a decision is the wanted one, or would have been if it was not enforced.
func (w *wanted) verdictFits(f *floodmark.ActionDecided) bool {
	return w.verdict == "" || f.Decision.Word() == w.verdict || f.Decision.Would == w.verdict
}

func (w *wanted) answerFits(answer string, by *answering) bool {
	switch w.answered {
	case answeredAny:
		if answer != answerYes && answer != answerNo && answer != answerEarlier {
			return false
		}
	case answeredNone:
		if answer != answerExpired && answer != answerWaiting && answer != answerEnded {
			return false
		}
	case answerYes, answerNo, answerEarlier:
		if answer != w.answered {
			return false
		}
	}
	return w.by == "" || strings.Contains(strings.ToLower(by.by), w.by) || strings.Contains(strings.ToLower(by.channel), w.by)
}

// wordsFit reports whether every word is in a text.
func (w *wanted) wordsFit(text iter.Seq[string]) bool {
	if len(w.words) == 0 {
		return true
	}
	missing := slices.Clone(w.words)
	for part := range text {
		part = strings.ToLower(part)
		missing = slices.DeleteFunc(missing, func(word string) bool { return strings.Contains(part, word) })
		if len(missing) == 0 {
			return true
		}
	}
	return false
}

// read goes through the facts of a session.
func read(s past.Session) *trace {
	t := &trace{sources: map[floodmark.NodeID]floodmark.Source{}, answers: map[floodmark.TicketID]*answering{}, open: map[shownCall]floodmark.TicketID{}}
	for i, f := range s.Facts {
		switch fact := f.Fact.(type) {
		case floodmark.SessionOpened:
			t.agent, t.project = fact.Agent, fact.Project
		case floodmark.SessionForked:
			t.agent, t.project = fact.Agent, fact.Project
			for _, src := range fact.Sources {
				t.sources[src.Node] = src
			}
		case floodmark.ContentSeen:
			t.sources[fact.Node] = fact.Source
		case floodmark.ActionDecided:
			t.decided(place{f.At, s.Name, s.First + uint64(i)}, fact)
		case floodmark.TicketOpened:
			t.answers[fact.Ticket] = &answering{expires: fact.Expires}
			for _, shown := range fact.Shown {
				t.asked(fact.Ticket, shown)
			}
		case floodmark.TicketExtended:
			t.asked(fact.Ticket, fact.Shown)
		case floodmark.TicketCounted:
			if a := t.answers[fact.Ticket]; a != nil {
				a.by = cmp.Or(fact.By, fact.Person)
			}
		case floodmark.TicketAnswered:
			t.answered(f.At, fact)
		default:
		}
	}
	return t
}

// decided adds a decision. Calls of the model that may proceed are no calls that anyone looks for.
func (t *trace) decided(at place, f floodmark.ActionDecided) {
	if f.Action.Kind == floodmark.CallModel && f.Decision.Verdict == floodmark.Allow && f.Decision.Would == "" {
		return
	}
	j := judgement{place: at, fact: f}
	switch f.Decision.Verdict {
	case floodmark.Confirm: // if the question about the same call is still open, nothing else is written
		id := t.open[shownCall{f.Action.Tool, f.Action.ArgsDigest}]
		if a := t.answers[id]; a != nil && a.verdict == "" && at.at.Before(a.expires) {
			j.ticket = id
		}
	case floodmark.Allow:
		for _, r := range f.Decision.Reasons {
			if r.Code == floodmark.Granted {
				j.ticket, j.earlier = floodmark.TicketID(r.Rule), true
			}
		}
	default:
	}
	t.decisions = append(t.decisions, j)
}

// asked says which decision a question is about: the newest one that led to it.
func (t *trace) asked(id floodmark.TicketID, shown floodmark.Shown) {
	if !shown.Vouch.IsZero() {
		return // it is about content, and the owner started it
	}
	t.open[shownCall{shown.Tool, shown.ArgsDigest}] = id
	for i := range slices.Backward(t.decisions) {
		if kernel.Leads(&t.decisions[i].fact, shown) {
			t.decisions[i].ticket = id
			return
		}
	}
}

// answered records an answer. The first counts, but a no that comes after a yes takes it back.
func (t *trace) answered(at time.Time, f floodmark.TicketAnswered) {
	a := t.answers[f.Ticket]
	if a == nil {
		a = &answering{} // the question was erased
		t.answers[f.Ticket] = a
	}
	if a.verdict != "" && (a.verdict != answerYes || f.Verdict != floodmark.Restrict) {
		return
	}
	first := a.by // of two people
	a.by, a.channel, a.at = f.By, f.Channel, at
	switch f.Verdict {
	case floodmark.Allow:
		if a.verdict = answerYes; first != "" {
			a.by = first + " and " + f.By
		}
	case floodmark.Restrict:
		a.verdict = answerNo
	case floodmark.Confirm, floodmark.Audit:
		a.verdict = answerEnded
	}
}

// answer returns what a person answered about a decision.
func (t *trace) answer(j *judgement, now time.Time) (string, *answering) {
	a := t.answers[j.ticket]
	switch {
	case j.ticket == "":
		return "", &answering{}
	case j.earlier && a == nil:
		return answerEarlier, &answering{} // in another session, or by a line of the policy
	case j.earlier:
		return answerEarlier, a
	case a.verdict != "":
		return a.verdict, a
	case !now.Before(a.expires):
		return answerExpired, &answering{}
	}
	return answerWaiting, &answering{}
}

// text yields all in which words are looked for.
func (t *trace) text(session string, f *floodmark.ActionDecided) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, part := range []string{t.agent, t.project, session, f.Action.Tool.Server, f.Action.Tool.Name, why(f)} {
			if !yield(part) {
				return
			}
		}
		for _, arg := range f.Action.Arguments {
			if !yield(arg.Shown) {
				return
			}
		}
		for _, n := range f.Decision.Blame {
			if src, ok := t.sources[n]; ok && !yield(meaning.Source(src, src.Label.Trust)) {
				return
			}
		}
	}
}

// why returns the text of the reason that decided.
func why(f *floodmark.ActionDecided) string {
	for _, r := range f.Decision.Reasons {
		if r.Text != "" {
			return r.Text
		}
	}
	return ""
}

// row puts a decision on the wire.
func (t *trace) row(session string, j *judgement, answer string, by *answering) *wire.FoundDecision {
	out := &wire.FoundDecision{
		Decision: past.Foreign(fmt.Sprintf("%s#%d", session, j.number)), At: timestamppb.New(j.at), Session: past.Foreign(session), Number: j.number,
		Agent: past.Foreign(t.agent), Project: past.Foreign(t.project), What: past.Foreign(tally.What(&j.fact.Action)), Verdict: j.fact.Decision.Word(), Would: j.fact.Decision.Would,
		Why: past.Foreign(why(&j.fact)), Answer: answer, By: past.Foreign(by.by), Channel: past.Foreign(by.channel),
	}
	if !by.at.IsZero() {
		out.Answered = timestamppb.New(by.at)
	}
	for _, n := range j.fact.Decision.Blame {
		if src, ok := t.sources[n]; ok && len(out.GetBehind()) < shownBehind {
			out.Behind = append(out.Behind, past.Foreign(meaning.Source(src, src.Label.Trust)))
		}
	}
	return out
}
