// Package protect connects the agents on this machine to the monitor, and disconnects them again.
// It finds them, says which of their settings files would change and how, writes each file as a
// whole or not at all, and keeps the originals, so that undoing restores them byte for byte. It
// never changes a file it cannot read, nor anything in a file that others wrote.
package protect

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// A Machine says where agents and their settings are, and which paths are written into the
// settings.
type Machine struct {
	// Getenv reads the environment: HOME, PATH, and the variables by which agents find their
	// settings.
	Getenv func(string) string
	// System means the settings that an administrator writes for all users.
	System bool
	// Root is put before the administrators' folders; empty except in tests.
	Root string
	// Still means that no agent's program is started to find its version.
	Still bool
	// Records is the folder of the originals.
	Records string
	// Hook is the full path of floodmark-hook. Program is that of floodmark.
	Hook, Program string
	// Socket is the monitor's hook.sock; empty if it is at its usual place.
	Socket string
	// Gateway are the flags by which the gateway finds the monitor and the folder in which the
	// owner's approvals of servers are kept. They are needed because clients pass few of the
	// person's variables on.
	Gateway []string
	// Projects are folders in which clients' lists of tool servers are changed, too. They have to
	// be named, because others share them.
	Projects []string
}

// An Agent is one program that can be protected.
type Agent struct {
	// Name is its identifier everywhere: on the wire, in the catalog, in commands.
	Name string
	// Title is what people call it.
	Title string
}

// Codes reports whether an agent only works on its owner's code. OpenClaw also answers messages
// from others.
func (a Agent) Codes() bool {
	switch a.Name {
	case "claude-code", "codex", "copilot-cli", "cursor", "gemini-cli", "opencode", "pi":
		return true
	}
	return false
}

// A State says whether an agent is connected.
type State string

// The states of an agent. The zero value is none of these and means open.
const (
	// Open means that nothing of ours is in its settings.
	Open State = "open"
	// Protected means that its settings are as we would write them.
	Protected State = "protected"
	// Changed means that something of ours is there, but something is missing or different from
	// what we would write.
	Changed State = "changed"
	// Unreadable means that its settings cannot be read.
	Unreadable State = "unreadable"
)

// Found is an agent on this machine.
type Found struct {
	Agent
	// Program is its full path; empty if only its settings were found.
	Program string
	// Version is empty if it is unknown.
	Version string
	// Folder is its settings folder.
	Folder string
	State  State
	// Why says what is wrong; empty if it is protected or open.
	Why string
	// Protected is the version it had when it was protected; empty if unknown.
	Protected string
	// Hooks are the full paths by which its settings call our hook program now.
	Hooks []string
}

// ErrUnknown means that there is no agent of that name.
var ErrUnknown = errors.New("no such agent")

// Agents returns all agents that can be protected, by name.
func Agents() []Agent {
	var list []Agent
	for _, k := range kinds() {
		list = append(list, k.Agent)
	}
	return list
}

// List finds the agents on this machine, by name.
func (m Machine) List(ctx context.Context) []Found {
	var list []Found
	for _, k := range kinds() {
		if f, there := m.find(ctx, k); there {
			list = append(list, f)
		}
	}
	return list
}

// Find looks for one agent. It returns false and no error if the agent is not on this machine.
func (m Machine) Find(ctx context.Context, name string) (Found, bool, error) {
	k, err := kindOf(name)
	if err != nil {
		return Found{}, false, err
	}
	f, there := m.find(ctx, k)
	return f, there, nil
}

// Paths returns the files and folders whose content connects the agents to the monitor, or their
// tool servers to the gateway, whether they exist or not: writing to them can switch the protection
// off.
func (m Machine) Paths() []string {
	var list []string
	for _, k := range allKinds() {
		list = append(list, k.serverPaths(m)...)
		files, err := k.files(m)
		if err != nil {
			continue // its folder is unknown on this machine
		}
		for _, f := range files {
			list = append(list, f.path)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func kindOf(name string) (kind, error) {
	var names []string
	for _, k := range kinds() {
		if k.Name == name {
			return k, nil
		}
		names = append(names, k.Name)
	}
	return kind{}, fmt.Errorf("%w as %q (there are %s)", ErrUnknown, name, strings.Join(names, ", "))
}

// home returns the person's home folder, or a path below it.
func (m Machine) home(below ...string) (string, error) {
	home := m.Getenv("HOME")
	if !filepath.IsAbs(home) {
		return "", fmt.Errorf("the home folder %q is not a full path (set HOME)", home)
	}
	return filepath.Join(append([]string{home}, below...)...), nil
}

// folder returns the folder that an agent's variable names, else one below home.
func (m Machine) folder(variable string, below ...string) (string, error) {
	if v := m.Getenv(variable); v != "" {
		if rest, is := strings.CutPrefix(v, "~/"); is {
			return m.home(rest)
		}
		if !filepath.IsAbs(v) {
			return "", fmt.Errorf("%s is %q, which is not a full path", variable, v)
		}
		return v, nil
	}
	return m.home(below...)
}

// etc returns a folder of administrators.
func (m Machine) etc(name string) string { return filepath.Join(m.Root, "/etc", name) }
