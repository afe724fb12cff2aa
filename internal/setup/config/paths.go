// Package config finds out how the program is to run: where its files are, the daemon's settings,
// and the owner's rules. It is the only package besides main that reads the environment.
package config

import (
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/floodmark/floodmark/internal/agents/hookframe"
)

// Paths are the folders and files of one installation.
type Paths struct {
	// Policy is the owner's policy. Service is the daemon's settings. Gateway lists the MCP servers
	// of «mcp serve».
	Policy, Service, Gateway string
	// Journal is the file of the journal. Keys is the folder of its keys.
	Journal, Keys string
	// Fleet describes the fleet that this laptop joined. FleetBundle is the last rules received
	// from the fleet.
	Fleet, FleetBundle string
	// Bundles is the folder of signed rules, if they are not in a database.
	Bundles string
	// Witness is the folder of signed heads, kept apart from the journal.
	Witness string
	// Tokens are the hashes of the tokens of remote agents and people.
	Tokens string
	// HookSocket receives events. OwnerSocket receives the owner's commands.
	HookSocket, OwnerSocket string
	// Bus is the owner's session bus, on which questions are shown; empty if there is none, or if
	// the daemon has a user of its own.
	Bus string
	// Home is the home of the owner, on whose disk the agents work; empty if the daemon has a user
	// of its own.
	Home string
	// Originals is the folder of the agents' settings as they were before they
	// were protected.
	Originals string
	// Proofs is the last result of «floodmark prove».
	Proofs string
	// Pins are the definitions of MCP servers as the owner first saw them.
	Pins string
	// Logins are the tokens that the owner's logins at MCP servers returned.
	Logins string
	// Fleets are the owner's logins at fleets of monitors.
	Fleets string
	// Checked is the last result of the monitor's daily check.
	Checked string
	// Cards is the prefix of the files that map messages in Telegram to questions; a bot's number
	// is appended.
	Cards string
	// Teams is the folder that describes the repositories of the owner's teams.
	Teams string
	// Versions is the folder of the versions of the policy that the console has replaced.
	Versions string
	// Log is the log of a monitor that runs in the background.
	Log string
	// Running names the process that has the journal open. It is removed when the process stops.
	Running string
}

// Spill is the folder for temporary files without names, beside the journal; empty if the journal
// is a database.
func (p Paths) Spill() string {
	if p.Journal == "" {
		return ""
	}
	return filepath.Dir(p.Journal)
}

// The folders of system mode, where the daemon has a user of its own.
const (
	systemConfig  = "/etc/floodmark"
	systemData    = "/var/lib/floodmark"
	systemState   = "/var/lib/floodmark-witness"
	systemRuntime = "/run/floodmark"
)

// UserPaths returns the paths of one person's installation by the XDG rules: below the folders that
// the variables name, else below the defaults in home.
func UserPaths(getenv func(string) string, home string) (Paths, error) {
	if home == "" || !filepath.IsAbs(home) {
		return Paths{}, fmt.Errorf("find the folder for floodmark: the home folder %q is not a full path (set HOME)", home)
	}
	folder := func(variable string, usual ...string) string {
		if v := getenv(variable); filepath.IsAbs(v) {
			return filepath.Join(v, "floodmark")
		}
		return filepath.Join(append([]string{home}, append(usual, "floodmark")...)...)
	}
	// The hook program finds the socket by the same rule.
	hook, err := hookframe.SocketPath(func(name string) string {
		if name == "HOME" {
			return home
		}
		return getenv(name)
	})
	if err != nil {
		return Paths{}, err
	}
	state := folder("XDG_STATE_HOME", ".local", "state")
	p := under(folder("XDG_CONFIG_HOME", ".config"), folder("XDG_DATA_HOME", ".local", "share"), state, filepath.Dir(hook))
	p.HookSocket, p.Home = hook, home
	if at := getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(at) {
		p.Bus = filepath.Join(at, "bus")
	}
	return p, nil
}

// UsualOwnerSockets returns the possible owner sockets of a person's monitor, unless variables put
// it elsewhere.
func UsualOwnerSockets(uid int, home string) []string {
	list := []string{filepath.Join("/run/user", strconv.Itoa(uid), "floodmark", "owner.sock")}
	if filepath.IsAbs(home) {
		list = append(list, filepath.Join(home, ".local", "state", "floodmark", "run", "owner.sock"))
	}
	return list
}

// SystemPaths returns the paths of the machine's installation.
func SystemPaths() Paths { return under(systemConfig, systemData, systemState, systemRuntime) }

// DirPaths returns paths that are all below one folder: for tests, and for trying the program
// without leaving traces elsewhere.
func DirPaths(dir string) Paths {
	return under(filepath.Join(dir, "config"), filepath.Join(dir, "data"), filepath.Join(dir, "state"), filepath.Join(dir, "run"))
}

func under(config, data, state, runtime string) Paths {
	return Paths{
		Policy:      filepath.Join(config, "policy.yaml"),
		Service:     filepath.Join(config, "service.yaml"),
		Gateway:     filepath.Join(config, "gateway.yaml"),
		Journal:     filepath.Join(data, "journal.db"),
		Keys:        filepath.Join(data, "keys"),
		Tokens:      filepath.Join(data, "tokens.json"),
		Fleets:      filepath.Join(data, "fleets.json"),
		Fleet:       filepath.Join(data, "fleet.json"),
		FleetBundle: filepath.Join(data, "fleet-bundle.json"),
		Bundles:     filepath.Join(data, "bundles"),
		Witness:     filepath.Join(state, "witness"),
		Originals:   filepath.Join(state, "originals"),
		Proofs:      filepath.Join(state, "proofs.json"),
		Pins:        filepath.Join(state, "mcp-pins.json"),
		Logins:      filepath.Join(state, "mcp-logins.json"),
		Checked:     filepath.Join(state, "checked.json"),
		Cards:       filepath.Join(state, "telegram"),
		Teams:       filepath.Join(state, "teams"),
		Versions:    filepath.Join(state, "policy-versions"),
		Log:         filepath.Join(state, "monitor.log"),
		Running:     filepath.Join(state, "running"),
		HookSocket:  filepath.Join(runtime, "hook.sock"),
		OwnerSocket: filepath.Join(runtime, "owner.sock"),
	}
}

// CheckSockets refuses socket paths that are too long for the system.
func (p Paths) CheckSockets() error {
	for _, s := range []string{p.HookSocket, p.OwnerSocket} {
		if len(s) > hookframe.MaxSocketPath {
			return fmt.Errorf("the socket's path %s has %d characters, and the system takes %s (set XDG_RUNTIME_DIR to a shorter folder)",
				s, len(s), strconv.Itoa(hookframe.MaxSocketPath))
		}
	}
	return nil
}
