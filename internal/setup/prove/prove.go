// Package prove sends canaries through the path of an agent's calls, to check that a refusal comes
// back in the form that the agent obeys. The canary for the running monitor is a message that is
// not a valid call, so it is refused before a person is asked, and nothing is written to the
// journal. The agent itself is only started in a home of its own, which is removed afterwards.
package prove

import (
	"context"
	"strings"
	"time"

	"github.com/floodmark/floodmark/integrations"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
	"github.com/floodmark/floodmark/internal/setup/protect"
)

// A Grade says how much was proved.
type Grade string

// The grades. The zero value means that nothing was tried.
const (
	// HostVerified means that the agent itself was run, and asked and obeyed.
	HostVerified Grade = "host-verified"
	// AdapterVerified means that our side gives the answer in the form that the agent obeys.
	AdapterVerified Grade = "adapter-verified"
	// Failed means that something was tried and did not work.
	Failed Grade = "failed"
	// NotProtected means that there was nothing to try.
	NotProtected Grade = "not-protected"
)

// Title returns the grade for people, such as "HOST VERIFIED".
func (g Grade) Title() string { return strings.ToUpper(strings.ReplaceAll(string(g), "-", " ")) }

// A Result is the proof of one agent. Fields are only added.
type Result struct {
	Agent   string `json:"agent"`
	Title   string `json:"title"`
	Version string `json:"version,omitempty"`
	Grade   Grade  `json:"grade"`
	// Seen describes what worked. Untried describes what was not tried, and why.
	Seen    []string `json:"seen"`
	Untried []string `json:"untried"`
	// Why says what did not work.
	Why string `json:"why,omitempty"`
	// Holes are the known gaps in the coverage of the agent's hooks, whatever the grade is.
	Holes []integrations.Hole `json:"holes"`
	At    time.Time           `json:"at"`
	// Rewrites is set if the agent ran the command that it got in place of its own.
	Rewrites bool `json:"rewrites"`

	program string // the digest of the agent's program
}

// Verified reports whether something was proved and nothing failed.
func (r Result) Verified() bool { return r.Grade == HostVerified || r.Grade == AdapterVerified }

// Agent tries everything that can be tried with an agent that was found on a machine. A monitor
// must listen at the machine's socket.
func Agent(ctx context.Context, m protect.Machine, f protect.Found, now time.Time) Result {
	r := Result{Agent: f.Name, Title: f.Title, Version: f.Version, Grade: Failed, Seen: []string{}, Untried: []string{}, Holes: []integrations.Hole{}, At: now}
	covers, err := integrations.Covers()
	if err != nil {
		r.Why = err.Error()
		return r
	}
	r.Holes = append(r.Holes, covers[f.Name].Holes...)
	switch f.State {
	case protect.Protected:
	case protect.Open, "":
		r.Grade, r.Why = NotProtected, "nothing of ours is in its settings"
		return r
	default:
		r.Why = f.Why
		return r
	}
	r.program, _ = programDigest(f.Program) // without a digest, only the version is compared
	r.adapter(ctx, m)
	if r.Grade == AdapterVerified {
		r.host(ctx, m, f)
	}
	return r
}

// Planned tries the agents of a plan that was applied. It calls say before each agent.
func Planned(ctx context.Context, m protect.Machine, plan *protect.Plan, now time.Time, say func(string)) (list []Result) {
	for _, a := range plan.Agents {
		say("Trying " + a.Title + ": what is forbidden must not run")
		f, _, err := m.Find(ctx, a.Name)
		if err != nil {
			f = a
		}
		list = append(list, Agent(ctx, m, f, now))
	}
	return list
}

func (r *Result) adapter(ctx context.Context, m protect.Machine) {
	starts, err := ask(ctx, m, r.Agent)
	if err == nil && !starts {
		err = r.shim(ctx, m)
	}
	if err != nil {
		r.Why = err.Error()
		return
	}
	r.Grade = AdapterVerified
	if starts {
		r.Seen = append(r.Seen, "the hook in its settings was run, and the monitor's no came back in the agent's own words")
	}
}

// ask sends a canary to the running monitor. If the agent's hooks are programs (starts), it runs
// the hook in the agent's settings. Otherwise it asks as the agent's plugin would.
func ask(ctx context.Context, m protect.Machine, agent string) (starts bool, err error) {
	if _, starts = canaryOf(agent); !starts {
		return false, askItself(ctx, m, agent)
	}
	commands, err := m.Commands(agent)
	if err == nil {
		err = runCommand(ctx, agent, commands, variables(m))
	}
	return true, err
}

func (r *Result) host(ctx context.Context, m protect.Machine, f protect.Found) {
	h, known := hostOf(f.Name)
	switch {
	case !known:
		r.Untried = append(r.Untried, "the agent itself was not started: we know no way to do so here")
	case m.System:
		r.Untried = append(r.Untried, "the agent itself was not started: that is done with a person's settings only")
	case f.Program == "":
		r.Untried = append(r.Untried, "the agent itself was not started: its program is not on PATH")
	default:
		own, err := h.try(ctx, m, f)
		if err != nil {
			r.Grade, r.Why = Failed, "started in an empty home with our settings: "+err.Error()
			return
		}
		r.Grade, r.Untried = HostVerified, []string{} // the agent itself has run all parts
		r.Seen = append(r.Seen, "started in an empty home with our settings and a scripted model, it ran the command that was allowed and did not run the one that was refused")
		if r.Rewrites = own == ""; r.Rewrites {
			r.Seen = append(r.Seen, "given another command in place of its own, it ran that one and not its own")
		} else {
			r.Untried = append(r.Untried, own)
		}
	}
}

// variables returns the person's environment variables that hooks read.
func variables(m protect.Machine) []string {
	list := []string{"LANG=C.UTF-8"}
	for _, name := range []string{"HOME", "PATH", "XDG_RUNTIME_DIR", "XDG_STATE_HOME", hookframe.SocketVariable} {
		if v := m.Getenv(name); v != "" {
			list = append(list, name+"="+v)
		}
	}
	return list
}

// socket returns the path of the socket at which the hooks of a machine ask the monitor.
func socket(m protect.Machine) (string, error) {
	if m.Socket != "" {
		return m.Socket, nil
	}
	return hookframe.SocketPath(m.Getenv)
}
