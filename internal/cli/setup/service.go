package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/setup/launch"
)

// NewService is the command «floodmark dev service».
func NewService(c *cli.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "service",
		Short: "Start the monitor with the machine or at login",
		Long: `Let the service manager of this machine start the monitor and keep it running:
systemd on Linux, launchd on macOS. Without --system it runs as you, from login
on. With --system it runs as a user of its own, floodmark, and what your agents
run cannot touch it.`,
		Example: `  floodmark dev service show
  floodmark dev service install --start
  sudo floodmark dev service install --system`,
	}
	cmd.AddCommand(newServiceShow(c), newServiceInstall(c), newServiceUninstall(c))
	return cmd
}

// serviceFlags are the flags that choose a service.
type serviceFlags struct {
	cli.Place
	manager cli.Choice
}

func addService(cmd *cobra.Command, f *serviceFlags) {
	f.manager = cli.Choice{Name: "NAME", Value: "systemd", Known: []string{"systemd", "launchd"}}
	cli.AddPlace(cmd, &f.Place)
	cmd.Flags().Var(&f.manager, "manager", "the service manager: systemd, launchd")
	cli.Complete(cmd, "manager", f.manager.Known)
}

// service returns the unit that would be installed. The service manager is this machine's, unless a
// flag names another.
func service(c *cli.Console, cmd *cobra.Command, f *serviceFlags) (*launch.Unit, error) {
	if runtime.GOOS == "darwin" && !cmd.Flags().Changed("manager") {
		f.manager.Value = "launchd"
	}
	if _, err := c.Paths(f.Place); err != nil {
		return nil, err
	}
	home := c.Getenv("HOME")
	if !f.System && !filepath.IsAbs(home) {
		return nil, cli.Refuse("set HOME", "the home folder %q is not a full path", home)
	}
	u := &launch.Unit{Program: c.Program, Dir: f.Dir, System: f.System, Home: home, Config: c.Getenv("XDG_CONFIG_HOME")}
	if u.Program == "" {
		u.Program = "/usr/local/bin/floodmark"
	}
	if u.Dir != "" {
		u.Dir = c.Path(u.Dir)
	}
	if f.manager.Value == "launchd" {
		return u.Launchd(), nil
	}
	return u.Systemd(), nil
}

// A serviceReport is the answer for programs. Fields are only added.
type serviceReport struct {
	Files []serviceFile `json:"files"`
	// Start and Stop are the commands for the service manager.
	Start []string `json:"start"`
	Stop  []string `json:"stop"`
}

type serviceFile struct {
	Path  string       `json:"path"`
	State launch.State `json:"state"` // absent, same, older or changed
	Text  string       `json:"text"`
}

func serviceReportOf(u *launch.Unit) serviceReport {
	r := serviceReport{Start: shellLines(u.Start), Stop: shellLines(u.Stop)}
	for _, f := range u.Files {
		r.Files = append(r.Files, serviceFile{f.Path, f.State(), f.Text})
	}
	return r
}

func shellLines(commands [][]string) []string {
	var list []string
	for _, words := range commands {
		line := ""
		for i, w := range words {
			if i > 0 {
				line += " "
			}
			line += cli.ShellWord(w)
		}
		list = append(list, line)
	}
	return list
}

func newServiceShow(c *cli.Console) *cobra.Command {
	var f serviceFlags
	cmd := &cobra.Command{
		Use:         "show",
		Short:       "Show what install would write",
		Long:        "Show the files that «floodmark dev service install» would write, and the commands that\ntell the service manager. Nothing is changed.",
		Example:     "  floodmark dev service show\n  floodmark dev service show --system\n  floodmark dev service show --manager launchd",
		Annotations: cli.Exits("it is shown", ""),
		Args:        cobra.NoArgs,
		RunE: cli.Guard(func(cmd *cobra.Command, _ []string) error {
			u, err := service(c, cmd, &f)
			if err != nil {
				return err
			}
			if cli.Format(cmd) == cli.AsJSON {
				return c.JSON(serviceReportOf(u))
			}
			for _, f := range u.Files {
				c.Say("%s (%s)", f.Path, f.State().Words())
				fmt.Fprintln(c.Stdout, f.Text)
			}
			for _, line := range shellLines(u.Start) {
				c.Say("to start it: %s", line)
			}
			return nil
		}),
	}
	addService(cmd, &f)
	return cmd
}

