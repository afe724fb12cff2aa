// Package setup contains the commands that start the monitor, connect agents to it, and check both.
package setup

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
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/setup/launch"
	"github.com/floodmark/floodmark/internal/setup/protect"
	"github.com/floodmark/floodmark/internal/setup/prove"
	"github.com/floodmark/floodmark/internal/text/linetext"
)

// NewUp is the command «floodmark up».
func NewUp(c *cli.Console) *cobra.Command {
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
		Annotations:       cli.Exits("the agents are protected, and were seen to obey", "a step failed, or you said no: the changes are undone"),
		ValidArgsFunction: offerAgents,
		RunE: cli.Guard(func(cmd *cobra.Command, args []string) error {
			f.form = cli.Format(cmd)
			return up(cmd.Context(), c, f, args)
		}),
	}
	addUp(cmd, &f)
	return cmd
}

// NewDown is the command «floodmark down».
func NewDown(c *cli.Console) *cobra.Command {
	f := protectFlags{undo: true}
	cmd := &cobra.Command{
		Use:   "down",
		Short: "Give the agents' settings back, and stop the monitor",
		Long: `Undo what «floodmark up» did: give the settings of all agents back, as «floodmark
unprotect» does, stop the monitor, and start it no more at login. The journal, keys and
a policy that you wrote stay, and are used by the next «floodmark up».`,
		Example:     "  floodmark down\n  floodmark down --yes",
		Annotations: cli.Exits("no agent is protected, and no monitor runs", "nothing was changed, or the monitor still runs"),
		Args:        cobra.NoArgs,
		RunE: cli.Guard(func(cmd *cobra.Command, _ []string) error {
			f.form = cli.Format(cmd)
			return down(cmd.Context(), c, f)
		}),
	}
	addUp(cmd, &f)
	return cmd
}

func addUp(cmd *cobra.Command, f *protectFlags) {
	cmd.Flags().StringVar(&f.Dir, "dir", "", "keep everything below this `FOLDER` instead of the usual places")
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

// startTime is how long a monitor may take to answer, or to stop.
const startTime = 20 * time.Second

// up asks the person first and then acts. If a step fails, it undoes the earlier steps.
func up(ctx context.Context, c *cli.Console, f protectFlags, names []string) error {
	if err := c.MayChange(ctx, f.Place); err != nil {
		return err
	}
	m, err := c.Machine(f.Place)
	if err != nil {
		return err
	}
	plan, err := planned(ctx, c, m, f, names)
	if err != nil {
		return protectError(err)
	}
	if len(plan.Agents) == 0 {
		return &cli.Failure{Code: cli.ExitNo, Text: "no agent was found here that we know (" + agentNames() + "); nothing was changed", Hint: "install one, then run it again"}
	}
	rules, err := rulesFor(ctx, c, m, f, plan)
	if err != nil {
		return protectError(err)
	}
	by, err := starter(ctx, c, f.Place)
	if err != nil {
		return err
	}
	runs := runs(ctx, c, f.Place)
	if err := upAgreed(c, f, plan, rules, by, runs); err != nil {
		return err
	}
	report, steps := upReport{Agents: []prove.Result{}}, c.Steps(f.form)
	defer steps.End()
	undo := func() string { return "nothing was changed" }
	if !runs {
		steps.Begin("Starting the monitor")
		report.Started = by.Name
		if err := within(ctx, by.Start); err != nil {
			return step("start the monitor", err, "look at «floodmark dev logs"+f.Flags()+"», then try again; nothing was changed")
		}
		undo = func() string {
			if err := within(ctx, func(ctx context.Context) error { _, err := by.Stop(ctx); return err }); err != nil {
				return "the monitor was started, and did not stop: " + cli.Reason(err)
			}
			return "the monitor was stopped again; nothing else was changed"
		}
	}
	_ = reload(ctx, c, f.Place, true) // otherwise the monitor reports the change as made by a stranger
	for _, title := range changed(plan) {
		steps.Begin("Protecting " + title)
	}
	if err := applied(plan, rules); err != nil {
		return step("protect", protectError(err), undo())
	}
	remember(ctx, c, f, m, plan)
	_ = reload(ctx, c, f.Place, false)
	report.Agents = tryAgents(ctx, c, f.Place, m, plan, steps)
	steps.End()
	return upDone(ctx, c, f, m, plan, report, undo)
}

// within bounds a start or a stop. Ctrl-c does not interrupt it.
func within(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), startTime)
	defer cancel()
	return do(ctx)
}

