package fleetcheck

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/kernel/replay"
)

// A Kind says what is wrong.
type Kind string

// What can be wrong.
const (
	Forked       Kind = "fork"         // the session's entries are not one chain: a gap, or an entry that follows another
	Lost         Kind = "lost"         // acknowledged, but not in the journal
	Stale        Kind = "stale"        // decided without entries that were acknowledged before the question was sent
	Inconsistent Kind = "inconsistent" // another decision follows from the facts before it
	Loose        Kind = "loose"        // not judged, but not restricted
)

// A Finding is one thing that is wrong.
type Finding struct {
	Kind    Kind                `json:"kind"`
	Session floodmark.SessionID `json:"session"`
	Text    string              `json:"text"`
}

func (f Finding) String() string { return fmt.Sprintf("%s: session %s: %s", f.Kind, f.Session, f.Text) }

// A Report is the result of a check. If it has no findings, everything it counts is proved.
type Report struct {
	Sessions     int `json:"sessions"`
	Entries      int `json:"entries"`
	Acknowledged int `json:"acknowledged"` // answers whose facts were searched for
	Unanswered   int `json:"notJudged"`    // answers that were not judged, so they promise no fact
	Decisions    int `json:"decisions"`    // decisions that were judged again from the facts before them
	Untold       int `json:"cannotTell"`   // decisions for which the facts do not say enough
	Allowed      int `json:"allowedCalls"`
	Twice        int `json:"decidedTwice"` // calls with two decisions, each consistent
	// Findings are the first [MaxFindings] findings. Found counts all.
	Findings []Finding    `json:"findings,omitempty"`
	Found    map[Kind]int `json:"found"`
}

// MaxFindings bounds the findings that a report lists.
const MaxFindings = 100

// OK reports whether nothing is wrong and at least one answer was checked.
func (r *Report) OK() bool { return len(r.Found) == 0 && r.Acknowledged > 0 }

func (r *Report) find(kind Kind, s floodmark.SessionID, format string, args ...any) {
	r.Found[kind]++
	if len(r.Findings) < MaxFindings {
		r.Findings = append(r.Findings, Finding{kind, s, fmt.Sprintf(format, args...)})
	}
}

// Check compares the lines of all clients with the journal of a tenant. rules are the rules that
// all nodes had. An error means that the journal could not be read.
func Check(ctx context.Context, j journal.Journal, tenant string, rules kernel.Rules, log []Heard) (*Report, error) {
	r := &Report{Found: map[Kind]int{}}
	sessions := map[floodmark.SessionID][]Heard{}
	for _, h := range log {
		sessions[h.Session] = append(sessions[h.Session], h)
	}
	for _, id := range slices.Sorted(maps.Keys(sessions)) {
		s := journal.Session{Tenant: tenant, ID: id}
		o := order{report: r, session: s, at: map[string]uint64{}, decisions: map[floodmark.CallID]int{}}
		if err := o.read(ctx, j); err != nil {
			return nil, err
		}
		o.answered(sessions[id])
		o.rejudge(rules)
		r.Sessions++
	}
	return r, nil
}

// An order is one session with its entries in the journal.
type order struct {
	report    *Report
	session   journal.Session
	facts     []replay.Recorded
	at        map[string]uint64 // the last entry with each promised fact
	decisions map[floodmark.CallID]int
}

// read reads the entries and checks that each follows the one before.
func (o *order) read(ctx context.Context, j journal.Journal) error {
	var last journal.Link
	for e, err := range j.Read(ctx, o.session, 0) {
		if errors.Is(err, journal.ErrBroken) {
			o.report.find(Forked, o.session.ID, "after entry %d: %v", last.Seq, err)
			return nil
		}
		if err != nil {
			return err
		}
		if err := journal.Check(o.session, last, e); err != nil {
			o.report.find(Forked, o.session.ID, "%v", err)
			return nil
		}
		f, err := e.Fact()
		if err != nil {
			return err
		}
		last = e.Link()
		o.report.Entries++
		o.facts = append(o.facts, replay.Recorded{At: e.Time(), Fact: f})
		if key := kept(f); key != "" {
			o.at[key] = e.Seq
		}
		if d, ok := f.(floodmark.ActionDecided); ok && d.Action.Kind == floodmark.CallTool {
			if o.decisions[d.Action.Call]++; o.decisions[d.Action.Call] == 2 {
				o.report.Twice++
			}
		}
	}
	return nil
}

// answered checks that every acknowledged fact is in the journal, after all facts that were
// acknowledged before its event was sent.
func (o *order) answered(log []Heard) {
	var judged []Heard
	for _, h := range log {
		if !h.Judged {
			o.report.Unanswered++
			if h.Verdict != floodmark.Restrict {
				o.report.find(Loose, h.Session, "%s %s was answered %s and judged by nobody", h.Point, h.Call, h.Verdict)
			}
			continue
		}
		if h.promise() != "" {
			judged = append(judged, h)
		}
	}
	known := slices.Clone(judged) // in the order in which answers came
	slices.SortFunc(known, func(a, b Heard) int { return a.Answered.Compare(b.Answered) })
	slices.SortFunc(judged, func(a, b Heard) int { return a.Sent.Compare(b.Sent) })
	var before uint64
	for _, h := range judged {
		for len(known) > 0 && known[0].Answered.Before(h.Sent) {
			before = max(before, o.at[known[0].promise()])
			known = known[1:]
		}
		o.report.Acknowledged++
		allowed := h.Point == hook.BeforeToolCall && h.Verdict == floodmark.Allow
		if allowed {
			o.report.Allowed++
		}
		at, ok := o.at[h.promise()]
		switch {
		case !ok:
			o.report.find(Lost, h.Session, "%s %s was answered %s by %s, and there is no «%s»", h.Point, h.Call, h.Verdict, h.Node, h.promise())
		case at <= before && h.Point != hook.SessionStart:
			o.report.find(Stale, h.Session, "«%s» stands at %d, and was asked when entry %d was acknowledged", h.promise(), at, before)
		}
	}
}

// rejudge judges every decision again from the facts before it.
func (o *order) rejudge(rules kernel.Rules) {
	account, err := replay.Retrial{Now: rules}.Session(o.facts, nil)
	if err != nil {
		o.report.find(Inconsistent, o.session.ID, "its facts do not follow from each other: %v", err)
		return
	}
	for _, d := range account.Decisions {
		o.report.Decisions++
		switch {
		case d.WasMark != d.WouldMark:
			o.report.find(Stale, o.session.ID, "%s was decided at the mark %s, which was %s by then", d.Title(), d.WasMark, d.WouldMark)
		case d.Outcome == replay.Changed:
			o.report.find(Inconsistent, o.session.ID, "%s: %s", d.Title(), d.Difference())
		case d.Outcome == replay.Untold:
			o.report.Untold++
		default:
		}
	}
}