func newServiceInstall(c *cli.Console) *cobra.Command {
	var f serviceFlags
	var force, start bool
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Let the service manager start the monitor",
		Long: `Write the file that makes the service manager start the monitor, and say which
commands switch it on; with --start they are run. A file that you changed is not
replaced without --force.

With --system it has to be run by root. The monitor then has a user of its own,
which the printed commands make, and is asked by root: «sudo floodmark approve
--system».`,
		Example: `  floodmark dev service install
  floodmark dev service install --start
  sudo floodmark dev service install --system --start`,
		Annotations: cli.Exits("it is installed", "the service manager refused"),
		Args:        cobra.NoArgs,
		RunE: cli.Guard(func(cmd *cobra.Command, _ []string) error {
			u, err := service(c, cmd, &f)
			if err != nil {
				return err
			}
			for _, f := range u.Files {
				if err := installFile(c, f, force); err != nil {
					return err
				}
			}
			if err := tellManager(cmd.Context(), c, u.Start, start); err != nil {
				return err
			}
			if cli.Format(cmd) == cli.AsJSON {
				return c.JSON(serviceReportOf(u))
			}
			return nil
		}),
	}
	addService(cmd, &f)
	cmd.Flags().BoolVar(&force, "force", false, "replace files that were changed")
	cmd.Flags().BoolVar(&start, "start", false, "run the commands that switch it on")
	return cmd
}

func newServiceUninstall(c *cli.Console) *cobra.Command {
	var f serviceFlags
	var force, stop bool
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Stop the service manager from starting the monitor",
		Long: `Remove what install wrote, and say which commands switch the monitor off; with
--stop they are run first. Journal, keys and settings stay. Agents whose hooks are
still in place are refused everything while no monitor runs.`,
		Example: `  floodmark dev service uninstall --stop
  sudo floodmark dev service uninstall --system --stop`,
		Annotations: cli.Exits("it is removed", "the service manager refused"),
		Args:        cobra.NoArgs,
		RunE: cli.Guard(func(cmd *cobra.Command, _ []string) error {
			u, err := service(c, cmd, &f)
			if err != nil {
				return err
			}
			if err := tellManager(cmd.Context(), c, u.Stop, stop); err != nil {
				return err
			}
			for _, f := range u.Files {
				if err := removeFile(c, f, force); err != nil {
					return err
				}
			}
			if cli.Format(cmd) == cli.AsJSON {
				return c.JSON(serviceReportOf(u))
			}
			return nil
		}),
	}
	addService(cmd, &f)
	cmd.Flags().BoolVar(&force, "force", false, "remove files that were changed")
	cmd.Flags().BoolVar(&stop, "stop", false, "run the commands that switch it off")
	return cmd
}

// installFile writes one file, unless it exists and was edited.
func installFile(c *cli.Console, f launch.File, force bool) error {
	if f.State() == launch.Same {
		c.Say("%s is there already", f.Path)
		return nil
	}
	switch err := f.Write(force); {
	case errors.Is(err, launch.ErrChanged):
		return cli.Refuse("compare it with «floodmark dev service show», or replace it with --force", "%s", err)
	case err != nil:
		return cli.Refuse("check that you may write there", "write %s: %s", f.Path, cli.Reason(err))
	}
	c.Say("wrote %s", f.Path)
	return nil
}

func removeFile(c *cli.Console, f launch.File, force bool) error {
	switch state := f.State(); {
	case state == launch.Absent:
		c.Say("%s is not there", f.Path)
		return nil
	case state == launch.Changed && !force:
		return cli.Refuse("look at it, or remove it with --force", "%s was edited", f.Path)
	}
	if err := os.Remove(f.Path); err != nil {
		return cli.Refuse("check that you may write there", "remove %s: %s", f.Path, cli.Reason(err))
	}
	c.Say("removed %s", f.Path)
	return nil
}

// tellManager runs the commands if really is set, else it prints them.
func tellManager(ctx context.Context, c *cli.Console, commands [][]string, really bool) error {
	for i, line := range shellLines(commands) {
		if !really {
			c.Say("now run: %s", line)
			continue
		}
		c.Say("running: %s", line)
		if err := launch.Run(ctx, commands[i]); err != nil {
			return &cli.Failure{Code: cli.ExitNo, Text: line + ": " + err.Error(), Hint: "the files are as said above; run the rest by hand"}
		}
	}
	return nil
}
