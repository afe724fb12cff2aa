package agents_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
)

// A showing is a Door whose agent shows its question, with the answers it gets.
type showing struct {
	door     agents.Door
	answered chan approval.Command
	wrong    chan string
}

func newShowing(t *testing.T, calls int) *showing {
	t.Helper()
	s := &showing{answered: make(chan approval.Command, 1), wrong: make(chan string, 1)}
	call := approval.Question{Action: floodmark.Action{
		Tool: floodmark.ToolRef{Name: "bash"}, Effects: []floodmark.Effect{floodmark.Run},
		Arguments: []floodmark.Argument{{Path: "command", Role: floodmark.Critical, Shown: "make\x1b[2J it"}},
	}}
	session := journal.Session{ID: "pi:s"}
	open := monitor.Pending{Session: session, Ticket: "t1", Calls: calls}
	for range calls {
		open.Questions = append(open.Questions, call)
	}
	question := refused(floodmark.Confirm, "asked", "")
	question.Ticket = "t1"
	s.door = agents.Door{
		Hooks:    &changing{replies: []hook.Reply{question, refused(floodmark.Restrict, "denied.", "")}},
		Patience: func(context.Context, hook.Event) (wait time.Duration) { return time.Minute },
		Await: func(ctx context.Context, _ journal.Session, _ floodmark.TicketID) (floodmark.Verdict, error) {
			hookframe.Still(ctx)
			select {
			case cmd := <-s.answered:
				s.answered <- cmd
				return floodmark.Restrict, nil
			case <-ctx.Done():
				return floodmark.Restrict, ctx.Err()
			}
		},
		Shown: &agents.Shown{
			Pending: func(of journal.Session) []monitor.Pending {
				if of != session {
					t.Errorf("asked for %s", of)
				}
				other := open
				other.Ticket = "another"
				return []monitor.Pending{other, open}
			},
			Answer: func(_ context.Context, at journal.Session, cmd approval.Command) (monitor.Answered, error) {
				if at != session {
					t.Errorf("an answer for %s", at)
				}
				s.answered <- cmd
				return monitor.Answered{}, nil
			},
			Wrong: func(_ context.Context, kind, _ string) { s.wrong <- kind },
		},
	}
	return s
}

// ask lets pi ask about a call, and sends a message once the question is shown. It returns what was
// shown and answered.
func (s *showing) ask(t *testing.T, says string) (shown, answer string) {
	t.Helper()
	near, far := net.Pipe()
	served := make(chan struct{})
	go func() { defer close(served); _ = hookframe.Serve(t.Context(), far, s.door.Answer) }()
	raw := `{"event":{"type":"tool_call","toolName":"bash","toolCallId":"c","input":{"command":"make it"}},"ctx":{"sessionId":"s"}}`
	req := hookframe.Request{V: hookframe.Version, Agent: "pi", Event: "tool_call", Raw: []byte(raw), DeadlineMS: 10_000, PersonMS: 60_000, Shows: true}
	if err := hookframe.WriteRequest(near, req); err != nil {
		t.Fatal(err)
	}
	var told struct{ Ask string }
	if err := json.Unmarshal(frame(near), &told); err != nil {
		t.Error(err)
	}
	if _, err := near.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(says))), says...)); err != nil {
		t.Error(err)
	}
	for answer = "still"; strings.Contains(answer, "still"); answer = string(frame(near)) {
	}
	_ = near.Close()
	<-served
	return told.Ask, answer
}

func frame(r io.Reader) []byte {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil
	}
	var data bytes.Buffer
	_, _ = io.CopyN(&data, r, int64(binary.BigEndian.Uint32(head[:])))
	return data.Bytes()
}

// pi shows its own call in plain text, and where to approve. A denial there closes the question. An
// approval there does not, and the call is refused.
func TestPiShowsItsQuestion(t *testing.T) {
	s := newShowing(t, 1)
	shown, answer := s.ask(t, `{"v":1,"no":true}`)
	if strings.ContainsAny(shown, "\x1b") || strings.Count(shown, "\n") != 2 || !strings.Contains(shown, "it") || !strings.HasSuffix(shown, "\nYes: «floodmark watch» in another terminal, question t1.") {
		t.Errorf("it shows %q", shown)
	}
	cmd := <-s.answered
	if cmd.Verb != approval.Deny || cmd.Ticket != "t1" || cmd.By != "the window of pi" || !strings.Contains(answer, "denied") {
		t.Errorf("%+v, and pi is told %s", cmd, answer)
	}
	s = newShowing(t, 1)
	if _, answer = s.ask(t, `{"v":1,"yes":true}`); strings.Contains(answer, `\"block\":false`) || len(s.answered) > 0 {
		t.Errorf("after a yes: %s, %d answers", answer, len(s.answered))
	}
	if kind := <-s.wrong; kind != "no-answer" {
		t.Errorf("the incident is %q", kind)
	}
}

// If a question is about several calls, an agent is not shown the calls of others.
func TestOthersCallsAreNotShown(t *testing.T) {
	s := newShowing(t, 2)
	if shown, _ := s.ask(t, `{"v":1,"no":true}`); !strings.HasPrefix(shown, fmt.Sprintln("2 calls")) || strings.Contains(shown, "make") {
		t.Errorf("it shows %q", shown)
	}
}
