package speakers

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents/peer"
)

// Some agents start a program at each hook. A command that such an agent runs can start the same
// program with words of its own. Three checks tell the two apart:
//   - The hook was started by the process that began the session.
//   - No call of that process is running, because the call could be the speaker.
//   - Every process between the hook and the agent began after the agent's last report of a call.
//     Otherwise an earlier call may have left the process behind.

// activities tracks the processes of agents that report by a program, and their calls in flight. It is
// in memory only. It is safe for concurrent use.
type activities struct {
	table peer.Table
	// ticks returns the current time on the clock of the process table.
	ticks func() uint64
	// since is when the monitor began to watch. Nothing is known about older processes.
	since uint64
	// native are the agents that ask in their own window. Their hook reports the answer only after
	// the call has run.
	native []string

	mu       sync.Mutex // guards what is below
	agents   map[peer.Process]*agentActivity
	sessions map[floodmark.SessionID]peer.Process
}

// agentActivity tracks the calls of one agent's process.
type agentActivity struct {
	open map[openCall]peer.Process // calls that may run and gave no result yet, with their hook
	lost bool                      // there were more calls than can be followed
	// last is the latest hook that reported a call or an end. ended is when the last answer to such
	// a hook was given.
	last  peer.Process
	ended uint64
}

type openCall struct {
	session floodmark.SessionID
	id      floodmark.CallID
}

// The limits on what is remembered. Beyond them no speaker is believed.
const (
	maxReporters = 4096
	maxSpoken    = 1 << 16 // sessions
	maxOpenCalls = 1024    // of one agent
)

func newActivities(t peer.Table, ticks func() uint64, native []string) *activities {
	return &activities{
		table: t, ticks: ticks, since: ticks(), native: native,
		agents: map[peer.Process]*agentActivity{}, sessions: map[floodmark.SessionID]peer.Process{},
	}
}

// Why the words of a hook are not taken for the owner's. Each error says what a person who did type
// them can do.
var (
	errNotItsAgent = errors.New("they do not come from the process that began this session (if you typed them, restart the session)")
	errBusy        = errors.New("a call of this agent is still running and could have said them (if you typed them: they count as the owner's again when the agent has finished its turn)")
	errLeftBehind  = errors.New("they come from a process that an earlier call may have left behind (if you typed them, repeat them)")
)

// believe returns why the words of a hook are not the owner's, or nil.
func (v *activities) believe(s Speaker, session floodmark.SessionID) error {
	return v.doubt(s, session, false)
}

// begins returns why a session is not believed to be new, or nil. A program that a call runs, or
// left behind, could report an old session as new, and the session's past would be forgotten. Before
// an agent has reported a call, its report is believed, even if its hook is older than this monitor:
// the hook may have started the monitor.
func (v *activities) begins(s Speaker, session floodmark.SessionID) error {
	return v.doubt(s, session, true)
}

func (v *activities) doubt(s Speaker, session floodmark.SessionID, begins bool) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	at, between, ok := v.place(s, session)
	switch {
	case !ok:
		return errNotItsAgent
	case at.lost || len(at.open) > 0:
		return errBusy
	case begins && at.last == (peer.Process{}):
		return nil
	}
	for _, p := range between {
		if !after(p.Process, at.last) || p.Start < at.ended {
			return errLeftBehind
		}
	}
	return nil
}

// note records what a hook reported and the answer. It must be called before the reply is sent.
func (v *activities) note(s Speaker, ev hook.Event, answered floodmark.Verdict) {
	v.mu.Lock()
	defer v.mu.Unlock()
	at, between, ok := v.place(s, ev.Session)
	if !ok {
		return
	}
	top := between[len(between)-1].Process // the child of the agent
	switch ev.Point {
	case hook.BeforeToolCall:
		switch {
		case !v.mayRun(ev.Agent, answered):
		case len(at.open) >= maxOpenCalls:
			at.lost = true
		default:
			at.open[openCall{ev.Session, ev.Call.ID}] = top
		}
	case hook.AfterToolCall:
		at.close(between, func(c openCall) bool { return c == openCall{ev.Session, ev.Call.ID} })
	case hook.BeforeResponseEmit, hook.SessionEnd:
		at.close(between, func(c openCall) bool { return c.session == ev.Session && !ev.GoesOn() })
	case hook.SubagentEnded:
		at.close(between, func(c openCall) bool { return c.session == ev.Child })
	default:
		return
	}
	if after(top, at.last) {
		at.last = top
	}
	at.ended = max(at.ended, v.ticks())
}

