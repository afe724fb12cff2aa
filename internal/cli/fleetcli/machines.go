package fleetcli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/wire"
)

// NewMachines is the command «floodmark fleet machines».
func NewMachines(c *cli.Console) *cobra.Command {
	var p cli.Place
	q := &wire.ListMachinesRequest{}
	cmd := &cobra.Command{
		Use:   "machines",
		Short: "List the laptops that joined a fleet",
		Long: `List the laptops that joined a fleet, the last one heard of first: when that was,
which agents are there and whether they are protected, the version of Floodmark,
which rules hold, and how much of its journal is here. A laptop whose copy forked
sent something else than before: its journal was changed, or put back from a copy.

Ask a fleet with --fleet, where you logged in; without it, the monitor of this
machine is asked. To see laptops takes a role that sees, to revoke one the role
admin.`,
		Example: `  floodmark fleet machines --fleet floodmark.firm.example
  floodmark fleet machines --fleet floodmark.firm.example --all --output json
  floodmark fleet machines revoke 0123456789abcdef --fleet floodmark.firm.example`,
		Annotations: cli.Exits("they are listed, if there are any", "you may not see them, or the fleet does not answer"),
		Args:        cli.GroupArgs,
		RunE: cli.Guard(func(cmd *cobra.Command, _ []string) error {
			a, err := allMachines(cmd.Context(), c, p, q, cli.Format(cmd) == cli.AsJSON)
			switch {
			case err != nil:
				return err
			case cli.Format(cmd) == cli.AsJSON:
				return c.Message(a)
			case len(a.GetMachines()) == 0:
				c.Say("%s", noMachines(q.GetAll()))
				return nil
			}
			fmt.Fprint(c.Stdout, MachinesText(c.OutStyle(), a.GetMachines(), c.Clock()))
			return nil
		}),
	}
	cli.AddPlace(cmd, &p)
	c.AddFleet(cmd, &p)
	cmd.Flags().BoolVar(&q.All, "all", false, "also those that left or were revoked")
	cmd.AddCommand(newMachinesRevoke(c))
	return cmd
}

// noMachines returns the line for an empty list.
func noMachines(all bool) string {
	if all {
		return "no laptop joined"
	}
	return "no laptop is joined; --all also lists those that left or were revoked"
}

// allMachines returns all machines of a fleet, the most recently seen first.
func allMachines(ctx context.Context, c *cli.Console, p cli.Place, q *wire.ListMachinesRequest, whole bool) (*wire.ListMachinesResponse, error) {
	d, err := c.DeskFor(ctx, p)
	if err != nil {
		return nil, err
	}
	defer d.End()
	return Pages(ctx, c, d, q, whole)
}

// Pages fetches all machines of the fleet page by page, and sorts the most recently seen first.
func Pages(ctx context.Context, c *cli.Console, d *cli.Desk, q *wire.ListMachinesRequest, whole bool) (*wire.ListMachinesResponse, error) {
	out := &wire.ListMachinesResponse{}
	for first := true; first || q.GetAfter() != ""; first = false {
		within, cancel := context.WithTimeout(ctx, cli.AskTime)
		page, err := d.Machines.ListMachines(within, q)
		cancel()
		switch {
		case err != nil:
			sofar(c, "")
			return nil, d.Unanswered(err)
		case page.GetNext() != "" && page.GetNext() <= q.GetAfter():
			sofar(c, "")
			return nil, &cli.Failure{Code: cli.ExitNo, Text: "the fleet lists laptops without end", Hint: "ask its operator"}
		}
		for _, m := range page.GetMachines() {
			if !whole {
				slim(m)
			}
			out.Machines = append(out.Machines, m)
		}
		if q.After = page.GetNext(); q.GetAfter() != "" {
			sofar(c, fmt.Sprintf("%d laptops …", len(out.GetMachines())))
		}
	}
	sofar(c, "")
	slices.SortFunc(out.GetMachines(), func(a, b *wire.MachineStatus) int {
		return cmp.Or(b.GetSeen().AsTime().Compare(a.GetSeen().AsTime()), b.GetEnrolled().AsTime().Compare(a.GetEnrolled().AsTime()), cmp.Compare(a.GetId(), b.GetId()))
	})
	return out, nil
}

// slim drops the texts of uncovered places from a report and keeps their number, so that many
// reports fit in memory.
func slim(m *wire.MachineStatus) {
	for _, a := range m.GetReport().GetAgents() {
		a.Uncovered = make([]string, len(a.GetUncovered()))
	}
}

// sofar shows the progress of a long list on a terminal. An empty text removes it.
func sofar(c *cli.Console, text string) {
	if c.StderrTerminal {
		fmt.Fprint(c.Stderr, "\r\x1b[K"+text)
	}
}

