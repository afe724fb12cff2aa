package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/protect"
	"github.com/floodmark/floodmark/internal/prove"
	"github.com/floodmark/floodmark/wire"
)

func newProtect(c *console) *cobra.Command {
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

With --mcp no hooks are written. Instead the MCP servers that clients start are led
through «floodmark mcp wrap», with the same care: for clients without hooks, and as a
second line behind them. The clients are Claude Code, Claude Desktop, Codex, Cursor,
Gemini CLI, opencode and VS Code. Servers that are reached by an address stay as they
are, and are named as not covered. Files of a project are shared with others, so only
those below --project are changed, and they then name the floodmark of this machine.`,
		Example: `  floodmark protect
  floodmark protect codex pi --yes
  floodmark protect --dry-run
  floodmark protect --mcp
  floodmark protect --mcp cursor vscode --project ~/work/site
  sudo floodmark protect codex --system`,
		Annotations:       exits("the agents are protected, or were already", "nothing was changed: you said no, or could not be asked"),
		ValidArgsFunction: offerAgents,
		RunE: guard(func(cmd *cobra.Command, args []string) error {
			f.form = format(cmd)
			return c.protect(cmd.Context(), f, args)
		}),
	}
	addProtect(cmd, &f)
	return cmd
}

func newUnprotect(c *console) *cobra.Command {
	f := protectFlags{undo: true}
	cmd := &cobra.Command{
		Use:   "unprotect [AGENT…]",
		Short: "Give the agents' settings back as they were",
		Long: `Take out of the agents' settings what «floodmark protect» put in. A file that nobody
changed since is given back byte for byte; of one that was edited only our part is
taken out. You are shown what will change, and asked once.

The agents then do what they like: nothing they do is judged any more.

MCP servers that were led through the gateway are given back as well, and with --mcp
only these: hooks stay.`,
		Example: `  floodmark unprotect
  floodmark unprotect codex --yes
  floodmark unprotect --mcp
  floodmark unprotect --dry-run`,
		Annotations:       exits("nothing of ours is left in the settings", "nothing was changed: you said no, or could not be asked"),
		ValidArgsFunction: offerAgents,
		RunE: guard(func(cmd *cobra.Command, args []string) error {
			f.form = format(cmd)
			return c.protect(cmd.Context(), f, args)
		}),
	}
	addProtect(cmd, &f)
	return cmd
}

type protectFlags struct {
	place
	undo, yes, dry, mcp bool
	projects            []string
	form                string
}

func addProtect(cmd *cobra.Command, f *protectFlags) {
	addPlace(cmd, &f.place)
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

// protect plans, shows, asks and applies; unprotect does the same in reverse.
func (c *console) protect(ctx context.Context, f protectFlags, names []string) error {
	if f.system && !f.dry && os.Geteuid() != 0 {
		return refuse("run it with sudo, or look first with --dry-run", "the settings for the whole machine are root's to change")
	}
	if err := c.mayChange(ctx, f.place); err != nil {
		return err
	}
	m, err := c.machine(f.place)
	if err != nil {
		return err
	}
	if m.Projects, err = c.projects(f); err != nil {
		return err
	}
	plan, err := c.planned(ctx, m, f, names)
	if err != nil {
		return protectError(err)
	}
	rules, err := c.rulesFor(ctx, m, f, plan)
	if err != nil {
		return protectError(err)
	}
	yes, err := c.agreed(f, plan, rules)
	if err != nil {
		return err
	}
	if yes {
		_ = c.reload(ctx, f.place, true) // otherwise the monitor takes the change for another process's
		if err := applied(plan, rules); err != nil {
			return protectError(err)
		}
		c.remember(ctx, f, m, plan)
	}
	if f.form == asJSON {
		err = c.json(planReport(plan, rules, yes))
	} else if yes {
		c.sayApplied(ctx, f, plan)
	}
	if err == nil && !yes && !f.dry && !plan.Nothing() {
		err = errNo
	}
	return err
}

// applied changes the settings and the rules. Rules become stricter before an agent is connected,
// and looser after.
func applied(plan *protect.Plan, rules *rulesChange) error {
	if rules != nil && rules.What == rulesRemoved {
		return errors.Join(rules.apply(), plan.Apply())
	}
	if err := plan.Apply(); err != nil {
		return err
	}
	return rules.apply()
}

func (c *console) planned(ctx context.Context, m protect.Machine, f protectFlags, names []string) (*protect.Plan, error) {
	switch {
	case f.undo && f.mcp:
		return m.UnprotectServers(ctx, names...)
	case f.undo:
		return m.Unprotect(ctx, names...)
	case f.mcp:
		return m.ProtectServers(ctx, names...)
	}
	hook, err := c.besides(m, hookName)
	if err != nil {
		return nil, err
	}
	m.Hook = hook
	return m.Protect(ctx, names...)
}

// remember saves for the daily check how the agents were protected, or deletes it. If that fails
// they are protected all the same.
func (c *console) remember(ctx context.Context, f protectFlags, m protect.Machine, plan *protect.Plan) {
	paths, err := c.paths(f.place)
	if err == nil && !f.system && !f.mcp {
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
		c.say("the monitor's check of every day will not know of this: %s", reason(err))
	}
}

// protectError words what prevents a change, for the person who has to mend it.
func protectError(err error) error {
	if f, is := errors.AsType[*protect.FileError](err); is {
		return refuse(f.Hint+"; nothing was changed", "%s", f)
	}
	if _, is := errors.AsType[*failure](err); is {
		return err
	}
	return refuse("", "%s", err)
}

// agreed shows the plan and asks a person. A program is not asked.
func (c *console) agreed(f protectFlags, plan *protect.Plan, rules *rulesChange) (bool, error) {
	if f.form == asJSON {
		return f.yes && !plan.Nothing(), nil
	}
	if plan.Nothing() {
		c.sayNothing(f, plan)
		return false, nil
	}
	home := c.getenv("HOME")
	fmt.Fprint(c.stdout, planText(c.outStyle(), plan, home, false)+uncoveredText(c.outStyle(), plan)+rules.text(c.outStyle(), home))
	c.say("In all this %s", planLine(plan, rules))
	for _, n := range append(takenAway(plan), plan.Notes...) {
		c.say("%s", n)
	}
	if f.dry {
		c.say("nothing was changed")
		return false, nil
	}
	return c.sayYes(f, plan, rules)
}

func (c *console) sayNothing(f protectFlags, plan *protect.Plan) {
	switch {
	case f.mcp:
		c.sayNoServers(f, plan)
	case f.undo:
		c.say("nothing to do: nothing of ours is in the settings")
	case len(plan.Agents) == 0:
		c.say("nothing to do: no agent was found here that we know (%s)", agentNames())
	default:
		c.say("nothing to do: protected already: %s", titles(plan))
		c.sayRules(f, plan)
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
func (c *console) sayApplied(ctx context.Context, f protectFlags, plan *protect.Plan) {
	switch {
	case f.undo && f.mcp:
		c.say("started by the client itself again: the MCP servers of %s", titles(plan))
		return
	case f.undo:
		_ = c.reload(ctx, f.place, false) // otherwise it looks for what is gone
		c.say("no longer protected: %s", titles(plan))
		return
	case f.mcp:
		c.say("through the gateway: the MCP servers of %s. Restart clients that run already", titles(plan))
		c.say("take it back with «floodmark unprotect --mcp%s»", f.flags())
	default:
		c.say("protected: %s. Restart agents that run already", titles(plan))
		c.say("see it hold with «floodmark prove%s»: from then on commands run in boxes instead of being asked about, where they can", f.flags())
		c.say("take it back with «floodmark unprotect%s»", f.flags())
		c.sayRules(f, plan)
	}
	// The monitor reads again which files it guards.
	switch err := c.reload(ctx, f.place, false); {
	case err == nil || !absent(err):
	case f.dir == "" && !f.system:
		c.say("no monitor runs yet. An agent's first hook starts one, if it can; «floodmark up» does so for good")
	default:
		c.say("no monitor runs yet, and without one the agents may do nothing: start it with %s", starts(f.place))
	}
}

// reload has the monitor read its rules again, or tells it that they are about to change.
func (c *console) reload(ctx context.Context, p place, protecting bool) error {
	d, err := c.desk(p)
	if err != nil {
		return err
	}
	defer d.end()
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	_, err = d.ReloadPolicy(ctx, &wire.ReloadPolicyRequest{Protecting: protecting})
	return err
}
