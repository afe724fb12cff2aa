package setup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/cli/asking"
	"github.com/floodmark/floodmark/internal/cli/fleetcli"
	"github.com/floodmark/floodmark/internal/cli/mcpcli"
	"github.com/floodmark/floodmark/internal/setup/protect"
	"github.com/floodmark/floodmark/internal/setup/prove"
	"github.com/floodmark/floodmark/wire"
)

// NewStatus is the command «floodmark status».
func NewStatus(c *cli.Console) *cobra.Command {
	var p cli.Place
	var all bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show whether all is well, or what needs attention",
		Long: `Say in one line which agents are protected and whether a question waits. More lines
follow only if something needs attention: incidents, a policy file that is wrong
(the old rules stay), an agent that is not protected, was changed or updated.

With --all everything is shown: since when the monitor runs, its policy and journal,
how many sessions it knows, how many commands ran in boxes today, what is and what
is not covered of each agent, and which MCP servers go through the gateway.`,
		Example: `  floodmark status
  floodmark status --all
  floodmark status --output json`,
		Annotations: cli.Exits("the monitor runs", "no monitor runs"),
		Args:        cobra.NoArgs,
		RunE: cli.Guard(func(cmd *cobra.Command, _ []string) error {
			return status(cmd.Context(), c, p, cli.Format(cmd), all)
		}),
	}
	cmd.Flags().BoolVarP(&all, "all", "a", false, "tell everything")
	cli.AddPlace(cmd, &p)
	c.AddFleet(cmd, &p)
	return cmd
}

// A StatusReport is the answer for programs: fields are only added.
type StatusReport struct {
	Running bool   `json:"running"`
	Socket  string `json:"socket"`
	// Status is the monitor's own answer; missing if no monitor runs.
	Status json.RawMessage `json:"status,omitempty"`
	// Agents are the agents on this machine.
	Agents []AgentReport `json:"agents"`
	// MCP says which definitions of MCP servers are held; missing if none is.
	MCP string `json:"mcp,omitempty"`
	// Logins has a line for each MCP server that wants the owner to log in.
	Logins []string `json:"logins,omitempty"`
	// Fleets are the owner's logins at fleets.
	Fleets []fleetcli.FleetReport `json:"fleets,omitempty"`
	// Box says why no box can be made here; missing if one can. Boxes says in one line how many
	// commands ran in boxes today, and which agents do not use them.
	Box   string `json:"box,omitempty"`
	Boxes string `json:"boxes,omitempty"`
	// Clients are the programs on this machine that use MCP servers. Some of them are agents.
	Clients []clientReport `json:"clients"`
}

func status(ctx context.Context, c *cli.Console, p cli.Place, form string, all bool) error {
	if p.Fleet != "" {
		return fleetStatus(ctx, c, p, form)
	}
	d, err := c.Desk(p)
	if err != nil {
		return err
	}
	defer d.End()
	agents, err := Agents(ctx, c, p)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, cli.AskTime)
	defer cancel()
	s, err := d.Status(ctx, &wire.StatusRequest{})
	clients, looked := clients(c, p)
	if looked != nil {
		return looked
	}
	report := StatusReport{Agents: agents, MCP: mcpcli.HeldLine(c, p), Logins: mcpcli.LoginLines(c, p), Clients: clients}
	off, todo := noBox(ctx, c, p)
	if report.Box = off; s != nil {
		report.Boxes = prove.BoxesLine(s.GetBoxedToday(), off, todo, boxable(agents))
	}
	if form == cli.AsJSON && (err == nil || cli.Absent(err)) {
		report.Fleets, _ = fleetcli.LoginsAt(c, p) // people see its errors in the other form
		return statusJSON(c, d, s, report)
	}
	if err == nil || all && cli.Absent(err) {
		statusPage(c, p, s, report, all)
	}
	if err != nil {
		return d.Unanswered(err)
	}
	return nil
}

// statusPage prints the answer for people. Without all it is as short as possible.
func statusPage(c *cli.Console, p cli.Place, s *wire.StatusResponse, report StatusReport, all bool) {
	page := &cli.Sheet{St: c.OutStyle()}
	switch {
	case !all:
		StatusLines(page, s, report, p)
	case s != nil:
		StatusText(page, s, c.Clock(), report.Boxes)
	}
	if all {
		AgentsText(page, report.Agents, p)
		clientsText(page, report.Clients, p, c.Getenv("HOME"))
	}
	if report.MCP != "" {
		page.Painted(0, report.MCP+".", page.St.Yellow)
	}
	for _, line := range report.Logins {
		page.Painted(0, line+".", page.St.Yellow)
	}
	for _, line := range fleetcli.FleetLines(c, p) {
		if all {
			page.Line(0, line+".")
		}
	}
	fmt.Fprint(c.Stdout, page.String())
}

