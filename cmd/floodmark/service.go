package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"
)

func newService(c *console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "service",
		Short: "Start the monitor with the machine or at login",
		Long: `Let the service manager of this machine start the monitor and keep it running:
systemd on Linux, launchd on macOS. Without --system it runs as you, from login
on. With --system it runs as a user of its own, floodmark, and what your agents
run cannot touch it.`,
		Example: `  floodmark service show
  floodmark service install --start
  sudo floodmark service install --system`,
	}
	cmd.AddCommand(newServiceShow(c), newServiceInstall(c), newServiceUninstall(c))
	return cmd
}

// serviceFlags choose a service.
type serviceFlags struct {
	place
	manager choice
}

func addService(cmd *cobra.Command, f *serviceFlags) {
	f.manager = choice{name: "NAME", value: "systemd", known: []string{"systemd", "launchd"}}
	addPlace(cmd, &f.place)
	cmd.Flags().Var(&f.manager, "manager", "the service manager: systemd, launchd")
	complete(cmd, "manager", f.manager.known)
}

// service works out what would be installed. The manager is that of this
// machine unless it was named.
func (c *console) service(cmd *cobra.Command, f *serviceFlags) (*unit, error) {
	if runtime.GOOS == "darwin" && !cmd.Flags().Changed("manager") {
		f.manager.value = "launchd"
	}
	if _, err := c.paths(f.place); err != nil {
		return nil, err
	}
	home := c.getenv("HOME")
	if !f.system && !filepath.IsAbs(home) {
		return nil, refuse("set HOME", "the home folder %q is not a full path", home)
	}
	u := &unit{program: c.program, place: f.place, home: home, config: c.getenv("XDG_CONFIG_HOME")}
	if u.program == "" {
		u.program = "/usr/local/bin/floodmark"
	}
	if u.place.dir != "" {
		u.place.dir = c.path(u.place.dir)
	}
	if f.manager.value == "launchd" {
		return u.launchd(), nil
	}
	return u.systemd(), nil
}

// A serviceReport is the answer for programs. Fields are only added.
type serviceReport struct {
	Files []serviceFile `json:"files"`
	// Start and Stop are the commands that tell the service manager.
	Start []string `json:"start"`
	Stop  []string `json:"stop"`
}

type serviceFile struct {
	Path  string `json:"path"`
	State string `json:"state"` // absent, same, older or changed
	Text  string `json:"text"`
}

func (u *unit) report() serviceReport {
	r := serviceReport{Start: shellLines(u.start), Stop: shellLines(u.stop)}
	for _, f := range u.files {
		r.Files = append(r.Files, serviceFile{f.path, f.state(), f.text})
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
			line += shellWord(w)
		}
		list = append(list, line)
	}
	return list
}

func newServiceShow(c *console) *cobra.Command {
	var f serviceFlags
	cmd := &cobra.Command{
		Use:         "show",
		Short:       "Show what install would write",
		Long:        "Show the files that «floodmark service install» would write, and the commands that\ntell the service manager. Nothing is changed.",
		Example:     "  floodmark service show\n  floodmark service show --system\n  floodmark service show --manager launchd",
		Annotations: exits("it is shown", ""),
		Args:        cobra.NoArgs,
		RunE: guard(func(cmd *cobra.Command, _ []string) error {
			u, err := c.service(cmd, &f)
			if err != nil {
				return err
			}
			if format(cmd) == asJSON {
				return c.json(u.report())
			}
			for _, f := range u.files {
				c.say("%s (%s)", f.path, fileStates()[f.state()])
				fmt.Fprintln(c.stdout, f.text)
			}
			for _, line := range shellLines(u.start) {
				c.say("to start it: %s", line)
			}
			return nil
		}),
	}
	addService(cmd, &f)
	return cmd
}

