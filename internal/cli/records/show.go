package records

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/text/meaning"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/wire"
)

func newShow(c *cli.Console) *cobra.Command {
	var p cli.Place
	var facts bool
	cmd := &cobra.Command{
		Use:   "show SESSION",
		Short: "Show one session: what came in, what was decided",
		Long: `Show what is known about one session: its mark, what entered its context and from
where, what was decided, what waits for an answer, what approvals still allow, what
you vouched for, and incidents.

SESSION is a session's name, or the beginning of it if that is enough. With --facts
every fact of its journal is shown too, as it was written. At a fleet
laptop/MACHINE/SESSION is the copy of a session on a laptop that joined: its chain
of hashes is checked up to the last entry that the laptop sent.`,
		Example: `  floodmark journal show codex:0199
  floodmark journal show codex:0199 --facts
  floodmark journal show laptop/0123456789abcdef/codex:0199 --fleet floodmark.firm.example
  floodmark journal show codex:0199 --output json | jq '.decisions[].decision.verdict'`,
		Annotations: cli.Exits("it is shown", "no monitor runs"),
		Args:        cli.Needs("SESSION"),
		RunE: cli.Guard(func(cmd *cobra.Command, args []string) error {
			q := &wire.ShowRequest{Session: args[0], Facts: facts}
			a, err := cli.Ask(cmd.Context(), c, p, (*cli.Desk).Show, q)
			if err != nil {
				return err
			}
			if !c.StdoutTerminal {
				hideCodes(a.GetPending())
			}
			if cli.Format(cmd) == cli.AsJSON {
				return c.Message(a)
			}
			fmt.Fprint(c.Stdout, ShowText(c.OutStyle(), a, p, c.Clock()))
			return nil
		}),
		ValidArgsFunction: c.OfferSessions(&p),
	}
	cli.AddPlace(cmd, &p)
	c.AddFleet(cmd, &p)
	cmd.Flags().BoolVar(&facts, "facts", false, "also show every fact as it was written")
	return cmd
}

// ShowText formats one session for people.
func ShowText(st cli.Style, a *wire.ShowResponse, where cli.Place, now time.Time) string {
	p := &cli.Sheet{St: st}
	s := a.GetSession()
	p.Title(s.GetId())
	state, opened := "open", cli.Stamp(s.GetOpened())
	switch {
	case forgotten(s):
		state, opened = "forgotten; it may be resumed, and its mark stays", "not known any more"
	case s.GetClosed():
		state = "ended; it may be resumed, and its mark stays"
	}
	rows := [][]cli.Cell{
		cli.Cells("agent", s.GetAgent()),
		{{Text: "mark"}, {Text: cli.LabelText(s.GetMark()), Paint: markPaint(st, s.GetMark())}},
		cli.Cells("state", state),
		cli.Cells("opened", opened), cli.Cells("last", cli.Stamp(s.GetWritten())), cli.Cells("facts", fmt.Sprint(s.GetFacts())),
	}
	if s.GetProject() != "" {
		rows = append(rows, cli.Cells("project", s.GetProject()))
	}
	if s.GetParent() != "" {
		rows = append(rows, cli.Cells("begun by", s.GetParent()))
	}
	p.Table(2, rows)
	if c := a.GetCopy(); c != nil {
		copyText(p, c, s)
	}
	if t := a.GetTombstone(); t != nil {
		p.Line(2, fmt.Sprintf("erased up to fact %d on %s (%s); a signed tombstone stands there", t.GetSeq(), time.Unix(0, t.GetAt()).Format(time.DateOnly), t.GetWhy()))
	}
	sourcesText(p, a.GetSources())
	DecisionsText(p, a.GetDecisions())
	if len(a.GetPending()) > 0 {
		p.Title("Waiting for you")
		QuestionsText(p, a.GetPending(), where, now)
	}
	if len(a.GetGrants()) > 0 {
		p.Title("What approvals still allow")
		GrantsText(p, a.GetGrants())
	}
	restText(p, a, where)
	return p.String()
}

// copyText says which machine the copy is from, and whether it is complete.
func copyText(p *cli.Sheet, c *wire.MachineCopy, s *wire.Session) {
	whose := "a copy of what the laptop " + cli.Plain(cli.Shorten(c.GetName())) + " (machine " + cli.Plain(c.GetMachine()) + ") uploaded"
	if s.GetProblem() != "" {
		p.Painted(2, whose+". Not whole: "+cli.Plain(s.GetProblem()), p.St.Red)
		return
	}
	p.Line(2, fmt.Sprintf("%s; all %s lead to its head %s", whose, cli.Count(int(c.GetEntries()), "entry", "entries"), cli.Short(c.GetHash())))
}

func sourcesText(p *cli.Sheet, list []*wire.Source) {
	if len(list) == 0 {
		return
	}
	p.Title("What came in")
	var rows [][]cli.Cell
	for _, s := range list {
		mark := cli.Cell{Text: cli.LabelText(s.GetLabel()), Paint: markPaint(p.St, s.GetLabel())}
		rows = append(rows, []cli.Cell{{Text: fmt.Sprint(s.GetNode())}, mark, {Text: cli.Short(s.GetDigest())}, {Text: cli.OriginText(s.GetOrigin())}})
	}
	p.Table(2, rows)
}

