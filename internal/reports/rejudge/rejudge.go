// Package rejudge counts what other rules would have answered in recorded sessions. The command
// line and the console both use it, so that they give the same numbers. It reads only recorded
// facts and changes nothing.
package rejudge

import (
	"fmt"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/reports/tally"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/kernel/replay"
	"github.com/floodmark/floodmark/policy"
)

// Rules returns the rules that a policy text makes with a catalog; without a text, those of the
// shipped profile. All texts that are compared must use the same catalog, so that tools which none
// of them describes compare as equal. own is what the monitor adds to the catalog, the files of its
// installation; with it the catalog is the one that sessions were recorded with. The problems are nil
// unless the text has an error.
func Rules(name string, text []byte, shipped *catalog.Catalog, own ...*catalog.File) (kernel.Rules, floodmark.Problems) {
	var layers []policy.Layer
	if text != nil {
		layers = append(layers, policy.Layer{Name: name, Data: text})
	}
	p, problems := policy.Load(layers...)
	if problems.Failed() {
		return kernel.Rules{}, problems
	}
	return kernel.NewRules(p, catalog.New(append(p.Tools(), own...), shipped)), nil
}

// A Sum is the result of judging sessions again. Programs read its JSON: fields are only added,
// never renamed.
type Sum struct {
	Sessions   int `json:"sessions"`
	Decisions  int `json:"decisions"`
	Same       int `json:"same"`
	Changed    int `json:"changed"`
	CannotTell int `json:"cannotTell"`
	Tasks      int `json:"tasks"`
	// Questions are the number of questions that were asked, and of those that would have been
	// asked.
	Questions struct {
		Was   int `json:"was"`
		Would int `json:"would"`
	} `json:"questions"`
	// Looser are the changed decisions that would have let more through. Stricter are those that
	// would have let less through.
	Looser   int `json:"looser"`
	Stricter int `json:"stricter"`

	Differences []Difference `json:"differences"`
	More        int          `json:"more"` // differences that are not listed

	// Keep bounds the differences that are listed; zero means [MaxDifferences].
	Keep int `json:"-"`
}

// MaxDifferences bounds the differences that are listed.
const MaxDifferences = 100_000

// A Difference is a decision that would have been different, or for which that cannot be told.
type Difference struct {
	Decision string    `json:"decision"` // the argument for «floodmark why»
	At       time.Time `json:"at"`
	Turn     int       `json:"turn"`
	Action   string    `json:"action"`
	Outcome  string    `json:"outcome"`
	Was      string    `json:"was"`
	Would    string    `json:"would,omitempty"`
	Rule     string    `json:"rule,omitempty"`
	Text     string    `json:"text,omitempty"`
	Why      string    `json:"why,omitempty"`

	// Line says the difference in words. What is the call in a short form. Looser says that the
	// call would have got further.
	Line    string              `json:"-"`
	What    string              `json:"-"`
	Looser  bool                `json:"-"`
	Session floodmark.SessionID `json:"-"`
}

// Session judges one session again and adds it. first is the number of the first fact. A session
// in which nothing was written since the beginning of the trial is left out.
func (s *Sum) Session(trial replay.Retrial, of tally.Session, first uint64) error {
	if n := len(of.Facts); n == 0 || of.Facts[n-1].At.Before(trial.Since) {
		return nil
	}
	a, err := trial.Session(of.Facts, of.Erased)
	if err != nil {
		return err
	}
	if len(a.Decisions) > 0 { // what counts as a session elsewhere, too
		s.Sessions++
	}
	s.Tasks += a.Tasks
	s.Questions.Was += a.Asked
	s.Questions.Would += a.WouldAsk
	for _, d := range a.Decisions {
		s.add(of.Name, first, d, trial.Now.Policy)
	}
	return nil
}

func (s *Sum) add(session string, first uint64, d replay.Rejudged, now *policy.Policy) {
	s.Decisions++
	switch d.Outcome {
	case replay.Unchanged:
		s.Same++
		return
	case replay.Changed:
		s.Changed++
		switch {
		case Looser(d):
			s.Looser++
		case further(d.Would, d.Was):
			s.Stricter++
		}
	case replay.Untold:
		s.CannotTell++
	}
	keep := s.Keep
	if keep <= 0 {
		keep = MaxDifferences
	}
	if len(s.Differences) >= keep {
		s.More++
		return
	}
	s.Differences = append(s.Differences, difference(session, first, d, now))
}

// Looser reports whether a changed decision would have let more through: a looser verdict, or a
// call out of its box.
func Looser(d replay.Rejudged) bool {
	return d.Outcome == replay.Changed && further(d.Was, d.Would)
}

// further reports whether a call gets further by the second decision than by the first.
func further(a, b floodmark.Decision) bool {
	if a.Verdict != b.Verdict {
		return b.Verdict > a.Verdict
	}
	return a.Contained() && !b.Contained()
}

// Cut keeps the first differences and counts the others.
func (s *Sum) Cut(most int) {
	if most > 0 && len(s.Differences) > most {
		s.More += len(s.Differences) - most
		s.Differences = s.Differences[:most]
	}
}

// What is said of a call for which no reason is left. The rule beside it is the one that held it
// before.
const (
	nothingHolds = "no rule asks about it, holds it or boxes it then; before, this one did"
	cellAllows   = "the table allows it then"
)

// allows reports whether a rule is a cell of the table that says allow.
func allows(p *policy.Policy, rule string) bool {
	cell, ok := strings.CutPrefix(rule, "table.")
	effect, trust, both := strings.Cut(cell, ".")
	e, err := floodmark.ParseEffect(effect)
	t, wrong := floodmark.ParseTrust(trust)
	return ok && both && err == nil && wrong == nil && p.Says(e, t) == floodmark.Allow.String()
}

func difference(session string, first uint64, d replay.Rejudged, now *policy.Policy) Difference {
	out := Difference{
		Decision: fmt.Sprintf("%s#%d", session, first+uint64(d.Index)), At: d.At, Turn: d.Turn, Action: d.Title(),
		Outcome: string(d.Outcome), Was: d.Was.Verdict.String(), Why: d.Why,
		Line: d.Difference(), What: tally.What(&d.Action), Looser: Looser(d), Session: floodmark.SessionID(session),
	}
	if d.Outcome == replay.Untold {
		return out
	}
	out.Would = d.Would.Verdict.String()
	switch {
	case len(d.Would.Reasons) > 0:
		out.Rule, out.Text = d.Would.Reasons[0].Rule, d.Would.Reasons[0].Text
	case len(d.Was.Reasons) > 0: // what it said was of the old answer
		out.Rule, out.Text = d.Was.Reasons[0].Rule, nothingHolds
		if allows(now, out.Rule) {
			out.Text = cellAllows
		}
	}
	return out
}
