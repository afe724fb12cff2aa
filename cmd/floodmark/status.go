package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/protect"
	"github.com/floodmark/floodmark/internal/prove"
	"github.com/floodmark/floodmark/wire"
)

func newStatus(c *console) *cobra.Command {
	var p place
	var all bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say whether all is well, and else what to look at",
		Long: `Say in one line which agents are protected and whether a question waits. More lines
follow only where something wants to be looked at: incidents, a policy file that is
wrong (the old rules stay), an agent that is not protected, was changed or updated.

With --all everything is told: since when the monitor runs, its policy and journal, how
many sessions it knows, how many commands ran in boxes today, what is and what is not
covered of each agent, and which MCP servers go through the gateway.`,
		Example: `  floodmark status
  floodmark status --all
  floodmark status --output json`,
		Annotations: exits("the monitor runs", "no monitor runs"),
		Args:        cobra.NoArgs,
		RunE: guard(func(cmd *cobra.Command, _ []string) error {
			return c.status(cmd.Context(), p, format(cmd), all)
		}),
	}
	cmd.Flags().BoolVarP(&all, "all", "a", false, "tell everything")
	addPlace(cmd, &p)
	c.addFleet(cmd, &p)
	return cmd
}

// A statusReport is the answer for programs: fields are only added.
type statusReport struct {
	Running bool   `json:"running"`
	Socket  string `json:"socket"`
	// Status is the monitor's own answer; missing if none runs.
	Status json.RawMessage `json:"status,omitempty"`
	// Agents are those on this machine.
	Agents []agentReport `json:"agents"`
	// MCP says what is held of MCP servers; missing if nothing is.
	MCP string `json:"mcp,omitempty"`
	// Logins are the MCP servers that want the owner to log in, a line for each.
	Logins []string `json:"logins,omitempty"`
	// Fleets are the owner's logins at fleets.
	Fleets []fleetReport `json:"fleets,omitempty"`
	// Box says why no box can be made here; missing if one can. Boxes says in one line how many
	// commands ran in it today, and which agents do not use it.
	Box   string `json:"box,omitempty"`
	Boxes string `json:"boxes,omitempty"`
	// Clients are the programs here that use MCP servers, which may be agents.
	Clients []clientReport `json:"clients"`
}

func (c *console) status(ctx context.Context, p place, form string, all bool) error {
	if p.fleet != "" {
		return c.fleetStatus(ctx, p, form)
	}
	d, err := c.desk(p)
	if err != nil {
		return err
	}
	defer d.end()
	agents, err := c.agents(ctx, p)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	s, err := d.Status(ctx, &wire.StatusRequest{})
	clients, looked := c.clients(p)
	if looked != nil {
		return looked
	}
	report := statusReport{Agents: agents, MCP: c.heldLine(p), Logins: c.loginLines(p), Clients: clients}
	off, todo := c.noBox(ctx, p)
	if report.Box = off; s != nil {
		report.Boxes = prove.BoxesLine(s.GetBoxedToday(), off, todo, boxable(agents))
	}
	if form == asJSON && (err == nil || absent(err)) {
		report.Fleets, _ = c.loginsAt(p) // its errors are shown to people
		return c.statusJSON(d, s, report)
	}
	if err == nil || all && absent(err) {
		c.statusPage(p, s, report, all)
	}
	if err != nil {
		return d.unanswered(err)
	}
	return nil
}

// statusPage is the answer for people. Without all it is as short as it can be.
func (c *console) statusPage(p place, s *wire.StatusResponse, report statusReport, all bool) {
	page := &sheet{st: c.outStyle()}
	switch {
	case !all:
		statusLines(page, s, report, p)
	case s != nil:
		statusText(page, s, c.clock(), report.Boxes)
	}
	if all {
		agentsText(page, report.Agents, p)
		clientsText(page, report.Clients, p, c.getenv("HOME"))
	}
	if report.MCP != "" {
		page.painted(0, report.MCP+".", page.st.yellow)
	}
	for _, line := range report.Logins {
		page.painted(0, line+".", page.st.yellow)
	}
	for _, line := range c.fleetLines(p) {
		if all {
			page.line(0, line+".")
		}
	}
	fmt.Fprint(c.stdout, page.String())
}

