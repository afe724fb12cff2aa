// Package protect connects the agents on this machine to the monitor, and disconnects them again.
// It finds them, says which of their settings files would change and how, writes each file whole or
// not at all, and keeps the originals, so that undoing restores them byte for byte. It never
// changes a file it cannot read, nor what others wrote into it.
package protect

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// A Machine is all that is looked at: where agents and their settings are, and
// what is written into them.
type Machine struct {
	// Getenv tells the variables: HOME, PATH, and those by which agents find
	// their settings.
	Getenv func(string) string
	// System means the settings an administrator writes for all users.
	System bool
	// Root is put before the folders of administrators; empty but in tests.
	Root string
	// Still means that no agent's program is started to ask its version.
	Still bool
	// Records is the folder of the originals.
	Records string
	// Hook is the full path of floodmark-hook, Program that of floodmark.
	Hook, Program string
	// Socket is the monitor's hook.sock, where it is not at its usual place;
	// empty otherwise.
	Socket string
	// Gateway are the flags by which the gateway finds the monitor and what the
	// owner has seen of servers. Clients give it few of the person's variables.
	Gateway []string
	// Projects are folders whose files are looked at, too, where clients name
	// tool servers. They are shared with others, so they have to be named.
	Projects []string
}

// An Agent is one program that can be protected.
type Agent struct {
	// Name is the word for it everywhere: wire, catalog, commands.
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

// The states of an agent. The zero value is none of them and means open.
const (
	// Open means that nothing of ours is in its settings.
	Open State = "open"
	// Protected means that its settings are as we would write them.
	Protected State = "protected"
	// Changed means that something of ours is there and something is missing
	// or other than we would write it.
	Changed State = "changed"
	// Unreadable means that its settings cannot be read.
	Unreadable State = "unreadable"
)

// Found is an agent on this machine.
type Found struct {
	Agent
	// Program is its full path; empty if only its settings were found.
	Program string
	// Version is empty if it could not be told.
	Version string
	// Folder is where its settings are.
	Folder string
	State  State
	// Why says what is wrong, unless it is protected or open.
	Why string
	// Protected is the version it had when it was protected; empty if unknown.
	Protected string
	// Hooks are the full paths by which our hook program is called there now.
	Hooks []string
}

// ErrUnknown means that there is no agent of that name.
var ErrUnknown = errors.New("no such agent")

// Agents are all that can be protected, by name.
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

// Find looks for one agent. It is not there if the error is nil and the answer
// false.
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
			continue // it has no place on this machine
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

// home is the person's folder, or below it.
func (m Machine) home(below ...string) (string, error) {
	home := m.Getenv("HOME")
	if !filepath.IsAbs(home) {
		return "", fmt.Errorf("the home folder %q is not a full path (set HOME)", home)
	}
	return filepath.Join(append([]string{home}, below...)...), nil
}

// folder is where an agent keeps its settings: what its variable says, else
// below home.
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

// etc is a folder of administrators.
func (m Machine) etc(name string) string { return filepath.Join(m.Root, "/etc", name) }
