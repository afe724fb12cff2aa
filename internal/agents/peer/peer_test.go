package peer

import (
	"errors"
	"fmt"
	"testing"
)

// A machine is a table of invented processes.
type machine map[int]Info

func (m machine) Look(pid int) (Info, error) {
	p, ok := m[pid]
	if !ok {
		return Info{}, fmt.Errorf("%w: %d", ErrUnknown, pid)
	}
	return p, nil
}

func process(pid, parent int, start uint64, name string, words ...string) Info {
	return Info{Process: Process{PID: pid, Start: start}, Parent: parent, Name: name, Command: words, Terminal: true}
}

// desk returns a machine with a terminal in which an agent runs, the agent's shell, and the owner's
// second terminal.
func desk() machine {
	m := machine{}
	for _, p := range []Info{
		process(1, 0, 1, "init"),
		process(10, 1, 10, "terminal"),
		process(11, 10, 11, "bash"),
		process(12, 11, 20, "node", "node", "/usr/lib/node_modules/.bin/codex", "exec"),
		process(13, 12, 21, "codex", "/opt/codex"),
		process(14, 13, 30, "sh", "sh", "-c", "floodmark-hook codex PreToolUse"),
		process(15, 14, 31, "floodmark-hook", "floodmark-hook", "codex", "PreToolUse"),
		process(16, 13, 32, "bash", "bash", "-lc", "floodmark approve 12345678"),
		process(17, 16, 33, "floodmark", "floodmark", "approve"),
		process(20, 10, 12, "bash"),
		process(21, 20, 40, "floodmark", "floodmark", "approve"),
	} {
		m[p.PID] = p
	}
	return m
}

