package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/config"
	"github.com/floodmark/floodmark/internal/hookframe"
	"github.com/floodmark/floodmark/internal/protect"
)

func newDoctor(c *console) *cobra.Command {
	var p place
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
		Annotations: exits("no problem was found", "a problem was found"),
		Args:        cobra.NoArgs,
		RunE: guard(func(cmd *cobra.Command, _ []string) error {
			return c.doctor(cmd.Context(), p, format(cmd))
		}),
	}
	addPlace(cmd, &p)
	cmd.AddCommand(newDoctorTelegram(c), newDoctorWebhook(c), newDoctorAuditor(c))
	return cmd
}

// A diagnosis is the answer for programs.
type diagnosis struct {
	OK     bool      `json:"ok"`
	Checks []finding `json:"checks"`
}

func (c *console) doctor(ctx context.Context, p place, form string) error {
	paths, err := c.paths(p)
	if err != nil {
		return err
	}
	d, err := c.desk(p)
	if err != nil {
		return err
	}
	defer d.end()
	m, err := c.machine(p)
	if err != nil {
		return err
	}
	m.Still = true // starts no agent to learn its version
	needed := p.system || slices.ContainsFunc(m.List(ctx), func(f protect.Found) bool { return f.State != protect.Open })
	return c.tell(slices.Concat(
		checkFolders(paths), checkSettings(paths), checkPolicy(paths), checkAuditor(paths), checkKeys(paths),
		checkOwnerSocket(ctx, d, c.build, needed), checkHookSocket(ctx, paths, p, needed),
		c.checkHooks(paths), c.checkAgents(ctx, p), c.checkServers(p), c.checkBox(ctx, p), c.checkLogins(p),
		checkClock(ctx, d, c.clock()), checkRoom(paths),
	), form)
}

// checkBox checks whether commands can run in a box.
func (c *console) checkBox(ctx context.Context, p place) []finding {
	if why, todo := c.noBox(ctx, p); why != "" {
		return []finding{note("box", todo, "%s; commands that would run in a box are asked about", why)}
	}
	return []finding{ok("box", "commands can run in one")}
}

// lookAtService prints what a check of service.yaml finds.
func (c *console) lookAtService(p place, form string, look func(config.Paths, config.Service) []finding) error {
	paths, err := c.paths(p)
	if err != nil {
		return err
	}
	s, err := config.LoadService(paths.Service)
	if err != nil {
		return c.tell([]finding{wrong("settings", "mend the file", "%s", err)}, form)
	}
	return c.tell(look(paths, s), form)
}

// unset says that service.yaml lacks what was to be checked.
func unset(p config.Paths, what string) finding {
	return wrong("settings", "the guide says how: docs/guide/asking.md", "%s names %s", p.Service, what)
}

// tell prints the findings.
func (c *console) tell(list []finding, form string) error {
	found := diagnosis{OK: true, Checks: list}
	for _, one := range list {
		found.OK = found.OK && one.State != problem
	}
	if form == asJSON {
		if err := c.json(found); err != nil {
			return err
		}
	} else {
		fmt.Fprint(c.stdout, doctorText(c.outStyle(), found))
	}
	if !found.OK {
		return errNo
	}
	return nil
}

// doctorText lists the findings, a line each: paths stay whole.
func doctorText(st style, found diagnosis) string {
	p := &sheet{st: st}
	paints := map[string]func(string) string{fine: st.green, remark: st.yellow, problem: st.red}
	for _, f := range found.Checks {
		p.b.WriteString(paints[f.State](fmt.Sprintf("%-8s", f.State)) + plain(f.Check+": "+f.Text) + "\n")
		if f.Todo != "" {
			p.b.WriteString("        -> " + plain(f.Todo) + "\n")
		}
	}
	return p.String()
}

// checkHooks checks the variables by which agents find the monitor. A process that can set them
// must not be able to choose another monitor.
func (c *console) checkHooks(p config.Paths) []finding {
	var list []finding
	if v := c.getenv(hookframe.SocketVariable); v != "" {
		list = append(list, note("hooks", "unset it: «floodmark protect» writes «-socket "+shellWord(p.HookSocket)+"» into the agents' settings",
			"%s is set to %s: agents started from here look for the monitor there", hookframe.SocketVariable, v))
	}
	folder := c.getenv("CODEX_HOME")
	if folder == "" && c.getenv("HOME") != "" {
		folder = filepath.Join(c.getenv("HOME"), ".codex")
	}
	if folder == "" {
		return list
	}
	return append(list, checkCodexVariables(filepath.Join(folder, ".env"))...)
}

// choosing reports whether a variable chooses the program or the monitor, or what runs before them.
func choosing(name string) bool {
	return slices.Contains([]string{"PATH", "HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "BASH_ENV", "ENV", "ZDOTDIR", "SHELL"}, name) ||
		strings.HasPrefix(name, "FLOODMARK_") || strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "DYLD_")
}

// checkCodexVariables checks the file from which Codex takes variables.
func checkCodexVariables(file string) []finding {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil // missing, or not readable
	}
	for line := range strings.Lines(string(data)) {
		name, _, found := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
		if name = strings.TrimSpace(name); found && choosing(name) {
			return []finding{wrong("variables of Codex", "take it out, unless you put it there", "%s sets %s, which can choose another hook program or monitor", file, name)}
		}
	}
	return nil
}