// StatusLines writes one line if all is well, and another line for each thing that needs attention.
func StatusLines(p *cli.Sheet, s *wire.StatusResponse, report StatusReport, where cli.Place) {
	var held, look []string
	for _, a := range report.Agents {
		text, _ := agentState(a, where, p.St)
		if a.State == string(protect.Protected) {
			held = append(held, a.Title)
		} else {
			look = append(look, a.Title+": "+text)
		}
		for _, w := range a.Warnings {
			if a.State == string(protect.Protected) && strings.Contains(w, "«floodmark ") { // the warning names a command to run
				look = append(look, a.Title+": "+w)
			}
		}
	}
	head := "Floodmark runs, and no agent is protected"
	if len(held) > 0 {
		head = "Floodmark protects " + strings.Join(held, ", ")
	}
	for _, w := range s.GetWarnings() {
		if !calm(w) {
			look = append(look, w)
		}
	}
	if report.Box == Untried && len(held) > 0 {
		look = append(look, "no command runs in a box yet, so you are asked instead: «"+proveBox+"» tries whether it holds here")
	}
	if s.GetPolicy().GetDryRun() {
		look = append(look, "the policy decides and enforces nothing")
	}
	paint := p.St.Green
	if len(held) == 0 || len(look) > 0 || s.GetPending() > 0 {
		paint = p.St.Yellow
	}
	questions := "no question waits"
	if n := int(s.GetPending()); n > 0 {
		questions = cli.Count(n, "question waits", "questions wait") + " for you: «floodmark watch" + where.Flags() + "»"
	}
	p.Painted(0, head+"; "+questions+".", paint)
	stateLines(p, s)
	cli.ProblemsText(p, s.GetPolicy())
	for _, line := range look {
		p.Painted(0, line+".", p.St.Yellow)
	}
}

// calm reports whether a warning of the monitor only describes a permanent state, or rules that
// protect wrote. Such lines are shown only by «status --all».
func calm(line string) bool {
	return strings.HasPrefix(line, "user mode: ") || strings.HasPrefix(line, "the signed heads lie ") ||
		strings.HasPrefix(line, "«floodmark protect» changed the rules")
}

// fleetStatus shows the status of a fleet, as far as the caller may see it.
func fleetStatus(ctx context.Context, c *cli.Console, p cli.Place, form string) error {
	s, err := cli.Ask(ctx, c, p, (*cli.Desk).Status, &wire.StatusRequest{})
	switch {
	case err != nil:
		return err
	case form == cli.AsJSON:
		return c.Message(s)
	}
	page := &cli.Sheet{St: c.OutStyle()}
	StatusText(page, s, c.Clock(), "")
	if s.GetTenant() != "" {
		page.Line(0, "You are of "+s.GetTenant()+".")
	}
	fmt.Fprint(c.Stdout, page.String())
	return nil
}

func statusJSON(c *cli.Console, d *cli.Desk, s *wire.StatusResponse, report StatusReport) error {
	report.Running, report.Socket = s != nil, d.Socket
	report.Agents, report.Clients = append([]AgentReport{}, report.Agents...), append([]clientReport{}, report.Clients...)
	if s == nil {
		return errors.Join(c.JSON(report), cli.ErrNo)
	}
	var err error
	if report.Status, err = cli.MessageJSON(s); err != nil {
		return err
	}
	return c.JSON(report)
}

// StatusText formats the answer for people. boxes is empty for a fleet.
func StatusText(p *cli.Sheet, s *wire.StatusResponse, now time.Time, boxes string) {
	p.Title("Floodmark runs, for " + cli.Span(now.Sub(s.GetStarted().AsTime())) + " now.")
	stateLines(p, s)
	statusTable(p, s, boxes)
	cli.ProblemsText(p, s.GetPolicy())
	if len(s.GetWarnings()) > 0 {
		p.Title("Look at")
		for _, w := range s.GetWarnings() {
			p.Line(2, "- "+w)
		}
	}
}

// stateLines writes what is unusual about the monitor's state.
func stateLines(p *cli.Sheet, s *wire.StatusResponse) {
	for _, one := range s.GetPauses() {
		p.Painted(0, asking.PauseText(one)+".", p.St.Yellow)
	}
	if s.GetQuiet() != "" {
		p.Painted(0, "It is "+s.GetQuiet()+".", p.St.Yellow)
	}
	if s.GetFleet() != "" {
		paint := func(text string) string { return text }
		if strings.Contains(s.GetFleet(), "STRICT") || strings.Contains(s.GetFleet(), "REVOKED") {
			paint = p.St.Yellow
		}
		begin := "It "
		if strings.HasPrefix(s.GetFleet(), "STRICT") {
			begin = "It is "
		}
		p.Painted(0, begin+cli.Plain(s.GetFleet())+".", paint)
	}
	if s.GetNodes() != "" {
		p.Line(0, cli.Plain(s.GetNodes())+".")
	}
}

func statusTable(p *cli.Sheet, s *wire.StatusResponse, boxes string) {
	questions := cli.Cell{Text: cli.Count(int(s.GetPending()), "question waits", "questions wait") + " for you"}
	if s.GetPending() > 0 {
		questions.Text, questions.Paint = questions.Text+": floodmark approve", p.St.Yellow
	}
	incidents := cli.Cell{Text: cli.Count(int(s.GetIncidents()), "incident", "incidents") + " since it runs"}
	if s.GetIncidents() > 0 {
		incidents.Paint = p.St.Red
	}
	rows := [][]cli.Cell{
		cli.Cells("version", s.GetVersion()),
		cli.Cells("since", cli.Stamp(s.GetStarted())),
		cli.Cells("mode", modeText(s.GetMode())),
		cli.Cells("policy", cli.PolicyText(s.GetPolicy())),
		cli.Cells("journal", s.GetEngine()+", "+s.GetPlace()),
		cli.Cells("sessions", fmt.Sprint(s.GetSessions())),
		{{Text: "questions"}, questions},
		{{Text: "incidents"}, incidents},
	}
	if boxes != "" {
		rows = append(rows, cli.Cells("boxes", boxes))
	}
	p.Table(2, rows)
}

func modeText(mode string) string {
	if mode == "system" {
		return "system: it has a user of its own"
	}
	return mode + ": it runs as your own user"
}
