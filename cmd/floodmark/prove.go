package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/box/escape"
	"github.com/floodmark/floodmark/internal/protect"
	"github.com/floodmark/floodmark/internal/prove"
	"github.com/floodmark/floodmark/wire"
)

func newProve(c *console) *cobra.Command {
	var p place
	var boxed bool
	cmd := &cobra.Command{
		Use:   "prove [AGENT…]",
		Short: "Try whether the agents really ask and obey",
		Long: `Send canaries down the path a call takes, for each protected agent or those you
name, and say how far it was seen to hold:

HOST VERIFIED     the agent itself was started, asked us, and obeyed
ADAPTER VERIFIED  the hook in its settings, or its plugin, brings the monitor's no
                  in that agent's own words; the agent itself was not started
FAILED            something was tried and did not hold
NOT COVERED       a known hole, which no proof closes

All but Claude Code and Cursor are started, if they are on PATH: against a scripted
model, in an empty home with our settings alone. Your settings, your agents' sessions
and the journal stay as they are: the monitor's canary is a call of no tool. What was
seen is kept, and «floodmark status» warns when an agent was updated since. The running
monitor looks once a day, without starting an agent: what it finds is an incident.

With --box no agent is tried but the box: more than a hundred attempts to get out, each
made without a box first, in homes that are removed afterwards. No monitor is needed.
Commands run in boxes only where this held, and of agents that are HOST VERIFIED.`,
		Example: `  floodmark prove
  floodmark prove codex pi
  floodmark prove --box
  floodmark prove --output json`,
		Annotations:       exits("all that was tried held", "something did not hold, nothing is protected, or no monitor runs"),
		ValidArgsFunction: offerAgents,
		RunE: guard(func(cmd *cobra.Command, args []string) error {
			if boxed && len(args) > 0 {
				return refuse("name agents without --box", "a box is the same for all agents")
			}
			if boxed {
				return c.proveBox(cmd.Context(), p, format(cmd))
			}
			return c.prove(cmd.Context(), p, args, format(cmd))
		}),
	}
	addPlace(cmd, &p)
	cmd.Flags().BoolVar(&boxed, "box", false, "try to get out of a box instead")
	return cmd
}

// proveBox tries to escape from a box on this machine.
func (c *console) proveBox(ctx context.Context, p place, form string) error {
	program, err := c.boxProgram(p)
	if err != nil {
		return err
	}
	paths, err := c.paths(p)
	if err != nil {
		return err
	}
	begun := c.clock()
	steps := c.steps(form)
	r, err := prove.Box(ctx, paths.Proofs, program, begun.UTC(), steps.Count("Trying to get out of a box"))
	steps.End()
	next := ""
	if agents, err := c.agents(ctx, p); err == nil && r.Verified {
		next = prove.Next(true, boxable(agents))
	}
	switch {
	case ctx.Err() != nil:
		c.say("stopped")
		return errNo
	case err != nil:
		return err
	case form == asJSON:
		err = c.json(struct {
			escape.Report
			Next string `json:"next,omitempty"` // in one line, if every attempt was stopped
		}{r, next})
	default:
		page := &sheet{st: c.outStyle()}
		page.list(0, "The box", append(r.Lines(), fmt.Sprintf("%.1f seconds", c.clock().Sub(begun).Seconds())))
		if next != "" {
			page.line(0, next)
		}
		fmt.Fprint(c.stdout, page)
	}
	switch {
	case err != nil || r.Verified:
		return err
	case form == asJSON:
		return errNo
	}
	return &failure{code: exitNo, text: r.Why, hint: r.Hint}
}

// boxProgram is the full path of floodmark-box.
func (c *console) boxProgram(p place) (string, error) {
	m, err := c.machine(p)
	if err != nil {
		return "", err
	}
	return c.besides(m, boxName)
}

// untried says that the box was never tried here, and proveBox what to do then.
const (
	untried  = "this floodmark-box was not tried yet on this kernel"
	proveBox = "floodmark prove --box"
)

