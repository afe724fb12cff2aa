package setup

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/agents/hookframe"
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/cli/mcpcli"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/internal/setup/protect"
)

// NewDoctor is the command «floodmark doctor».
func NewDoctor(c *cli.Console) *cobra.Command {
	var p cli.Place
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Find out what is wrong with an installation",
		Long: `Look at everything the monitor needs: its folders and who may write to them, its
settings and policy, both sockets, the hooks of the agents on this machine, whether a
box can be made, its keys, the clock, and room on the disk. Each line says ok, note or
problem, and for a problem what to do. Nothing is changed and nothing is written to
the journal: hook.sock is sent a message that must be refused, which proves that a
monitor answers.`,
		Example: `  floodmark doctor
  floodmark doctor --system
  floodmark doctor --output json | jq '.checks[] | select(.state == "problem")'`,
		Annotations: cli.Exits("no problem was found", "a problem was found"),
		Args:        cobra.NoArgs,
		RunE: cli.Guard(func(cmd *cobra.Command, _ []string) error {
			return doctor(cmd.Context(), c, p, cli.Format(cmd))
		}),
	}
	cli.AddPlace(cmd, &p)
	cmd.AddCommand(newDoctorTelegram(c), newDoctorWebhook(c), newDoctorAuditor(c))
	return cmd
}

// A Diagnosis is the answer for programs.
type Diagnosis struct {
	OK     bool          `json:"ok"`
	Checks []cli.Finding `json:"checks"`
}

func doctor(ctx context.Context, c *cli.Console, p cli.Place, form string) error {
	paths, err := c.Paths(p)
	if err != nil {
		return err
	}
	d, err := c.Desk(p)
	if err != nil {
		return err
	}
	defer d.End()
	m, err := c.Machine(p)
	if err != nil {
		return err
	}
	m.Still = true // start no agent to find its version
	needed := p.System || slices.ContainsFunc(m.List(ctx), func(f protect.Found) bool { return f.State != protect.Open })
	return tell(c, slices.Concat(
		checkFolders(paths), checkSettings(paths), checkPolicy(paths), checkAuditor(paths), checkKeys(paths),
		checkOwnerSocket(ctx, d, c.Build, needed), checkHookSocket(ctx, paths, p, needed),
		checkHooks(c, paths), checkAgents(ctx, c, p), checkServers(c, p), checkBox(ctx, c, p), mcpcli.CheckLogins(c, p),
		checkClock(ctx, d, c.Clock()), checkRoom(paths),
	), form)
}

// checkBox checks whether commands can run in a box.
func checkBox(ctx context.Context, c *cli.Console, p cli.Place) []cli.Finding {
	if why, todo := noBox(ctx, c, p); why != "" {
		return []cli.Finding{cli.Note("box", todo, "%s; commands that would run in a box are asked about", why)}
	}
	return []cli.Finding{cli.OK("box", "commands can run in one")}
}

// lookAtService prints what a check of service.yaml finds.
func lookAtService(c *cli.Console, p cli.Place, form string, look func(config.Paths, config.Service) []cli.Finding) error {
	paths, err := c.Paths(p)
	if err != nil {
		return err
	}
	s, err := config.LoadService(paths.Service)
	if err != nil {
		return tell(c, []cli.Finding{cli.Wrong("settings", "mend the file", "%s", err)}, form)
	}
	return tell(c, look(paths, s), form)
}

// unset returns the finding for a missing section of service.yaml.
func unset(p config.Paths, what string) cli.Finding {
	return cli.Wrong("settings", "the guide says how: docs/guide/asking.md", "%s names %s", p.Service, what)
}

// tell prints the findings.
func tell(c *cli.Console, list []cli.Finding, form string) error {
	found := Diagnosis{OK: true, Checks: list}
	for _, one := range list {
		found.OK = found.OK && one.State != cli.Problem
	}
	if form == cli.AsJSON {
		if err := c.JSON(found); err != nil {
			return err
		}
	} else {
		fmt.Fprint(c.Stdout, DoctorText(c.OutStyle(), found))
	}
	if !found.OK {
		return cli.ErrNo
	}
	return nil
}

// DoctorText lists the findings, one on each line. Lines are not wrapped, so that paths stay whole.
func DoctorText(st cli.Style, found Diagnosis) string {
	p := &cli.Sheet{St: st}
	paints := map[string]func(string) string{cli.Fine: st.Green, cli.Remark: st.Yellow, cli.Problem: st.Red}
	for _, f := range found.Checks {
		p.B.WriteString(paints[f.State](fmt.Sprintf("%-8s", f.State)) + cli.Plain(f.Check+": "+f.Text) + "\n")
		if f.Todo != "" {
			p.B.WriteString("        -> " + cli.Plain(f.Todo) + "\n")
		}
	}
	return p.String()
}

// checkHooks checks the variables by which agents find the monitor. A process that can set them
// must not be able to choose another monitor.
func checkHooks(c *cli.Console, p config.Paths) []cli.Finding {
	var list []cli.Finding
	if v := c.Getenv(hookframe.SocketVariable); v != "" {
		list = append(list, cli.Note("hooks", "unset it: «floodmark protect» writes «-socket "+cli.ShellWord(p.HookSocket)+"» into the agents' settings",
			"%s is set to %s: agents started from here look for the monitor there", hookframe.SocketVariable, v))
	}
	folder := c.Getenv("CODEX_HOME")
	if folder == "" && c.Getenv("HOME") != "" {
		folder = filepath.Join(c.Getenv("HOME"), ".codex")
	}
	if folder == "" {
		return list
	}
	return append(list, checkCodexVariables(filepath.Join(folder, ".env"))...)
}

// choosing reports whether a variable decides which program or monitor is used, or what runs before
// them.
func choosing(name string) bool {
	return slices.Contains([]string{"PATH", "HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "BASH_ENV", "ENV", "ZDOTDIR", "SHELL"}, name) ||
		strings.HasPrefix(name, "FLOODMARK_") || strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "DYLD_")
}

// checkCodexVariables checks the file from which Codex reads variables.
func checkCodexVariables(file string) []cli.Finding {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil // missing or unreadable
	}
	for line := range strings.Lines(string(data)) {
		name, _, found := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
		if name = strings.TrimSpace(name); found && choosing(name) {
			return []cli.Finding{cli.Wrong("variables of Codex", "take it out, unless you put it there", "%s sets %s, which can choose another hook program or monitor", file, name)}
		}
	}
	return nil
}
