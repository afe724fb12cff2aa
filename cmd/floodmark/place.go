package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/config"
	"github.com/floodmark/floodmark/internal/protect"
)

// A place says which installation a command is about.
type place struct {
	dir    string
	system bool
	// fleet is asked instead of the monitor here; see addFleet.
	fleet string
}

// addPlace gives a command the flags that choose an installation.
func addPlace(cmd *cobra.Command, p *place) {
	cmd.Flags().StringVar(&p.dir, "dir", "", "keep everything below this `FOLDER` instead of the usual places")
	cmd.Flags().BoolVar(&p.system, "system", false, "the machine's own installation, whose monitor has a user of its own")
}

// paths finds the files of an installation.
func (c *console) paths(p place) (config.Paths, error) {
	switch {
	case p.dir != "":
		return config.DirPaths(c.path(p.dir)), nil
	case p.system:
		return config.SystemPaths(), nil
	}
	paths, err := config.UserPaths(c.getenv, c.getenv("HOME"))
	if err != nil {
		return config.Paths{}, refuse("", "%s", err)
	}
	return paths, nil
}

// machine returns this machine as an installation sees it.
func (c *console) machine(p place) (protect.Machine, error) {
	paths, err := c.paths(p)
	if err != nil {
		return protect.Machine{}, err
	}
	m := protect.Machine{Getenv: c.getenv, System: p.system, Records: paths.Originals, Socket: paths.HookSocket}
	m.Hook, _ = c.besides(m, hookName) // without it all of our settings count as changed
	m.Program = c.ownProgram(m)
	m.Gateway, err = c.gatewayFlags(p)
	return m, err
}

// besides returns the full path of a program that is installed beside this one, by its name on PATH
// if that is the same, because that outlives updates.
func (c *console) besides(m protect.Machine, name string) (string, error) {
	named := m.Lookup(name)
	beside := ""
	if c.program != "" {
		beside = filepath.Join(filepath.Dir(c.program), name)
	}
	there, err := filepath.EvalSymlinks(beside)
	if beside == "" || err != nil {
		if named == "" {
			return "", refuse("install all programs into the same folder", "there is no %s beside floodmark and none on PATH", name)
		}
		return named, nil
	}
	if same, err := filepath.EvalSymlinks(named); err == nil && same == there {
		return named, nil
	}
	return beside, nil
}

// gatewayFlags name the monitor and the pins: clients start the gateway with few variables but
// HOME.
func (c *console) gatewayFlags(p place) ([]string, error) {
	switch {
	case p.dir != "":
		return []string{"--dir", c.path(p.dir)}, nil
	case p.system:
		return nil, nil // each user has their own servers
	}
	paths, err := c.paths(p)
	if err != nil {
		return nil, err
	}
	flags := []string{"--socket", paths.HookSocket}
	usual, err := config.UserPaths(func(string) string { return "" }, c.getenv("HOME"))
	if err != nil {
		return nil, refuse("", "%s", err)
	}
	if paths.Pins != usual.Pins {
		flags = append(flags, "--pins", paths.Pins)
	}
	return flags, nil
}

// ownProgram returns the full path by which clients start this program; empty if the system does
// not say. A name on PATH outlives updates.
func (c *console) ownProgram(m protect.Machine) string {
	named := m.Lookup("floodmark")
	there, err := filepath.EvalSymlinks(c.program)
	if err != nil || c.program == "" {
		return named
	}
	if same, err := filepath.EvalSymlinks(named); err == nil && same == there {
		return named
	}
	return c.program
}

// The programs beside this one: one that agents start at each hook, and one that runs a command in
// the box.
const (
	hookName = "floodmark-hook"
	boxName  = "floodmark-box"
)
