package tally

import (
	"cmp"
	"slices"
	"time"
)

// LettersPerSecond is faster than people read: 50 letters a second are 600 words a minute, twice
// the speed of careful readers. If an answer came faster than that for the length of the line that
// was shown, the line was not read.
const LettersPerSecond = 50

// Figures say in numbers what asking cost. Programs read their JSON, so fields are only added and
// never renamed.
type Figures struct {
	Since     time.Time `json:"since,omitzero"`
	Sessions  int       `json:"sessions"`
	Decisions int       `json:"decisions"`
	// Tasks are turns in which something was decided.
	Tasks            int     `json:"tasks"`
	Questions        int     `json:"questions"`
	QuestionsPerTask float64 `json:"questionsPerTask"`
	// Asked counts questions about a call that was asked about before in the same session. Joined
	// counts calls that were made again while the question about them was open.
	Repeats struct {
		Asked  int `json:"asked"`
		Joined int `json:"joined"`
	} `json:"repeats"`
	// Resolved says how the calls that needed an answer got one.
	Resolved []Share `json:"resolved"`
	// Paused counts calls that were allowed only because of a pause.
	Paused int `json:"paused"`
	// Boxed counts commands that ran in a box instead of being asked about.
	Boxed int `json:"boxed"`
	// BoxFailed counts commands that failed in a box.
	BoxFailed int `json:"boxFailed"`
	// Refused counts calls that were refused without a question.
	Refused int `json:"refused"`
	// Auditor counts the answers of the auditor.
	Auditor AuditorFigures `json:"auditor"`
	// Answers say how fast people answered.
	Answers Answers `json:"answers"`
}

// A Share is one way in which calls were resolved.
type Share struct {
	By    string  `json:"by"` // grant, auditor, verifier, person, expired, voided, waiting
	Count int     `json:"count"`
	Share float64 `json:"share"`
}

// Answers say how fast people answered.
type Answers struct {
	Count         int     `json:"count"`
	Yes           int     `json:"yes"`
	No            int     `json:"no"`
	MedianSeconds float64 `json:"medianSeconds"`
	P90Seconds    float64 `json:"p90Seconds"`
	// Unread counts answers that were given faster than people can read what was shown.
	Unread     int    `json:"fasterThanReading"`
	Assumption string `json:"assumption"`
}

// Unread reports whether a question was answered faster than people can read it.
func (q *Question) Unread() bool {
	return (q.Outcome == Approved || q.Outcome == Denied) && q.Glance < time.Duration(q.Letters)*time.Second/LettersPerSecond
}

// Figures returns the figures of the account.
func (a *Account) Figures() Figures {
	f := Figures{
		Since: a.Since, Sessions: a.Sessions, Decisions: a.Decisions, Tasks: a.Tasks, Questions: len(a.Questions), Paused: a.Paused,
		Boxed: a.Boxed, BoxFailed: a.BoxFailed, Refused: a.Refused,
		QuestionsPerTask: ratio(len(a.Questions), a.Tasks), Auditor: a.auditor(),
	}
	f.Repeats.Joined = a.Joined
	f.Answers.Assumption = "no person reads more than 50 letters a second; the length is that of the line that says what is asked"
	by := map[Outcome]int{}
	var took []time.Duration
	for _, q := range a.Questions {
		by[q.Outcome]++
		if q.Again {
			f.Repeats.Asked++
		}
		if q.Outcome == Approved || q.Outcome == Denied {
			took = append(took, q.Took)
		}
		if q.Unread() {
			f.Answers.Unread++
		}
	}
	f.Answers.Count, f.Answers.Yes, f.Answers.No = len(took), by[Approved], by[Denied]
	slices.Sort(took)
	f.Answers.MedianSeconds, f.Answers.P90Seconds = rank(took, 50).Seconds(), rank(took, 90).Seconds()
	list := []Share{
		{By: "grant", Count: a.Granted},
		{By: "auditor", Count: a.Audited},
		{By: "verifier", Count: a.Verified},
		{By: "person", Count: by[Approved] + by[Denied]},
		{By: "expired", Count: by[Expired]},
		{By: "voided", Count: by[Voided]},
		{By: "waiting", Count: by[Waiting]},
	}
	all := 0
	for _, s := range list {
		all += s.Count
	}
	for i := range list {
		list[i].Share = ratio(list[i].Count, all)
	}
	f.Resolved = list
	return f
}

func ratio(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

// rank returns a percentile of sorted values.
func rank(sorted []time.Duration, percent int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)*percent+99)/100-1]
}

// A Behind is a rule with the questions that it caused.
type Behind struct {
	Rule      string
	Questions []*Question
}

// Rules returns the n rules that caused most questions.
func (a *Account) Rules(n int) []Behind {
	at := map[string]int{}
	var list []Behind
	for _, q := range a.Questions {
		rule := q.Rule()
		i, ok := at[rule]
		if !ok {
			i = len(list)
			at[rule] = i
			list = append(list, Behind{Rule: rule})
		}
		list[i].Questions = append(list[i].Questions, q)
	}
	slices.SortStableFunc(list, func(x, y Behind) int {
		return cmp.Or(cmp.Compare(len(y.Questions), len(x.Questions)), cmp.Compare(x.Rule, y.Rule))
	})
	return list[:min(n, len(list))]
}
