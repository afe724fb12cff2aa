package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/wire"
)

func newMachines(c *console) *cobra.Command {
	var p place
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
		Annotations: exits("they are listed, if there are any", "you may not see them, or the fleet does not answer"),
		Args:        groupArgs,
		RunE: guard(func(cmd *cobra.Command, _ []string) error {
			a, err := c.allMachines(cmd.Context(), p, q, format(cmd) == asJSON)
			switch {
			case err != nil:
				return err
			case format(cmd) == asJSON:
				return c.message(a)
			case len(a.GetMachines()) == 0:
				c.say("%s", noMachines(q.GetAll()))
				return nil
			}
			fmt.Fprint(c.stdout, machinesText(c.outStyle(), a.GetMachines(), c.clock()))
			return nil
		}),
	}
	addPlace(cmd, &p)
	c.addFleet(cmd, &p)
	cmd.Flags().BoolVar(&q.All, "all", false, "also those that left or were revoked")
	cmd.AddCommand(newMachinesRevoke(c))
	return cmd
}

// noMachines says that the list is empty.
func noMachines(all bool) string {
	if all {
		return "no laptop joined"
	}
	return "no laptop is joined; --all also lists those that left or were revoked"
}

// allMachines asks for all pages, and sorts the most recently seen first.
func (c *console) allMachines(ctx context.Context, p place, q *wire.ListMachinesRequest, whole bool) (*wire.ListMachinesResponse, error) {
	d, err := c.deskFor(ctx, p)
	if err != nil {
		return nil, err
	}
	defer d.end()
	return c.pages(ctx, d, q, whole)
}

func (c *console) pages(ctx context.Context, d *desk, q *wire.ListMachinesRequest, whole bool) (*wire.ListMachinesResponse, error) {
	out := &wire.ListMachinesResponse{}
	for first := true; first || q.GetAfter() != ""; first = false {
		within, cancel := context.WithTimeout(ctx, askTime)
		page, err := d.machines.ListMachines(within, q)
		cancel()
		switch {
		case err != nil:
			c.sofar("")
			return nil, d.unanswered(err)
		case page.GetNext() != "" && page.GetNext() <= q.GetAfter():
			c.sofar("")
			return nil, &failure{code: exitNo, text: "the fleet lists laptops without end", hint: "ask its operator"}
		}
		for _, m := range page.GetMachines() {
			if !whole {
				slim(m)
			}
			out.Machines = append(out.Machines, m)
		}
		if q.After = page.GetNext(); q.GetAfter() != "" {
			c.sofar(fmt.Sprintf("%d laptops …", len(out.GetMachines())))
		}
	}
	c.sofar("")
	slices.SortFunc(out.GetMachines(), func(a, b *wire.MachineStatus) int {
		return cmp.Or(b.GetSeen().AsTime().Compare(a.GetSeen().AsTime()), b.GetEnrolled().AsTime().Compare(a.GetEnrolled().AsTime()), cmp.Compare(a.GetId(), b.GetId()))
	})
	return out, nil
}

// slim keeps of a report what the list shows, so that many can be held.
func slim(m *wire.MachineStatus) {
	for _, a := range m.GetReport().GetAgents() {
		a.Uncovered = make([]string, len(a.GetUncovered()))
	}
}

// sofar shows the progress of a long list, on a terminal; empty removes it.
func (c *console) sofar(text string) {
	if c.stderrTerminal {
		fmt.Fprint(c.stderr, "\r\x1b[K"+text)
	}
}

func (d *desk) revokeMachine(ctx context.Context, q *wire.RevokeMachineRequest) (*wire.RevokeMachineResponse, error) {
	return d.machines.RevokeMachine(ctx, q)
}

func newMachinesRevoke(c *console) *cobra.Command {
	var p place
	cmd := &cobra.Command{
		Use:   "revoke ID",
		Short: "Let a laptop in no more",
		Long: `Let a laptop in no more, from its next call on, for good. What it uploaded stays.
There its last rules hold until they end, then strict ones do; its owner sees that
it was revoked, and can leave.`,
		Example:     `  floodmark fleet machines revoke 0123456789abcdef --fleet floodmark.firm.example`,
		Annotations: exits("it is revoked", "you may not revoke it"),
		Args:        needs("ID"),
		RunE: guard(func(cmd *cobra.Command, args []string) error {
			if _, err := ask(cmd.Context(), c, p, (*desk).revokeMachine, &wire.RevokeMachineRequest{Machine: args[0]}); err != nil {
				return err
			}
			if format(cmd) == asJSON {
				return c.json(map[string]string{"revoked": args[0]})
			}
			c.say("revoked %s", args[0])
			return nil
		}),
	}
	addPlace(cmd, &p)
	c.addFleet(cmd, &p)
	return cmd
}

// machinesText is the list for people.
func machinesText(st style, list []*wire.MachineStatus, now time.Time) string {
	p := &sheet{st: st}
	head := cells("ID", "SEEN", "RULES", "ENTRIES", "VERSION", "NAME")
	for i := range head {
		head[i].paint = st.dim
	}
	rows := [][]cell{head}
	for _, m := range list {
		seen := cell{"never", st.yellow}
		if m.GetSeen() != nil {
			seen = cell{text: span(max(0, now.Sub(m.GetSeen().AsTime()))) + " ago"}
		}
		if m.GetState() != "joined" {
			seen = cell{m.GetState(), st.red}
		}
		rows = append(rows, []cell{
			{text: plain(m.GetId())},
			seen, machineRules(st, m.GetReport()),
			{text: fmt.Sprint(m.GetEntries())},
			{text: plain(shorten(m.GetReport().GetVersion()))},
			{text: plain(m.GetName()) + ", by " + plain(m.GetEnrolledBy())},
		})
	}
	p.table(0, rows)
	for _, m := range list {
		machineNotes(p, m)
	}
	return p.String()
}

// machineRules says which rules hold on a machine.
func machineRules(st style, r *wire.ReportMachineRequest) cell {
	switch r.GetRules() {
	case "bundle":
		return cell{text: fmt.Sprint("bundle ", r.GetBundle())}
	case "own":
		return cell{text: "its owner's"}
	case "strict":
		return cell{"strict", st.yellow}
	}
	return cell{text: "?"}
}

// machineNotes lists the agents of a machine, and what is wrong with it.
func machineNotes(p *sheet, m *wire.MachineStatus) {
	var agents []string
	for _, a := range m.GetReport().GetAgents() {
		text := strings.TrimSpace(plain(shorten(a.GetName())) + " " + plain(shorten(a.GetVersion())))
		if a.GetState() != "protected" {
			text += " (" + plain(shorten(a.GetState())) + ")"
		}
		if n := len(a.GetUncovered()); n > 0 {
			text += ", " + count(n, "hole", "holes")
		}
		agents = append(agents, text)
	}
	if len(agents) > 0 {
		p.line(0, plain(m.GetId())+": "+strings.Join(agents, "; "))
	}
	if m.GetForks() > 0 {
		p.painted(0, fmt.Sprintf("%s: its copy forked %s: its journal was changed, or put back from a copy; it should leave and join again", plain(m.GetId()), count(int(m.GetForks()), "time", "times")), p.st.red)
	}
	if m.GetReport().GetBehind() > 0 {
		p.painted(0, fmt.Sprintf("%s: %d sessions are not uploaded whole", plain(m.GetId()), m.GetReport().GetBehind()), p.st.yellow)
	}
}
