package setup

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/box/escape"
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/setup/protect"
	"github.com/floodmark/floodmark/internal/setup/prove"
	"github.com/floodmark/floodmark/wire"
)

// NewProve is the command «floodmark prove».
func NewProve(c *cli.Console) *cobra.Command {
	var p cli.Place
	var boxed bool
	cmd := &cobra.Command{
		Use:   "prove [AGENT…]",
		Short: "Test whether the agents really ask and obey",
		Long: `Send test calls down the path that a real call takes, for each protected agent or
those you name, and say how much of the path was seen to work:

HOST VERIFIED     the agent itself was started, asked us, and obeyed
ADAPTER VERIFIED  the hook in its settings, or its plugin, brings the monitor's no
                  in that agent's own words; the agent itself was not started
FAILED            something was tried and did not hold
NOT COVERED       a known hole, which no proof closes

All but Claude Code and Cursor are started, if they are on PATH: against a scripted
model, in an empty home with our settings alone. Your settings, your agents'
sessions and the journal stay as they are: the monitor's test call names no tool.
What was seen is kept, and «floodmark status» warns when an agent was updated since.
The running monitor checks once a day, without starting an agent: what it finds is
an incident.

With --box no agent is tried but the box: more than a hundred attempts to get out, each
made without a box first, in homes that are removed afterwards. No monitor is needed.
Commands run in boxes only where this held, and of agents that are HOST VERIFIED.`,
		Example: `  floodmark prove
  floodmark prove codex pi
  floodmark prove --box
  floodmark prove --output json`,
		Annotations:       cli.Exits("every test passed", "a test failed, nothing is protected, or no monitor runs"),
		ValidArgsFunction: offerAgents,
		RunE: cli.Guard(func(cmd *cobra.Command, args []string) error {
			if boxed && len(args) > 0 {
				return cli.Refuse("name agents without --box", "a box is the same for all agents")
			}
			if boxed {
				return runProveBox(cmd.Context(), c, p, cli.Format(cmd))
			}
			return runProve(cmd.Context(), c, p, args, cli.Format(cmd))
		}),
	}
	cli.AddPlace(cmd, &p)
	cmd.Flags().BoolVar(&boxed, "box", false, "try to get out of a box instead")
	return cmd
}

// runProveBox makes the attempts to escape from a box on this machine.
func runProveBox(ctx context.Context, c *cli.Console, p cli.Place, form string) error {
	program, err := boxProgram(c, p)
	if err != nil {
		return err
	}
	paths, err := c.Paths(p)
	if err != nil {
		return err
	}
	begun := c.Clock()
	steps := c.Steps(form)
	r, err := prove.Box(ctx, paths.Proofs, program, begun.UTC(), steps.Count("Trying to get out of a box"))
	steps.End()
	next := ""
	if agents, err := Agents(ctx, c, p); err == nil && r.Verified {
		next = prove.Next(true, boxable(agents))
	}
	switch {
	case ctx.Err() != nil:
		c.Say("stopped")
		return cli.ErrNo
	case err != nil:
		return err
	case form == cli.AsJSON:
		err = c.JSON(struct {
			escape.Report
			Next string `json:"next,omitempty"` // in one line; missing if an attempt was not stopped
		}{r, next})
	default:
		page := &cli.Sheet{St: c.OutStyle()}
		page.List(0, "The box", append(r.Lines(), fmt.Sprintf("%.1f seconds", c.Clock().Sub(begun).Seconds())))
		if next != "" {
			page.Line(0, next)
		}
		fmt.Fprint(c.Stdout, page)
	}
	switch {
	case err != nil || r.Verified:
		return err
	case form == cli.AsJSON:
		return cli.ErrNo
	}
	return &cli.Failure{Code: cli.ExitNo, Text: r.Why, Hint: r.Hint}
}

// boxProgram returns the full path of floodmark-box.
func boxProgram(c *cli.Console, p cli.Place) (string, error) {
	m, err := c.Machine(p)
	if err != nil {
		return "", err
	}
	return c.Besides(m, cli.BoxName)
}

// Untried says that the box was never tried here. proveBox is the command that tries it.
const (
	Untried  = "this floodmark-box was not tried yet on this kernel"
	proveBox = "floodmark prove --box"
)

