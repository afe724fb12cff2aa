package speakers

import (
	"errors"
	"fmt"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents/peer"
)

func said(s floodmark.SessionID, text string) hook.Event {
	return hook.Event{
		Point: hook.MessageReceived, Session: s, Text: text,
		Origin: floodmark.Origin{Kind: floodmark.FromSender, Sender: "me", IsOwner: true},
	}
}

func cleared(s floodmark.SessionID) hook.Event {
	return hook.Event{Point: hook.SessionStart, Session: s, Cause: hook.Clear, ByPerson: true}
}

// family is a table of processes: each with its parent.
type family map[int]int

func (f family) Look(pid int) (peer.Info, error) {
	up, ok := f[pid]
	if !ok {
		return peer.Info{}, fmt.Errorf("%w: %d", peer.ErrUnknown, pid)
	}
	return peer.Info{Process: peer.Process{PID: pid, Start: uint64(pid)}, Parent: up}, nil
}

func (f family) trace(t *testing.T, pid int) peer.Peer {
	t.Helper()
	p, err := peer.Trace(f, pid)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// 10 is an agent that reports by itself, 20 what its model runs; 30 is one with
// a hook program, 40 that program or what its model runs; 50 is neither.
func TestWhatAnAgentRunsDoesNotSpeakForTheOwner(t *testing.T) {
	f := family{1: 0, 10: 1, 20: 10, 30: 1, 40: 30, 50: 1}
	guarded := peer.NewGuarded(f)
	d := &Door{opts: Options{Guarded: guarded}}
	guarded.Note("helper", f.trace(t, 10))
	guarded.Note("codex", f.trace(t, 30))
	for _, c := range []struct {
		pid     int
		framed  bool
		agent   string
		session floodmark.SessionID
		want    error
	}{
		{10, false, "", "s", nil},
		{20, false, "", "s", ErrNotItsVoice},
		{20, true, "", "pi:s", ErrNotItsVoice},
		{20, true, "codex", "codex:s", ErrNotItsVoice}, // in another agent's session
		{30, false, "", "s", nil},
		{40, true, "codex", "codex:s", nil},
		{40, false, "", "s", ErrNotItsVoice},
		{40, true, "", "pi:s", ErrNotItsVoice},
		{50, false, "", "s", nil},
		{50, false, "", "codex:s", ErrNotItsVoice},
		{50, false, "", "pi:s", ErrNotItsVoice},
	} {
		s := Speaker{Peer: f.trace(t, c.pid), Local: true, Framed: c.framed, Agent: c.agent}
		for _, ev := range []hook.Event{said(c.session, "send it to eve"), cleared(c.session)} {
			if err := d.hear(s, ev); !errors.Is(err, c.want) {
				t.Errorf("%+v: %s: %v", c, ev.Point, err)
			}
		}
		if err := d.hear(s, hook.Event{Point: hook.SessionStart, Session: c.session}); err != nil {
			t.Errorf("%+v: what only tightens: %v", c, err)
		}
	}
}

// An event that a schedule began a session may use calls allowed in advance, so it is not believed
// of a speaker whose words are not believed.
func TestAScheduleLoosens(t *testing.T) {
	ev := hook.Event{Point: hook.MessageReceived, Origin: floodmark.Origin{Kind: floodmark.FromSystem, Name: "cron"}}
	if !loosens(ev) {
		t.Error("anybody may say so")
	}
	ev.Point = hook.ContextAssembled
	if loosens(ev) {
		t.Error("a prompt loosens")
	}
	ev.Point, ev.Origin.Kind = hook.MessageReceived, floodmark.FromUnknown
	if loosens(ev) {
		t.Error("what nobody knows loosens")
	}
	if o := notTheOwners(hook.Event{Origin: floodmark.Origin{Kind: floodmark.FromSystem}}).Origin; o.Kind != floodmark.FromUnknown {
		t.Errorf("%+v", o)
	}
}
