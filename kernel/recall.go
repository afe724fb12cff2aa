package kernel

import (
	"slices"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

// A Moment is a session just before a recorded decision, in a state and under rules that may be
// others than they were. The decision is made again there, by the same steps as a live one.
type Moment struct{ st *step }

// NewMoment returns the moment of a decision. The facts are those that its event wrote before it,
// with the labels they would have now. A question that would be opened gets the name of ticket.
func NewMoment(s *State, r Rules, at time.Time, ticket floodmark.TicketID, d floodmark.ActionDecided, before []floodmark.Fact) *Moment {
	agent := d.Action.Tool.Agent
	if d.Action.Kind == floodmark.CallModel {
		agent = s.Agent
		if d.Basis != nil && d.Basis.Agent != "" {
			agent = d.Basis.Agent
		}
	}
	st := newStep(s, r, Input{At: at, Ticket: ticket, Event: hook.Event{Agent: agent, Boxes: s.Book.FailedInBox(d.Action.Tool, d.Action.ArgsDigest)}})
	for _, p := range s.Pauses {
		if p.Holds(at) {
			st.pause = p
		}
	}
	for _, f := range before {
		switch f := f.(type) {
		case floodmark.PauseBegan:
			st.pause = f.Pause
		case floodmark.PauseEnded:
			st.pause = floodmark.Pause{}
		case floodmark.ContentSeen:
			st.seeAs(f, "")
		case floodmark.ArtifactRead:
			st.bring(f)
		default:
		}
	}
	st.out.Facts = nil
	return &Moment{st}
}

// Mark returns the session's mark at that moment.
func (m *Moment) Mark() floodmark.Label { return m.st.mark }

// Turn returns the turn of the decision.
func (m *Moment) Turn() int { return m.st.turn() }

// A Record is a recorded decision with what others said of it before it was made.
type Record struct {
	floodmark.ActionDecided
	Opinion *floodmark.OpinionGiven
	Answers []floodmark.VerifierAnswered
	// SameCatalog says that the catalog tells the same of the call as it did then.
	SameCatalog bool
}

// Sound reports whether a record has a basis that speaks only of arguments that are there: it may
// come from a forged file.
func (r *Record) Sound() bool {
	b, n := r.Basis, len(r.Action.Arguments)
	if b == nil {
		return false
	}
	at := func(i int) bool { return i >= 0 && i < n }
	for _, u := range b.URLs {
		if !at(u.Argument) {
			return false
		}
	}
	for _, g := range b.Grounds {
		if !at(g.Argument) {
			return false
		}
	}
	for _, i := range slices.Concat(b.Destinations, b.Paths, b.Cut, b.Long) {
		if !at(i) {
			return false
		}
	}
	return len(b.Kinds) == 0 || len(b.Kinds) == n
}

// A Guess fills in what a record does not hold.
type Guess interface {
	// Doubts notes why the answer is uncertain. The worst guess gets strict; the best guess gets
	// its opposite.
	Doubts(why string, strict bool) bool
	// Trusts sets how far the arguments are trusted now.
	Trusts(args []floodmark.Argument)
	// Carries sets what would be found in the arguments now.
	Carries(a *floodmark.Action, b *floodmark.Basis)
	// Assumes reports whether a rule matches that looks at a value which was not kept.
	Assumes(rule string) bool
}

// A Recalled is a decision as it would be made now.
type Recalled struct {
	floodmark.ActionDecided
	st *step
	j  judged
}

// Judge makes a recorded decision again, or says why that cannot be done. The record must be sound.
func (m *Moment) Judge(r Record, g Guess) (Recalled, string) {
	j := judged{action: r.Action, basis: *r.Basis}
	why := ""
	if r.Action.Kind == floodmark.CallModel {
		m.st.recallModel(&j)
	} else {
		why = m.st.recall(&j, r, g)
	}
	d := j.decided()
	d.Trust = j.question.Trust
	return Recalled{*d, m.st, j}, why
}

// recallModel judges a model call.
func (st *step) recallModel(j *judged) {
	tools := make([]floodmark.ToolRef, len(j.action.Tools))
	for i, name := range j.action.Tools {
		tools[i] = offered(name, st.ev.Agent)
	}
	j.mark, j.question.Trust = st.mark, st.mark.Trust
	_, j.decision = st.ruleModel(j.action.Iteration, tools)
	st.enforce(&j.decision, nil)
}

// recall judges a call or an answer.
func (st *step) recall(j *judged, r Record, g Guess) string {
	j.action.Arguments = slices.Clone(r.Action.Arguments)
	if j.basis.Unreadable {
		j.mark = st.mark
		st.unreadable(j)
		st.enforce(&j.decision, j)
		return ""
	}
	g.Trusts(j.action.Arguments)
	j.leaves, j.unkept = keptLeaves(j)
	if r.Action.Kind == floodmark.CallTool && !r.SameCatalog {
		if why := (&regrounding{g, st}).reclassify(j); why != "" {
			return why
		}
	}
	g.Carries(&j.action, &j.basis)
	j.assume = g.Assumes
	if r.Action.Kind == floodmark.SendReply {
		st.ruleReply(j)
	} else {
		st.rule(j, st.authority(j.action))
	}
	if o := r.Decision; r.Opinion != nil && j.decision.Verdict == floodmark.Audit && o.Verdict != floodmark.Audit && o.Would != floodmark.Audit.String() { // else it is on an earlier try
		st.recalled(j, *r.Opinion)
	}
	st.enforce(&j.decision, j)
	if waits(j.decision) && !waits(r.Decision) { // else the answers were to another request
		st.tally(j, r.Answers)
	}
	st.quiet(j)
	return ""
}

// Question returns the facts of the question that a decision to ask would open or join.
func (r *Recalled) Question() []floodmark.Fact {
	r.st.out.Facts = nil
	j := r.j
	r.st.ask(&j)
	return r.st.out.Facts
}

// Returns returns the label that the result of the call would have, if it came from a place.
func (r *Recalled) Returns(place string) floodmark.Label {
	return r.st.placed(r.j.action.Tool, r.j.basis.Returns, r.j.basis.Location, place)
}

// Speaker returns the label that content from an origin has by itself in a session.
func (r Rules) Speaker(s *State, o floodmark.Origin) floodmark.Label {
	st := &step{s: s, r: r, ev: &hook.Event{Agent: s.Agent}}
	return st.speaker(o)
}

// keptLeaves returns the arguments of a recorded call with their short forms as values, and the
// paths of those whose value was longer.
func keptLeaves(j *judged) (leaves []hook.Leaf, unkept []string) {
	b := &j.basis
	for i, a := range j.action.Arguments {
		l := hook.Leaf{Path: a.Path, Top: topOf(a.Path), Value: a.Shown}
		kind := floodmark.TextValue
		if i < len(b.Kinds) {
			kind = b.Kinds[i]
		}
		switch kind {
		case floodmark.NumberValue:
			l.Kind = hook.Number
		case floodmark.BoolValue:
			l.Kind = hook.Bool
		case floodmark.NullValue:
			l.Kind = hook.Null
		case floodmark.TextValue, floodmark.NoText:
		}
		if kind != floodmark.NoText && (a.Role == floodmark.Content || slices.Contains(b.Cut, i)) {
			unkept = append(unkept, a.Path)
		}
		leaves = append(leaves, l)
	}
	return leaves, unkept
}

// topOf returns the argument a path begins with.
func topOf(path string) string {
	if path == floodmark.CommandAddress {
		return path
	}
	for i := range len(path) {
		if path[i] == '.' || path[i] == '[' {
			return path[:i]
		}
	}
	return path
}