// statusLines is one line if all is well, and else a line for each thing to look at.
func statusLines(p *sheet, s *wire.StatusResponse, report statusReport, where place) {
	var held, look []string
	for _, a := range report.Agents {
		text, _ := agentState(a, where, p.st)
		if a.State == string(protect.Protected) {
			held = append(held, a.Title)
		} else {
			look = append(look, a.Title+": "+text)
		}
		for _, w := range a.Warnings {
			if a.State == string(protect.Protected) && strings.Contains(w, "«floodmark ") { // it says what to do
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
	if report.Box == untried && len(held) > 0 {
		look = append(look, "no command runs in a box yet, so you are asked instead: «"+proveBox+"» tries whether it holds here")
	}
	if s.GetPolicy().GetDryRun() {
		look = append(look, "the policy decides and enforces nothing")
	}
	paint := p.st.green
	if len(held) == 0 || len(look) > 0 || s.GetPending() > 0 {
		paint = p.st.yellow
	}
	questions := "no question waits"
	if n := int(s.GetPending()); n > 0 {
		questions = count(n, "question waits", "questions wait") + " for you: «floodmark watch" + where.flags() + "»"
	}
	p.painted(0, head+"; "+questions+".", paint)
	stateLines(p, s)
	problemsText(p, s.GetPolicy())
	for _, line := range look {
		p.painted(0, line+".", p.st.yellow)
	}
}

// calm reports whether a line of the monitor describes a permanent state, or that protect wrote
// rules. Only «status --all» shows such lines.
func calm(line string) bool {
	return strings.HasPrefix(line, "user mode: ") || strings.HasPrefix(line, "the signed heads lie ") ||
		strings.HasPrefix(line, "«floodmark protect» changed the rules")
}

// fleetStatus shows the status of a fleet, as far as it concerns the caller.
func (c *console) fleetStatus(ctx context.Context, p place, form string) error {
	s, err := ask(ctx, c, p, (*desk).Status, &wire.StatusRequest{})
	switch {
	case err != nil:
		return err
	case form == asJSON:
		return c.message(s)
	}
	page := &sheet{st: c.outStyle()}
	statusText(page, s, c.clock(), "")
	if s.GetTenant() != "" {
		page.line(0, "You are of "+s.GetTenant()+".")
	}
	fmt.Fprint(c.stdout, page.String())
	return nil
}

func (c *console) statusJSON(d *desk, s *wire.StatusResponse, report statusReport) error {
	report.Running, report.Socket = s != nil, d.socket
	report.Agents, report.Clients = append([]agentReport{}, report.Agents...), append([]clientReport{}, report.Clients...)
	if s == nil {
		return errors.Join(c.json(report), errNo)
	}
	var err error
	if report.Status, err = messageJSON(s); err != nil {
		return err
	}
	return c.json(report)
}

// statusText is the answer for people. A fleet has no boxes.
func statusText(p *sheet, s *wire.StatusResponse, now time.Time, boxes string) {
	p.title("Floodmark runs, for " + span(now.Sub(s.GetStarted().AsTime())) + " now.")
	stateLines(p, s)
	statusTable(p, s, boxes)
	problemsText(p, s.GetPolicy())
	if len(s.GetWarnings()) > 0 {
		p.title("Look at")
		for _, w := range s.GetWarnings() {
			p.line(2, "- "+w)
		}
	}
}

// stateLines say what is unusual about the monitor's state.
func stateLines(p *sheet, s *wire.StatusResponse) {
	for _, one := range s.GetPauses() {
		p.painted(0, pauseText(one)+".", p.st.yellow)
	}
	if s.GetQuiet() != "" {
		p.painted(0, "It is "+s.GetQuiet()+".", p.st.yellow)
	}
	if s.GetFleet() != "" {
		paint := func(text string) string { return text }
		if strings.Contains(s.GetFleet(), "STRICT") || strings.Contains(s.GetFleet(), "REVOKED") {
			paint = p.st.yellow
		}
		begin := "It "
		if strings.HasPrefix(s.GetFleet(), "STRICT") {
			begin = "It is "
		}
		p.painted(0, begin+plain(s.GetFleet())+".", paint)
	}
	if s.GetNodes() != "" {
		p.line(0, plain(s.GetNodes())+".")
	}
}

func statusTable(p *sheet, s *wire.StatusResponse, boxes string) {
	questions := cell{text: count(int(s.GetPending()), "question waits", "questions wait") + " for you"}
	if s.GetPending() > 0 {
		questions.text, questions.paint = questions.text+": floodmark approve", p.st.yellow
	}
	incidents := cell{text: count(int(s.GetIncidents()), "incident", "incidents") + " since it runs"}
	if s.GetIncidents() > 0 {
		incidents.paint = p.st.red
	}
	rows := [][]cell{
		cells("version", s.GetVersion()),
		cells("since", stamp(s.GetStarted())),
		cells("mode", modeText(s.GetMode())),
		cells("policy", policyText(s.GetPolicy())),
		cells("journal", s.GetEngine()+", "+s.GetPlace()),
		cells("sessions", fmt.Sprint(s.GetSessions())),
		{{text: "questions"}, questions},
		{{text: "incidents"}, incidents},
	}
	if boxes != "" {
		rows = append(rows, cells("boxes", boxes))
	}
	p.table(2, rows)
}

func modeText(mode string) string {
	if mode == "system" {
		return "system: it has a user of its own"
	}
	return mode + ": it runs as your own user"
}
