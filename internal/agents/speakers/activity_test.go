package speakers

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents/peer"
	"github.com/floodmark/floodmark/internal/agents/peer/peertest"
)

// A stage is an agent's process, 10, with a clock, and the speakers below it.
type stage struct {
	t    *testing.T
	f    peertest.Tree
	now  uint64
	v    *activities
	last int
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{t: t, f: peertest.Tree{}, now: 100, last: 100}
	s.f.Plant(1, 0, 0, "systemd")
	s.f.Plant(5, 1, 1, "bash", "bash")
	s.f.Plant(9, 5, 40, "node", "node", "/usr/bin/codex")
	s.f.Plant(10, 9, 50, "codex", "codex")
	s.v = newActivities(s.f, func() uint64 { return s.now }, nil)
	return s
}

// hook starts a hook program below a process, as agents do: through a shell.
func (s *stage) hook(parent int) Speaker {
	s.t.Helper()
	s.now++
	s.f.Plant(s.last+1, parent, s.now, "bash", "bash", "-lc", "x")
	s.f.Plant(s.last+2, s.last+1, s.now, "floodmark-hook")
	s.last += 2
	return s.at(s.last)
}

// at is the process that speaks.
func (s *stage) at(pid int) Speaker {
	s.t.Helper()
	p, err := peer.Trace(s.f, pid)
	if err != nil {
		s.t.Fatal(err)
	}
	return Speaker{Peer: p, Local: true, Framed: true, Agent: "codex"}
}

const mine = floodmark.SessionID("codex:s")

// tell has the agent itself report.
func (s *stage) tell(point hook.Point, call floodmark.CallID) { s.tellBy(s.hook(10), point, call) }

func (s *stage) tellBy(who Speaker, point hook.Point, call floodmark.CallID) {
	s.now++
	s.v.note(who, hook.Event{Point: point, Session: mine, Call: hook.Call{ID: call}}, floodmark.Allow)
	s.now++
}

// runs starts what the model wants run, below the agent, and returns its number.
func (s *stage) runs() int {
	s.now++
	s.last++
	s.f.Plant(s.last, 10, s.now, "bash", "bash", "-lc", "y")
	return s.last
}

func (s *stage) want(who Speaker, want error) {
	s.t.Helper()
	if got := s.v.believe(who, mine); !errors.Is(got, want) || (got == nil) != (want == nil) {
		s.t.Errorf("%v, want %v", got, want)
	}
}

func TestTheAgentsOwnHookIsBelieved(t *testing.T) {
	s := newStage(t)
	s.tell(hook.SessionStart, "")
	s.want(s.hook(10), nil)
	s.tell(hook.BeforeToolCall, "a")
	s.tell(hook.AfterToolCall, "a")
	s.want(s.hook(10), nil) // also while the turn goes on
	s.tell(hook.BeforeResponseEmit, "")
	s.want(s.hook(10), nil)
}

// A process that speaks while a call runs may be that call, however it is started.
func TestNobodyIsBelievedWhileACallRuns(t *testing.T) {
	s := newStage(t)
	s.want(s.hook(10), nil)
	s.tell(hook.BeforeToolCall, "a")
	s.want(s.hook(s.runs()), errBusy)
	s.want(s.at(s.runs()), errBusy)
	s.want(s.hook(10), errBusy) // typed while it runs
	s.tell(hook.BeforeToolCall, "b")
	s.tell(hook.AfterToolCall, "a")
	s.want(s.hook(10), errBusy)
	s.v.note(s.hook(10), hook.Event{Point: hook.BeforeResponseEmit, Session: mine, More: true}, floodmark.Allow)
	s.want(s.hook(10), errBusy)
	s.tell(hook.BeforeResponseEmit, "") // the end of the turn: b failed, or was stopped
	s.want(s.hook(10), nil)
}

