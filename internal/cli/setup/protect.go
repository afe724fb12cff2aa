package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/setup/protect"
	"github.com/floodmark/floodmark/internal/setup/prove"
	"github.com/floodmark/floodmark/wire"
)

// NewProtect is the command «floodmark protect».
func NewProtect(c *cli.Console) *cobra.Command {
	var f protectFlags
	cmd := &cobra.Command{
		Use:   "protect [AGENT…]",
		Short: "Connect the agents on this machine to the monitor",
		Long: `Find the agents on this machine, or those you name, and show what has to change in
their settings so that they ask the monitor before they act. You are asked once;
then it is written. Hooks, comments and everything else of yours stay as they are,
and «floodmark unprotect» gives every file back byte for byte.

If there is no policy file and only agents that work on code are here, one is written
with the profile coding; it is shown, too. A file of yours is never touched.

With --system the settings for all users of the machine are written; that has to be
run by root, and only Codex, Claude Code, Cursor and Gemini CLI have such settings.

With --mcp no hooks are written. Instead the MCP servers that clients start are
started through «floodmark mcp wrap», with the same care: for clients without hooks,
or in addition to hooks. The clients are Claude Code, Claude Desktop, Codex, Cursor,
Gemini CLI, opencode and VS Code. Servers that are reached by an address stay as
they are, and are named as not covered. Files of a project are shared with others,
so only those below --project are changed, and they then name the floodmark of this
machine.`,
		Example: `  floodmark protect
  floodmark protect codex pi --yes
  floodmark protect --dry-run
  floodmark protect --mcp
  floodmark protect --mcp cursor vscode --project ~/work/site
  sudo floodmark protect codex --system`,
		Annotations:       cli.Exits("the agents are protected, or were already", "nothing was changed: you said no, or could not be asked"),
		ValidArgsFunction: offerAgents,
		RunE: cli.Guard(func(cmd *cobra.Command, args []string) error {
			f.form = cli.Format(cmd)
			return runProtect(cmd.Context(), c, f, args)
		}),
	}
	addProtect(cmd, &f)
	return cmd
}

// NewUnprotect is the command «floodmark unprotect».
func NewUnprotect(c *cli.Console) *cobra.Command {
	f := protectFlags{undo: true}
	cmd := &cobra.Command{
		Use:   "unprotect [AGENT…]",
		Short: "Restore the agents' settings",
		Long: `Remove from the agents' settings what «floodmark protect» added. A file that was not
changed since is restored byte for byte; from a file that was edited, only our part
is removed. You are shown what will change, and asked once.

The agents are then unprotected: nothing they do is judged any more.

MCP servers that were led through the gateway are given back as well, and with --mcp
only these: hooks stay.`,
		Example: `  floodmark unprotect
  floodmark unprotect codex --yes
  floodmark unprotect --mcp
  floodmark unprotect --dry-run`,
		Annotations:       cli.Exits("nothing of ours is left in the settings", "nothing was changed: you said no, or could not be asked"),
		ValidArgsFunction: offerAgents,
		RunE: cli.Guard(func(cmd *cobra.Command, args []string) error {
			f.form = cli.Format(cmd)
			return runProtect(cmd.Context(), c, f, args)
		}),
	}
	addProtect(cmd, &f)
	return cmd
}

type protectFlags struct {
	cli.Place
	undo, yes, dry, mcp bool
	projects            []string
	form                string
}

func addProtect(cmd *cobra.Command, f *protectFlags) {
	cli.AddPlace(cmd, &f.Place)
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&f.dry, "dry-run", false, "show what would change, and change nothing")
	cmd.Flags().BoolVar(&f.mcp, "mcp", false, "the MCP servers of clients, not their hooks")
	cmd.Flags().StringArrayVar(&f.projects, "project", nil, "with --mcp: also the files of the project in this `FOLDER`; may be given again")
	cmd.MarkFlagsMutuallyExclusive("yes", "dry-run")
	cmd.MarkFlagsMutuallyExclusive("mcp", "system")
}

