package speakers

import (
	"maps"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents/peer"
)

// A gateway is started by the agent whose calls it sees. If that agent's process has one session,
// the calls belong to that session. So both have one mark, and a call that the agent's hook has
// already reported is matched, not counted twice. If an agent has no hooks, or several sessions,
// the session of a call is unknown. Then all gateways that one process started share one session,
// so that what was read through one server lowers the mark for what is sent through another.
//
// A program below an agent cannot get rid of the mark of what that agent has read. A gateway's
// session gets the marks of all sessions of all agents above the gateway, even if one of them began
// a second session, or if a process below them calls itself an agent. A gateway may name its
// session, which can add a mark but removes none.

// crowdedLine is what the agent reads if the session of a gateway can no longer be found.
const crowdedLine = "Floodmark refuses this because it was not judged: too many programs started gateways. Restart the monitor: floodmark serve."

// strangerLine is what the client reads if the process it named as its own has ended.
const strangerLine = "Floodmark refuses this because it was not judged: the program that calls is not there any more. Restart the client."

// A shared is the session of all gateways that one process started.
type shared struct {
	session floodmark.SessionID
	first   peer.Process // the gateway that began it
}

// placed says which sessions belong to the processes that started a gateway.
type placed struct {
	// beside are further sessions. The session of the gateway's event takes on their marks too.
	beside []floodmark.SessionID
	// lost says that there are more such sessions than are known.
	lost bool
	// below says that the gateway's client was started by a guarded agent. It is also true if
	// several clients use the gateway and it is unknown which of them calls.
	below bool
}

// join assigns an event of a gateway to the session of the agent that started it; done says that
// nothing is left to judge, and answer is the reply.
func (b *branches) join(s Speaker, ev hook.Event) (joined hook.Event, by placed, answer hook.Reply, done bool) {
	claim, caller := ev.Claims, ev.Caller
	ev.Claims, ev.Caller = "", hook.Process{}
	apart := strings.HasPrefix(string(ev.Session), apartSession)
	if !s.Local || s.PID == 0 || !apart && !strings.HasPrefix(string(ev.Session), hook.GatewaySession) {
		return ev, placed{}, hook.Reply{}, false
	}
	below := apart
	if caller != (hook.Process{}) {
		above, ok := b.callers(ev.Session, peer.Process{PID: caller.PID, Start: caller.Start})
		if !ok {
			return ev, placed{}, hook.Reply{Line: strangerLine}, true
		}
		below = len(b.guarded.Among(above, "")) > 0
		s.Ancestors = append(above, s.Ancestors...)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	first := false
	nearest, by := b.hosts(s)
	by.below = below
	if nearest == nil && claim != "" && len(by.beside) == 0 {
		by.beside = []floodmark.SessionID{claim}
	}
	switch {
	case nearest != nil:
		ev.Session = nearest.session
		if ev.Call.Server != "" { // what the gateway reads by itself stays its own
			ev.Agent = nearest.agent
		}
	case apart:
		first = true // each client of such a gateway has a session of its own
	default:
		all, ok := b.started(s, ev.Session)
		if !ok {
			return ev, placed{}, hook.Reply{Line: crowdedLine}, true
		}
		ev.Session, first = all.session, all.first == s.Process
	}
	if !first && (ev.Point == hook.SessionStart || ev.Point == hook.SessionEnd) {
		// Another speaker reports when this session begins and ends.
		return ev, by, hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free}}, true
	}
	return ev, by, hook.Reply{}, false
}

// hosts returns the nearest agent above a speaker, or nil if that agent's calls cannot be assigned to
// one session. by.beside has the sessions of all other agents above.
func (b *branches) hosts(s Speaker) (nearest *spoke, by placed) {
	by.lost = b.full
	found := false
	for _, up := range s.Ancestors {
		was := b.speakers[up.Process]
		if was == nil {
			continue
		}
		if !found && !was.many && !b.full {
			nearest = was
		} else {
			by.beside = append(by.beside, was.session)
			by.beside = append(by.beside, was.others...)
			by.lost = by.lost || was.lost
		}
		found = true
	}
	slices.Sort(by.beside)
	by.beside = slices.Compact(by.beside)
	if nearest != nil {
		by.beside = slices.DeleteFunc(by.beside, func(id floodmark.SessionID) bool { return id == nearest.session })
	}
	if b.full && !found {
		by.lost = true
	}
	return nearest, by
}

// callers returns the process for which a shared gateway speaks, and the processes above it. If the
// process has ended, callers returns what it found when the process still ran.
func (b *branches) callers(session floodmark.SessionID, caller peer.Process) ([]peer.Info, bool) {
	traced, err := peer.Trace(b.table, caller.PID)
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil && traced.Process == caller {
		above := append([]peer.Info{traced.Info}, traced.Ancestors...)
		if len(b.called) >= maxBranches {
			clear(b.called)
		}
		b.called[session] = above
		return above, true
	}
	above, known := b.called[session]
	return above, known && above[0].Process == caller
}

// started returns the session of all gateways that the process above a speaker started; the first
// one to speak names it.
func (b *branches) started(s Speaker, session floodmark.SessionID) (shared, bool) {
	if len(s.Ancestors) == 0 {
		return shared{session, s.Process}, true
	}
	parent := s.Ancestors[0].Process
	if all, ok := b.gateways[parent]; ok {
		return all, true
	}
	if len(b.gateways) >= maxBranches {
		maps.DeleteFunc(b.gateways, func(p peer.Process, _ shared) bool { return b.ended(p) })
	}
	if len(b.gateways) >= maxBranches {
		return shared{}, false
	}
	b.gateways[parent] = shared{session, s.Process}
	return b.gateways[parent], true
}
