package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/integrations"
	"github.com/floodmark/floodmark/internal/launch"
	"github.com/floodmark/floodmark/internal/linetext"
	"github.com/floodmark/floodmark/internal/protect"
	"github.com/floodmark/floodmark/internal/prove"
)

func newUp(c *console) *cobra.Command {
	var f protectFlags
	cmd := &cobra.Command{
		Use:   "up [AGENT…]",
		Short: "Start the monitor, protect the agents it finds, and prove that they obey",
		Long: `Find the agents on this machine, or those you name, show what will change, and ask
once. Then start the monitor, connect the agents, and try each of them, saying which
step is under way: an agent that does not obey is given its settings back. The last
lines say who is protected and what comes next. «floodmark down» undoes all of it.

The monitor is started by systemd or launchd, now and at each login. Where neither
answers, and with --dir, it runs in the background until the machine is restarted.`,
		Example: `  floodmark up
  floodmark up codex pi --yes
  floodmark up --dir ./try`,
		Annotations:       exits("the agents are protected, and were seen to obey", "a step failed, or you said no: what was done is taken back"),
		ValidArgsFunction: offerAgents,
		RunE: guard(func(cmd *cobra.Command, args []string) error {
			f.form = format(cmd)
			return c.up(cmd.Context(), f, args)
		}),
	}
	addUp(cmd, &f)
	return cmd
}

func newDown(c *console) *cobra.Command {
	f := protectFlags{undo: true}
	cmd := &cobra.Command{
		Use:   "down",
		Short: "Give the agents' settings back, and stop the monitor",
		Long: `Undo what «floodmark up» did: give the settings of all agents back, as «floodmark
unprotect» does, stop the monitor, and start it no more at login. The journal, keys and
a policy that you wrote stay, and are used by the next «floodmark up».`,
		Example:     "  floodmark down\n  floodmark down --yes",
		Annotations: exits("no agent is protected, and no monitor runs", "nothing was changed, or the monitor still runs"),
		Args:        cobra.NoArgs,
		RunE: guard(func(cmd *cobra.Command, _ []string) error {
			f.form = format(cmd)
			return c.down(cmd.Context(), f)
		}),
	}
	addUp(cmd, &f)
	return cmd
}

func addUp(cmd *cobra.Command, f *protectFlags) {
	cmd.Flags().StringVar(&f.dir, "dir", "", "keep everything below this `FOLDER` instead of the usual places")
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask")
}

// An upReport is the answer for programs. Fields are only added.
type upReport struct {
	// Up says that the agents are protected and a monitor runs.
	Up bool `json:"up"`
	// Started says how the monitor was started: systemd, launchd or background; missing if it ran
	// already.
	Started string         `json:"started,omitempty"`
	Agents  []prove.Result `json:"agents"`
}

// startTime is how long a monitor may take until it answers.
const startTime = 20 * time.Second

// up asks first and then acts; if a step fails, it undoes the steps before.
func (c *console) up(ctx context.Context, f protectFlags, names []string) error {
	if err := c.mayChange(ctx, f.place); err != nil {
		return err
	}
	m, err := c.machine(f.place)
	if err != nil {
		return err
	}
	plan, err := c.planned(ctx, m, f, names)
	if err != nil {
		return protectError(err)
	}
	if len(plan.Agents) == 0 {
		return &failure{code: exitNo, text: "no agent was found here that we know (" + agentNames() + "); nothing was changed", hint: "install one, then run it again"}
	}
	rules, err := c.rulesFor(ctx, m, f, plan)
	if err != nil {
		return protectError(err)
	}
	by, err := c.starter(ctx, f.place)
	if err != nil {
		return err
	}
	runs := c.runs(ctx, f.place)
	if err := c.upAgreed(f, plan, rules, by, runs); err != nil {
		return err
	}
	report, steps := upReport{Agents: []prove.Result{}}, c.steps(f.form)
	defer steps.End()
	undo := func() string { return "nothing was changed" }
	if !runs {
		steps.Begin("Starting the monitor")
		report.Started = by.Name
		if err := within(ctx, by.Start); err != nil {
			return step("start the monitor", err, "look at «floodmark logs"+f.flags()+"», then try again; nothing was changed")
		}
		undo = func() string {
			if err := within(ctx, func(ctx context.Context) error { _, err := by.Stop(ctx); return err }); err != nil {
				return "the monitor was started, and did not stop: " + reason(err)
			}
			return "the monitor was stopped again; nothing else was changed"
		}
	}
	_ = c.reload(ctx, f.place, true) // otherwise the monitor takes the change for another process's
	for _, title := range changed(plan) {
		steps.Begin("Protecting " + title)
	}
	if err := applied(plan, rules); err != nil {
		return step("protect", protectError(err), undo())
	}
	c.remember(ctx, f, m, plan)
	_ = c.reload(ctx, f.place, false)
	report.Agents = c.tryAgents(ctx, f.place, m, plan, steps)
	steps.End()
	return c.upDone(ctx, f, m, plan, report, undo)
}

