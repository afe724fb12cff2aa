package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/wire"
)

func newShow(c *console) *cobra.Command {
	var p place
	var facts bool
	cmd := &cobra.Command{
		Use:   "show SESSION",
		Short: "Show one session: what came in, what was decided",
		Long: `Show what is known of one session: its mark, what entered its context and from
where, what was decided, what waits for an answer, what approvals still allow,
what you vouch for, and what should not have been possible.

SESSION is a session's name, or the beginning of it if that is enough. With
--facts every fact of its journal is told too, as it was written. At a fleet
laptop/MACHINE/SESSION is the copy of a session on a laptop that joined: its chain
of hashes is checked up to the last entry that the laptop sent.`,
		Example: `  floodmark journal show codex:0199
  floodmark journal show codex:0199 --facts
  floodmark journal show laptop/0123456789abcdef/codex:0199 --fleet floodmark.firm.example
  floodmark journal show codex:0199 --output json | jq '.decisions[].decision.verdict'`,
		Annotations: exits("it is shown", "no monitor runs"),
		Args:        needs("SESSION"),
		RunE: guard(func(cmd *cobra.Command, args []string) error {
			q := &wire.ShowRequest{Session: args[0], Facts: facts}
			a, err := ask(cmd.Context(), c, p, (*desk).Show, q)
			if err != nil {
				return err
			}
			if !c.stdoutTerminal {
				hideCodes(a.GetPending())
			}
			if format(cmd) == asJSON {
				return c.message(a)
			}
			fmt.Fprint(c.stdout, showText(c.outStyle(), a, p, c.clock()))
			return nil
		}),
		ValidArgsFunction: c.offerSessions(&p),
	}
	addPlace(cmd, &p)
	c.addFleet(cmd, &p)
	cmd.Flags().BoolVar(&facts, "facts", false, "also tell every fact as it was written")
	return cmd
}

// showText is one session for people.
func showText(st style, a *wire.ShowResponse, where place, now time.Time) string {
	p := &sheet{st: st}
	s := a.GetSession()
	p.title(s.GetId())
	state, opened := "open", stamp(s.GetOpened())
	switch {
	case forgotten(s):
		state, opened = "forgotten; it may be resumed, and its mark stays", "not known any more"
	case s.GetClosed():
		state = "ended; it may be resumed, and its mark stays"
	}
	rows := [][]cell{
		cells("agent", s.GetAgent()),
		{{text: "mark"}, {labelText(s.GetMark()), markPaint(st, s.GetMark())}},
		cells("state", state),
		cells("opened", opened), cells("last", stamp(s.GetWritten())), cells("facts", fmt.Sprint(s.GetFacts())),
	}
	if s.GetProject() != "" {
		rows = append(rows, cells("project", s.GetProject()))
	}
	if s.GetParent() != "" {
		rows = append(rows, cells("begun by", s.GetParent()))
	}
	p.table(2, rows)
	if c := a.GetCopy(); c != nil {
		copyText(p, c, s)
	}
	if t := a.GetTombstone(); t != nil {
		p.line(2, fmt.Sprintf("erased up to fact %d on %s (%s); a signed tombstone stands there", t.GetSeq(), time.Unix(0, t.GetAt()).Format(time.DateOnly), t.GetWhy()))
	}
	sourcesText(p, a.GetSources())
	decisionsText(p, a.GetDecisions())
	if len(a.GetPending()) > 0 {
		p.title("Waiting for you")
		questionsText(p, a.GetPending(), where, now)
	}
	if len(a.GetGrants()) > 0 {
		p.title("What approvals still allow")
		grantsText(p, a.GetGrants())
	}
	restText(p, a, where)
	return p.String()
}

// copyText says which machine the copy is of, and whether it is whole.
func copyText(p *sheet, c *wire.MachineCopy, s *wire.Session) {
	whose := "a copy of what the laptop " + plain(shorten(c.GetName())) + " (machine " + plain(c.GetMachine()) + ") uploaded"
	if s.GetProblem() != "" {
		p.painted(2, whose+". Not whole: "+plain(s.GetProblem()), p.st.red)
		return
	}
	p.line(2, fmt.Sprintf("%s; all %s lead to its head %s", whose, count(int(c.GetEntries()), "entry", "entries"), short(c.GetHash())))
}

func sourcesText(p *sheet, list []*wire.Source) {
	if len(list) == 0 {
		return
	}
	p.title("What came in")
	var rows [][]cell
	for _, s := range list {
		mark := cell{labelText(s.GetLabel()), markPaint(p.st, s.GetLabel())}
		rows = append(rows, []cell{{text: fmt.Sprint(s.GetNode())}, mark, {text: short(s.GetDigest())}, {text: originText(s.GetOrigin())}})
	}
	p.table(2, rows)
}

func decisionsText(p *sheet, list []*wire.Decided) {
	if len(list) == 0 {
		return
	}
	p.title("What was decided")
	var rows [][]cell
	for _, d := range list {
		rows = append(rows, []cell{
			{text: number(d.GetId())},
			{text: stamp(d.GetAt())},
			verdictCell(p.st, d.GetDecision()),
			{text: decidedText(d)},
			{text: endText(d)},
		})
	}
	p.table(2, rows)
}

