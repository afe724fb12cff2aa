package tally

import (
	"slices"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/kernel/replay"
)

func TestNamesThatMayStandInALine(t *testing.T) {
	for text, want := range map[string]bool{
		"docs.news.example": true, "a-b.example": true, "example": false, "": false, "*.example": false, "192.0.2.7": false, "-a.example": false,
		"a..example": false, "A.example": false, "a.example/x": false, "a.example, trust: shared}": false, "a.example\n": false, "x@a.example": false,
	} {
		if plainHost(text) != want {
			t.Errorf("host %q: %v", text, !want)
		}
	}
	for text, want := range map[string]bool{
		"/home/anna/notes.md": true, "/home/anna": false, "/": false, "home/anna/x": false, "/home/anna/**": false, "/home/anna/../x": false,
		"/home//anna/x": false, "/home/anna/a b": false, "/home/anna/\"x": false, "/home/anna/x#y": false,
	} {
		if plainPath(text) != want {
			t.Errorf("path %q: %v", text, !want)
		}
	}
	for text, want := range map[string]bool{"write": true, "crm/update": true, "crm/*": false, "a/b/c": false, "": false, "a b": false, "/x": false, "x/": false, "x: {untrusted": false} {
		if plainTool(text) != want {
			t.Errorf("tool %q: %v", text, !want)
		}
	}
	for text, want := range map[string]bool{"run_notebook": true, "Execute": true, "SQL": true, "update_contact": false} {
		if codeLike(text) != want {
			t.Errorf("code %q: %v", text, !want)
		}
	}
}

// harmless returns a question for which a line may be proposed.
func harmless() *Question {
	return &Question{
		Shown: floodmark.Shown{Codes: []floodmark.Code{floodmark.TaintEscalation}},
		Fact: floodmark.ActionDecided{
			Trust: floodmark.External, Basis: &floodmark.Basis{},
			Action: floodmark.Action{
				Tool: floodmark.ToolRef{Name: "write"}, Effects: []floodmark.Effect{floodmark.Write},
				Arguments: []floodmark.Argument{{Path: "path", Role: floodmark.Critical, Whence: floodmark.Stated, Trust: floodmark.Owner}},
			},
		},
	}
}

// With any one of these changes, no line of a policy is proposed.
func TestWhyNothingIsProposed(t *testing.T) {
	if why := Why(harmless(), nil); why != "" || len(written(harmless(), nil)) != 1 {
		t.Fatalf("%q %v", why, written(harmless(), nil))
	}
	for name, change := range map[string]func(q *Question){
		"no basis":       func(q *Question) { q.Fact.Basis = nil },
		"unreadable":     func(q *Question) { q.Fact.Basis.Unreadable = true },
		"no effect":      func(q *Question) { q.Fact.Action.Effects = nil },
		"admin":          func(q *Question) { q.Fact.Action.Effects = append(q.Fact.Action.Effects, floodmark.Admin) },
		"protected":      func(q *Question) { q.Fact.Basis.SelfProtected = true },
		"instructs":      func(q *Question) { q.Fact.Basis.Instructs = true },
		"code":           func(q *Question) { q.Fact.Action.Effects = append(q.Fact.Action.Effects, floodmark.Run) },
		"interactive":    func(q *Question) { q.Fact.Basis.Interactive = true },
		"takes commands": func(q *Question) { q.Fact.Basis.Findings = []floodmark.Finding{floodmark.TakesCommands} },
		"a package":      func(q *Question) { q.Fact.Basis.Strange = true },
		"a secret":       func(q *Question) { q.Fact.Basis.SecretInArgs = true },
		"a secret file":  func(q *Question) { q.Fact.Basis.SecretPath = true },
		"a known secret": func(q *Question) { q.Fact.Basis.Carried = []floodmark.Carried{{Rule: "key"}} },
		"a folder":       func(q *Question) { q.Fact.Basis.Wipes = true },
		"what is new":    func(q *Question) { q.Fact.Basis.Findings = []floodmark.Finding{"of-tomorrow"} },
		"a flow":         func(q *Question) { q.Shown.Codes = append(q.Shown.Codes, floodmark.FlowPrivate) },
		"a rule":         func(q *Question) { q.Shown.Codes = append(q.Shown.Codes, floodmark.RuleMatched) },
		"steered": func(q *Question) {
			q.Fact.Action.Arguments[0] = floodmark.Argument{Whence: floodmark.Seen, Trust: floodmark.External}
		},
	} {
		q := harmless()
		change(q)
		if Why(q, nil) == "" || len(written(q, nil)) != 0 {
			t.Errorf("%s: %v", name, written(q, nil))
		}
	}
	for name, change := range map[string]func(q *Question){
		"untrusted": func(q *Question) { q.Fact.Trust = floodmark.Untrusted },
		"sends":     func(q *Question) { q.Fact.Action.Effects = []floodmark.Effect{floodmark.Send} },
		"changes":   func(q *Question) { q.Fact.Action.Effects = []floodmark.Effect{floodmark.Change} },
		"wildcard":  func(q *Question) { q.Fact.Action.Tool.Name = "*" },
	} {
		q := harmless()
		if change(q); len(written(q, nil)) != 0 {
			t.Errorf("%s: %v", name, written(q, nil))
		}
	}
}

