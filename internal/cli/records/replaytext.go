package records

import (
	"fmt"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/reports/rejudge"
	"github.com/floodmark/floodmark/kernel/replay"
)

// replayed prints the result.
func replayed(c *cli.Console, r *replayer, form string) error {
	if name, ok := r.missing(); ok {
		return cli.Refuse("«floodmark why "+cli.ShellWord(name.session)+"» shows the digests of what came in", "no content of %s has the digest %s", name.session, name.digest)
	}
	s := &r.sum
	s.Cut(r.opt.limit)
	if form == cli.AsJSON {
		if s.Differences == nil {
			s.Differences = []rejudge.Difference{}
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
func replayText(st cli.Style, s *rejudge.Sum) string {
	p := &cli.Sheet{St: st}
	for _, d := range s.Differences {
		paint := st.Yellow
		if d.Outcome == string(replay.Untold) {
			paint = st.Dim
		}
		p.Line(0, fmt.Sprintf("%s, %s, %s", cli.Plain(d.Decision), d.At.Local().Format("2006-01-02 15:04"), cli.Plain(d.Action)))
		p.Painted(2, cli.Plain(d.Line), paint)
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
