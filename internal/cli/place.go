package cli

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/internal/setup/protect"
)

// A Place says which installation a command is about.
type Place struct {
	Dir    string
	System bool
	// Fleet is asked instead of the monitor here; see [Console.AddFleet].
	Fleet string
}

// AddPlace gives a command the flags that choose an installation.
func AddPlace(cmd *cobra.Command, p *Place) {
	cmd.Flags().StringVar(&p.Dir, "dir", "", "keep everything below this `FOLDER` instead of the usual places")
	cmd.Flags().BoolVar(&p.System, "system", false, "the machine's own installation, whose monitor has a user of its own")
}

// Paths finds the files of an installation.
func (c *Console) Paths(p Place) (config.Paths, error) {
	switch {
	case p.Dir != "":
		return config.DirPaths(c.Path(p.Dir)), nil
	case p.System:
		return config.SystemPaths(), nil
	}
	paths, err := config.UserPaths(c.Getenv, c.Getenv("HOME"))
	if err != nil {
		return config.Paths{}, Refuse("", "%s", err)
	}
	return paths, nil
}

// Machine returns the settings of agents on this machine, with the paths of an installation.
func (c *Console) Machine(p Place) (protect.Machine, error) {
	paths, err := c.Paths(p)
	if err != nil {
		return protect.Machine{}, err
	}
	m := protect.Machine{Getenv: c.Getenv, System: p.System, Records: paths.Originals, Socket: paths.HookSocket}
	m.Hook, _ = c.Besides(m, HookName) // without it all agents' settings count as changed
	m.Program = c.ownProgram(m)
	m.Gateway, err = c.gatewayFlags(p)
	return m, err
}

// Besides returns the full path of a program that is installed beside this one. If PATH finds the
// same program, it returns that path, because it stays valid after updates.
func (c *Console) Besides(m protect.Machine, name string) (string, error) {
	named := m.Lookup(name)
	beside := ""
	if c.Program != "" {
		beside = filepath.Join(filepath.Dir(c.Program), name)
	}
	there, err := filepath.EvalSymlinks(beside)
	if beside == "" || err != nil {
		if named == "" {
			return "", Refuse("install all programs into the same folder", "there is no %s beside floodmark and none on PATH", name)
		}
		return named, nil
	}
	if same, err := filepath.EvalSymlinks(named); err == nil && same == there {
		return named, nil
	}
	return beside, nil
}

// gatewayFlags returns the flags that name the monitor and the pins. The gateway needs them because
// clients start it with few variables besides HOME.
func (c *Console) gatewayFlags(p Place) ([]string, error) {
	switch {
	case p.Dir != "":
		return []string{"--dir", c.Path(p.Dir)}, nil
	case p.System:
		return nil, nil // each user has servers of their own
	}
	paths, err := c.Paths(p)
	if err != nil {
		return nil, err
	}
	flags := []string{"--socket", paths.HookSocket}
	usual, err := config.UserPaths(func(string) string { return "" }, c.Getenv("HOME"))
	if err != nil {
		return nil, Refuse("", "%s", err)
	}
	if paths.Pins != usual.Pins {
		flags = append(flags, "--pins", paths.Pins)
	}
	return flags, nil
}

// ownProgram returns the full path by which clients start this program; empty if the system does
// not say. A path on PATH is preferred, because it stays valid after updates.
func (c *Console) ownProgram(m protect.Machine) string {
	named := m.Lookup("floodmark")
	there, err := filepath.EvalSymlinks(c.Program)
	if err != nil || c.Program == "" {
		return named
	}
	if same, err := filepath.EvalSymlinks(named); err == nil && same == there {
		return named
	}
	return c.Program
}

// The programs beside this one. Agents start HookName at each hook. BoxName runs a command in a
// box.
const (
	HookName = "floodmark-hook"
	BoxName  = "floodmark-box"
)
