package soak

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/client"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
)

// A question is the sort of request that is sent.
type question int

const (
	plainCall    question = iota // a call that is allowed if nothing is wrong
	unknownEvent                 // an unknown event
	oversized                    // over the limit of size
	malformed                    // not JSON, or not a valid frame
)

// An answer is what a caller received.
type answer struct {
	allowed bool
	// none means that there was no answer. The caller must treat that as a no, as the reference of
	// the hook API says.
	none bool
	text string // reason and remedy
	took time.Duration
}

// callers returns the ways to ask, each with this timeout.
func callers(t *testing.T, deadline time.Duration) map[string]func(socket string, q question) answer {
	return map[string]func(string, question) answer{
		"floodmark-hook codex PreToolUse": func(socket string, q question) answer { return askHook(t, deadline, socket, "codex", "PreToolUse", q) },
		"floodmark-hook pi tool_call":     func(socket string, q question) answer { return askHook(t, deadline, socket, "pi", "tool_call", q) },
		"Go client":                       func(socket string, q question) answer { return askClient(t, deadline, socket, q) },
		"raw Connect JSON":                func(socket string, q question) answer { return askRaw(t, deadline, socket, q) },
	}
}

// message returns what an agent sends, as it was recorded.
func message(agent string) string {
	if agent == "codex" {
		return `{"session_id":"f1","turn_id":"t1","cwd":"/home/dev/project","hook_event_name":"PreToolUse","tool_name":"Bash",` +
			`"tool_input":{"command":"ls -l"},"tool_use_id":"call_1"}`
	}
	return `{"event":{"type":"tool_call","toolName":"bash","toolCallId":"call_1","input":{"command":"ls -l"}},` +
		`"ctx":{"cwd":"/home/dev/project","sessionId":"f1"}}`
}

// askHook asks as an agent's hook does: with the program, and a message on its standard input.
func askHook(t *testing.T, deadline time.Duration, socket, agent, event string, q question) answer {
	t.Helper()
	in := message(agent)
	switch q {
	case plainCall:
	case unknownEvent:
		in = strings.NewReplacer("tool_call\"", "tool_fall\"", "PreToolUse", "PreToolFuse").Replace(in)
		event = strings.NewReplacer("tool_call", "tool_fall", "PreToolUse", "PreToolFuse").Replace(event)
	case oversized:
		in = strings.Replace(in, "ls -l", strings.Repeat("x", hookframe.MaxRequest), 1)
	case malformed:
		in = in[:len(in)-3]
	}
	cmd := exec.CommandContext(t.Context(), program(t, "floodmark-hook"), "-deadline", deadline.String(), agent, event)
	cmd.Env = append(os.Environ(), hookframe.SocketVariable+"="+socket)
	var out, complaint bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(in), &out, &complaint
	began := time.Now()
	_ = cmd.Run() // how it ended is in ProcessState
	a := answer{took: time.Since(began), text: out.String() + complaint.String()}
	var told struct {
		Block    *bool
		Specific struct{ PermissionDecision string } `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal(out.Bytes(), &told); err != nil && out.Len() > 0 {
		t.Errorf("%s got %q", agent, out.String())
	}
	// What each agent treats as a yes: for codex an exit status 0 without a deny in the output, for
	// pi an explicit «block: false».
	switch agent {
	case "codex":
		a.allowed = cmd.ProcessState.ExitCode() == 0 && told.Specific.PermissionDecision != "deny"
	case "pi":
		a.allowed = cmd.ProcessState.ExitCode() == 0 && told.Block != nil && !*told.Block
	}
	return a
}

// call returns the same call in our own format.
func call(session string) hook.Event {
	return hook.Event{
		Point: hook.BeforeToolCall, Agent: "openclaw", Session: floodmark.SessionID(session),
		Call: hook.Call{ID: "c1", Name: "exec", Args: json.RawMessage(`{"command":"ls -l"}`)},
	}
}

func askClient(t *testing.T, deadline time.Duration, socket string, q question) answer {
	t.Helper()
	ev := call("f1")
	switch q {
	case plainCall:
	case unknownEvent:
		ev.Point = "before_nothing"
	case oversized:
		ev.Text = strings.Repeat("x", hook.MaxEventBytes)
	case malformed:
		ev.Call.Args = json.RawMessage(`{"command":`)
	}
	c, err := client.Dial(socket, client.Options{Timeout: deadline})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	began := time.Now()
	reply, err := c.Handle(t.Context(), ev)
	a := answer{took: time.Since(began), allowed: reply.Decision.Verdict == floodmark.Allow, text: reply.Line}
	if err != nil && a.allowed {
		t.Errorf("an error with a yes: %v", err)
	}
	return a
}

// askRaw asks as any program that speaks HTTP can.
func askRaw(t *testing.T, deadline time.Duration, socket string, q question) answer {
	t.Helper()
	data, err := json.Marshal(call("f1"))
	if err != nil {
		t.Fatal(err)
	}
	body := string(data)
	switch q {
	case plainCall:
	case unknownEvent:
		body = strings.Replace(body, "before_tool_call", "before_nothing", 1)
	case oversized:
		body = strings.Replace(body, "ls -l", strings.Repeat("x", hook.MaxEventBytes), 1)
	case malformed:
		body = body[:len(body)-3]
	}
	web := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://floodmark/floodmark.v1.HookService/Handle", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Connect-Protocol-Version", "1")
	req.Header.Set("Connect-Timeout-Ms", strconv.FormatInt(deadline.Milliseconds(), 10))
	resp, err := web.Do(req)
	var said []byte
	if err == nil {
		said, err = io.ReadAll(resp.Body)
		err = errors.Join(err, resp.Body.Close())
	}
	if err != nil {
		return answer{none: true, text: err.Error(), took: time.Since(began)}
	}
	var reply struct {
		Decision struct {
			Verdict string
			Reasons []struct{ Text string }
			Remedy  struct{ Agent, Person string }
		}
		Line string
	}
	if err := json.Unmarshal(said, &reply); err != nil {
		return answer{none: true, text: string(said), took: time.Since(began)}
	}
	return answer{
		took: time.Since(began), text: reply.Line, none: resp.StatusCode != http.StatusOK,
		allowed: resp.StatusCode == http.StatusOK && reply.Decision.Verdict == "allow",
	}
}