// DecisionsText writes the table of a session's decisions.
func DecisionsText(p *cli.Sheet, list []*wire.Decided) {
	if len(list) == 0 {
		return
	}
	p.Title("What was decided")
	var rows [][]cli.Cell
	for _, d := range list {
		rows = append(rows, []cli.Cell{
			{Text: number(d.GetId())},
			{Text: cli.Stamp(d.GetAt())},
			VerdictCell(p.St, d.GetDecision()),
			{Text: DecidedText(d)},
			{Text: endText(d)},
		})
	}
	p.Table(2, rows)
}

// number returns the number of a decision within its session, from the decision's name.
func number(id string) string { return id[strings.LastIndexByte(id, '#')+1:] }

// VerdictCell returns a verdict in its colour.
func VerdictCell(st cli.Style, d *wire.Decision) cli.Cell {
	text := d.GetVerdict()
	if text == floodmark.Allow.String() && d.GetReach() == floodmark.Boxed.String() {
		text = cli.InBox
	}
	if len(d.GetVerifiers()) > 0 {
		text += " (if " + strings.Join(d.GetVerifiers(), ", ") + " agrees)"
	}
	if d.GetWould() != "" {
		text += " (would: " + d.GetWould() + ")"
	}
	return cli.Cell{Text: text, Paint: func(s string) string { return cli.VerdictStyle(st, s) }}
}

// DecidedText says what an agent tried to do. For a command in a box it includes the command.
func DecidedText(d *wire.Decided) string {
	if b := d.GetBox(); b.GetCommand() != "" {
		return cli.ToolText(d.GetAction().GetTool()) + ": " + b.GetCommand()
	}
	return cli.ActionText(d.GetAction())
}

// endText says why something was decided, or how a command in a box ended.
func endText(d *wire.Decided) string {
	if b := d.GetBox(); b != nil {
		return b.GetLine()
	}
	return ReasonCode(d.GetDecision())
}

// BoxedText says how many commands ran in a box.
func BoxedText(n, failed int) string {
	text := fmt.Sprint(n) + " ran in a box"
	if failed > 0 {
		text += fmt.Sprintf(" (%d failed there)", failed)
	}
	return text
}

// ReasonCode returns the code of the deciding reason.
func ReasonCode(d *wire.Decision) string {
	if len(d.GetReasons()) == 0 {
		return ""
	}
	return d.GetReasons()[0].GetCode()
}

// restText prints the sections that most sessions do not have.
func restText(p *cli.Sheet, a *wire.ShowResponse, where cli.Place) {
	if len(a.GetEndorsements()) > 0 {
		p.Title("What you trust")
		for _, e := range a.GetEndorsements() {
			p.Line(2, cli.Short(e.GetDigest())+" as "+e.GetTrust()+", by "+e.GetBy())
		}
	}
	var acts, wrong []string
	for _, i := range a.GetIncidents() {
		line := cli.Stamp(i.GetAt()) + " " + i.GetKind() + ": " + i.GetText()
		if meaning.OwnAct(i.GetKind()) {
			acts = append(acts, line)
		} else {
			wrong = append(wrong, line)
		}
	}
	if len(wrong) > 0 {
		p.Title(incidentsTitle(a))
		for _, line := range wrong {
			p.Painted(2, line, p.St.Red)
		}
	}
	p.List(0, "What you changed", acts)
	var facts []string
	for _, e := range a.GetFacts() {
		facts = append(facts, entryText(e))
	}
	p.List(0, "Facts", facts)
	if a.GetSession().GetStopped() > 0 {
		p.Title("Ask for reasons")
		p.Line(2, "floodmark why "+cli.ShellWord(a.GetSession().GetId())+where.Flags())
	}
}

// incidentsTitle returns the title of the incidents. Some incidents are deliberate acts that people
// must be able to look up, such as a rollout of rules.
func incidentsTitle(a *wire.ShowResponse) string {
	if a.GetSession().GetId() == string(monitor.Incidents) {
		return "Incidents, and what was done to the monitor"
	}
	return "What should not have been possible"
}

// entryText formats a journal entry on one line.
func entryText(e *wire.Entry) string {
	return fmt.Sprintf("#%d %s %s %s %s", e.GetSeq(), time.Unix(0, e.GetAt()).Format("2006-01-02 15:04:05"), cli.Short(e.GetHash()), e.GetKind(), e.GetBody())
}

// GrantsText lists what approvals allow.
func GrantsText(p *cli.Sheet, list []*wire.Grant) {
	for _, g := range list {
		what := cli.ToolText(g.GetTool()) + ", with exactly the arguments shown (" + cli.Short(g.GetArgsDigest()) + ")"
		if g.GetPattern() != "" && g.GetScope() == "pattern" {
			what = g.GetPattern()
		}
		switch g.GetScope() {
		case "here":
			what = "always " + cli.Plain(g.GetPattern()) + ", in every session of this repository"
		case "hosts":
			what += ": its box reaches " + g.GetPattern() + ", in every session of this project"
		}
		if g.GetScope() == "standing" {
			p.Line(2, standingText(g))
			continue
		}
		until := "until the turn ends"
		if g.GetUntil() != nil {
			until = "until " + cli.Stamp(g.GetUntil())
		}
		p.Line(2, fmt.Sprintf("%s, session %s, %s: %s", g.GetTicket(), g.GetSession(), until, what))
	}
}

// standingText says what the policy allows a job in advance.
func standingText(g *wire.Grant) string {
	job := g.GetTrigger() + " of " + g.GetAgent()
	if g.GetJob() != "" {
		job = g.GetJob() + " (" + job + ")"
	}
	return fmt.Sprintf("%s, for %s, until %s: %s; it stands in your policy", g.GetTicket(), job, cli.Stamp(g.GetUntil()), g.GetPattern())
}
