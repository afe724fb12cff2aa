package peer

import (
	"path"
	"slices"
	"strings"
	"sync"
)

// Guarded are the processes of protected agents. Whoever descends from one is
// the agent's hand, not the owner's, though both are the same user. It is safe
// for concurrent use.
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

// maxGuarded bounds how many are remembered. Those that ended are let go first.
const maxGuarded = 4096

// NewGuarded returns an empty set over the given table.
func NewGuarded(t Table) *Guarded { return &Guarded{table: t} }

// Note remembers the agent behind a hook: the outermost ancestor that looks
// like the named agent, or else whoever started the hook. It returns that
// process.
func (g *Guarded) Note(name string, hook Peer) Process {
	p := agentOf(name, hook)
	g.mu.Lock()
	defer g.mu.Unlock()
	if !slices.ContainsFunc(g.last, func(a agent) bool { return a.Process == p }) {
		if len(g.last) >= maxGuarded {
			g.sweep()
		}
		g.last = append(g.last, agent{p, name})
	}
	return p
}

// sweep lets go of processes that ended, and of the oldest if none did.
func (g *Guarded) sweep() {
	g.last = slices.DeleteFunc(g.last, func(a agent) bool {
		now, err := g.table.Look(a.PID)
		return err != nil || now.Process != a.Process
	})
	if len(g.last) >= maxGuarded {
		g.last = slices.Delete(g.last, 0, len(g.last)-maxGuarded+1)
	}
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
		if looksLike(name, p) {
			return p.Process
		}
	}
	if !isHook(hook.Info) {
		return hook.Process
	}
	for _, up := range hook.Ancestors {
		if !isShell(up) {
			return up.Process
		}
	}
	return hook.Process
}

// looksLike reports whether a process runs the named agent: by its own name, by
// the program it was started as, or by the script an interpreter runs.
func looksLike(name string, p Info) bool {
	if p.Name == name {
		return true
	}
	for _, word := range p.Command[:min(len(p.Command), 3)] {
		base := path.Base(word)
		if base == name || strings.TrimSuffix(strings.TrimSuffix(base, ".js"), ".mjs") == name {
			return true
		}
	}
	return false
}

func isHook(p Info) bool { return strings.HasPrefix(p.Name, "floodmark") }

func isShell(p Info) bool {
	return slices.Contains([]string{"sh", "bash", "dash", "zsh", "fish", "busybox", "env"}, p.Name)
}