// step adds the name of the step that failed to its error.
func step(name string, err error, hint string) error {
	f, ok := errors.AsType[*cli.Failure](err)
	if !ok {
		return &cli.Failure{Code: cli.ExitNo, Text: name + ": " + err.Error(), Hint: hint}
	}
	if f.Hint != "" {
		hint = f.Hint + "; " + hint
	}
	return &cli.Failure{Code: cli.ExitNo, Text: name + ": " + f.Text, Hint: hint}
}

// tryAgents proves the agents of a plan, and the box if it was never tried.
func tryAgents(ctx context.Context, c *cli.Console, p cli.Place, m protect.Machine, plan *protect.Plan, steps *linetext.Steps) []prove.Result {
	list := prove.Planned(ctx, m, plan, c.Clock().UTC(), steps.Begin)
	paths, err := c.Paths(p)
	if err == nil {
		err = prove.KeepAll(ctx, paths.Proofs, m, list)
	}
	if err != nil {
		steps.End()
		c.Say("what was seen could not be kept: %s", cli.Reason(err))
	}
	if why, todo := noBox(ctx, c, p); why != "" && todo == proveBox {
		if program, err := boxProgram(c, p); err == nil {
			made := steps.Count("Trying to get out of the box")
			_, _ = prove.Box(ctx, paths.Proofs, program, c.Clock().UTC(), made) // «floodmark status --all» shows the result
		}
	}
	return list
}

// upDone reports the result. If the proof of an agent failed that was not protected before, its
// settings are restored. If no agent was proved, everything is undone.
func upDone(ctx context.Context, c *cli.Console, f protectFlags, m protect.Machine, plan *protect.Plan, report upReport, undo func() string) error {
	var good, bad, back []string
	why := ""
	for i, r := range report.Agents {
		if r.Verified() && ctx.Err() == nil {
			good = append(good, r.Title)
			continue
		}
		bad, why = append(bad, r.Title), r.Why
		if plan.Agents[i].State != protect.Protected { // the agent was not protected before
			back = append(back, r.Agent)
		}
	}
	hint := ""
	if len(back) > 0 {
		hint = giveBack(context.WithoutCancel(ctx), c, f, m, back)
	}
	if len(good) == 0 && len(back) == len(bad) {
		hint = strings.TrimPrefix(hint+"; "+undo(), "; ")
	}
	if report.Up = len(good) > 0; f.form == cli.AsJSON {
		if err := c.JSON(report); err != nil {
			return err
		}
	} else if report.Up {
		upText(c, f, report, good)
	}
	if len(bad) == 0 {
		return nil
	}
	if hint == "" {
		hint = "«floodmark prove" + f.Flags() + "» tries it again and says more"
	}
	return &cli.Failure{Code: cli.ExitNo, Text: "prove: " + strings.Join(bad, ", ") + " was not seen to obey: " + why, Hint: hint}
}

// upText prints the line that says that all is well, and the next command.
func upText(c *cli.Console, f protectFlags, report upReport, good []string) {
	st := c.OutStyle()
	proved := ""
	if !slices.ContainsFunc(report.Agents, func(r prove.Result) bool { return r.Verified() && r.Grade != prove.HostVerified }) {
		proved = " (tested: a refused call did not run)"
	}
	fmt.Fprintln(c.Stdout, st.Green(cli.Plain(fmt.Sprintf("%s protected%s: %s.", cli.Count(len(good), "agent is", "agents are"), proved, strings.Join(good, ", ")))))
	c.Say("Restart agents that run already. «floodmark down%s» takes all of this back", f.Flags())
	c.Say("Next: «floodmark watch%s» shows what they do and takes your answers; «floodmark open%s» does so in your browser", f.Flags(), f.Flags())
}

// giveBack unprotects agents, and returns a sentence with the result.
func giveBack(ctx context.Context, c *cli.Console, f protectFlags, m protect.Machine, names []string) string {
	f.undo = true
	plan, err := m.Unprotect(ctx, names...)
	if err == nil {
		var rules *rulesChange
		if rules, err = rulesFor(ctx, c, m, f, plan); err == nil {
			err = applied(plan, rules)
		}
	}
	if err != nil {
		return "their settings could not be given back: " + cli.Reason(err) + "; «floodmark unprotect" + f.Flags() + "» tries it again"
	}
	remember(ctx, c, f, m, plan)
	return "given back as they were: the settings of " + strings.Join(names, ", ")
}

