package records

import (
	"fmt"
	"time"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/kernel/replay"
)

// A replaySum is the result of judging a journal again. Programs read its JSON: fields are only
// added, never renamed.
type replaySum struct {
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
	Differences []replayDifference `json:"differences"`
	More        int                `json:"more"` // differences that are not listed
}

// A replayDifference is a decision that would have been different, or for which that cannot be
// told.
type replayDifference struct {
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

	line string
}

// add adds one session.
func (s *replaySum) add(session string, first uint64, a replay.Account) {
	s.Sessions++
	s.Tasks += a.Tasks
	s.Questions.Was += a.Asked
	s.Questions.Would += a.WouldAsk
	for _, d := range a.Decisions {
		s.Decisions++
		switch d.Outcome {
		case replay.Unchanged:
			s.Same++
			continue
		case replay.Changed:
			s.Changed++
		case replay.Untold:
			s.CannotTell++
		}
		if len(s.Differences) >= maxDifferences {
			s.More++
			continue
		}
		s.Differences = append(s.Differences, difference(session, first, d))
	}
}

// maxDifferences bounds the differences kept for display.
const maxDifferences = 100_000

func difference(session string, first uint64, d replay.Rejudged) replayDifference {
	out := replayDifference{
		Decision: fmt.Sprintf("%s#%d", session, first+uint64(d.Index)), At: d.At, Turn: d.Turn, Action: d.Title(),
		Outcome: string(d.Outcome), Was: d.Was.Verdict.String(), Why: d.Why, line: d.Difference(),
	}
	if d.Outcome == replay.Untold {
		return out
	}
	out.Would = d.Would.Verdict.String()
	reasons := d.Would.Reasons
	if len(reasons) == 0 {
		reasons = d.Was.Reasons
	}
	if len(reasons) > 0 {
		out.Rule, out.Text = reasons[0].Rule, reasons[0].Text
	}
	return out
}

// replayed prints the result.
func replayed(c *cli.Console, r *replayer, form string) error {
	if name, ok := r.missing(); ok {
		return cli.Refuse("«floodmark why "+cli.ShellWord(name.session)+"» shows the digests of what came in", "no content of %s has the digest %s", name.session, name.digest)
	}
	s := &r.sum
	if r.opt.limit > 0 && len(s.Differences) > r.opt.limit {
		s.More += len(s.Differences) - r.opt.limit
		s.Differences = s.Differences[:r.opt.limit]
	}
	if form == cli.AsJSON {
		if s.Differences == nil {
			s.Differences = []replayDifference{}
		}
		if err := c.JSON(s); err != nil {
			return err
		}
	} else {
		fmt.Fprint(c.Stdout, replayText(c.OutStyle(), s))
	}
	if s.Changed+s.CannotTell > 0 {
		return cli.ErrNo
	}
	return nil
}

// replayText formats the result for people.
func replayText(st cli.Style, s *replaySum) string {
	p := &cli.Sheet{St: st}
	for _, d := range s.Differences {
		paint := st.Yellow
		if d.Outcome == string(replay.Untold) {
			paint = st.Dim
		}
		p.Line(0, fmt.Sprintf("%s, %s, %s", cli.Plain(d.Decision), d.At.Local().Format("2006-01-02 15:04"), cli.Plain(d.Action)))
		p.Painted(2, cli.Plain(d.line), paint)
	}
	if s.More > 0 {
		p.Line(0, fmt.Sprintf("… and %d more; see them with --limit 0", s.More))
	}
	p.Line(0, fmt.Sprintf("%s, %s: %d the same, %d changed, %d cannot be told",
		cli.Count(s.Sessions, "session", "sessions"), cli.Count(s.Decisions, "decision", "decisions"), s.Same, s.Changed, s.CannotTell))
	if s.Changed+s.CannotTell == 0 {
		p.Painted(0, "0 differences", st.Green)
	}
	p.Line(0, fmt.Sprintf("questions per task: %s -> %s (%d -> %d in %s)",
		perTask(s.Questions.Was, s.Tasks), perTask(s.Questions.Would, s.Tasks), s.Questions.Was, s.Questions.Would, cli.Count(s.Tasks, "task", "tasks")))
	return p.String()
}

func perTask(questions, tasks int) string {
	if tasks == 0 {
		return "0"
	}
	return fmt.Sprintf("%.2f", float64(questions)/float64(tasks))
}