func newMachinesRevoke(c *cli.Console) *cobra.Command {
	var p cli.Place
	cmd := &cobra.Command{
		Use:   "revoke ID",
		Short: "Revoke a laptop's access",
		Long: `Revoke a laptop's access for good, from its next call on. What it uploaded stays. On
the laptop its last rules apply until they expire, then strict rules do. Its owner
sees that it was revoked, and can leave the fleet.`,
		Example:     `  floodmark fleet machines revoke 0123456789abcdef --fleet floodmark.firm.example`,
		Annotations: cli.Exits("it is revoked", "you may not revoke it"),
		Args:        cli.Needs("ID"),
		RunE: cli.Guard(func(cmd *cobra.Command, args []string) error {
			revoke := func(d *cli.Desk, ctx context.Context, q *wire.RevokeMachineRequest) (*wire.RevokeMachineResponse, error) {
				return d.Machines.RevokeMachine(ctx, q)
			}
			if _, err := cli.Ask(cmd.Context(), c, p, revoke, &wire.RevokeMachineRequest{Machine: args[0]}); err != nil {
				return err
			}
			if cli.Format(cmd) == cli.AsJSON {
				return c.JSON(map[string]string{"revoked": args[0]})
			}
			c.Say("revoked %s", args[0])
			return nil
		}),
	}
	cli.AddPlace(cmd, &p)
	c.AddFleet(cmd, &p)
	return cmd
}

// MachinesText formats the list for people.
func MachinesText(st cli.Style, list []*wire.MachineStatus, now time.Time) string {
	p := &cli.Sheet{St: st}
	head := cli.Cells("ID", "SEEN", "RULES", "ENTRIES", "VERSION", "NAME")
	for i := range head {
		head[i].Paint = st.Dim
	}
	rows := [][]cli.Cell{head}
	for _, m := range list {
		seen := cli.Cell{Text: "never", Paint: st.Yellow}
		if m.GetSeen() != nil {
			seen = cli.Cell{Text: cli.Span(max(0, now.Sub(m.GetSeen().AsTime()))) + " ago"}
		}
		if m.GetState() != "joined" {
			seen = cli.Cell{Text: m.GetState(), Paint: st.Red}
		}
		rows = append(rows, []cli.Cell{
			{Text: cli.Plain(m.GetId())},
			seen, machineRules(st, m.GetReport()),
			{Text: fmt.Sprint(m.GetEntries())},
			{Text: cli.Plain(cli.Shorten(m.GetReport().GetVersion()))},
			{Text: cli.Plain(m.GetName()) + ", by " + cli.Plain(m.GetEnrolledBy())},
		})
	}
	p.Table(0, rows)
	for _, m := range list {
		machineNotes(p, m)
	}
	return p.String()
}

// machineRules says which rules are in force on a machine.
func machineRules(st cli.Style, r *wire.ReportMachineRequest) cli.Cell {
	switch r.GetRules() {
	case "bundle":
		return cli.Cell{Text: fmt.Sprint("bundle ", r.GetBundle())}
	case "own":
		return cli.Cell{Text: "its owner's"}
	case "strict":
		return cli.Cell{Text: "strict", Paint: st.Yellow}
	}
	return cli.Cell{Text: "?"}
}

// machineNotes lists the agents of a machine, and what is wrong with it.
func machineNotes(p *cli.Sheet, m *wire.MachineStatus) {
	var agents []string
	for _, a := range m.GetReport().GetAgents() {
		text := strings.TrimSpace(cli.Plain(cli.Shorten(a.GetName())) + " " + cli.Plain(cli.Shorten(a.GetVersion())))
		if a.GetState() != "protected" {
			text += " (" + cli.Plain(cli.Shorten(a.GetState())) + ")"
		}
		if n := len(a.GetUncovered()); n > 0 {
			text += ", " + cli.Count(n, "hole", "holes")
		}
		agents = append(agents, text)
	}
	if len(agents) > 0 {
		p.Line(0, cli.Plain(m.GetId())+": "+strings.Join(agents, "; "))
	}
	if m.GetForks() > 0 {
		p.Painted(0, fmt.Sprintf("%s: its copy forked %s: its journal was changed, or put back from a copy; it should leave and join again", cli.Plain(m.GetId()), cli.Count(int(m.GetForks()), "time", "times")), p.St.Red)
	}
	if m.GetReport().GetBehind() > 0 {
		p.Painted(0, fmt.Sprintf("%s: %d sessions are not uploaded whole", cli.Plain(m.GetId()), m.GetReport().GetBehind()), p.St.Yellow)
	}
}
