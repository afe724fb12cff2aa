package daemon

import "github.com/floodmark/floodmark/hook"

// A gateway is started by the agent whose calls it sees. If that agent's process
// has one session, the calls are that session's: one mark for both, and a call
// that the agent's hook told of is met, not counted twice. Where the process has
// several sessions nobody can say whose call it is, and the gateway's session is
// its own. Joining only adds what was read to a session, and judges by more.

// gatewayAgent is what a gateway calls itself that was not told whose it is.
const gatewayAgent = "mcp"

// join makes an event of a gateway one of the session of the agent that started
// it, if that is known; done says that nothing is left to judge.
func (b *branches) join(s speaker, ev hook.Event) (joined hook.Event, done bool) {
	if !s.local || s.PID == 0 || ev.Agent != gatewayAgent {
		return ev, false
	}
	host := b.host(s)
	if host == nil {
		return ev, false
	}
	if ev.Point == hook.SessionStart || ev.Point == hook.SessionEnd {
		return ev, true // the agent says when its session begins and ends
	}
	ev.Session, ev.Agent = host.session, host.agent
	return ev, false
}

// host is what the nearest agent above a speaker said, if it has one session.
func (b *branches) host(s speaker) *spoke {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, up := range s.Ancestors {
		was := b.speakers[up.Process]
		if was == nil {
			continue
		}
		if was.many || b.full {
			return nil
		}
		return &spoke{session: was.session, agent: was.agent}
	}
	return nil
}