// noBox returns in one line why no box can be made here, and what to do about it; nothing if
// one can.
func (c *console) noBox(ctx context.Context, p place) (why, todo string) {
	program, err := c.boxProgram(p)
	if f, ok := errors.AsType[*failure](err); ok {
		return f.text, f.hint
	} else if err != nil {
		return reason(err), ""
	}
	if why, todo = escape.Here(ctx, program); why != "" {
		return why, todo
	}
	if p.dir != "" || p.system {
		return "a monitor with --dir, or of the whole machine, makes none", ""
	}
	paths, err := c.paths(p)
	if r := (&prove.Rewrites{Proofs: paths.Proofs, Box: program}); err != nil || !r.BoxHolds() {
		return untried, proveBox
	}
	return "", ""
}

// A proveReport is the answer for programs: fields are only added.
type proveReport struct {
	// Verified says that at least one attempt was made and all were stopped.
	Verified bool           `json:"verified"`
	Agents   []prove.Result `json:"agents"`
	// Next is the next step, in one line; missing if an attempt was not stopped.
	Next string `json:"next,omitempty"`
}

func (c *console) prove(ctx context.Context, p place, names []string, form string) error {
	m, err := c.machine(p)
	if err != nil {
		return err
	}
	found, err := toProve(ctx, m, names)
	if err != nil {
		return err
	}
	if err := c.answered(ctx, p); err != nil {
		return err
	}
	report := proveReport{Verified: len(found) > 0, Agents: []prove.Result{}}
	for _, f := range found {
		if form != asJSON {
			c.say("trying %s", f.Title)
		}
		r := prove.Agent(ctx, m, f, c.clock().UTC())
		if ctx.Err() != nil {
			c.say("stopped; nothing was kept")
			return errNo
		}
		report.Verified = report.Verified && r.Verified()
		report.Agents = append(report.Agents, r)
	}
	paths, err := c.paths(p)
	if err != nil {
		return err
	}
	if err := prove.KeepAll(ctx, paths.Proofs, m, report.Agents); err != nil {
		c.say("what was seen could not be kept: %s", reason(err))
	}
	if report.Verified {
		why, _ := c.noBox(ctx, p)
		report.Next = prove.Next(why == "", prove.Boxables(report.Agents))
	}
	if form == asJSON {
		err = c.json(report)
	} else {
		fmt.Fprint(c.stdout, proveText(c.outStyle(), report, p))
	}
	if err == nil && !report.Verified {
		return errNo
	}
	return err
}

// toProve returns the agents that are named, or else those whose settings have something of ours.
func toProve(ctx context.Context, m protect.Machine, names []string) (list []protect.Found, err error) {
	for _, name := range names {
		f, there, err := m.Find(ctx, name)
		if err != nil {
			return nil, protectError(err)
		}
		if !there {
			return nil, refuse("see «floodmark status --all» for those that are", "%s is not on this machine", name)
		}
		list = append(list, f)
	}
	if len(names) > 0 {
		return list, nil
	}
	for _, f := range m.List(ctx) {
		if f.State != protect.Open {
			list = append(list, f)
		}
	}
	return list, nil
}

// answered makes sure that a monitor runs. It has to come before the canaries: the process that
// sends one counts as an agent from then on.
func (c *console) answered(ctx context.Context, p place) error {
	d, err := c.desk(p)
	if err != nil {
		return err
	}
	defer d.end()
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	if _, err := d.Status(ctx, &wire.StatusRequest{}); err != nil {
		return d.unanswered(err)
	}
	return nil
}

// proveText is the answer for people.
func proveText(st style, r proveReport, where place) string {
	p := &sheet{st: st}
	if len(r.Agents) == 0 {
		p.title("No agent is protected here: «floodmark protect" + where.flags() + "» does it.")
		return p.String()
	}
	var rows [][]cell
	for _, a := range r.Agents {
		paint := st.red
		if a.Verified() {
			paint = st.green
		}
		rows = append(rows, []cell{{text: a.Title}, {text: a.Version}, {text: a.Grade.Title(), paint: paint}})
	}
	p.table(0, rows)
	for _, a := range r.Agents {
		p.title(a.Title)
		if a.Why != "" {
			p.painted(2, a.Grade.Title()+": "+a.Why, st.red)
		}
		for _, one := range a.Seen {
			p.line(2, "+ "+one)
		}
		for _, one := range a.Untried {
			p.line(2, "! "+one)
		}
		for _, h := range a.Holes {
			p.line(2, "- NOT COVERED: "+h.Text)
		}
	}
	if r.Next != "" {
		p.line(0, r.Next)
	}
	return p.String()
}