// number returns the part of a decision's name that counts within its session.
func number(id string) string { return id[strings.LastIndexByte(id, '#')+1:] }

// verdictCell is a verdict in its colour.
func verdictCell(st style, d *wire.Decision) cell {
	text := d.GetVerdict()
	if text == floodmark.Allow.String() && d.GetReach() == floodmark.Boxed.String() {
		text = inBox
	}
	if len(d.GetVerifiers()) > 0 {
		text += " (if " + strings.Join(d.GetVerifiers(), ", ") + " agrees)"
	}
	if d.GetWould() != "" {
		text += " (would: " + d.GetWould() + ")"
	}
	return cell{text, func(s string) string { return verdictStyle(st, s) }}
}

// decidedText names what an agent tried; for a command in a box, the command.
func decidedText(d *wire.Decided) string {
	if b := d.GetBox(); b.GetCommand() != "" {
		return toolText(d.GetAction().GetTool()) + ": " + b.GetCommand()
	}
	return actionText(d.GetAction())
}

// endText says why something was decided, or how a command in a box ended.
func endText(d *wire.Decided) string {
	if b := d.GetBox(); b != nil {
		return b.GetLine()
	}
	return reasonCode(d.GetDecision())
}

// boxedText counts commands in a box.
func boxedText(n, failed int) string {
	text := fmt.Sprint(n) + " ran in a box"
	if failed > 0 {
		text += fmt.Sprintf(" (%d failed there)", failed)
	}
	return text
}

// reasonCode returns the code of the deciding reason.
func reasonCode(d *wire.Decision) string {
	if len(d.GetReasons()) == 0 {
		return ""
	}
	return d.GetReasons()[0].GetCode()
}

// restText shows the parts that most sessions do not have.
func restText(p *sheet, a *wire.ShowResponse, where place) {
	if len(a.GetEndorsements()) > 0 {
		p.title("What you trust")
		for _, e := range a.GetEndorsements() {
			p.line(2, short(e.GetDigest())+" as "+e.GetTrust()+", by "+e.GetBy())
		}
	}
	if len(a.GetIncidents()) > 0 {
		p.title(incidentsTitle(a))
		for _, i := range a.GetIncidents() {
			p.painted(2, stamp(i.GetAt())+" "+i.GetKind()+": "+i.GetText(), p.st.red)
		}
	}
	var facts []string
	for _, e := range a.GetFacts() {
		facts = append(facts, entryText(e))
	}
	p.list(0, "Facts", facts)
	if a.GetSession().GetStopped() > 0 {
		p.title("Ask for reasons")
		p.line(2, "floodmark why "+shellWord(a.GetSession().GetId())+where.flags())
	}
}

// incidentsTitle says what incidents are. Some are acts that people have to be able to look up,
// such as a rollout of rules.
func incidentsTitle(a *wire.ShowResponse) string {
	switch {
	case a.GetSession().GetId() == string(monitor.Incidents):
		return "What should not have been possible, and what was done to the monitor"
	case slices.ContainsFunc(a.GetIncidents(), func(i *wire.Incident) bool { return i.GetKind() == "undo" }):
		return "What should not have been possible, and what was undone"
	}
	return "What should not have been possible"
}

// entryText is one entry of a journal on a line.
func entryText(e *wire.Entry) string {
	return fmt.Sprintf("#%d %s %s %s %s", e.GetSeq(), time.Unix(0, e.GetAt()).Format("2006-01-02 15:04:05"), short(e.GetHash()), e.GetKind(), e.GetBody())
}

// grantsText lists what approvals allow.
func grantsText(p *sheet, list []*wire.Grant) {
	for _, g := range list {
		what := toolText(g.GetTool()) + ", with exactly the arguments shown (" + short(g.GetArgsDigest()) + ")"
		if g.GetPattern() != "" && g.GetScope() == "pattern" {
			what = g.GetPattern()
		}
		switch g.GetScope() {
		case "here":
			what = "always " + plain(g.GetPattern()) + ", in every session of this repository"
		case "hosts":
			what += ": its box reaches " + g.GetPattern() + ", in every session of this project"
		}
		if g.GetScope() == "standing" {
			p.line(2, standingText(g))
			continue
		}
		until := "until the turn ends"
		if g.GetUntil() != nil {
			until = "until " + stamp(g.GetUntil())
		}
		p.line(2, fmt.Sprintf("%s, session %s, %s: %s", g.GetTicket(), g.GetSession(), until, what))
	}
}

// standingText words what the policy allows a job in advance.
func standingText(g *wire.Grant) string {
	job := g.GetTrigger() + " of " + g.GetAgent()
	if g.GetJob() != "" {
		job = g.GetJob() + " (" + job + ")"
	}
	return fmt.Sprintf("%s, for %s, until %s: %s; it stands in your policy", g.GetTicket(), job, stamp(g.GetUntil()), g.GetPattern())
}