func offerAgents(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	list := protect.Agents()
	if mcp, err := cmd.Flags().GetBool("mcp"); err == nil && mcp {
		list = protect.Clients()
	}
	for _, a := range list {
		names = append(names, a.Name+"\t"+a.Title)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// runProtect makes a plan, shows it, asks the person and applies it. The command unprotect does the
// same with a plan that undoes.
func runProtect(ctx context.Context, c *cli.Console, f protectFlags, names []string) error {
	if f.System && !f.dry && os.Geteuid() != 0 {
		return cli.Refuse("run it with sudo, or look first with --dry-run", "the settings for the whole machine are root's to change")
	}
	if err := c.MayChange(ctx, f.Place); err != nil {
		return err
	}
	m, err := c.Machine(f.Place)
	if err != nil {
		return err
	}
	if m.Projects, err = projects(c, f); err != nil {
		return err
	}
	plan, err := planned(ctx, c, m, f, names)
	if err != nil {
		return protectError(err)
	}
	rules, err := rulesFor(ctx, c, m, f, plan)
	if err != nil {
		return protectError(err)
	}
	yes, err := agreed(c, f, plan, rules)
	if err != nil {
		return err
	}
	if yes {
		_ = reload(ctx, c, f.Place, true) // otherwise the monitor reports the change as made by a stranger
		if err := applied(plan, rules); err != nil {
			return protectError(err)
		}
		remember(ctx, c, f, m, plan)
	}
	if f.form == cli.AsJSON {
		err = c.JSON(planReport(plan, rules, yes))
	} else if yes {
		sayApplied(ctx, c, f, plan)
	}
	if err == nil && !yes && !f.dry && !plan.Nothing() {
		err = cli.ErrNo
	}
	return err
}

// applied changes the settings and the rules. Rules become stricter before an agent is connected,
// and looser only afterwards.
func applied(plan *protect.Plan, rules *rulesChange) error {
	if rules != nil && rules.What == rulesRemoved {
		return errors.Join(rules.apply(), plan.Apply())
	}
	if err := plan.Apply(); err != nil {
		return err
	}
	return rules.apply()
}

func planned(ctx context.Context, c *cli.Console, m protect.Machine, f protectFlags, names []string) (*protect.Plan, error) {
	switch {
	case f.undo && f.mcp:
		return m.UnprotectServers(ctx, names...)
	case f.undo:
		return m.Unprotect(ctx, names...)
	case f.mcp:
		return m.ProtectServers(ctx, names...)
	}
	hook, err := c.Besides(m, cli.HookName)
	if err != nil {
		return nil, err
	}
	m.Hook = hook
	return m.Protect(ctx, names...)
}

// remember saves how the agents were protected, or deletes that, for the daily check. If it fails,
// it only prints a note.
func remember(ctx context.Context, c *cli.Console, f protectFlags, m protect.Machine, plan *protect.Plan) {
	paths, err := c.Paths(f.Place)
	if err == nil && !f.System && !f.mcp {
		var names []string
		for _, a := range plan.Agents {
			names = append(names, a.Name)
		}
		if f.undo {
			err = prove.Forget(paths.Proofs, names)
		} else {
			err = prove.Remember(ctx, paths.Proofs, m, names)
		}
	}
	if err != nil {
		c.Say("the monitor's check of every day will not know of this: %s", cli.Reason(err))
	}
}

// protectError turns an error that prevents a change into a failure for the person who has to
// correct it.
func protectError(err error) error {
	if f, is := errors.AsType[*protect.FileError](err); is {
		return cli.Refuse(f.Hint+"; nothing was changed", "%s", f)
	}
	if _, is := errors.AsType[*cli.Failure](err); is {
		return err
	}
	return cli.Refuse("", "%s", err)
}

// agreed shows the plan and asks the person. With JSON output it does not ask, and agrees only if
// --yes is given.
func agreed(c *cli.Console, f protectFlags, plan *protect.Plan, rules *rulesChange) (bool, error) {
	if f.form == cli.AsJSON {
		return f.yes && !plan.Nothing(), nil
	}
	if plan.Nothing() {
		sayNothing(c, f, plan)
		return false, nil
	}
	home := c.Getenv("HOME")
	fmt.Fprint(c.Stdout, PlanText(c.OutStyle(), plan, home, false)+uncoveredText(c.OutStyle(), plan)+rules.text(c.OutStyle(), home))
	c.Say("In all this %s", planLine(plan, rules))
	for _, n := range append(takenAway(plan), plan.Notes...) {
		c.Say("%s", n)
	}
	if f.dry {
		c.Say("nothing was changed")
		return false, nil
	}
	return sayYes(c, f, plan, rules)
}

func sayNothing(c *cli.Console, f protectFlags, plan *protect.Plan) {
	switch {
	case f.mcp:
		sayNoServers(c, f, plan)
	case f.undo:
		c.Say("nothing to do: nothing of ours is in the settings")
	case len(plan.Agents) == 0:
		c.Say("nothing to do: no agent was found here that we know (%s)", agentNames())
	default:
		c.Say("nothing to do: protected already: %s", titles(plan))
		sayRules(c, f, plan)
	}
}

func agentNames() string {
	var names []string
	for _, a := range protect.Agents() {
		names = append(names, a.Name)
	}
	return strings.Join(names, ", ")
}

func titles(plan *protect.Plan) string {
	var list []string
	for _, a := range plan.Agents {
		list = append(list, a.Title)
	}
	return strings.Join(list, ", ")
}

// sayApplied says what was done, and what is left to do.
func sayApplied(ctx context.Context, c *cli.Console, f protectFlags, plan *protect.Plan) {
	switch {
	case f.undo && f.mcp:
		c.Say("started by the client itself again: the MCP servers of %s", titles(plan))
		return
	case f.undo:
		_ = reload(ctx, c, f.Place, false) // otherwise the monitor looks for what was removed
		c.Say("no longer protected: %s", titles(plan))
		return
	case f.mcp:
		c.Say("through the gateway: the MCP servers of %s. Restart clients that run already", titles(plan))
		c.Say("undo this with «floodmark unprotect --mcp%s»", f.Flags())
	default:
		c.Say("protected: %s. Restart agents that run already", titles(plan))
		c.Say("test it with «floodmark prove%s»: from then on commands run in boxes, if they can, instead of being asked about", f.Flags())
		c.Say("undo this with «floodmark unprotect%s»", f.Flags())
		sayRules(c, f, plan)
	}
	// The monitor has to update the list of files that it guards.
	switch err := reload(ctx, c, f.Place, false); {
	case err == nil || !cli.Absent(err):
	case f.Dir == "" && !f.System:
		c.Say("no monitor runs yet. An agent's first hook starts one, if it can; «floodmark up» does so for good")
	default:
		c.Say("no monitor runs yet, and without one the agents may do nothing: start it with %s", cli.Starts(f.Place))
	}
}

// reload has the monitor read its rules again. With protecting, it announces that protect is about
// to change settings.
func reload(ctx context.Context, c *cli.Console, p cli.Place, protecting bool) error {
	d, err := c.Desk(p)
	if err != nil {
		return err
	}
	defer d.End()
	ctx, cancel := context.WithTimeout(ctx, cli.AnswerTime)
	defer cancel()
	_, err = d.ReloadPolicy(ctx, &wire.ReloadPolicyRequest{Protecting: protecting})
	return err
}
