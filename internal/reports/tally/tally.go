// Package tally counts what asking cost a person, from the facts of sessions: how many questions
// were asked, who answered them, how fast, and which rules caused them. It also finds lines of a
// policy, approvals and endorsements that would have spared questions, with the evidence. It
// changes nothing and decides nothing.
package tally

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/kernel/replay"
	"github.com/floodmark/floodmark/report"
)

// A Session is one session with the facts of its journal.
type Session struct {
	Name  string
	Facts []replay.Recorded
	// Erased is the mark of the session when its earlier facts were erased; nil if none were.
	Erased *floodmark.Label
}

// An Outcome says how a question ended.
type Outcome string

// The outcomes.
const (
	Waiting  Outcome = "waiting"
	Approved Outcome = "approved"
	Denied   Outcome = "denied"
	Voided   Outcome = "voided" // closed without an answer
	Expired  Outcome = "expired"
)

// A Question is a call that a person was asked about. The same call is not counted again while the
// question is open.
type Question struct {
	Session string
	Ticket  floodmark.TicketID
	At      time.Time
	Turn    int
	Fact    floodmark.ActionDecided
	// Shown is what the person was shown.
	Shown floodmark.Shown
	// Letters is the length of the line that the person was shown.
	Letters int
	// Sources name the sources behind the decision, in words.
	Sources []string
	// Blamed are the sources that were blamed for the decision.
	Blamed []floodmark.Source
	// Read are the calls that brought the sources in Blamed, in the same order.
	Read    []floodmark.ActionDecided
	Outcome Outcome
	// Project is the folder that the agent worked in.
	Project string
	// Channel is how the answer came; empty if there was none.
	Channel string
	// Took is the time to the answer. Glance is the time to the answer since the last call was
	// added to the question.
	Took, Glance time.Duration
	// Again says that the same call was asked about before in this session.
	Again bool

	expires time.Time
	changed time.Time
	// held is when people were notified, if the question was asked in quiet hours.
	held time.Time
}

// Rule returns the rule that caused the question.
func (q *Question) Rule() string {
	for _, r := range q.Fact.Decision.Reasons {
		if r.Code != floodmark.Audited {
			return cmp.Or(r.Rule, string(r.Code))
		}
	}
	return "unknown"
}

// Codes returns the reason codes of the question.
func (q *Question) Codes() []floodmark.Code { return q.Shown.Codes }

// An Account holds what was counted in some sessions.
type Account struct {
	Since     time.Time
	Now       time.Time
	Sessions  int
	Tasks     int // turns in which something was decided
	Decisions int
	Questions []*Question
	// Joined counts calls that were made again while the question about them was open.
	Joined int
	// These fields count calls by who allowed or answered them:
	//   - Granted: an earlier approval, apart from the calls it was given for;
	//   - Audited: the auditor allowed the call;
	//   - Verified: a verifier answered;
	//   - Paused: only a pause allowed the call.
	Granted, Audited, Verified, Paused int
	// Boxed counts commands that ran in a box, BoxFailed commands that failed in a box, and Refused
	// calls that were refused without a question.
	Boxed, BoxFailed, Refused int
	Auditor                   AuditorFigures
}