// upAgreed shows in a few lines what will change, and asks the person.
func upAgreed(c *cli.Console, f protectFlags, plan *protect.Plan, rules *rulesChange, by launch.Starter, runs bool) error {
	if plan.Nothing() && runs {
		return nil
	}
	if f.form != cli.AsJSON {
		if !plan.Nothing() {
			c.Say("This %s", planLine(plan, rules))
			for _, line := range takenAway(plan) {
				c.Say("%s", line)
			}
		}
		if !runs {
			c.Say("This starts the monitor: %s", by.Words)
		}
	}
	yes, err := sayYes(c, f, plan, rules)
	if err == nil && !yes {
		err = cli.ErrNo
	}
	return err
}

// sayYes asks the person to confirm. The answer d shows every line that changes and asks again.
func sayYes(c *cli.Console, f protectFlags, plan *protect.Plan, rules *rulesChange) (bool, error) {
	switch {
	case f.yes:
		return true, nil
	case !c.StdinTerminal || f.form == cli.AsJSON:
		c.Say("nothing was changed: this is no terminal, so you cannot be asked. Run it at a terminal, or with --yes")
		return false, nil
	}
	in := bufio.NewReader(c.Stdin)
	for {
		fmt.Fprint(c.Stderr, "Apply these changes? (d shows every line) [y/N] ")
		answer, err := in.ReadString('\n')
		switch strings.ToLower(strings.TrimSpace(answer)) {
		case "y", "yes":
			return true, nil
		case "d":
			fmt.Fprint(c.Stdout, PlanText(c.OutStyle(), plan, c.Getenv("HOME"), true)+rules.text(c.OutStyle(), c.Getenv("HOME")))
			if err == nil {
				continue
			}
		}
		if err != nil {
			fmt.Fprintln(c.Stderr)
		}
		c.Say("nothing was changed")
		return false, nil
	}
}