// within bounds a start or a stop. Ctrl-c does not cut a stop short.
func within(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), startTime)
	defer cancel()
	return do(ctx)
}

// step names the step that failed.
func step(name string, err error, hint string) error {
	f, ok := errors.AsType[*failure](err)
	if !ok {
		return &failure{code: exitNo, text: name + ": " + err.Error(), hint: hint}
	}
	if f.hint != "" {
		hint = f.hint + "; " + hint
	}
	return &failure{code: exitNo, text: name + ": " + f.text, hint: hint}
}

// tryAgents proves the agents of a plan, and the box if one can be made.
func (c *console) tryAgents(ctx context.Context, p place, m protect.Machine, plan *protect.Plan, steps *linetext.Steps) []prove.Result {
	list := prove.Planned(ctx, m, plan, c.clock().UTC(), steps.Begin)
	paths, err := c.paths(p)
	if err == nil {
		err = prove.KeepAll(ctx, paths.Proofs, m, list)
	}
	if err != nil {
		steps.End()
		c.say("what was seen could not be kept: %s", reason(err))
	}
	if why, todo := c.noBox(ctx, p); why != "" && todo == proveBox {
		if program, err := c.boxProgram(p); err == nil {
			made := steps.Count("Trying to get out of the box")
			_, _ = prove.Box(ctx, paths.Proofs, program, c.clock().UTC(), made) // «floodmark status --all» shows the result
		}
	}
	return list
}

// upDone reports the result. Agents whose proof failed get their settings back; if all failed,
// everything is undone.
func (c *console) upDone(ctx context.Context, f protectFlags, m protect.Machine, plan *protect.Plan, report upReport, undo func() string) error {
	var good, bad, back []string
	why := ""
	for i, r := range report.Agents {
		if r.Verified() && ctx.Err() == nil {
			good = append(good, r.Title)
			continue
		}
		bad, why = append(bad, r.Title), r.Why
		if plan.Agents[i].State != protect.Protected { // it was not protected before
			back = append(back, r.Agent)
		}
	}
	hint := ""
	if len(back) > 0 {
		hint = c.giveBack(context.WithoutCancel(ctx), f, m, back)
	}
	if len(good) == 0 && len(back) == len(bad) {
		hint = strings.TrimPrefix(hint+"; "+undo(), "; ")
	}
	if report.Up = len(good) > 0; f.form == asJSON {
		if err := c.json(report); err != nil {
			return err
		}
	} else if report.Up {
		c.upText(f, report, good)
	}
	if len(bad) == 0 {
		return nil
	}
	if hint == "" {
		hint = "«floodmark prove" + f.flags() + "» tries it again and says more"
	}
	return &failure{code: exitNo, text: "prove: " + strings.Join(bad, ", ") + " was not seen to obey: " + why, hint: hint}
}

// upText writes the line that says that all is well, and the next command.
func (c *console) upText(f protectFlags, report upReport, good []string) {
	st := c.outStyle()
	proved := ""
	if !slices.ContainsFunc(report.Agents, func(r prove.Result) bool { return r.Verified() && r.Grade != prove.HostVerified }) {
		proved = ", and obeyed when they were tried"
	}
	if len(good) == 1 {
		proved = strings.Replace(proved, "they were", "it was", 1)
	}
	fmt.Fprintln(c.stdout, st.green(plain(fmt.Sprintf("%s protected%s: %s.", count(len(good), "agent is", "agents are"), proved, strings.Join(good, ", ")))))
	c.say("Restart agents that run already. «floodmark down%s» takes all of this back", f.flags())
	c.say("Next: «floodmark watch%s» shows what they do and takes your answers", f.flags())
}

