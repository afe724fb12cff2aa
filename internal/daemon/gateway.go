package daemon

import (
	"maps"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/peer"
)

// A gateway is started by the agent whose calls it sees. If that agent's process
// has one session, the calls are that session's: one mark for both, and a call
// that the agent's hook told of is met, not counted twice. Where an agent has no
// hooks, or several sessions, nobody can say whose call it is: then all gateways
// that one process started are one session, so that what was read through one
// server counts for what is sent through another. Joining only adds what was read
// to a session, and judges by more.

// crowdedLine is what the agent reads if nobody can say any more whose a gateway is.
const crowdedLine = "Floodmark refuses this because it was not judged: too many programs started gateways. Restart the monitor: floodmark serve."

// A shared is the session of all gateways that one process started.
type shared struct {
	session floodmark.SessionID
	first   peer.Process // the gateway that began it
}

// join makes an event of a gateway one of the session of the agent that started
// it; done says that nothing is left to judge, and with what answer.
func (b *branches) join(s speaker, ev hook.Event) (joined hook.Event, answer hook.Reply, done bool) {
	if !s.local || s.PID == 0 || !strings.HasPrefix(string(ev.Session), hook.GatewaySession) {
		return ev, hook.Reply{}, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	first := false
	if host := b.host(s); host != nil {
		ev.Session = host.session
		if ev.Call.Server != "" { // what the gateway reads by itself stays its own
			ev.Agent = host.agent
		}
	} else {
		all, ok := b.started(s, ev.Session)
		if !ok {
			return ev, hook.Reply{Line: crowdedLine}, true
		}
		ev.Session, first = all.session, all.first == s.Process
	}
	if !first && (ev.Point == hook.SessionStart || ev.Point == hook.SessionEnd) {
		// Somebody else says when this session begins and ends.
		return ev, hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Allow}}, true
	}
	return ev, hook.Reply{}, false
}

// host is what the nearest agent above a speaker said, if it has one session.
func (b *branches) host(s speaker) *spoke {
	for _, up := range s.Ancestors {
		if was := b.speakers[up.Process]; was != nil {
			if was.many || b.full {
				return nil
			}
			return was
		}
	}
	return nil
}

// started is the session of all gateways that the process above a speaker started;
// the first one to speak names it.
func (b *branches) started(s speaker, session floodmark.SessionID) (shared, bool) {
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