// mayRun reports whether a call may be running after an answer.
func (v *activities) mayRun(agent string, answered floodmark.Verdict) bool {
	return answered == floodmark.Allow || answered == floodmark.Confirm && slices.Contains(v.native, floodmark.Program(agent))
}

// after reports whether a process began after another. The clock of processes is coarse; within one
// tick their numbers decide, which the system gives in order.
func after(p, than peer.Process) bool {
	return p.Start > than.Start || p.Start == than.Start && p.PID > than.PID
}

// close ends the calls for which is returns true. It keeps a call unless all processes of the
// reporting hook began after the call's hook, because a program that one call runs must not end a
// later call.
func (a *agentActivity) close(between []peer.Info, is func(openCall) bool) {
	for call, hook := range a.open {
		fresh := true
		for _, p := range between {
			fresh = fresh && after(p.Process, hook)
		}
		if fresh && is(call) {
			delete(a.open, call)
		}
	}
}

// place finds the agent of a session above the speaker, and the processes up to it, the speaker
// first. A session belongs to the process that first reported it, as long as that process runs.
func (v *activities) place(s Speaker, session floodmark.SessionID) (at *agentActivity, between []peer.Info, ok bool) {
	agent, known := v.sessions[session]
	if known && !v.runs(agent) {
		known = false
		delete(v.agents, agent)
	}
	if !known {
		if agent, ok = v.agentAbove(s); !ok || !v.bind(session, agent) {
			return nil, nil, false
		}
	}
	between = []peer.Info{s.Info}
	for _, up := range s.Ancestors {
		if up.Process == agent {
			return v.agents[agent], between, true
		}
		between = append(between, up)
	}
	return nil, nil, false
}

// agentAbove returns the nearest known agent above the speaker, so that a program which an agent
// runs does not become an agent itself. If there is none, it returns the process that started the
// hook.
func (v *activities) agentAbove(s Speaker) (peer.Process, bool) {
	for _, up := range s.Ancestors {
		if v.agents[up.Process] != nil {
			return up.Process, true
		}
	}
	return peer.Starter(s.Agent, s.Peer)
}

// bind assigns a session to an agent. At the limits it returns false, and the session's speakers are
// not believed. It drops no session of a running agent to make room.
func (v *activities) bind(session floodmark.SessionID, agent peer.Process) bool {
	if v.agents[agent] == nil && len(v.agents) >= maxReporters || len(v.sessions) >= maxSpoken {
		v.sweep()
	}
	if v.agents[agent] == nil && len(v.agents) >= maxReporters || len(v.sessions) >= maxSpoken {
		return false
	}
	if v.agents[agent] == nil {
		v.agents[agent] = &agentActivity{open: map[openCall]peer.Process{}, ended: v.since}
	}
	v.sessions[session] = agent
	return true
}

// sweep forgets processes that have ended, and their sessions.
func (v *activities) sweep() {
	for agent := range v.agents {
		if !v.runs(agent) {
			delete(v.agents, agent)
		}
	}
	for session, agent := range v.sessions {
		if v.agents[agent] == nil {
			delete(v.sessions, session)
		}
	}
}

func (v *activities) runs(p peer.Process) bool {
	now, err := v.table.Look(p.PID)
	return err == nil && now.Process == p
}

// notTheOwners turns the owner's words into words of an unknown sender. Nothing in them is then
// taken as stated by the owner, and they are trusted as little as any text from outside.
func notTheOwners(ev hook.Event) hook.Event {
	ev.Origin = floodmark.Origin{Kind: floodmark.FromUnknown, Name: "words that may not be the owner's"}
	ev.ByPerson, ev.Typed = false, false
	return ev
}

// whose returns the text of an incident: which session, why, and which process spoke.
func whose(ev hook.Event, s Speaker, why error) string {
	return fmt.Sprintf("words in session %.100q are not taken for the owner's: %v; said by %s", ev.Session, why, s.Line())
}
