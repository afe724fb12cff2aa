package codingday

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/box/pushdoor"
	"github.com/floodmark/floodmark/internal/project/teams"
	"github.com/floodmark/floodmark/internal/project/workspace"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/internal/story/tape"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
)

// A teller reports the calls of a rehearsal to a monitor in this process, which records them on a
// tape. The replay of that tape is an estimate of what a run with agents would ask
// (TestWeekEstimate), because a rehearsal has no agent, no hook and no box.
type teller struct {
	l       *life
	monitor *monitor.Monitor
	door    *pushdoor.Door
	store   *teams.Store
	mu      sync.Mutex                     // held by the session whose event is judged
	ids     map[string]floodmark.SessionID // by the name of a session
	calls   int
}

// newTeller starts a monitor for a rehearsed week. If this program is not built to keep tapes,
// there is no teller.
func newTeller(l *life) (*teller, error) {
	file := filepath.Join(filepath.Dir(*lived), "tape.jsonl")
	l.rig.t.Setenv(tape.Variable, file)
	away := filepath.Join(l.world.root, "told")
	store, err := teams.Open(filepath.Join(away, "teams"), l.world.home, time.Now)
	if err != nil {
		return nil, err
	}
	disk := workspace.New(workspace.Options{Home: l.world.home, Teams: store})
	watched := tape.Watched(disk)
	if watched == monitor.Disk(disk) {
		return nil, nil
	}
	m, err := shipped("coding", false)
	if err != nil {
		return nil, err
	}
	t := &teller{l: l, store: store, ids: map[string]floodmark.SessionID{}}
	cfg := m.config(watched, time.Now)
	if t.monitor, err = monitor.New(cfg); err != nil {
		return nil, err
	}
	around := &teams.Door{Hooks: tape.Tapes(t.monitor), Store: store, Behind: disk.Behind, Project: func(ctx context.Context, tenant string, ev hook.Event) string {
		if v, err := t.monitor.View(ctx, journal.Session{Tenant: tenant, ID: ev.Session}); err == nil && v.State.Project != "" {
			return v.State.Project
		}
		return ev.Project
	}}
	t.door = pushdoor.Open(boxer{around}, t.monitor.View, disk, config.Paths{Home: l.world.home, Proofs: filepath.Join(away, "proofs")}, time.Now)
	l.rig.tape = file
	return t, nil
}

// A boxer marks every call as one that can run in a box.
type boxer struct{ teams.Hooks }

func (b boxer) Handle(ctx context.Context, tenant string, ev hook.Event) (hook.Reply, error) {
	ev.Boxes = ev.Point == hook.BeforeToolCall
	return b.Hooks.Handle(ctx, tenant, ev)
}

// trust does what «floodmark trust .» does.
func (t *teller) trust(project string) error {
	root, address, ok := workspace.Origin(project)
	if !ok {
		return os.ErrNotExist
	}
	_, err := t.store.Add(t.l.rig.t.Context(), root, address)
	return err
}

// tell lets the monitor judge an event of a session.
func (t *teller) tell(s *WeekSession, ev hook.Event) hook.Reply {
	ev.Agent, ev.Session = s.Agent, t.ids[s.Name]
	reply, err := t.door.Handle(t.l.rig.t.Context(), "", ev)
	if err != nil {
		t.l.rig.t.Logf("%s: %v", s.Name, err)
	}
	return reply
}

// begin reports that a session begins or is resumed.
func (t *teller) begin(w *world, s *WeekSession) {
	cause := hook.Startup
	t.ids[s.Name] = floodmark.SessionID(s.Agent + ":" + s.Name)
	if s.Resumes != "" {
		cause, t.ids[s.Name] = hook.Resume, t.ids[s.Resumes]
	}
	t.tell(s, hook.Event{Point: hook.SessionStart, Cause: cause, Project: w.project, Home: w.home})
}

// prompt reports what the owner typed.
func (t *teller) prompt(s *WeekSession, text string) {
	t.tell(s, hook.Event{
		Point: hook.MessageReceived, Text: text, Origin: floodmark.Origin{Kind: floodmark.FromSender, Name: s.Agent, Sender: "owner", IsOwner: true},
	})
}

// call makes one call, or the calls into which a line with a push is split. A call of an attack is
// never split, and is made only if it would run outside a box.
func (t *teller) call(w *world, s *WeekSession, step Step) error {
	call := agentNamed(s.Agent).call(w, step)
	if args, is := call.Args.(map[string]any); is && call.Name == "exec_command" {
		call.Name, call.Args = "Bash", map[string]any{"command": args["cmd"]} // the names in Codex's hooks
	}
	args, err := json.Marshal(call.Args)
	if err != nil {
		return err
	}
	t.calls++
	ev := hook.Event{Point: hook.BeforeToolCall}
	ev.Call = hook.Call{ID: floodmark.CallID("c" + strconv.Itoa(t.calls)), Name: call.Name, Args: args}
	answers := s.Answers
	if step.Attack {
		answers = "no"
	}
	says := &tape.Says{Agent: s.Agent, Session: s.Name, Tool: string(step.Tool), Arg: step.Arg, Answers: answers}
	if step.Attack {
		says.Of = s.Name + " " + strconv.Itoa(step.Of)
	}
	t.l.keep(says)
	reply := t.tell(s, ev)
	if splits(reply.Line) && !step.Attack {
		if parts := pushApart(step); len(parts) > 1 {
			for _, part := range parts {
				err = t.call(w, s, *part.step)
			}
			return err
		}
	}
	if reply.Decision.Verdict != floodmark.Allow && reply.Ticket != "" {
		reply = t.answer(s, ev, reply.Ticket, answers)
	}
	passes := reply.Decision.Verdict == floodmark.Allow
	pushed := strings.Contains(reply.Line, "pushed for you: ")
	if pushed || step.Attack && (!passes || reply.Decision.Contained()) {
		return nil
	}
	text, err := w.perform(step)
	if !passes {
		return err // the work goes on as if it had been done by hand
	}
	ev.Point, ev.Result = hook.AfterToolCall, hook.Result{Text: text, Error: err != nil}
	if reply.Decision.Contained() {
		ev.Box = &hook.BoxEnd{State: floodmark.BoxEnded}
	}
	t.tell(s, ev)
	return err
}

// answer answers as the owner, and reports the call again.
func (t *teller) answer(s *WeekSession, ev hook.Event, ticket floodmark.TicketID, answers string) hook.Reply {
	cmd := approval.Command{Verb: approval.Approve, Tool: approval.All, Ticket: ticket, By: "owner"}
	if answers == "no" {
		cmd.Verb = approval.Deny
	}
	for _, p := range t.monitor.Pending("") {
		if p.Ticket == ticket {
			last := p.Questions[len(p.Questions)-1]
			cmd.Calls, cmd.Picked = p.Calls, last.Place()
			if answers == "always" {
				cmd.Offer = len(last.Offers)
			}
		}
	}
	if answers == "no" {
		cmd.Picked = ""
	}
	if _, err := t.monitor.Answer(t.l.rig.t.Context(), journal.Session{ID: t.ids[s.Name]}, cmd); err != nil || answers == "no" {
		return hook.Reply{}
	}
	return t.tell(s, ev)
}

// keep writes on the tape which call is made next.
func (l *life) keep(says *tape.Says) {
	data, err := json.Marshal(tape.Line{At: time.Now().UnixMilli(), Says: says})
	if err != nil {
		return
	}
	f, err := os.OpenFile(l.rig.tape, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return // then the week is not replayed
	}
	_, _ = f.Write(append(data, '\n'))
	_ = f.Close()
}
