package speakers

import (
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents/peer"
)

// tracedAs is a process as it speaks on this machine.
func (w *grove) tracedAs(pid int) Speaker {
	w.t.Helper()
	return Speaker{Peer: w.f.Trace(w.t, pid), Local: true}
}

// Only a gateway that says so, on this machine, below an agent is joined to it.
func TestWhoIsJoined(t *testing.T) {
	t.Parallel()
	w := newGrove(t)
	w.starts(20, "", "pi:a")
	w.f.Plant(50, 20, 500, "floodmark")
	w.f.Plant(60, 1, 600, "floodmark")
	ev := hook.Event{Point: hook.BeforeToolCall, Agent: "mcp", Session: "mcp-1"}
	below, named, read := w.tracedAs(50), ev, ev
	named.Session = "codex:b"
	read.Call = hook.Call{Name: "read_resource"}
	elsewhere := below
	elsewhere.Local = false
	for name, c := range map[string]struct {
		s    Speaker
		ev   hook.Event
		want floodmark.SessionID
	}{
		"below":            {below, ev, "pi:a"},
		"beside":           {w.tracedAs(60), ev, "mcp-1"},
		"elsewhere":        {elsewhere, ev, "mcp-1"},
		"unknown":          {Speaker{Local: true}, ev, "mcp-1"},
		"says whose it is": {below, named, "codex:b"},
	} {
		if got, _, _, done := w.b.join(c.s, c.ev); got.Session != c.want || done {
			t.Errorf("%s: %s %v", name, got.Session, done)
		}
	}
	ev.Call = hook.Call{Server: "fetch", Name: "fetch"}
	for want, ev := range map[string]hook.Event{"x": ev, "mcp": read} {
		if got, _, _, _ := w.b.join(below, ev); got.Agent != want {
			t.Errorf("it is of %s, want %s", got.Agent, want)
		}
	}
	w.b.full = true
	if got, _, _, _ := w.b.join(below, ev); got.Session != "mcp-1" {
		t.Error("nobody knows any more, and it was joined")
	}
}

// All gateways that one process started are one session, which the first one
// begins and ends; those of another process are another.
func TestGatewaysOfOneClient(t *testing.T) {
	t.Parallel()
	w := newGrove(t)
	w.f.Plant(40, 1, 400, "client")
	w.f.Plant(41, 40, 410, "floodmark")
	w.f.Plant(42, 40, 420, "floodmark")
	w.f.Plant(45, 1, 450, "client")
	w.f.Plant(46, 45, 460, "floodmark")
	say := func(pid int, session floodmark.SessionID, p hook.Point) (floodmark.SessionID, bool, floodmark.Verdict) {
		ev, _, answer, done := w.b.join(w.tracedAs(pid), hook.Event{Point: p, Agent: "mcp", Session: session})
		return ev.Session, done, answer.Decision.Verdict
	}
	for i, c := range []struct {
		pid     int
		session floodmark.SessionID
		point   hook.Point
		want    floodmark.SessionID
		done    bool
	}{
		{41, "mcp-1", hook.SessionStart, "mcp-1", false},
		{42, "mcp-2", hook.SessionStart, "mcp-1", true},
		{42, "mcp-2", hook.BeforeToolCall, "mcp-1", false},
		{46, "mcp-3", hook.SessionStart, "mcp-3", false},
		{41, "mcp-1", hook.BeforeToolCall, "mcp-1", false},
		{42, "mcp-2", hook.SessionEnd, "mcp-1", true},
		{41, "mcp-1", hook.SessionEnd, "mcp-1", false},
	} {
		session, done, verdict := say(c.pid, c.session, c.point)
		if session != c.want || done != c.done || done != (verdict == floodmark.Allow) {
			t.Errorf("%d: %s %v %v", i, session, done, verdict)
		}
	}
}

// Beyond the limit the session of a gateway is unknown, and the gateway is refused; clients that
// have ended make room.
func TestTooManyClients(t *testing.T) {
	t.Parallel()
	w := newGrove(t)
	w.f.Plant(45, 1, 450, "client")
	w.f.Plant(46, 45, 460, "floodmark")
	ev := hook.Event{Point: hook.BeforeToolCall, Agent: "mcp", Session: "mcp-1"}
	lives, err := w.f.Look(45)
	if err != nil {
		t.Fatal(err)
	}
	for i := range maxBranches {
		w.b.gateways[peer.Process{PID: lives.PID, Start: uint64(i) + 1e6}] = shared{session: "gone"}
	}
	if _, _, _, done := w.b.join(w.tracedAs(46), ev); done || len(w.b.gateways) != 1 {
		t.Error("those that have ended make no room:", len(w.b.gateways))
	}
	w = newGrove(t)
	w.f.Plant(46, 20, 460, "floodmark")
	for i := range maxBranches {
		pid := 1000 + i
		w.f.Plant(pid, 1, uint64(pid)*10, "client")
		p, err := w.f.Look(pid)
		if err != nil {
			t.Fatal(err)
		}
		w.b.gateways[p.Process] = shared{session: "lives"}
	}
	if _, _, answer, done := w.b.join(w.tracedAs(46), ev); !done || answer.Decision.Verdict != floodmark.Restrict || answer.Line == "" {
		t.Errorf("%v %+v", done, answer)
	}
}
