// Package replay judges the decisions of a recorded session again: by other rules, or as if the
// owner had vouched for something. It keeps the session twice, as it was and as it would be, and
// has the kernel judge each decision. It changes nothing, and says so where it cannot tell.
package replay

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/report"
)

// A Retrial judges the recorded decisions of a session again: what would have
// been answered under other rules, or had the owner vouched for something.
//
// Each decision is judged in the context it was made in. What the agent read
// and tried, and what people answered, is as it was: what it would have done
// instead is unknown. Labels, marks, and what follows from earlier answers of
// ours (an ended turn, an open question) are as they would have been.
type Retrial struct {
	// Now are the rules it is judged by.
	Now kernel.Rules
	// Then are the rules it was recorded under; nil if they are not known.
	// Without them less can be told.
	Then *kernel.Rules
	// Endorse is content the owner is taken to have vouched for as soon as it
	// was there, Disown content they are taken never to have vouched for.
	Endorse, Disown []floodmark.Digest
	// Since is when the account begins: it leaves out earlier decisions.
	Since time.Time
}

// A Recorded is a fact and when it was written.
type Recorded struct {
	At   time.Time
	Fact floodmark.Fact
}

// An Outcome says what became of a decision that was judged again.
type Outcome string

// The outcomes.
const (
	Unchanged Outcome = "same"
	Changed   Outcome = "changed"
	Untold    Outcome = "cannot-tell"
)

// A Rejudged is one decision, as it was and as it would have been.
type Rejudged struct {
	Index   int // of the fact
	At      time.Time
	Turn    int
	Action  floodmark.Action
	Outcome Outcome
	// Why says why it cannot be told.
	Why string
	// Was and Would are the decisions. If Would cannot be told, it is Was.
	Was, Would         floodmark.Decision
	WasMark, WouldMark floodmark.Label
}

// An Account is what came out of judging one session again. A task is a turn in which something was
// decided. A question is a call put before a person; the same call opens no second one meanwhile.
type Account struct {
	Decisions []Rejudged
	Tasks     int
	// Asked and WouldAsk count the questions.
	Asked, WouldAsk int
}

// Session judges the decisions of one session again. The facts are all it has, in order. If earlier
// facts were erased, erased is the mark that the session then had.
func (r Retrial) Session(facts []Recorded, erased *floodmark.Label) (Account, error) {
	t := &trial{Retrial: r, was: kernel.NewState(), would: kernel.NewState(), tasks: map[int]bool{}, last: judgement{index: -1}}
	if erased != nil {
		t.was, t.would = kernel.Forgotten(*erased), kernel.Forgotten(*erased)
	}
	starts := map[int]int{} // where the event of a decision begins
	for i, f := range facts {
		if d, ok := f.Fact.(floodmark.ActionDecided); ok {
			before := 0
			if d.Basis != nil && d.Basis.Before >= 0 && d.Basis.Before <= i {
				before = d.Basis.Before
			}
			starts[i-before] = i
		}
	}
	for i, f := range facts {
		if d, ok := starts[i]; ok {
			t.judge(facts, i, d)
		}
		if err := t.take(i, f.Fact); err != nil {
			return Account{}, fmt.Errorf("fact %d: %w", i, err)
		}
	}
	t.out.Tasks = len(t.tasks)
	return t.out, nil
}

// A trial is one session being judged again: as it was, and as it would be.
type trial struct {
	Retrial
	was, would *kernel.State
	// relabelled says that the two states differ in the label of some content.
	relabelled bool
	// lost says why labels cannot be told any more; empty while they can.
	lost string
	// heritage are another session's sources, until it is known under which
	// rules they came here.
	heritage []floodmark.Source
	last     judgement
	tasks    map[int]bool
	out      Account

	// About the decision being judged: policy and catalog are the rules under which it was
	// recorded, and doubt is the first thing that would have to be guessed.
	policy, catalog floodmark.Digest
	doubt           string
}

// A judgement is the newest decision.
type judgement struct {
	index   int
	told    bool
	placed  bool // the label of its result would be known, told or not
	again   kernel.Recalled
	tickets []floodmark.Fact // the question it would have opened or joined
}

// judge judges the decision at facts[at], whose event begins at from.
func (t *trial) judge(facts []Recorded, from, at int) {
	f, _ := facts[at].Fact.(floodmark.ActionDecided)
	if f.Action.Kind == floodmark.SpawnAgent {
		return
	}
	t.under(facts[from:at])
	m := kernel.NewMoment(t.would, t.Now, facts[at].At, ticketOf(facts, at), f, t.relabels(facts[from:at]))
	r := heardIn(facts, from, at)
	r.SameCatalog = t.sameCatalog(f.Action.Tool)
	j, why := t.again(m, r)
	out := Rejudged{
		Index: at, At: facts[at].At, Turn: m.Turn(), Action: f.Action, Outcome: Unchanged,
		Was: f.Decision, WasMark: f.Mark, Would: j.Decision, WouldMark: j.Mark,
	}
	switch {
	case why != "":
		out.Outcome, out.Why, out.Would, out.WouldMark = Untold, why, f.Decision, f.Mark
	case !alike(f.Decision, j.Decision):
		out.Outcome = Changed
	}
	t.last = judgement{index: at, told: why == "", placed: why == "" || why == t.doubt, again: j}
	t.count(out, f)
	if !out.At.Before(t.Since) {
		t.out.Decisions = append(t.out.Decisions, out)
		t.tasks[out.Turn] = true
	}
}