// changed returns the titles of the agents whose settings a plan changes.
func changed(plan *protect.Plan) (list []string) {
	files := map[string]int{}
	for _, ch := range plan.Changes {
		files[ch.Agent]++
	}
	for _, a := range plan.Agents {
		if n := files[a.Name]; n > 0 {
			list = append(list, a.Title+" ("+cli.Count(n, "file", "files")+")")
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
		if err == nil { // a test checks that the file can be read
			list = append(list, covers[ch.Agent].Lost(linetext.Diff(string(ch.Before), string(ch.After)))...)
		}
	}
	return list
}

// starter returns how the monitor is started here. No service manager is used with --dir or if
// variables lead away from this account's own folders, because its unit would run a monitor for
// other folders.
func starter(ctx context.Context, c *cli.Console, p cli.Place) (launch.Starter, error) {
	paths, err := c.Paths(p)
	if err != nil {
		return launch.Starter{}, err
	}
	words := []string{"serve"}
	if p.Dir != "" {
		words = append(words, "--dir", c.Path(p.Dir))
	}
	b := launch.Background{Program: c.Program, Words: words, Log: paths.Log}
	s := launch.InBackground(b, paths.OwnerSocket, func(ctx context.Context) bool { return runs(ctx, c, p) })
	u := &launch.Unit{Program: c.Program, Home: c.Getenv("HOME"), Config: c.Getenv("XDG_CONFIG_HOME")}
	if p.Dir != "" || u.Home != c.Home || c.Getenv("XDG_DATA_HOME")+c.Getenv("XDG_STATE_HOME") != "" {
		return s, nil
	}
	return s.ByManager(ctx, u), nil
}

// runs reports whether a monitor answers.
func runs(ctx context.Context, c *cli.Console, p cli.Place) bool {
	ctx, cancel := context.WithTimeout(ctx, cli.AnswerTime)
	defer cancel()
	return answered(ctx, c, p) == nil
}

// down restores all settings and then stops the monitor. In the other order, agents would be
// refused everything in between.
func down(ctx context.Context, c *cli.Console, f protectFlags) error {
	if err := c.MayChange(ctx, f.Place); err != nil {
		return err
	}
	m, err := c.Machine(f.Place)
	if err != nil {
		return err
	}
	plan, err := m.Unprotect(ctx)
	if err != nil {
		return protectError(err)
	}
	rules, err := rulesFor(ctx, c, m, f, plan)
	if err != nil {
		return protectError(err)
	}
	if plan.Nothing() && !runs(ctx, c, f.Place) && f.form != cli.AsJSON {
		c.Say("nothing to do: no agent is protected, and no monitor runs")
		return nil
	}
	if !plan.Nothing() {
		c.Say("This %s", planLine(plan, rules))
	}
	c.Say("This stops the monitor: nothing your agents do is judged any more")
	if yes, err := sayYes(c, f, plan, rules); err != nil || !yes {
		return errors.Join(err, cli.ErrNo)
	}
	if !plan.Nothing() {
		_ = reload(ctx, c, f.Place, true)
		if err := applied(plan, rules); err != nil {
			return step("unprotect", protectError(err), "the monitor runs as before")
		}
		remember(ctx, c, f, m, plan)
	}
	by, err := starter(ctx, c, f.Place)
	if err != nil {
		return err
	}
	ran := false
	if err := within(ctx, func(ctx context.Context) error { ran, err = by.Stop(ctx); return err }); err != nil {
		return step("stop the monitor", err, "no agent is protected any more; end that process by hand")
	}
	if f.form == cli.AsJSON {
		return c.JSON(planReport(plan, rules, true))
	}
	text := "no agent is protected any more, and the monitor is stopped"
	if !ran {
		text = "no agent is protected any more, and no monitor runs"
	}
	c.Say("%s", text)
	sayStays(c, f.Place)
	return nil
}

// sayStays says which files of an installation are still there.
func sayStays(c *cli.Console, p cli.Place) {
	paths, err := c.Paths(p)
	if err != nil {
		return
	}
	var there []string
	for _, path := range []string{paths.Policy, paths.Service, filepath.Dir(paths.Journal), filepath.Dir(paths.Proofs)} {
		if _, err := os.Stat(path); err == nil {
			there = append(there, fromHome(path, c.Getenv("HOME")))
		}
	}
	if len(there) > 0 {
		c.Say("what stays: %s (journal, keys, proofs, what you wrote); «floodmark up%s» uses it again", strings.Join(there, ", "), p.Flags())
	}
}

// NewLogs is the command «floodmark dev logs».
func NewLogs(c *cli.Console) *cobra.Command {
	var p cli.Place
	var follow bool
	var lines int
	cmd := &cobra.Command{
		Use:   "logs",
		Short: "Show what the monitor itself said: when it started, what went wrong",
		Long: `Show the log of the monitor: its file if it runs in the background, or else what the
service manager kept. What agents did is told by «floodmark watch» and «floodmark why».`,
		Example:     "  floodmark dev logs\n  floodmark dev logs --lines 200\n  floodmark dev logs --follow",
		Annotations: cli.Exits("it is shown", "there is no log"),
		Args:        cobra.NoArgs,
		RunE:        cli.Guard(func(cmd *cobra.Command, _ []string) error { return logs(cmd.Context(), c, p, lines, follow) }),
	}
	cmd.Flags().StringVar(&p.Dir, "dir", "", "keep everything below this `FOLDER` instead of the usual places")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "keep printing new lines")
	cmd.Flags().IntVarP(&lines, "lines", "n", 50, "show at most this many lines")
	return cmd
}

// logs shows the last lines of the log.
func logs(ctx context.Context, c *cli.Console, p cli.Place, lines int, follow bool) error {
	by, err := starter(ctx, c, p)
	if err != nil {
		return err
	}
	if lines < 1 {
		return cli.Refuse("write --lines 50", "--lines takes a number from 1")
	}
	if _, err := os.Stat(by.Background.Log); err != nil && by.Name != "systemd" {
		return &cli.Failure{Code: cli.ExitNo, Text: "there is no log at " + by.Background.Log, Hint: "a monitor that a hook or «floodmark serve» started writes none there; «floodmark up" + p.Flags() + "» does"}
	}
	words := by.LogCommand(lines, follow)
	cmd := exec.CommandContext(ctx, words[0], words[1:]...) //nolint:gosec // our own words
	cmd.Stdout, cmd.Stderr = c.Stdout, c.Stderr
	if err := cmd.Run(); err != nil && ctx.Err() == nil {
		return &cli.Failure{Code: cli.ExitNo, Text: shellLines([][]string{words})[0] + ": " + cli.Reason(err)}
	}
	return nil
}
