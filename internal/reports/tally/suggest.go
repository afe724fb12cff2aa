package tally

import (
	"slices"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/policy"
)

// What a suggestion needs. The same call in the same session is counted once.
const (
	LeastYes      = 3 // calls that a person read and approved
	LeastSessions = 2 // sessions with such calls
)

// A Suggestion is a line for the policy, with the evidence.
type Suggestion struct {
	Line
	// Yes is how many different calls were read and approved. Asked is how many questions the line
	// is about. Unread is how many of them were approved without reading.
	Yes, Asked, Unread int
	Sessions           []string
	First, Last        time.Time
	// Behind are the sources that were blamed in these questions.
	Behind []string
}

// A Dismissed is a line that is not suggested, and why.
type Dismissed struct {
	Line
	Why string
}

// Suggestions returns lines for the policy that would have spared questions since a time. The
// account must contain the whole journal, because even an old denial excludes a line.
func (a *Account) Suggestions(p *policy.Policy, since time.Time) (good []Suggestion, dismissed []Dismissed) {
	for _, l := range Lines(a.Questions, p) {
		if l.Kind != PolicyLine && l.Kind != CatalogLine {
			continue
		}
		s := evidence(l, since)
		why := a.against(l)
		switch {
		case why != "":
		case s.Yes < LeastYes:
			why = "too few different calls were read and approved"
		case len(s.Sessions) < LeastSessions:
			why = "all of it happened in one session"
		case 2*s.Unread >= s.Asked:
			why = "most answers came faster than people can read"
		}
		if why != "" {
			dismissed = append(dismissed, Dismissed{Line: l, Why: why})
			continue
		}
		good = append(good, s)
	}
	return good, dismissed
}

// evidence returns a suggestion with the evidence for its line.
func evidence(l Line, since time.Time) Suggestion {
	s := Suggestion{Line: l}
	type one struct {
		session string
		call    callKey
	}
	seen := map[one]bool{}
	for _, q := range l.About {
		if q.At.Before(since) {
			continue
		}
		if s.Asked++; s.First.IsZero() {
			s.First = q.At
		}
		s.Last = q.At
		for _, name := range q.Sources {
			if !slices.Contains(s.Behind, name) {
				s.Behind = append(s.Behind, name)
			}
		}
		key := one{q.Session, callKey{q.Shown.Tool, q.Shown.ArgsDigest}}
		switch {
		case q.Outcome != Approved:
		case q.Unread():
			s.Unread++
		case !seen[key]:
			seen[key] = true
			s.Yes++
			if !slices.Contains(s.Sessions, q.Session) {
				s.Sessions = append(s.Sessions, q.Session)
			}
		}
	}
	slices.Sort(s.Sessions)
	return s
}

// against returns what speaks against a line, or "" if nothing does. Against it speaks a question
// that the line concerns, if it was denied, or if it was about a call that foreign text had
// steered.
func (a *Account) against(l Line) string {
	for _, q := range a.Questions {
		if !l.concerns(q) {
			continue
		}
		if q.Outcome == Denied || q.Outcome == Voided {
			return "you said no to it, or it was voided, in " + q.Session
		}
		if path, ok := steered(q); ok {
			return "its argument " + path + " came from text of others in " + q.Session
		}
	}
	return ""
}

// concerns reports whether the line could change the decision about a question like q.
func (l *Line) concerns(q *Question) bool {
	if l.place != "" {
		return slices.ContainsFunc(q.Blamed, func(s floodmark.Source) bool { return s.Origin.Place == l.place })
	}
	return q.Fact.Action.Tool == l.tool
}

// Whose returns the sources that were blamed in some questions, each once.
func Whose(list []*Question) []string {
	var names []string
	for _, q := range list {
		for _, name := range q.Sources {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}