// alike reports whether two decisions answer the same.
func alike(a, b floodmark.Decision) bool {
	return a.Verdict == b.Verdict && a.Reach == b.Reach && a.Would == b.Would && slices.Equal(a.Hidden, b.Hidden) && slices.Equal(a.Verifiers, b.Verifiers)
}

// count counts questions, and asks the one that would have been asked.
func (t *trial) count(out Rejudged, f floodmark.ActionDecided) {
	asks := func(d floodmark.Decision, s *kernel.State) bool {
		_, asked := s.Book.Asked(f.Action.Tool, f.Action.ArgsDigest, out.At)
		return d.Verdict == floodmark.Confirm && f.Action.Kind != floodmark.CallModel && !asked && !out.At.Before(t.Since)
	}
	if asks(out.Was, t.was) {
		t.out.Asked++
	}
	if asks(out.Would, t.would) {
		t.out.WouldAsk++
	}
	if t.last.told && out.Would.Verdict == floodmark.Confirm && f.Action.Kind != floodmark.CallModel {
		t.last.tickets = t.last.again.Question()
	}
}

// under notes the rules an event was recorded under.
func (t *trial) under(before []Recorded) {
	t.policy, t.catalog = t.was.Policy, t.was.Catalog
	for _, f := range before {
		if loaded, ok := f.Fact.(floodmark.RulesLoaded); ok {
			t.policy, t.catalog = loaded.Policy, loaded.Catalog
		}
	}
}

// then returns the rules an event was recorded under, if they are known.
func (t *trial) then() *kernel.Rules {
	switch {
	case t.policy == t.Now.Policy.Hash() && t.catalog == t.Now.Catalog.Hash():
		return &t.Now
	case t.Then != nil && t.policy == t.Then.Policy.Hash() && t.catalog == t.Then.Catalog.Hash():
		return t.Then
	}
	return nil
}

// ticketOf returns the question that was asked, or a made-up name if none was.
func ticketOf(facts []Recorded, at int) floodmark.TicketID {
	if at+1 < len(facts) {
		switch f := facts[at+1].Fact.(type) {
		case floodmark.TicketOpened:
			return f.Ticket
		case floodmark.TicketExtended:
			return f.Ticket
		default:
		}
	}
	return floodmark.TicketID(fmt.Sprint("would-be-", at))
}

// Title names the action in a few words.
func (r Rejudged) Title() string { return report.Title(r.Action) }

// Difference returns the change on one line: both answers, and what decides the
// new one, or else the old one.
func (r Rejudged) Difference() string {
	if r.Outcome == Untold {
		return answerOf(r.Was) + " -> cannot tell: " + r.Why
	}
	line := answerOf(r.Was) + " -> " + answerOf(r.Would)
	for _, d := range []floodmark.Decision{r.Would, r.Was} {
		if len(d.Reasons) > 0 {
			return line + " (" + cmp.Or(d.Reasons[0].Rule, string(d.Reasons[0].Code)) + ")"
		}
	}
	return line
}

// answerOf returns a decision in a word or a few.
func answerOf(d floodmark.Decision) string {
	text := d.Word()
	if d.Would != "" {
		text += " for now, else " + d.Would
	}
	if len(d.Hidden) > 0 {
		text += " hiding " + report.Visible(strings.Join(d.Hidden, " "))
	}
	if len(d.Verifiers) > 0 {
		text += " if " + report.Visible(strings.Join(d.Verifiers, ", ")) + " agrees"
	}
	return text
}

// heardIn returns the decision at facts[at] with what others said in its event, which begins at from.
// If verifiers were asked after an opinion, the call was decided twice, and the opinion is in the
// event of the first decision.
func heardIn(facts []Recorded, from, at int) kernel.Record {
	var r kernel.Record
	r.ActionDecided, _ = facts[at].Fact.(floodmark.ActionDecided)
	for _, f := range facts[from:at] {
		switch f := f.Fact.(type) {
		case floodmark.OpinionGiven:
			if r.Opinion == nil {
				r.Opinion = &f
			}
		case floodmark.VerifierAnswered:
			r.Answers = append(r.Answers, f)
		default:
		}
	}
	for i := from - 1; i >= 0 && r.Opinion == nil && len(r.Answers) > 0; i-- {
		if o, ok := facts[i].Fact.(floodmark.OpinionGiven); ok {
			if o.Call == r.Action.Call && o.ArgsDigest == r.Action.ArgsDigest {
				r.Opinion = &o
			}
			break
		}
	}
	return r
}