func newServiceInstall(c *console) *cobra.Command {
	var f serviceFlags
	var force, start bool
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Let the service manager start the monitor",
		Long: `Write the file that makes the service manager start the monitor, and say which
commands switch it on; with --start they are run. A file that you changed is not
replaced without --force.

With --system it has to be run by root. The monitor then has a user of its own,
which the printed commands make, and is asked by root: «sudo floodmark pending
--system».`,
		Example: `  floodmark service install
  floodmark service install --start
  sudo floodmark service install --system --start`,
		Annotations: exits("it is installed", "the service manager refused"),
		Args:        cobra.NoArgs,
		RunE: guard(func(cmd *cobra.Command, _ []string) error {
			u, err := c.service(cmd, &f)
			if err != nil {
				return err
			}
			for _, f := range u.files {
				if err := c.installFile(f, force); err != nil {
					return err
				}
			}
			if err := c.tellManager(cmd.Context(), u.start, start); err != nil {
				return err
			}
			if format(cmd) == asJSON {
				return c.json(u.report())
			}
			return nil
		}),
	}
	addService(cmd, &f)
	cmd.Flags().BoolVar(&force, "force", false, "replace files that were changed")
	cmd.Flags().BoolVar(&start, "start", false, "run the commands that switch it on")
	return cmd
}

func newServiceUninstall(c *console) *cobra.Command {
	var f serviceFlags
	var force, stop bool
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Let the service manager start it no more",
		Long: `Remove what install wrote, and say which commands switch the monitor off; with
--stop they are run first. Journal, keys and settings stay. Agents whose hooks are
still in place are refused everything while no monitor runs.`,
		Example: `  floodmark service uninstall --stop
  sudo floodmark service uninstall --system --stop`,
		Annotations: exits("it is removed", "the service manager refused"),
		Args:        cobra.NoArgs,
		RunE: guard(func(cmd *cobra.Command, _ []string) error {
			u, err := c.service(cmd, &f)
			if err != nil {
				return err
			}
			if err := c.tellManager(cmd.Context(), u.stop, stop); err != nil {
				return err
			}
			for _, f := range u.files {
				if err := c.removeFile(f, force); err != nil {
					return err
				}
			}
			if format(cmd) == asJSON {
				return c.json(u.report())
			}
			return nil
		}),
	}
	addService(cmd, &f)
	cmd.Flags().BoolVar(&force, "force", false, "remove files that were changed")
	cmd.Flags().BoolVar(&stop, "stop", false, "run the commands that switch it off")
	return cmd
}

// installFile writes one file, unless somebody changed the one that is there.
func (c *console) installFile(f unitFile, force bool) error {
	switch state := f.state(); {
	case state == fileSame:
		c.say("%s is there already", f.path)
		return nil
	case state == fileChanged && !force:
		return refuse("compare it with «floodmark service show», or replace it with --force", "%s was changed by somebody", f.path)
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o755); err != nil {
		return refuse("check that you may write there", "make the folder of %s: %s", f.path, reason(err))
	}
	fresh := f.path + ".new"
	if err := os.WriteFile(fresh, []byte(f.text), 0o644); err != nil {
		return refuse("check that you may write there", "write %s: %s", f.path, reason(err))
	}
	if err := os.Rename(fresh, f.path); err != nil {
		return errors.Join(refuse("check that you may write there", "write %s: %s", f.path, reason(err)), os.Remove(fresh))
	}
	c.say("wrote %s", f.path)
	return nil
}

func (c *console) removeFile(f unitFile, force bool) error {
	switch state := f.state(); {
	case state == fileAbsent:
		c.say("%s is not there", f.path)
		return nil
	case state == fileChanged && !force:
		return refuse("look at it, or remove it with --force", "%s was changed by somebody", f.path)
	}
	if err := os.Remove(f.path); err != nil {
		return refuse("check that you may write there", "remove %s: %s", f.path, reason(err))
	}
	c.say("removed %s", f.path)
	return nil
}

// tellManager runs commands, or says which to run.
func (c *console) tellManager(ctx context.Context, commands [][]string, really bool) error {
	for i, line := range shellLines(commands) {
		if !really {
			c.say("now run: %s", line)
			continue
		}
		c.say("running: %s", line)
		var said bytes.Buffer
		cmd := exec.CommandContext(ctx, commands[i][0], commands[i][1:]...) //nolint:gosec // our own words
		cmd.Stdout, cmd.Stderr = &said, &said
		if err := cmd.Run(); err != nil {
			text := "there is no such program"
			if !errors.Is(err, exec.ErrNotFound) && !errors.Is(err, fs.ErrNotExist) {
				text = err.Error() + " " + plain(said.String())
			}
			return &failure{code: exitNo, text: line + ": " + text, hint: "the files are as said above; run the rest by hand"}
		}
	}
	return nil
}