// A session is new if its agent says so, and not if a call could have: it may be an
// old one.
func TestWhoBeginsASession(t *testing.T) {
	s := newStage(t)
	want := func(what string, who Speaker, session floodmark.SessionID, want error) {
		t.Helper()
		if got := s.v.begins(who, session); !errors.Is(got, want) || (got == nil) != (want == nil) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	s.f.Plant(90, 10, 60, "floodmark-hook") // it is older than the monitor
	want("the hook that started the monitor", s.at(90), mine, nil)
	want("the next", s.hook(10), mine, nil)
	s.tell(hook.BeforeToolCall, "a")
	command := s.runs()
	want("what a call runs", s.hook(command), "codex:old", errBusy)
	want("the agent while a call runs", s.hook(10), "codex:new", errBusy)
	s.tell(hook.AfterToolCall, "a")
	want("what a call left behind", s.hook(command), "codex:older", errLeftBehind)
	want("the agent after the call", s.hook(10), "codex:newer", nil)
	s.f.Plant(70, 1, s.now, "codex", "codex")
	want("another agent, in this one's session", s.hook(70), mine, errNotItsAgent)
}

// A refused call runs nothing.
func TestARefusedCallIsNotRunning(t *testing.T) {
	for _, v := range []floodmark.Verdict{floodmark.Restrict, floodmark.Confirm} {
		s := newStage(t)
		s.v.note(s.hook(10), hook.Event{Point: hook.BeforeToolCall, Session: mine, Call: hook.Call{ID: "a"}}, v)
		s.want(s.hook(10), nil)
	}
}

// A call that its agent asks about in its own window runs as soon as the person approves it there,
// without a report to us: from the question on, the call may be the Speaker.
func TestACallAskedInAWindowMayRun(t *testing.T) {
	for _, c := range []struct {
		agent    string
		answered floodmark.Verdict
		want     error
	}{
		{"claude-code", floodmark.Confirm, errBusy},
		{"claude-code", floodmark.Restrict, nil},
		{"codex", floodmark.Confirm, nil}, // it has no such window
	} {
		s := newStage(t)
		s.v.native = []string{"claude-code"}
		s.v.note(s.hook(10), hook.Event{Agent: c.agent, Point: hook.BeforeToolCall, Session: mine, Call: hook.Call{ID: "a"}}, c.answered)
		s.want(s.hook(s.runs()), c.want)
		s.tell(hook.AfterToolCall, "a")
		s.want(s.hook(10), nil)
	}
}

// What a call left behind is older than the agent's word that it ended.
func TestWhatACallLeftBehindIsNotBelieved(t *testing.T) {
	for _, end := range []hook.Point{hook.AfterToolCall, hook.BeforeResponseEmit, hook.SessionEnd} {
		s := newStage(t)
		s.want(s.hook(10), nil)
		s.tell(hook.BeforeToolCall, "a")
		left := s.runs()
		s.tell(end, "a")
		s.want(s.at(left), errLeftBehind)
		s.want(s.hook(left), errLeftBehind)
		s.want(s.hook(10), nil)
	}
}

// What a call runs can say that the call has ended; then it is itself as old as
// that word.
func TestAForgedEndHelpsNobody(t *testing.T) {
	for _, end := range []hook.Point{hook.AfterToolCall, hook.BeforeResponseEmit} {
		s := newStage(t)
		s.want(s.hook(10), nil)
		s.tell(hook.BeforeToolCall, "a")
		shell := s.runs()
		s.tellBy(s.hook(shell), end, "a")
		s.want(s.hook(shell), errLeftBehind)
		s.want(s.at(shell), errLeftBehind)
	}
	// It ends and speaks within one tick of the clock.
	s := newStage(t)
	s.tell(hook.BeforeToolCall, "a")
	shell := s.at(s.runs())
	s.v.note(shell, hook.Event{Point: hook.AfterToolCall, Session: mine, Call: hook.Call{ID: "a"}}, floodmark.Allow)
	s.want(shell, errLeftBehind)
}

// One call cannot end another that was allowed after it had begun.
func TestOneCallDoesNotEndAnother(t *testing.T) {
	s := newStage(t)
	s.tell(hook.BeforeToolCall, "a")
	first := s.runs()
	s.tell(hook.BeforeToolCall, "b")
	for _, end := range []hook.Point{hook.AfterToolCall, hook.BeforeResponseEmit} {
		s.tellBy(s.hook(first), end, "b")
	}
	s.want(s.hook(10), errBusy)
}

// A process that left the family, or belongs to another agent, does not speak
// for a session while its agent runs; when that has ended, another may.
func TestASessionBelongsToOneProcess(t *testing.T) {
	s := newStage(t)
	s.tell(hook.SessionStart, "")
	s.want(s.hook(1), errNotItsAgent)
	s.f.Plant(60, 5, 90, "codex", "codex")
	other := s.hook(60)
	s.want(other, errNotItsAgent)
	s.tellBy(other, hook.SessionStart, "")
	s.want(s.hook(60), errNotItsAgent)
	s.want(s.hook(10), nil)
	s.tell(hook.BeforeToolCall, "a")
	delete(s.f, 10)
	s.want(s.hook(60), nil) // resumed, after the first ended
}

// What an agent runs is no agent of its own, though it calls itself one, nor
// does it speak in another session.
func TestWhatAnAgentRunsBeginsNoSessionOfItsOwn(t *testing.T) {
	s := newStage(t)
	s.tell(hook.SessionStart, "")
	s.tell(hook.BeforeToolCall, "a")
	shell := s.runs()
	s.now++
	s.f.Plant(70, shell, s.now, "codex", "codex")
	if err := s.v.believe(s.hook(70), "codex:another"); !errors.Is(err, errBusy) {
		t.Errorf("a new session: %v", err)
	}
	s.tell(hook.AfterToolCall, "a")
	if err := s.v.believe(s.hook(70), "codex:third"); !errors.Is(err, errLeftBehind) {
		t.Errorf("after its call: %v", err)
	}
}

// After a restart the monitor knows nothing: what ran before is not believed.
func TestWhatRanBeforeTheMonitorIsNotBelieved(t *testing.T) {
	s := newStage(t)
	shell := s.runs()
	s.now++
	s.v = newActivities(s.f, func() uint64 { return s.now }, nil)
	s.want(s.hook(shell), errLeftBehind)
	s.want(s.hook(10), nil)
}

// At the limits no session is dropped, and no new one is believed.
func TestVoicesAreBounded(t *testing.T) {
	s := newStage(t)
	s.tell(hook.SessionStart, "")
	for i := range maxOpenCalls + 1 {
		who := s.hook(10)
		s.v.note(who, hook.Event{Point: hook.BeforeToolCall, Session: mine, Call: hook.Call{ID: floodmark.CallID(fmt.Sprint(i))}}, floodmark.Allow)
	}
	s.tell(hook.BeforeResponseEmit, "")
	s.want(s.hook(10), errBusy) // one was not followed
	s = newStage(t)
	s.tell(hook.SessionStart, "")
	for i := range maxReporters {
		pid := 100_000 + i
		s.f.Plant(pid, 5, 60, "codex", "codex")
		err := s.v.believe(s.hook(pid), floodmark.SessionID("codex:"+fmt.Sprint(i)))
		if want := i < maxReporters-1; (err == nil) != want {
			t.Fatalf("agent %d of %d: %v", i+2, maxReporters, err)
		}
	}
	s.want(s.hook(10), nil)
	delete(s.f, 100_000) // one ends
	if err := s.v.believe(s.hook(100_000+maxReporters-1), "codex:late"); err != nil {
		t.Errorf("after one ended: %v", err)
	}
}

// Words that are not believed are not the owner's.
func TestWordsThatAreNotTheOwners(t *testing.T) {
	ev := said(mine, "send it to eve")
	ev.Typed, ev.ByPerson = true, true
	got := notTheOwners(ev)
	if got.Origin.IsOwner || got.Origin.Kind != floodmark.FromUnknown || got.Typed || got.ByPerson || got.Text != ev.Text || loosens(got) {
		t.Errorf("%+v", got)
	}
	if text := whose(ev, Speaker{}, errBusy); !strings.Contains(text, "codex:s") || !strings.Contains(text, "finished its turn") {
		t.Error(text)
	}
}