// giveBack unprotects agents, and returns how that went.
func (c *console) giveBack(ctx context.Context, f protectFlags, m protect.Machine, names []string) string {
	f.undo = true
	plan, err := m.Unprotect(ctx, names...)
	if err == nil {
		var rules *rulesChange
		if rules, err = c.rulesFor(ctx, m, f, plan); err == nil {
			err = applied(plan, rules)
		}
	}
	if err != nil {
		return "their settings could not be given back: " + reason(err) + "; «floodmark unprotect" + f.flags() + "» tries it again"
	}
	c.remember(ctx, f, m, plan)
	return "given back as they were: the settings of " + strings.Join(names, ", ")
}

// upAgreed shows in a few lines what will change, and asks.
func (c *console) upAgreed(f protectFlags, plan *protect.Plan, rules *rulesChange, by launch.Starter, runs bool) error {
	if plan.Nothing() && runs {
		return nil
	}
	if f.form != asJSON {
		if !plan.Nothing() {
			c.say("This %s", planLine(plan, rules))
			for _, line := range takenAway(plan) {
				c.say("%s", line)
			}
		}
		if !runs {
			c.say("This starts the monitor: %s", by.Words)
		}
	}
	yes, err := c.sayYes(f, plan, rules)
	if err == nil && !yes {
		err = errNo
	}
	return err
}

// sayYes asks once. d shows every line that changes.
func (c *console) sayYes(f protectFlags, plan *protect.Plan, rules *rulesChange) (bool, error) {
	switch {
	case f.yes:
		return true, nil
	case !c.stdinTerminal || f.form == asJSON:
		c.say("nothing was changed: this is no terminal, so you cannot be asked. Run it at a terminal, or with --yes")
		return false, nil
	}
	in := bufio.NewReader(c.stdin)
	for {
		fmt.Fprint(c.stderr, "Apply these changes? (d shows every line) [y/N] ")
		answer, err := in.ReadString('\n')
		switch strings.ToLower(strings.TrimSpace(answer)) {
		case "y", "yes":
			return true, nil
		case "d":
			fmt.Fprint(c.stdout, planText(c.outStyle(), plan, c.getenv("HOME"), true)+rules.text(c.outStyle(), c.getenv("HOME")))
			if err == nil {
				continue
			}
		}
		if err != nil {
			fmt.Fprintln(c.stderr)
		}
		c.say("nothing was changed")
		return false, nil
	}
}

// changed returns the agents whose settings a plan changes.
func changed(plan *protect.Plan) (list []string) {
	files := map[string]int{}
	for _, ch := range plan.Changes {
		files[ch.Agent]++
	}
	for _, a := range plan.Agents {
		if n := files[a.Name]; n > 0 {
			list = append(list, a.Title+" ("+count(n, "file", "files")+")")
		}
	}
	return list
}

// planLine says in one line what a plan changes.
func planLine(plan *protect.Plan, rules *rulesChange) string {
	text := "changes the settings of " + strings.Join(changed(plan), ", ")
	if rules != nil {
		text += "; the policy file " + rules.Path + " is " + rules.What
	}
	return text
}

// takenAway returns what agents can no longer do once a plan is applied, and why.
func takenAway(plan *protect.Plan) (list []string) {
	covers, err := integrations.Covers()
	for _, ch := range plan.Changes {
		if err == nil { // a test holds the file
			list = append(list, covers[ch.Agent].Lost(linetext.Diff(string(ch.Before), string(ch.After)))...)
		}
	}
	return list
}

// starter finds how the monitor is started here. With --dir, or where variables lead away from this
// account's own folders, a unit would run another monitor than the one that is meant.
func (c *console) starter(ctx context.Context, p place) (launch.Starter, error) {
	paths, err := c.paths(p)
	if err != nil {
		return launch.Starter{}, err
	}
	words := []string{"serve"}
	if p.dir != "" {
		words = append(words, "--dir", c.path(p.dir))
	}
	b := launch.Background{Program: c.program, Words: words, Log: paths.Log}
	s := launch.InBackground(b, paths.OwnerSocket, func(ctx context.Context) bool { return c.runs(ctx, p) })
	u := &launch.Unit{Program: c.program, Home: c.getenv("HOME"), Config: c.getenv("XDG_CONFIG_HOME")}
	if p.dir != "" || u.Home != c.home || c.getenv("XDG_DATA_HOME")+c.getenv("XDG_STATE_HOME") != "" {
		return s, nil
	}
	return s.ByManager(ctx, u), nil
}

// runs reports whether a monitor answers.
func (c *console) runs(ctx context.Context, p place) bool {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	return c.answered(ctx, p) == nil
}