// Count returns the account of some sessions. Facts before since are read for their effects on
// a session and not counted.
func Count(sessions []Session, since, now time.Time) (*Account, error) {
	a := &Account{Since: since, Now: now}
	for _, s := range sessions {
		if err := a.add(s); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(a.Questions, func(x, y *Question) int { return x.At.Compare(y.At) })
	return a, nil
}

// A reader goes through one session.
type reader struct {
	*Account
	name    string
	state   *kernel.State
	tasks   map[int]bool
	audits  map[int]bool            // turns in which an auditor was asked
	last    floodmark.ActionDecided // the newest decision
	lastLen int
	behind  []string
	calls   map[floodmark.CallID]floodmark.ActionDecided
	brought map[floodmark.NodeID]floodmark.ActionDecided // the call that brought a source
	asked   map[callKey]bool
	open    map[floodmark.TicketID][]*Question
	uses    map[floodmark.TicketID]int // the grants of a ticket minus their uses
	counted bool                       // something in the session was counted
}

type callKey struct {
	tool floodmark.ToolRef
	args floodmark.Digest
}

func (a *Account) add(s Session) error {
	r := &reader{
		Account: a, name: s.Name, state: kernel.NewState(), tasks: map[int]bool{}, audits: map[int]bool{}, calls: map[floodmark.CallID]floodmark.ActionDecided{},
		brought: map[floodmark.NodeID]floodmark.ActionDecided{},
		asked:   map[callKey]bool{}, open: map[floodmark.TicketID][]*Question{}, uses: map[floodmark.TicketID]int{},
	}
	if s.Erased != nil {
		r.state = kernel.Forgotten(*s.Erased)
	}
	for _, f := range s.Facts {
		r.take(f.At, f.Fact)
		if err := r.state.Apply(f.Fact); err != nil {
			return err
		}
	}
	for _, list := range r.open {
		for _, q := range list {
			if q.Outcome == Waiting && !q.expires.After(a.Now) {
				q.Outcome = Expired
			}
		}
	}
	a.Tasks += len(r.tasks)
	a.Auditor.Tasks += len(r.audits)
	if r.counted {
		a.Sessions++
	}
	return nil
}

func (r *reader) take(at time.Time, f floodmark.Fact) {
	counts := !at.Before(r.Since)
	switch f := f.(type) {
	case floodmark.ActionDecided:
		r.decided(at, f, counts)
	case floodmark.ContentSeen:
		if d, ok := r.calls[f.Call]; ok && f.Call != "" {
			r.brought[f.Node] = d
		}
	case floodmark.TicketOpened:
		for _, shown := range f.Shown {
			if shown.Vouch.IsZero() { // otherwise it is about content, and the owner started it
				r.ask(at, f.Ticket, shown, f.Expires)
			}
		}
		for _, q := range r.open[f.Ticket] {
			q.held = f.Held
		}
	case floodmark.TicketExtended:
		r.extend(at, f)
	case floodmark.TicketAnswered:
		r.answered(at, f)
	case floodmark.GrantGiven:
		r.uses[f.Ticket]++
	case floodmark.GrantUsed:
		if r.uses[f.Ticket]--; r.uses[f.Ticket] < 0 && counts {
			r.Granted++
		}
	case floodmark.GrantEnded:
		for _, q := range r.open[f.Ticket] {
			if q.Outcome == Approved && strings.HasPrefix(f.Why, "taken back") {
				q.Outcome = Denied // an approval that is taken back is counted as a denial
			}
		}
	case floodmark.ContentArrived:
		if counts && f.BoxFailed {
			r.BoxFailed++
		}
	case floodmark.OpinionGiven:
		if counts {
			r.opinion(f)
		}
	default:
	}
}

func (r *reader) decided(at time.Time, f floodmark.ActionDecided, counts bool) {
	r.last, r.lastLen, r.behind = f, 0, nil
	r.calls[f.Action.Call] = f
	if counts {
		r.counted = true
		r.Decisions++
		r.tasks[r.state.Turn] = true
		if f.Decision.Verdict == floodmark.Restrict {
			r.Refused++
		}
		if f.Decision.Word() == floodmark.Contain {
			r.Boxed++
		}
		for _, reason := range f.Decision.Reasons {
			if reason.Code == floodmark.Verified {
				r.Verified++
				break
			}
		}
		if len(f.Decision.Reasons) > 0 && f.Decision.Reasons[0].Code == floodmark.Paused && f.Action.Kind != floodmark.CallModel && len(f.Decision.Verifiers) == 0 {
			r.Paused++
		}
	}
	if f.Decision.Verdict != floodmark.Confirm {
		return
	}
	why := report.Retell(&r.state.Ledger, f)
	r.lastLen, r.behind = len([]rune(why.Line)), why.Sources
	if _, waits := r.state.Book.Asked(f.Action.Tool, f.Action.ArgsDigest, at); waits && counts {
		r.Joined++
	}
}

// ask records a question about the newest decision.
func (r *reader) ask(at time.Time, t floodmark.TicketID, shown floodmark.Shown, expires time.Time) {
	key := callKey{shown.Tool, shown.ArgsDigest}
	q := &Question{
		Session: r.name, Ticket: t, At: at, Turn: r.state.Turn, Fact: r.last, Shown: shown, Letters: r.lastLen,
		Sources: r.behind, Outcome: Waiting, Project: r.state.Project, Again: r.asked[key], expires: expires, changed: at,
	}
	for _, n := range r.last.Decision.Blame {
		if src, ok := r.state.Ledger.Source(n); ok {
			q.Blamed = append(q.Blamed, src)
			q.Read = append(q.Read, r.brought[n])
		}
	}
	r.asked[key] = true
	r.open[t] = append(r.open[t], q)
	if !at.Before(r.Since) {
		r.counted = true
		r.Questions = append(r.Questions, q)
	}
}

// extend records one more call of a question, or the same call again.
func (r *reader) extend(at time.Time, f floodmark.TicketExtended) {
	expires := at
	known := false
	for _, q := range r.open[f.Ticket] {
		expires = q.expires
		q.changed = at
		known = known || q.Shown.Tool == f.Shown.Tool && q.Shown.ArgsDigest == f.Shown.ArgsDigest
	}
	if !known {
		r.ask(at, f.Ticket, f.Shown, expires)
	}
}

func (r *reader) answered(at time.Time, f floodmark.TicketAnswered) {
	for _, q := range r.open[f.Ticket] {
		if q.Outcome != Waiting && (q.Outcome != Approved || f.Verdict != floodmark.Restrict) {
			continue
		}
		q.Channel, q.Took, q.Glance = f.Channel, at.Sub(q.At), at.Sub(q.changed)
		if at.After(q.held) && q.held.After(q.changed) { // people were notified only after quiet hours
			q.Took, q.Glance = at.Sub(q.held), at.Sub(q.held)
		}
		switch f.Verdict {
		case floodmark.Allow:
			q.Outcome = Approved
		case floodmark.Restrict:
			q.Outcome = Denied
		case floodmark.Confirm, floodmark.Audit:
			q.Outcome = Voided
		}
	}
}
