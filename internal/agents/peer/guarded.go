package peer

import (
	"path"
	"slices"
	"strings"
	"sync"
)

// A Guarded holds the processes of protected agents. A process below one of them acts for the
// agent, not for the owner, although both are the same user. It is safe for concurrent use.
type Guarded struct {
	table Table

	mu   sync.Mutex // guards what is below
	last []agent    // oldest first
}

// An agent is a guarded process and the agent's name.
type agent struct {
	Process
	name string
}

// maxGuarded bounds the remembered processes. Processes that ended, and those below another one,
// are dropped first.
const maxGuarded = 4096

// NewGuarded returns an empty set over the given table.
func NewGuarded(t Table) *Guarded { return &Guarded{table: t} }

// Note remembers the agent behind a hook program and returns its process: the outermost ancestor
// that looks like the named agent, or else the process that started the hook. The name must be that
// of a known agent, because with a free choice of the name a hook could make the owner's terminal
// an agent.
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

// sweep drops processes that ended. If too many are left, it drops those that have an ancestor in
// the list, because the ancestor covers them, and only then the oldest. So an agent cannot get
// itself forgotten by starting many processes.
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

// Below returns the name of a guarded agent that p descends from. It ignores agents whose name is
// except, because the hook program of an agent is below that agent.
func (g *Guarded) Below(p Peer, except string) (name string, below bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, a := range g.last {
		if a.name != except && slices.ContainsFunc(p.Ancestors, func(up Info) bool { return up.Process == a.Process }) {
			return a.name, true
		}
	}
	return "", false
}

// Among returns which of these processes are guarded agents. It ignores agents whose name is except.
func (g *Guarded) Among(list []Info, except string) (found []Process) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, p := range list {
		if slices.ContainsFunc(g.last, func(a agent) bool { return a.Process == p.Process && (except == "" || a.name != except) }) {
			found = append(found, p.Process)
		}
	}
	return found
}

// Above returns the name of a guarded agent that p is or descends from.
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

// Free reports whether a running process is neither a guarded agent nor below one. If that cannot
// be found out, it returns false.
func (g *Guarded) Free(pid int) bool {
	p, err := Trace(g.table, pid)
	if err != nil {
		return false
	}
	_, guarded := g.Above(p)
	return !guarded
}

// Len returns how many agents are remembered.
func (g *Guarded) Len() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.last)
}

// agentOf returns the agent's process. A hook is a child of the agent, perhaps through a shell; a
// plugin runs in the agent's own process.
func agentOf(name string, hook Peer) Process {
	chain := append([]Info{hook.Info}, hook.Ancestors...)
	for _, p := range slices.Backward(chain) {
		// The hook program has the agent's name among its arguments.
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

// Starter returns the process that started the hook of the named agent: the nearest ancestor that
// looks like that agent, or else the nearest one that is not a shell told to run the hook. It
// reports false if there is none.
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

// Runs reports whether a process runs the named program. A process can give itself any name, so
// this shows only who it claims to be.
func Runs(name string, p Info) bool { return !isHook(p) && looksLike(name, p) }

// looksLike reports whether a process runs the named agent, by its own name, by the program it was
// started as, or by the script that an interpreter runs.
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

// programs returns the names of an agent's program if they differ from the agent's.
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

// starts reports whether a process is a shell that was told what to run. A shell that a person
// types into is not: it started the hook itself, and above it is the owner's terminal.
func starts(p Info) bool {
	if p.Name == "timeout" { // our settings run the hook under timeout
		return true
	}
	if !slices.Contains([]string{"sh", "bash", "dash", "zsh", "fish", "busybox", "env"}, p.Name) {
		return false
	}
	return slices.ContainsFunc(p.Command[:min(len(p.Command), 4)], func(word string) bool { // such as -c, -lc
		return strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && strings.HasSuffix(word, "c")
	})
}

// isReaper reports whether a process adopts processes whose parent has ended. The owner's terminals
// are below it, too.
func isReaper(p Info) bool {
	return p.PID == 1 || slices.Contains([]string{"systemd", "init", "launchd"}, p.Name)
}