// down gives all settings back, then stops the monitor: in the other order agents would be refused
// everything meanwhile.
func (c *console) down(ctx context.Context, f protectFlags) error {
	if err := c.mayChange(ctx, f.place); err != nil {
		return err
	}
	m, err := c.machine(f.place)
	if err != nil {
		return err
	}
	plan, err := m.Unprotect(ctx)
	if err != nil {
		return protectError(err)
	}
	rules, err := c.rulesFor(ctx, m, f, plan)
	if err != nil {
		return protectError(err)
	}
	if plan.Nothing() && !c.runs(ctx, f.place) && f.form != asJSON {
		c.say("nothing to do: no agent is protected, and no monitor runs")
		return nil
	}
	if !plan.Nothing() {
		c.say("This %s", planLine(plan, rules))
	}
	c.say("This stops the monitor: nothing your agents do is judged any more")
	if yes, err := c.sayYes(f, plan, rules); err != nil || !yes {
		return errors.Join(err, errNo)
	}
	if !plan.Nothing() {
		_ = c.reload(ctx, f.place, true)
		if err := applied(plan, rules); err != nil {
			return step("unprotect", protectError(err), "the monitor runs as before")
		}
		c.remember(ctx, f, m, plan)
	}
	by, err := c.starter(ctx, f.place)
	if err != nil {
		return err
	}
	ran := false
	if err := within(ctx, func(ctx context.Context) error { ran, err = by.Stop(ctx); return err }); err != nil {
		return step("stop the monitor", err, "no agent is protected any more; end that process by hand")
	}
	if f.form == asJSON {
		return c.json(planReport(plan, rules, true))
	}
	text := "no agent is protected any more, and the monitor is stopped"
	if !ran {
		text = "no agent is protected any more, and no monitor runs"
	}
	c.say("%s", text)
	c.sayStays(f.place)
	return nil
}

// sayStays says which files of an installation are still there.
func (c *console) sayStays(p place) {
	paths, err := c.paths(p)
	if err != nil {
		return
	}
	var there []string
	for _, path := range []string{paths.Policy, paths.Service, filepath.Dir(paths.Journal), filepath.Dir(paths.Proofs)} {
		if _, err := os.Stat(path); err == nil {
			there = append(there, fromHome(path, c.getenv("HOME")))
		}
	}
	if len(there) > 0 {
		c.say("what stays: %s (journal, keys, proofs, what you wrote); «floodmark up%s» uses it again", strings.Join(there, ", "), p.flags())
	}
}

func newLogs(c *console) *cobra.Command {
	var p place
	var follow bool
	var lines int
	cmd := &cobra.Command{
		Use:   "logs",
		Short: "Show what the monitor itself said: when it started, what went wrong",
		Long: `Show the log of the monitor: its file if it runs in the background, else what the
service manager kept. What agents did is told by «floodmark watch» and «floodmark why».`,
		Example:     "  floodmark logs\n  floodmark logs --lines 200\n  floodmark logs --follow",
		Annotations: exits("it is shown", "there is no log"),
		Args:        cobra.NoArgs,
		RunE:        guard(func(cmd *cobra.Command, _ []string) error { return c.logs(cmd.Context(), p, lines, follow) }),
	}
	cmd.Flags().StringVar(&p.dir, "dir", "", "keep everything below this `FOLDER` instead of the usual places")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on with what is said from now on")
	cmd.Flags().IntVarP(&lines, "lines", "n", 50, "at most so many lines")
	return cmd
}

// logs shows the last lines of the log.
func (c *console) logs(ctx context.Context, p place, lines int, follow bool) error {
	by, err := c.starter(ctx, p)
	if err != nil {
		return err
	}
	if lines < 1 {
		return refuse("write --lines 50", "--lines takes a number from 1")
	}
	if _, err := os.Stat(by.Background.Log); err != nil && by.Name != "systemd" {
		return &failure{code: exitNo, text: "there is no log at " + by.Background.Log, hint: "a monitor that a hook or «floodmark serve» started writes none there; «floodmark up" + p.flags() + "» does"}
	}
	words := by.LogCommand(lines, follow)
	cmd := exec.CommandContext(ctx, words[0], words[1:]...) //nolint:gosec // our own words
	cmd.Stdout, cmd.Stderr = c.stdout, c.stderr
	if err := cmd.Run(); err != nil && ctx.Err() == nil {
		return &failure{code: exitNo, text: shellLines([][]string{words})[0] + ": " + reason(err)}
	}
	return nil
}