func at(t *testing.T, m machine, pid int) Peer {
	t.Helper()
	p, err := Trace(m, pid)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestTheAgentsHandIsNotTheOwners(t *testing.T) {
	m := desk()
	g := NewGuarded(m)
	if got := g.Note("codex", at(t, m, 15)); got.PID != 12 {
		t.Errorf("the agent is process %d, want 12, the outermost that looks like it", got.PID)
	}
	g.Note("codex", at(t, m, 15))
	if g.Len() != 1 {
		t.Errorf("%d agents remembered, want 1", g.Len())
	}
	for pid, want := range map[int]bool{12: true, 13: true, 15: true, 17: true, 21: false, 11: false, 20: false} {
		if _, got := g.Above(at(t, m, pid)); got != want {
			t.Errorf("process %d below a guarded agent: %v, want %v", pid, got, want)
		}
	}
}

func TestAnAgentNobodyKnowsIsWhoeverStartedTheHook(t *testing.T) {
	m := desk()
	if got := agentOf("unheard-of", at(t, m, 15)); got.PID != 13 {
		t.Errorf("process %d, want 13: the nearest that is no shell", got.PID)
	}
	if got := agentOf("unheard-of", at(t, m, 13)); got.PID != 13 {
		t.Errorf("process %d, want 13: an in-process plugin is the agent", got.PID)
	}
}

// An agent that runs under another name is still found, although its hook program was given the
// agent's name.
func TestARenamedAgentIsFound(t *testing.T) {
	m := desk()
	m[12] = process(12, 11, 20, "helper", "/opt/helper-1.2")
	m[13] = process(13, 12, 21, "helper-x86", "/opt/helper-x86")
	if got := agentOf("codex", at(t, m, 15)); got.PID != 13 {
		t.Errorf("process %d, want 13: whoever started the hook", got.PID)
	}
}

// A hook whose agent has ended, or that a person tries by hand, must not make an agent of the
// process from which all terminals descend.
func TestTheOwnersTerminalIsNoAgent(t *testing.T) {
	m := desk()
	m[14] = process(14, 1, 30, "sh", "sh", "-c", "floodmark-hook codex PreToolUse")
	if got := agentOf("codex", at(t, m, 15)); got.PID != 15 {
		t.Errorf("an orphan: process %d, want 15, itself", got.PID)
	}
	m[15] = process(15, 20, 31, "floodmark-hook", "floodmark-hook", "codex", "PreToolUse")
	m[20] = process(20, 10, 12, "bash", "-bash")
	if got := agentOf("codex", at(t, m, 15)); got.PID != 20 {
		t.Errorf("by hand: process %d, want 20, the shell it was typed into", got.PID)
	}
	m[20] = process(20, 10, 12, "bash", "bash", "agent.sh")
	if got := agentOf("codex", at(t, m, 15)); got.PID != 20 {
		t.Errorf("from a script: process %d, want 20, the script", got.PID)
	}
}

// A process with the number of one that ended is another process.
func TestAUsedAgainNumberIsNotGuarded(t *testing.T) {
	m := desk()
	g := NewGuarded(m)
	g.Note("codex", at(t, m, 15))
	m[12] = process(12, 11, 99, "vim")
	delete(m, 13)
	if _, got := g.Above(at(t, m, 12)); got {
		t.Error("a new process with an old number is taken for the agent")
	}
}

func TestWhatCannotBeFoundOutIsAnError(t *testing.T) {
	m := desk()
	delete(m, 11)
	if _, err := Trace(m, 17); !errors.Is(err, ErrUnknown) {
		t.Errorf("a missing ancestor: %v", err)
	}
	m = desk()
	m[11] = process(11, 10, 25, "bash") // younger than its child
	if _, err := Trace(m, 17); !errors.Is(err, ErrUnknown) {
		t.Errorf("a parent younger than its child: %v", err)
	}
	m = machine{1: process(1, 0, 1, "init")}
	for i := 2; i <= maxAncestors+2; i++ {
		m[i] = process(i, i-1, uint64(i), "p")
	}
	if _, err := Trace(m, maxAncestors+1); err != nil {
		t.Errorf("%d ancestors: %v", maxAncestors, err)
	}
	if _, err := Trace(m, maxAncestors+2); !errors.Is(err, ErrUnknown) {
		t.Errorf("%d ancestors: %v", maxAncestors+1, err)
	}
}

// restless changes a parent at every look.
type restless struct {
	machine
	n *int
}

func (r restless) Look(pid int) (Info, error) {
	*r.n++
	p, err := r.machine.Look(pid)
	if pid == 11 {
		p.Start = uint64(*r.n) % 10
	}
	return p, err
}

func TestAChangingChainProvesNothing(t *testing.T) {
	n := 0
	if _, err := Trace(restless{desk(), &n}, 17); !errors.Is(err, ErrUnknown) {
		t.Errorf("got %v", err)
	}
}

// An agent that starts thousands of processes is not forgotten because of that.
func TestAnAgentIsNotCrowdedOutByItsChildren(t *testing.T) {
	m := machine{1: process(1, 0, 1, "init"), 2: process(2, 1, 2, "codex")}
	g := NewGuarded(m)
	g.NoteItself(at(t, m, 2))
	for i := 3; i <= 2*maxGuarded; i++ {
		m[i] = process(i, 2, uint64(i), "child")
		g.NoteItself(at(t, m, i))
		if g.Len() > maxGuarded {
			t.Fatalf("child %d: %d remembered", i, g.Len())
		}
	}
	m[9*maxGuarded] = process(9*maxGuarded, 2, uint64(9*maxGuarded), "sh")
	if _, ok := g.Above(at(t, m, 9*maxGuarded)); !ok {
		t.Error("the agent was crowded out by its children")
	}
}

func TestTheOldestAreLetGoWhenAllStillRun(t *testing.T) {
	m := machine{1: process(1, 0, 1, "init")}
	g := NewGuarded(m)
	for i := 2; i <= maxGuarded+2; i++ {
		m[i] = process(i, 1, uint64(i), "agent")
		g.Note("agent", at(t, m, i))
	}
	if g.Len() != maxGuarded {
		t.Errorf("%d remembered, want %d", g.Len(), maxGuarded)
	}
	if _, ok := g.Above(at(t, m, maxGuarded+2)); !ok {
		t.Error("the newest was let go")
	}
	for i := 3; i < 100; i++ {
		delete(m, i)
	}
	m[5000+maxGuarded] = process(5000+maxGuarded, 1, 7, "agent")
	g.Note("agent", at(t, m, 5000+maxGuarded))
	if g.Len() >= maxGuarded {
		t.Error("agents that ended are still remembered")
	}
}

// Below checks only ancestors, and ignores those of the agent itself.
func TestBelow(t *testing.T) {
	m := desk()
	g := NewGuarded(m)
	g.Note("codex", at(t, m, 15))
	for pid, want := range map[int]bool{12: false, 13: true, 15: true, 17: true, 21: false, 11: false} {
		if _, got := g.Below(at(t, m, pid), "pi"); got != want {
			t.Errorf("process %d: %v, want %v", pid, got, want)
		}
		if _, got := g.Below(at(t, m, pid), "codex"); got {
			t.Errorf("process %d is below its own agent", pid)
		}
	}
}

// The nearest ancestor that looks like the agent started the hook, not its wrapper. Without one it
// is the nearest that is no shell, but never the process from which everything descends.
func TestStarter(t *testing.T) {
	for name, c := range map[string]struct {
		chain []Info
		want  int
	}{
		"through a shell":         {[]Info{process(14, 13, 30, "sh", "sh", "-c", "x"), process(13, 12, 21, "codex"), process(12, 11, 20, "node", "node", "codex")}, 13},
		"a shell nobody knows":    {[]Info{process(14, 13, 30, "nu", "nu", "-c", "x"), process(13, 12, 21, "codex")}, 13},
		"by another name":         {[]Info{process(14, 13, 30, "sh", "sh", "-c", "x"), process(13, 12, 21, "helper"), process(12, 11, 20, "bash")}, 13},
		"with a limit of time":    {[]Info{process(14, 13, 30, "timeout", "/usr/bin/timeout", "-s", "KILL", "15"), process(13, 12, 29, "sh", "sh", "-c", "x"), process(12, 11, 21, "helper")}, 12},
		"a hook is no agent":      {[]Info{process(14, 13, 30, "floodmark-hook", "floodmark-hook", "codex"), process(13, 12, 21, "codex")}, 13},
		"left its family":         {[]Info{process(14, 1, 30, "sh", "sh", "-c", "x"), process(1, 0, 1, "init")}, 0},
		"nobody":                  {nil, 0},
		"shells to the very end":  {[]Info{process(14, 13, 30, "sh", "sh", "-c", "x")}, 0},
		"first process, an agent": {[]Info{process(1, 0, 1, "codex")}, 1},
	} {
		got, ok := Starter("codex", Peer{Info: process(15, 14, 31, "floodmark-hook"), Ancestors: c.chain})
		if ok != (c.want != 0) || ok && got.PID != c.want {
			t.Errorf("%s: %v %v, want %d", name, got, ok, c.want)
		}
	}
}

// An agent's program may have another name than the agent.
func TestProgramsOfAgents(t *testing.T) {
	for agent, chain := range map[string][]Info{
		"claude-code": {process(14, 13, 30, "nu", "nu", "x"), process(13, 12, 21, "claude")},
		"copilot-cli": {process(14, 13, 30, "nu", "nu", "x"), process(13, 12, 21, "node", "node", "/opt/bin/copilot")},
		"cursor":      {process(14, 13, 30, "nu", "nu", "x"), process(13, 12, 21, "cursor-agent")},
		"gemini-cli":  {process(14, 13, 30, "nu", "nu", "x"), process(13, 12, 21, "node", "node", "/opt/bundle/gemini.js", "-p")},
	} {
		p := Peer{Info: process(15, 14, 31, "floodmark-hook"), Ancestors: chain}
		if got, ok := Starter(agent, p); !ok || got.PID != 13 {
			t.Errorf("%s: %v %v", agent, got, ok)
		}
		if got, ok := Starter("other", p); !ok || got.PID != 14 {
			t.Errorf("another agent than %s: %v %v", agent, got, ok)
		}
	}
}
