package peer

import (
	"path"
	"slices"
	"strings"
	"sync"
)

// Guarded holds the processes of protected agents. A process that descends from
// one acts for the agent, not for the owner, though both are the same user. It is
// safe for concurrent use.
type Guarded struct {
	table Table

	mu   sync.Mutex // guards what is below
	last []agent    // oldest first
}

// An agent is a guarded process and what it is called.
type agent struct {
	Process
	name string
}

// maxGuarded bounds how many are remembered. Those that ended, and those below
// another one, are let go first.
const maxGuarded = 4096

// NewGuarded returns an empty set over the given table.
func NewGuarded(t Table) *Guarded { return &Guarded{table: t} }

// Note remembers the agent behind a hook program: the outermost ancestor that
// looks like the named agent, or else the process that started the hook. It returns that
// process. The name must be that of an agent we know: with a name of its own
// choice a hook could make an agent of the owner's terminal.
func (g *Guarded) Note(name string, hook Peer) Process {
	p := agentOf(name, hook)
	g.add(agent{p, name})
	return p
}

// NoteItself remembers an agent that reports by itself, without a hook program.
func (g *Guarded) NoteItself(p Peer) { g.add(agent{p.Process, p.Name}) }

func (g *Guarded) add(a agent) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if slices.ContainsFunc(g.last, func(o agent) bool { return o.Process == a.Process }) {
		return
	}
	if len(g.last) >= maxGuarded {
		g.sweep()
	}
	g.last = append(g.last, a)
}

// sweep lets go of processes that ended, then of those below another one, which
// is guard enough, and only then of the oldest: an agent must not be forgotten
// because it started so many.
func (g *Guarded) sweep() {
	g.last = slices.DeleteFunc(g.last, func(a agent) bool {
		now, err := g.table.Look(a.PID)
		return err != nil || now.Process != a.Process
	})
	if len(g.last) < maxGuarded {
		return
	}
	known := make(map[Process]bool, len(g.last))
	for _, a := range g.last {
		known[a.Process] = true
	}
	g.last = slices.DeleteFunc(g.last, func(a agent) bool {
		p, err := Trace(g.table, a.PID)
		return err == nil && p.Process == a.Process && slices.ContainsFunc(p.Ancestors, func(up Info) bool { return known[up.Process] })
	})
	if len(g.last) >= maxGuarded {
		g.last = slices.Delete(g.last, 0, len(g.last)-maxGuarded+1)
	}
}

// Below returns the guarded agent that p descends from, leaving out those of
// one name: the hook program of an agent is below that agent.
func (g *Guarded) Below(p Peer, but string) (name string, below bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, a := range g.last {
		if a.name != but && slices.ContainsFunc(p.Ancestors, func(up Info) bool { return up.Process == a.Process }) {
			return a.name, true
		}
	}
	return "", false
}

// Among returns which of these processes are guarded agents, leaving out those of
// one name.
func (g *Guarded) Among(list []Info, but string) (found []Process) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, p := range list {
		if slices.ContainsFunc(g.last, func(a agent) bool { return a.Process == p.Process && (but == "" || a.name != but) }) {
			found = append(found, p.Process)
		}
	}
	return found
}

// Above returns the guarded agent that p is or descends from.
func (g *Guarded) Above(p Peer) (name string, guarded bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, a := range g.last {
		if a.Process == p.Process {
			return a.name, true
		}
		for _, up := range p.Ancestors {
			if a.Process == up.Process {
				return a.name, true
			}
		}
	}
	return "", false
}

// Free reports whether a running process is no guarded agent, nor below one. What cannot
// be told counts as neither.
func (g *Guarded) Free(pid int) bool {
	p, err := Trace(g.table, pid)
	if err != nil {
		return false
	}
	_, guarded := g.Above(p)
	return !guarded
}

// Len is how many agents are remembered.
func (g *Guarded) Len() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.last)
}

// agentOf finds the agent's process. A hook is a child of the agent, perhaps
// through a shell; an in-process plugin is the agent itself.
func agentOf(name string, hook Peer) Process {
	chain := append([]Info{hook.Info}, hook.Ancestors...)
	for _, p := range slices.Backward(chain) {
		// The hook program has the agent's name among its own words.
		if !isHook(p) && looksLike(name, p) {
			return p.Process
		}
	}
	if !isHook(hook.Info) {
		return hook.Process
	}
	for _, up := range hook.Ancestors {
		switch {
		case isReaper(up):
			return hook.Process // its agent has ended
		case !starts(up):
			return up.Process
		}
	}
	return hook.Process
}

// Starter finds the process that started the hook of the named agent: the
// nearest ancestor that looks like that agent, else the nearest that is no shell
// told to run it. It reports false if there is none.
func Starter(name string, hook Peer) (Process, bool) {
	for _, up := range hook.Ancestors {
		if !isHook(up) && looksLike(name, up) {
			return up.Process, true
		}
	}
	for _, up := range hook.Ancestors {
		if !starts(up) {
			return up.Process, !isReaper(up)
		}
	}
	return Process{}, false
}

// Runs reports whether a process runs the named program. A process can give
// itself any name, so this is a claim and no proof.
func Runs(name string, p Info) bool { return !isHook(p) && looksLike(name, p) }

// looksLike reports whether a process runs the named agent: by its own name, by
// the program it was started as, or by the script an interpreter runs.
func looksLike(name string, p Info) bool {
	names := append([]string{name}, programs(name)...)
	if slices.Contains(names, p.Name) {
		return true
	}
	for _, word := range p.Command[:min(len(p.Command), 3)] {
		base := path.Base(word)
		if slices.Contains(names, base) || slices.Contains(names, strings.TrimSuffix(strings.TrimSuffix(base, ".js"), ".mjs")) {
			return true
		}
	}
	return false
}

// programs are what an agent's program is called, where not like the agent.
func programs(agent string) []string {
	switch agent {
	case "claude-code":
		return []string{"claude"}
	case "copilot-cli":
		return []string{"copilot"}
	case "cursor":
		return []string{"cursor-agent"}
	case "gemini-cli":
		return []string{"gemini"}
	}
	return nil
}

func isHook(p Info) bool { return strings.HasPrefix(p.Name, "floodmark") }

// starts reports whether a process is a shell that was told what to run. One
// that a person types into started the hook itself: above it is the owner's
// terminal.
func starts(p Info) bool {
	if p.Name == "timeout" { // our settings put one around the hook
		return true
	}
	if !slices.Contains([]string{"sh", "bash", "dash", "zsh", "fish", "busybox", "env"}, p.Name) {
		return false
	}
	return slices.ContainsFunc(p.Command[:min(len(p.Command), 4)], func(word string) bool { // such as -c, -lc
		return strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && strings.HasSuffix(word, "c")
	})
}

// isReaper reports whether a process takes in those whose parent has ended. The
// owner's terminals are below it, too.
func isReaper(p Info) bool {
	return p.PID == 1 || slices.Contains([]string{"systemd", "init", "launchd"}, p.Name)
}