// noBox returns in one line why no box can be made here, and what to do about it; empty if one can.
func noBox(ctx context.Context, c *cli.Console, p cli.Place) (why, todo string) {
	program, err := boxProgram(c, p)
	if f, ok := errors.AsType[*cli.Failure](err); ok {
		return f.Text, f.Hint
	} else if err != nil {
		return cli.Reason(err), ""
	}
	if why, todo = escape.Here(ctx, program); why != "" {
		return why, todo
	}
	if p.Dir != "" || p.System {
		return "a monitor with --dir, or of the whole machine, makes none", ""
	}
	paths, err := c.Paths(p)
	if r := (&prove.Rewrites{Proofs: paths.Proofs, Box: program}); err != nil || !r.BoxHolds() {
		return Untried, proveBox
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

func runProve(ctx context.Context, c *cli.Console, p cli.Place, names []string, form string) error {
	m, err := c.Machine(p)
	if err != nil {
		return err
	}
	found, err := toProve(ctx, m, names)
	if err != nil {
		return err
	}
	if err := answered(ctx, c, p); err != nil {
		return err
	}
	report := proveReport{Verified: len(found) > 0, Agents: []prove.Result{}}
	for _, f := range found {
		if form != cli.AsJSON {
			c.Say("trying %s", f.Title)
		}
		r := prove.Agent(ctx, m, f, c.Clock().UTC())
		if ctx.Err() != nil {
			c.Say("stopped; nothing was kept")
			return cli.ErrNo
		}
		report.Verified = report.Verified && r.Verified()
		report.Agents = append(report.Agents, r)
	}
	paths, err := c.Paths(p)
	if err != nil {
		return err
	}
	if err := prove.KeepAll(ctx, paths.Proofs, m, report.Agents); err != nil {
		c.Say("what was seen could not be kept: %s", cli.Reason(err))
	}
	if report.Verified {
		why, _ := noBox(ctx, c, p)
		report.Next = prove.Next(why == "", prove.Boxables(report.Agents))
	}
	if form == cli.AsJSON {
		err = c.JSON(report)
	} else {
		fmt.Fprint(c.Stdout, proveText(c.OutStyle(), report, p))
	}
	if err == nil && !report.Verified {
		return cli.ErrNo
	}
	return err
}

// toProve returns the named agents, or if none is named, those with something of ours in their
// settings.
func toProve(ctx context.Context, m protect.Machine, names []string) (list []protect.Found, err error) {
	for _, name := range names {
		f, there, err := m.Find(ctx, name)
		if err != nil {
			return nil, protectError(err)
		}
		if !there {
			return nil, cli.Refuse("see «floodmark status --all» for those that are", "%s is not on this machine", name)
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

// answered returns an error unless a monitor answers. It has to be called before canaries are sent,
// because afterwards the monitor treats this process as an agent's.
func answered(ctx context.Context, c *cli.Console, p cli.Place) error {
	d, err := c.Desk(p)
	if err != nil {
		return err
	}
	defer d.End()
	ctx, cancel := context.WithTimeout(ctx, cli.AskTime)
	defer cancel()
	if _, err := d.Status(ctx, &wire.StatusRequest{}); err != nil {
		return d.Unanswered(err)
	}
	return nil
}

// proveText formats the answer for people.
func proveText(st cli.Style, r proveReport, where cli.Place) string {
	p := &cli.Sheet{St: st}
	if len(r.Agents) == 0 {
		p.Title("No agent is protected here: «floodmark protect" + where.Flags() + "» does it.")
		return p.String()
	}
	var rows [][]cli.Cell
	for _, a := range r.Agents {
		paint := st.Red
		if a.Verified() {
			paint = st.Green
		}
		rows = append(rows, []cli.Cell{{Text: a.Title}, {Text: a.Version}, {Text: a.Grade.Title(), Paint: paint}})
	}
	p.Table(0, rows)
	for _, a := range r.Agents {
		p.Title(a.Title)
		if a.Why != "" {
			p.Painted(2, a.Grade.Title()+": "+a.Why, st.Red)
		}
		for _, one := range a.Seen {
			p.Line(2, "+ "+one)
		}
		for _, one := range a.Untried {
			p.Line(2, "! "+one)
		}
		for _, h := range a.Holes {
			p.Line(2, "- NOT COVERED: "+h.Text)
		}
	}
	if r.Next != "" {
		p.Line(0, r.Next)
	}
	return p.String()
}