func TestFasterThanReading(t *testing.T) {
	q := &Question{Outcome: Approved, Letters: 100, Glance: 2 * time.Second}
	if q.Unread() {
		t.Error("two seconds for a hundred letters")
	}
	if q.Glance--; !q.Unread() {
		t.Error("a moment less")
	}
	if q.Outcome = Expired; q.Unread() {
		t.Error("nobody answered")
	}
	if rank(nil, 50) != 0 || rank([]time.Duration{1, 2, 3}, 50) != 2 || rank([]time.Duration{1, 2, 3}, 90) != 3 || rank([]time.Duration{7}, 90) != 7 {
		t.Error("ranks")
	}
}

func TestFiguresAreSharesOfWhatWasAsked(t *testing.T) {
	a := &Account{Tasks: 4, Granted: 3, Questions: []*Question{
		{Outcome: Approved, Took: 4 * time.Second, Glance: time.Second},
		{Outcome: Denied, Took: 2 * time.Second, Again: true, Letters: 100},
		{Outcome: Expired},
	}}
	f := a.Figures()
	if f.QuestionsPerTask != 0.75 || f.Repeats.Asked != 1 {
		t.Errorf("%+v", f)
	}
	want := []Share{{"grant", 3, 0.5}, {By: "auditor"}, {By: "verifier"}, {"person", 2, 1. / 3}, {"expired", 1, 1. / 6}, {By: "voided"}, {By: "waiting"}}
	if !slices.Equal(f.Resolved, want) {
		t.Errorf("%+v, want %+v", f.Resolved, want)
	}
	if got := f.Answers; got.Count != 2 || got.Yes != 1 || got.No != 1 || got.MedianSeconds != 2 || got.P90Seconds != 4 || got.Unread != 1 {
		t.Errorf("%+v", got)
	}
}

// A fact that cannot follow the earlier facts is an error.
func TestFactsThatDoNotFit(t *testing.T) {
	if _, err := Count([]Session{{Name: "s", Facts: []replay.Recorded{{Fact: floodmark.TurnOpened{}}}}}, time.Time{}, time.Time{}); err == nil {
		t.Error("a session that nobody opened")
	}
	a, err := Count(nil, time.Time{}, time.Time{})
	if f := a.Figures(); err != nil || f.QuestionsPerTask != 0 || len(f.Resolved) != 7 || len(a.Rules(5)) != 0 {
		t.Errorf("%+v %v", f, err)
	}
}

// An approval of an offered pattern spares the other questions with that pattern.
func TestGrantsThatSpare(t *testing.T) {
	a, b, c := harmless(), harmless(), harmless()
	for _, q := range []*Question{a, b, c} {
		q.Session, q.Fact.Basis.Strange = "s", true
	}
	a.Shown.Offers = []floodmark.Offer{{Words: "this call"}, {Words: "writes to notes", Pattern: "write path=/n"}}
	b.Shown.Offers = a.Shown.Offers
	c.Shown.Pattern = "other"
	lines := Lines([]*Question{a, b, c}, nil)
	if len(lines) != 1 || lines[0].Kind != Grant || lines[0].Saves != 1 || lines[0].Text != "approve what the question offers: writes to notes" {
		t.Errorf("%+v", lines)
	}
	a.Fact.Action.Effects = []floodmark.Effect{floodmark.Admin}
	if lines := Lines([]*Question{a, b, c}, nil); len(lines) != 0 {
		t.Errorf("%+v", lines)
	}
}

// In quiet hours the time to an answer counts from their end, unless the answer came before.
func TestTimeToAnswerInQuietHours(t *testing.T) {
	asked := time.Date(2026, 1, 1, 23, 0, 0, 0, time.UTC)
	morning := asked.Add(8 * time.Hour)
	for name, c := range map[string]struct {
		held, answered time.Time
		want           time.Duration
	}{
		"in the morning":   {morning, morning.Add(time.Minute), time.Minute},
		"at night":         {morning, asked.Add(time.Hour), time.Hour},
		"never held":       {time.Time{}, asked.Add(time.Hour), time.Hour},
		"at its end, once": {morning, morning, 8 * time.Hour},
	} {
		facts := []replay.Recorded{
			{At: asked, Fact: floodmark.SessionOpened{Agent: "a"}},
			{At: asked, Fact: floodmark.ActionDecided{}},
			{At: asked, Fact: floodmark.TicketOpened{Ticket: "t", Shown: []floodmark.Shown{{}}, Expires: morning.Add(time.Hour), Held: c.held}},
			{At: c.answered, Fact: floodmark.TicketAnswered{Ticket: "t", Verdict: floodmark.Restrict}},
		}
		a, err := Count([]Session{{Name: "s", Facts: facts}}, time.Time{}, morning)
		if err != nil || len(a.Questions) != 1 || a.Questions[0].Took != c.want || a.Questions[0].Glance != c.want {
			t.Errorf("%s: %+v, %v", name, a.Questions, err)
		}
	}
}
